"""Kameleon's own part of Keras, for where the original isn't installed."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from functools import partial
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from ... import config
from ..keras2 import location
from ..keras2.naming import backend
from .specs import made, refusal
from .tensorflow import NO_TENSORFLOW, Later, module_of_keras

BACKEND, LAYERS = "keras.backend", "keras.layers"
# What the original has in modules of their own is here in one.
PARTS = {
    f"{BACKEND}.{name}"
    for name in ("tensorflow_backend", "theano_backend", "load_backend", "common")
}
OURS = {
    BACKEND: "kameleon.backend",
    LAYERS: "kameleon.compat.keras2.own_layers",
}  # by module, what stands for it


def not_here(name: str) -> str:
    """The sentence for a part of Keras that only the original has."""
    ours = importlib.import_module(OURS[LAYERS]).__all__
    return (
        f"{name} is a part of the original Keras {location.VERSION}, which isn't installed; to"
        f" install it: {location.INSTALL}. Without it, Kameleon serves keras.backend, and of"
        f" keras.layers {', '.join(ours)}"
    )


def own_spec(name: str) -> ModuleSpec:
    """The spec of a module in Kameleon's own part of Keras; a refusal for any other."""
    if name == BACKEND:
        return made(name, be_named)
    if name in PARTS:
        return made(name, partial(stand_for, BACKEND))
    if name in CONTENT:
        return made(name, fill)
    return refusal(name, not_here)


def stand_for(meant: str, module: ModuleType) -> None:
    """Load the module `meant` in the place of `module`; the import system takes it from there."""
    sys.modules[module.__name__] = module_of_keras(module.__name__, meant)


def be_named(module: ModuleType) -> None:
    """Make the module Kameleon's backend, in all but the name that it tells."""
    ours = importlib.import_module(OURS[BACKEND])
    own = {name: getattr(ours, name) for name in ("__all__", "__doc__", *ours.__all__)}

    def absent(name: str) -> Any:
        if name == "_BACKEND":
            return config.known_as()
        return module if f"{BACKEND}.{name}" in PARTS else getattr(ours, name)

    vars(module).update(own, backend=backend, __getattr__=absent, __dir__=lambda: dir(ours))


def _layers() -> dict[str, Any]:
    ours = importlib.import_module(OURS[LAYERS])
    return {name: getattr(ours, name) for name in ("__all__", *ours.__all__)}


# By module that `fill` makes, what gives its content.
CONTENT: dict[str, Callable[[], dict[str, Any]]] = {
    "keras": lambda: {"__version__": location.VERSION, "__doc__": "Kameleon's own part of Keras."},
    LAYERS: _layers,
    "tensorflow": lambda: {"keras": Later("keras")},
}


def fill(module: ModuleType) -> None:
    """Give the module its content, and a `__getattr__` that explains what it lacks."""
    name = module.__name__

    def absent(attribute: str) -> Any:
        child = f"{name}.{attribute}"
        if child in OURS:  # so that `import keras` is enough
            return importlib.import_module(child)
        if attribute.startswith("__"):
            raise AttributeError(f"module {name!r} has no attribute {attribute!r}")
        raise AttributeError(
            f"{child}: {NO_TENSORFLOW}" if name == "tensorflow" else not_here(child)
        )

    vars(module).update(CONTENT[name](), __getattr__=absent)
