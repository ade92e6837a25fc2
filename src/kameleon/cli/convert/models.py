"""Models of Keras 2 as functions; the original Keras reads them, in a process of its own."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
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


@contextmanager
def read(asked: Asked) -> Iterator[Original]:
    """A model's function, what it predicts, and the folder with its configuration and weights.

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
    }
    with tempfile.TemporaryDirectory() as folder:
        apart.run("keras2", folder, task, {KERAS_ON: "kameleon"})
        with open(os.path.join(folder, TOLD), encoding="utf-8") as file:
            told = json.load(file)
        loaded = kameleon.load(os.path.join(folder, FUNCTION))
        outputs = dict(zip(told["outputs"], loaded.outputs, strict=True))
        updates = loaded.program.updates
        function = K.function(loaded.inputs, outputs, updates=updates, name=told["name"])
        with np.load(os.path.join(folder, CALLS_FILE)) as arrays:
            calls = list(_calls(dict(arrays)))
        yield Original(function, calls, folder)


def _calls(arrays: dict[str, Any]) -> Iterator[Call]:
    """The calls whose arrays are called `given0.0`, `given0.1`, …, `expected0.0`, …."""
    for number in range(CALLS):
        given, expected = (
            [x for name, x in arrays.items() if name.startswith(f"{kind}{number}.")]
            for kind in Call._fields
        )
        if expected:
            yield Call(given, expected)
