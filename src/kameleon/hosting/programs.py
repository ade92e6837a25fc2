"""Names of NumPy 1 for old programs that use them: `np.float`, `np.Inf`, `np.product` …

Programs that were written for Keras 2 were written for NumPy 1. A file of such a program that
uses a removed name gets a stand-in for NumPy that has the name. Files that use no such name,
libraries, and NumPy itself stay as they are.
"""

from __future__ import annotations

import importlib.machinery
import os
import re
import sys
from collections.abc import Mapping, Sequence
from importlib.abc import MetaPathFinder
from types import ModuleType
from typing import Any

from .. import config
from .plain import open_as_told
from .shims import importing

# By old name, what Python or NumPy has for it now; NumPy 1.24 or 2.0 removed the names.
PYTHONS = {
    "bool": bool,
    "complex": complex,
    "float": float,
    "int": int,
    "object": object,
    "str": str,
}
RENAMED = {
    "Inf": "inf", "Infinity": "inf", "PINF": "inf", "infty": "inf", "NaN": "nan",
    "float_": "float64", "complex_": "complex128", "unicode_": "str_", "string_": "bytes_",
    "alltrue": "all", "sometrue": "any", "product": "prod", "cumproduct": "cumprod",
    "round_": "round", "row_stack": "vstack", "trapz": "trapezoid",
}  # fmt: skip
GONE = frozenset({*PYTHONS, *RENAMED, "NINF", "asscalar"})

_USE = re.compile(rf"\b(?:np|numpy)\s*\.\s*(?:{'|'.join(sorted(GONE))})\b".encode())
_LIBRARIES = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")


def old_names(numpy: ModuleType) -> Mapping[str, Any]:
    """The names that NumPy had and has no longer, with their values.

    >>> import numpy
    >>> old_names(numpy)["float"], old_names(numpy)["complex"]
    (<class 'float'>, <class 'complex'>)
    """
    found = {old: getattr(numpy, new, None) for old, new in RENAMED.items()}
    found |= PYTHONS | {"NINF": -numpy.inf, "asscalar": lambda array: array.item()}
    return {name: value for name, value in found.items() if name not in vars(numpy)}


def uses_old_names(source: bytes) -> bool:
    """Whether a source uses a name that NumPy has no longer.

    >>> uses_old_names(b"x.astype(np.float)"), uses_old_names(b"x.astype(np.float32)")
    (True, False)
    """
    return _USE.search(source) is not None


def prepare(module: dict[str, Any], source: bytes) -> None:
    """Let a module that is about to run see what its source asks for: old names of NumPy; and in
    keras.json the backend that programs are told of.

    Args:
        module: the module's globals.
        source: the source that will run.
    """
    uses = uses_old_names(source)
    reads = b"keras.json" in source and config.known_as() != config.HOSTED
    if uses or reads:
        own = module["__builtins__"] = importing({"numpy": old_names} if uses else {})
        if reads:
            own["open"] = open_as_told


class ProgramFinder(MetaPathFinder):
    """Finds the modules of a program that lie in the folder of its script.

    Args:
        folder: of the script. Libraries that are installed inside the folder are left alone.
    """

    def __init__(self, folder: str) -> None:
        self.folder = os.path.join(os.path.realpath(folder), "")

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Python's own spec with a loader that gives the old names; None for other modules."""
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is None or type(spec.loader) is not importlib.machinery.SourceFileLoader:
            return None
        file = os.path.realpath(spec.origin or "")
        if not file.startswith(self.folder) or any(part in file for part in _LIBRARIES):
            return None
        spec.loader = _OldLoader(spec.loader.name, spec.loader.path)
        return spec


class _OldLoader(importlib.machinery.SourceFileLoader):
    """Python's own loader, which gives the old names first."""

    def exec_module(self, module: ModuleType) -> None:
        prepare(vars(module), self.get_data(self.path))
        super().exec_module(module)


def begin(folder: str) -> None:
    """From now on, modules in the folder of a script that need old names see them."""
    # Right before the finder that searches `sys.path`: all finders before it still come first.
    path_finder: Any = importlib.machinery.PathFinder
    sys.meta_path.insert(sys.meta_path.index(path_finder), ProgramFinder(folder))
