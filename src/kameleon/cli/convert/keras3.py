"""Writes a model of Keras 3, made of one of Keras 2: in a process of its own."""

from __future__ import annotations

import importlib
import json
import os
from importlib.util import find_spec
from typing import Any

import numpy as np

from kameleon.cli.convert import apart
from kameleon.cli.convert.keras2 import CONFIG, WEIGHTS
from kameleon.cli.parsing import CommandError
from kameleon.errors import UnsupportedError

BACKENDS = ("jax", "tensorflow", "torch")  # of Keras 3; the first loads in the least time

# Python code that has a file of Keras 3 loaded: see `formats.export`.
RELOAD = f'''
import os
from importlib.util import find_spec

os.environ["KERAS_BACKEND"] = next(filter(find_spec, {BACKENDS}), "tensorflow")
import keras


def load(path):
    """A callable: arrays for the inputs in order -> outputs."""
    model = keras.saving.load_model(path)

    def call(arrays):
        found = model(arrays if len(arrays) > 1 else arrays[0], training=False)
        return [keras.ops.convert_to_numpy(x) for x in keras.tree.flatten(found)]

    return call
'''


def settings() -> dict[str, str]:
    """What has Keras run on a library that is here."""
    return {"KERAS_BACKEND": next(filter(find_spec, BACKENDS), BACKENDS[-1])}


def main(folder: str, path: str) -> None:
    """Write a model, whose configuration and weights in Keras 2 are in a folder."""
    with open(os.path.join(folder, CONFIG), encoding="utf-8") as file:
        config = json.load(file)
    with np.load(os.path.join(folder, WEIGHTS)) as kept:
        weights = [kept[str(i)] for i in range(len(kept.files))]
    models: Any = importlib.import_module("kameleon.backend.interop.keras3_model")
    try:
        model = models.convert_model(config, weights)
    except UnsupportedError as error:
        said = str(error).removeprefix("convert: ")
        raise CommandError(f"{said}; the other formats hold such layers") from error
    model.save(path)


if __name__ == "__main__":
    apart.begin(main)
