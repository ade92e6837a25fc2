"""Modules that a function fills, or that refuse to load."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from types import ModuleType

from ...config import STAND_IN
from ...errors import MissingLibraryError
from ..keras2.loading import Empty


def made(name: str, run: Callable[[ModuleType], None]) -> ModuleSpec:
    return ModuleSpec(name, Empty(run), origin=STAND_IN, is_package=True)


def refusal(name: str, sentence: str | Callable[[str], str]) -> ModuleSpec:
    """The spec of a module that raises when it's loaded, with a sentence that says why."""

    def refuse(module: ModuleType) -> None:
        said = sentence if isinstance(sentence, str) else sentence(name)
        raise MissingLibraryError(said, name=name)

    return made(name, refuse)


def is_loading(name: str) -> bool:
    """Whether the module is in the middle of being imported."""
    return bool(getattr(getattr(sys.modules.get(name), "__spec__", None), "_initializing", False))
