"""What TensorFlow 1.15 loads at once is loaded when a program asks for it.

- The modules of its API look their names up, as its own generator writes them for lazy loading
  (`source` sees to that); `tf.keras` and `tf.estimator` are there as `Late` modules.
- Some packages give their modules, but run their files when somebody asks for a name that these
  make. One of them is `tensorflow.python`, which loads what tensors need. All else is loaded by
  its file, which is also run for a type of operations, a gradient or another thing that modules
  register when they're loaded, and isn't registered yet.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import ModuleType
from typing import Any

from kameleon._utils.late import Late

from . import location

PYTHON = f"{location.PACKAGE}.python"
FILE = "_file"  # a module without names in a package that waits: loading it runs the package's file

# Packages that wait, with what each loads at once. Tensors need their operators, how values become
# tensors, how variables are made.
WAITING = {
    PYTHON: ("ops.math_ops", "ops.variable_scope", "ops.resource_variable_ops"),
    f"{PYTHON}.autograph": (),
    f"{PYTHON}.distribute": (),
    f"{PYTHON}.keras": (),
    f"{PYTHON}.keras.utils": (),
}
# Packages in `tensorflow.python` whose names stand for modules in them.
HIDDEN = frozenset(
    "compat distribute feature_column layers module profiler saved_model summary user_ops".split()
)
OF_FILES = ("__all__", "__version__")  # such names, which packages' files make
# By name of a registry: modules that register there, where it isn't everything.
REGISTERING = {
    "proto functions": (
        "ops.control_flow_ops", "ops.critical_section_ops", "training.queue_runner_impl",
        "training.saver",
    )
}  # fmt: skip


def package(name: str) -> ModuleType:
    """A package among the files, whose folder is known."""
    made = Late(name)
    made.__file__ = os.path.join(location.find(), *name.split("."), "__init__.py")
    return made


class Package(ModuleType):
    """A package that waits: its file runs when somebody asks for a name that's no module in it."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name not in OF_FILES:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        full = f"{self.__name__}.{name}"
        if not self._hides(name) and importlib.util.find_spec(full) is not None:
            return importlib.import_module(full)
        self._run()
        try:
            return vars(self)[name]
        except KeyError:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}") from None

    def __setattr__(self, name: str, value: Any) -> None:
        is_package = isinstance(value, ModuleType) and value.__name__ == f"{self.__name__}.{name}"
        if not (self._hides(name) and is_package):
            super().__setattr__(name, value)

    def __dir__(self) -> Iterable[str]:
        self._run()
        return super().__dir__()

    def _hides(self, name: str) -> bool:
        return self.__name__ == PYTHON and name in HIDDEN

    def _run(self) -> None:
        importlib.import_module(f"{self.__name__}.{FILE}")


def everything() -> bool:
    """Load all that TensorFlow 1.15 loads when it's imported; a second call does nothing more."""
    importlib.import_module(f"{PYTHON}.{FILE}")
    return True


def register(registry: str) -> bool:
    """Load what registers things under names in a registry, where something isn't there."""
    if registry not in REGISTERING:
        return everything()
    for name in REGISTERING[registry]:
        importlib.import_module(f"{PYTHON}.{name}")
    return True


def missing(names: dict[str, Any]) -> Callable[[str], Any]:
    """`__getattr__` for a module some of whose names the package's file sets."""

    def found(name: str) -> Any:
        if not name.startswith("__"):
            everything()
        if name not in names:
            raise AttributeError(f"module {names['__name__']!r} has no attribute {name!r}")
        return names[name]

    return found


class Definitions(Mapping[str, Any]):
    """The definitions of types of operations: those of modules that are loaded; all, if need be.

    Args:
        known: the first ones, which grow.
    """

    def __init__(self, known: dict[str, Any]) -> None:
        self._known = known

    def __getitem__(self, name: str) -> Any:
        if name not in self._known:
            everything()
        return self._known[name]

    def get(self, name: str, default: Any = None) -> Any:
        """The definition of a type."""
        found = self._known.get(name)
        return super().get(name, default) if found is None else found

    def __iter__(self) -> Iterator[str]:
        everything()
        return iter(self._known)

    def __len__(self) -> int:
        everything()
        return len(self._known)
