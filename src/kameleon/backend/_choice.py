"""What happens when the K surface is first imported: settings are read, an engine is chosen."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

from .. import config, external
from ..runtime import engines

# How an engine's name is written in the line that says which one is used.
TITLES = {
    "numpy": "NumPy",
    "tensorflow": "TensorFlow",
    "theano": "Theano",
    "cntk": "CNTK",
    "jax": "JAX",
    "torch": "PyTorch",
    "onnxruntime": "ONNX Runtime",
}


def choose(names: Iterable[str]) -> dict[str, Any]:
    """Choose engine or external backend, say so on standard error, write a missing keras.json.

    Returns:
        What an external backend has in place of our functions; empty for an engine.
    """
    name, source = config.choose_backend(engines.available)
    config.settings.backend = name
    theirs: dict[str, Any] = {}
    if name in config.ENGINES:
        engines.use(name)
    else:
        found = external.overlay(names, external.load(name, source))
        theirs = {n: f or external.missing(n, name) for n, f in found.items()}
        theirs["backend"] = lambda: name
    config.write_if_missing(name)
    print(f"Using {TITLES.get(name, name)} backend.", file=sys.stderr)
    return theirs
