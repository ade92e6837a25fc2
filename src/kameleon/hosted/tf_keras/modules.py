"""The modules of `tf.keras`: names of the table, and for all others, the hosted Keras's.

`tensorflow.python.keras` has the same names in more modules: a class of the hosted Keras that has
another in the table is that one wherever it's found.
"""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Iterable
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from ...errors import MissingNameError
from ...hosting import location
from .networks import of_tf_keras
from .table import HINTS, NAMES, install

HOSTED = "keras"

# What programs also take that otherwise use Keras itself: layers stay as they are there.
APART = frozenset(
    """activations backend constraints datasets initializers preprocessing regularizers utils
    wrappers __version__""".split()
)

# Modules within `tensorflow.python.keras` that the hosted Keras has under another name, or not.
ELSEWHERE = {
    "optimizer_v2": "optimizers",
    "optimizer_v2.optimizer_v2": "optimizers",
    "optimizer_v2.learning_rate_schedule": "optimizers.schedules",
    **{
        f"optimizer_v2.{name}": "optimizers"
        for name in "adadelta adagrad adam adamax ftrl gradient_descent nadam rmsprop".split()
    },
    "backend_config": "backend",
    "callbacks_v1": "callbacks",
    "engine.functional": "models",
    "engine.node": "engine.base_layer",
    "engine.base_layer_v1": "engine.base_layer",
    "engine.training_v1": "engine.training",
    "layers.recurrent_v2": "layers",
    "layers.normalization_v2": "layers",
    "layers.dense_attention": "layers",
    "layers.preprocessing": "layers.experimental.preprocessing",
    "saving.hdf5_format": "engine.saving",
    "saving": "models",
    "engine.input_spec": "layers",
    "distribute": "utils",
    "utils.all_utils": "utils",
    "preprocessing.image_dataset": "preprocessing",
}


class KerasModule(ModuleType):
    """A module of `tf.keras`."""

    def __init__(self, name: str, path: str, asked: str) -> None:
        super().__init__(name, f"Names of tf.keras over the hosted Keras {location.VERSION}.")
        self.__path__: list[str] = []
        self.__file__ = __file__
        self.__spec__ = ModuleSpec(name, None, is_package=True)
        self.__package__ = name
        vars(self).update(_path=path, _asked=asked)

    def __getattr__(self, name: str) -> Any:
        path = vars(self)["_path"]
        if name == "__all__":
            return [each for each in dir(self) if not each.startswith("_")]
        full = f"{path}.{name}" if path else name
        if full.partition(".")[0] not in APART:
            install()
        if full in NAMES:
            return NAMES[full]
        if full in _paths() or _inner(self, name) in ELSEWHERE:
            return child(self, name)
        found = _theirs(path, name)
        if found is not _ABSENT:
            if isinstance(found, ModuleType) and _is_keras(found):
                return child(self, name)
            if path.startswith("applications") and inspect.isfunction(found):
                return of_tf_keras(found, lambda part: module(f"tensorflow.keras.{part}", part))
            return replaced(found)
        if name.startswith("__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        raise MissingNameError(advice(full))

    def __dir__(self) -> Iterable[str]:
        path = vars(self)["_path"]
        start = f"{path}." if path else ""
        own = {n.removeprefix(start).partition(".")[0] for n in NAMES if n.startswith(start)}
        hosted = _hosted(path)
        return sorted(own | set(dir(hosted) if hosted is not None else ()))

    def __repr__(self) -> str:
        return f"<module {self.__name__!r} over {HOSTED} {location.VERSION}>"


_ABSENT = object()


def child(parent: ModuleType, name: str) -> ModuleType:
    """A module in a module."""
    found = vars(parent)[name] = module(f"{parent.__name__}.{name}", _inner(parent, name))
    return found


def _inner(parent: ModuleType, name: str) -> str:
    """The path of what is in a module, as the program says it."""
    return f"{vars(parent)['_asked']}.{name}".lstrip(".")


def _is_keras(found: ModuleType) -> bool:
    return f"{found.__name__}.".startswith((f"{HOSTED}.", "kameleon.backend."))


@functools.cache
def _hosted(path: str) -> ModuleType | None:
    """The hosted Keras's module of that path."""
    name = f"{HOSTED}.{path}" if path else HOSTED
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise
        return None


def _theirs(path: str, name: str) -> Any:
    hosted = _hosted(path)
    if hosted is None:
        return _ABSENT
    try:
        return getattr(hosted, name)
    except AttributeError:
        inner = None if name.startswith("_") else _hosted(f"{path}.{name}".lstrip("."))
        return _ABSENT if inner is None else inner


@functools.cache
def _replacements() -> dict[int, Any]:
    """By identity of a class or function of the hosted Keras, what takes its place."""
    found = {}
    for full, ours in NAMES.items():
        path, _, name = full.rpartition(".")
        hosted = _theirs(path, name)
        if hosted is not _ABSENT and hosted is not ours and not isinstance(hosted, ModuleType):
            found[id(hosted)] = ours
    return found


def replaced(value: Any) -> Any:
    """What stands for something of the hosted Keras."""
    if isinstance(value, type) or callable(value):
        return _replacements().get(id(value), value)
    return value


@functools.cache
def _paths() -> frozenset[str]:
    """The modules that the table's names lie in."""
    found = {*ELSEWHERE}
    for name in NAMES:
        parts = name.split(".")
        found |= {".".join(parts[:n]) for n in range(1, len(parts))}
    return frozenset(found)


def advice(full: str) -> str:
    """What to say of a name that there isn't."""
    parts = full.split(".")
    known = (".".join(parts[:n]) for n in range(len(parts), 0, -1))
    hint = next((HINTS[path] for path in known if path in HINTS), None)
    said = f"tf.keras.{full} isn't there: the Keras on Kameleon is {location.VERSION}"
    return f"{said}; {hint}" if hint else f"{said}, with what the guide (docs/keras2.md) lists"


def module(name: str, path: str) -> ModuleType:
    """The module that old code gets.

    Args:
        name: its full name, as the program says it.
        path: its place in `tf.keras`: '' for `tf.keras` itself, 'layers', 'utils.np_utils' …

    Raises:
        ModuleNotFoundError: there is none.
    """
    return _made(path.strip("."), name)


_modules: dict[str, KerasModule] = {}


def _made(path: str, name: str) -> ModuleType:
    if path not in _modules:
        meant = ELSEWHERE.get(path, path)
        if meant not in _paths() and _hosted(meant) is None:
            raise ModuleNotFoundError(advice(path), name=name)
        _modules[path] = _modules[meant] if meant in _modules else KerasModule(name, meant, path)
    return _modules[path]
