"""The import hook: modules of the original Keras load with what they need.

The hook handles modules of Keras alone, and finds them as Python does.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from itertools import chain
from types import ModuleType
from typing import Any

from ..._utils.around import Function, around
from . import location, shims

Steps = dict[str, Callable[[ModuleType], None]]  # by name of a module, what's done with it


def loaded_within(
    spec: ModuleSpec, context: Callable[[ModuleType], AbstractContextManager[None]]
) -> ModuleSpec:
    """The spec, whose module runs inside of `context(module)`; its loader is then as it was."""
    loader: Any = spec.loader
    run = loader.exec_module

    def exec_module(module: ModuleType) -> None:
        del loader.exec_module
        with context(module):
            run(module)

    loader.exec_module = exec_module
    return spec


class Empty(Loader):
    """Makes a module without a file: `fill` gives it its content."""

    def __init__(self, fill: Callable[[ModuleType], None]) -> None:
        self.fill = fill

    def exec_module(self, module: ModuleType) -> None:
        """Fill the module."""
        self.fill(module)


class KerasFinder(MetaPathFinder):
    """Finds those modules of Keras that need something.

    Args:
        after: for names of modules, what is done when they have run.
        instead: for names of modules, what fills a module in their place.
    """

    def __init__(self, after: Steps, instead: Steps) -> None:
        self.after, self.instead = after, instead
        needy = (shim.module for shim in shims.SHIMS)
        named = (shims.WITHOUT_TENSORFLOW, shims.OPENS_SETTINGS, shims.WARNED_ABOUT, after)
        self.names = {*needy, *chain(*named)}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Python's own spec, with what is done around the module; None where that's nothing."""
        if fullname not in self.names and fullname not in self.instead:
            return None
        if fullname.startswith("keras.") and not is_of_original():
            return None
        if fullname in self.instead:
            return ModuleSpec(fullname, Empty(self.instead[fullname]), origin="kameleon")
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None:
            return None
        if fullname in shims.WARNED_ABOUT:
            loader: Any = spec.loader
            loader.source_to_code = _unwarned(loader.source_to_code)
        return loaded_within(spec, self._prepared)

    @contextmanager
    def _prepared(self, module: ModuleType) -> Iterator[None]:
        """A block in which a module runs with what it needs."""
        shims.before(module)
        yield
        if module.__name__ in self.after:
            self.after[module.__name__](module)


@around
def _unwarned(compile: Function, *args: Any, **options: Any) -> Any:
    with warnings.catch_warnings(action="ignore", category=SyntaxWarning):
        return compile(*args, **options)


def is_of_original() -> bool:
    """Whether the package `keras` that is loading, or has loaded, is the original.

    >>> is_of_original()
    False
    """
    package = sys.modules.get("keras")
    return any(location.holds_original(place) for place in getattr(package, "__path__", ()))
