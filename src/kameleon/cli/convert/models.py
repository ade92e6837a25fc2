"""Models of Keras 2 as functions; the original Keras reads them, in a process of its own."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

import numpy as np

import kameleon
from kameleon import backend as K
from kameleon.backend.export.examples import CALLS, Call
from kameleon.compat.keras2 import location
from kameleon.config import KERAS_ON

from . import apart
from .keras2 import CALLS as CALLS_FILE
from .keras2 import FUNCTION, TOLD
from .sources import Asked, Original


def read(asked: Asked, folder: str) -> Original:
    """A model's function and what it predicts; its configuration and weights are in the folder.

    Raises:
        CommandError: the original Keras can't read it.
        MissingLibraryError: there's no original Keras.
    """
    location.find()  # says what to install
    task = {
        "source": str(asked.path),
        "weights": asked.weights and str(asked.weights),
        "custom": asked.custom,
        "layers": asked.layers,
        "check": asked.check,
    }
    apart.run("keras2", folder, task, {KERAS_ON: "kameleon"})
    with open(os.path.join(folder, TOLD), encoding="utf-8") as file:
        settings = json.load(file)
    loaded = kameleon.load(os.path.join(folder, FUNCTION))
    outputs = dict(zip(settings["outputs"], loaded.outputs, strict=True))
    function = K.function(loaded.inputs, outputs, loaded.program.updates, name=settings["name"])
    with np.load(os.path.join(folder, CALLS_FILE)) as arrays:
        calls = list(_calls(dict(arrays)))
    return Original(function, calls or False)


def _calls(arrays: dict[str, Any]) -> Iterator[Call]:
    """The calls whose arrays are called `given0.0`, `given0.1`, …, `expected0.0`, …."""
    for number in range(CALLS):
        given, expected = (
            [x for name, x in arrays.items() if name.startswith(f"{kind}{number}.")]
            for kind in Call._fields
        )
        if expected:
            yield Call(given, expected)
