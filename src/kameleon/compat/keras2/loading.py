"""The import hook: modules of the original Keras load with what they need.

The hook handles modules of Keras alone, and finds them as Python does. Once a module has run, its
own loader is in place again.
"""

from __future__ import annotations

import importlib.machinery
import sys
import warnings
from collections.abc import Callable, Sequence
from importlib.abc import Loader, MetaPathFinder
from itertools import chain
from types import ModuleType
from typing import Any

from . import location, shims

Steps = dict[str, Callable[[ModuleType], None]]  # by name of a module, what's done with it


class Hosted(Loader):
    """Loads a module of Keras by its own loader, between `shims.before` and `after`."""

    def __init__(self, inner: Any, after: Callable[[ModuleType], None] | None) -> None:
        self.inner, self.after = inner, after

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        """The module that its own loader makes."""
        created: ModuleType | None = self.inner.create_module(spec)
        return created

    def exec_module(self, module: ModuleType) -> None:
        """Run the module; whoever asks for its source later finds its own loader."""
        if module.__spec__ is not None:
            module.__spec__.loader = module.__loader__ = self.inner
        shims.before(module)
        if module.__name__ in shims.WARNED_ABOUT:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SyntaxWarning)
                code = self.inner.get_code(module.__name__)
            exec(code, vars(module))
        else:
            self.inner.exec_module(module)
        if self.after is not None:
            self.after(module)


class Empty(Loader):
    """Makes a module without a file: `fill` gives it its content."""

    def __init__(self, fill: Callable[[ModuleType], None]) -> None:
        self.fill = fill

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        """Python's own kind of module."""
        return None

    def exec_module(self, module: ModuleType) -> None:
        """Fill the module."""
        self.fill(module)


class KerasFinder(MetaPathFinder):
    """Finds those modules of Keras that need something.

    Args:
        after: for names of modules, what is done when they have run.
        instead: for names of modules, what fills a module in their place.
    """

    def __init__(
        self,
        after: Steps,
        instead: Steps,
    ) -> None:
        self.after, self.instead = after, instead
        needy = (shim.module for shim in shims.SHIMS)
        named = (shims.WITHOUT_TENSORFLOW, shims.OPENS_SETTINGS, shims.WARNED_ABOUT, after)
        self.names = {*needy, *chain(*named)}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Python's own spec with our loader; None for modules that need nothing."""
        if fullname not in self.names and fullname not in self.instead:
            return None
        if fullname.startswith("keras.") and not is_of_original():
            return None
        if fullname in self.instead:
            loader = Empty(self.instead[fullname])
            return importlib.machinery.ModuleSpec(fullname, loader, origin="kameleon")
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = Hosted(spec.loader, self.after.get(fullname))
        return spec


def is_of_original() -> bool:
    """Whether the package `keras` that is loading, or has loaded, is the original.

    >>> is_of_original()
    False
    """
    package = sys.modules.get("keras")
    return any(location.holds_original(place) for place in getattr(package, "__path__", ()))
