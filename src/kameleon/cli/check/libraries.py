"""Python's own library and NumPy, as old code sees them; and whether other libraries are there."""

from __future__ import annotations

import builtins
import importlib
import sys
import warnings
from collections.abc import Mapping
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from kameleon.compat.legacy.stand_in import Table

from .findings import CANT, CHANGE, PYTHON_2, PYTHON_2_MODULES, SERVED, Said, lacks

LITERALS = frozenset({"builtins.dict", "builtins.list", "builtins.str"})  # what the text itself has
NOISY = frozenset({"antigravity", "this"})  # modules of Python's that do something when imported


class Libraries:
    """What libraries have.

    Args:
        tables: by full name of a module, the old names that are given.

    >>> Libraries({}).about("math.sine").remedy
    "did you mean 'sin'?"
    """

    def __init__(self, tables: Mapping[str, Table]) -> None:
        self.tables = tables

    def about(self, name: str) -> Said | None:
        """What there is to say of a full name."""
        head, _, rest = name.partition("()")
        if rest and head in LITERALS:
            kind, attribute = getattr(builtins, head.split(".")[1]), rest.split(".")[1]
            attribute = attribute.partition("(")[0]
            is_there = hasattr(kind, attribute)
            return None if is_there else lacks(f"a {kind.__name__} has", attribute, name, dir(kind))
        top, *parts = head.split(".")
        if top in NOISY or not (top in sys.stdlib_module_names or top in ("builtins", "numpy")):
            return self._of_top(head)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return self._inside(importlib.import_module(top), top, parts)
        except ImportError:
            return self._of_top(head)

    def _of_top(self, name: str) -> Said | None:
        """Whether a library is there: what is inside of it isn't looked at."""
        top = name.partition(".")[0]
        table = self.tables.get(name, self.tables.get(top, Table()))
        if table.made or _is_there(top):
            return None
        if top in PYTHON_2_MODULES:
            today = f"import {PYTHON_2_MODULES[top]} instead"
            return Said(CHANGE, top, "only Python 2 has this module", today)
        remedy = table.instead or f"install the package that brings {top}"
        return Said(CANT, top, f"there's no module {top} here", remedy)

    def _inside(self, module: Any, path: str, parts: list[str]) -> Said | None:
        for name in parts:
            if not isinstance(module, ModuleType):
                return None
            full = f"{path}.{name}"
            if hasattr(module, name):
                module = getattr(module, name)
            elif self.tables.get(full, Table()).made:
                module = ModuleType(full)
            elif hasattr(module, "__path__") and find_spec(full) is not None:
                module = importlib.import_module(full)
            else:
                return self._gone(module, path, name)
            path = full
        return None

    def _gone(self, module: ModuleType, path: str, name: str) -> Said | None:
        full = f"{path}.{name}"
        old = self.tables.get(path, Table()).old(name)
        try:
            if old is not None:
                old.value(module)
                return Said(SERVED, full, "it's gone; Kameleon gives it", f"today: {old.today}")
        except AttributeError:
            pass  # the library, in this version, can't give it
        if module is not builtins:
            return lacks(f"{path} has", name, full, dir(module))
        if name in PYTHON_2:
            return Said(CHANGE, full, "only Python 2 has it", f"write {PYTHON_2[name]}")
        return None


def _is_there(top: str) -> bool:
    try:
        return find_spec(top) is not None
    except (ImportError, ValueError):
        return top in sys.modules
