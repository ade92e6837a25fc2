"""Finding engines by name, and which one is in force."""

from __future__ import annotations

import importlib
from typing import Any

from ..engines._base import Engine
from ..errors import EngineNotFoundError

# Engines that come with Kameleon: where each is, loaded when it's first needed.
MODULES = {"numpy": "kameleon.engines.numpy.engine"}

_loaded: dict[str, Engine] = {}
_current: list[str] = ["numpy"]


def available(name: str) -> bool:
    """Whether Kameleon has an engine of this name."""
    return name in MODULES


def load(name: str) -> Engine:
    """The engine of this name; imports it at the first call.

    Raises:
        EngineNotFoundError: there's none of this name.
    """
    engine = _loaded.get(name)
    if engine is None:
        if name not in MODULES:
            raise EngineNotFoundError(
                f"there is no engine {name!r}; Kameleon has: {', '.join(MODULES)}"
            )
        module: Any = importlib.import_module(MODULES[name])
        engine = _loaded[name] = module.engine
    return engine


def current() -> Engine:
    """The engine that runs functions which name none."""
    return load(_current[0])


def use(name: str) -> None:
    """Make `name` the engine in force."""
    load(name)
    _current[0] = name


def embedded() -> Engine:
    """The engine that is always there: it folds constants and runs one-off evaluations."""
    return load("numpy")


def release() -> None:
    """Let all loaded engines free what they keep for reuse."""
    for engine in _loaded.values():
        engine.release()
