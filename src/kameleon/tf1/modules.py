"""The modules of TensorFlow 1 that old programs import: `tensorflow`, `tensorflow.python.ops` …

What a module holds is in the table of `names`; this file knows which modules there are. A name
that there isn't is an error that says what to use.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterable
from importlib import resources
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, NamedTuple

from ..errors import MissingNameError
from . import methods
from .advice import OTHERWISE, hint
from .compat import OF_KERAS as NEWER_OF_KERAS
from .compat import PATH as NEWER
from .compat import as_newer, newer
from .installed.names import found as found_installed
from .installed.names import names as names_installed
from .installed.names import qualifies
from .names import NAMES

ROOT = "tensorflow"
VERSION = "1.15.0"

# Modules that TensorFlow 1.15 has under other names, or from Keras, beside those of `inside.json`.
ALSO = {"python": "keras", "python.ops": "summary_ops"}
# Modules inside whose names are those of a public namespace, for `from module import *`.
SAME = {
    "python.ops.rnn_cell": "nn.rnn_cell", "python.ops.rnn_cell_impl": "nn.rnn_cell",
    "python.ops.nn": "nn", "python.ops.losses.losses": "losses", "python.ops.metrics": "metrics",
    "python.layers.layers": "layers", "python.training.training": "train",
    "python.util.nest": "nest", "python.data.util.nest": "nest",
}  # fmt: skip
# Namespaces that also have the names of others, which come after their own.
BESIDE = {
    "contrib.slim": ("contrib.layers", "contrib.framework", "train"),
    "contrib.slim.losses": ("contrib.losses",), "contrib.slim.metrics": ("contrib.metrics",),
    "contrib.slim.regularizers": ("contrib.layers",), "contrib.slim.nn": ("nn",),
    "contrib.slim.initializers": ("contrib.layers",), "contrib.slim.layers": ("contrib.layers",),
    "contrib.framework": ("train", "nest"), "contrib.signal": ("signal",),
    "contrib.summary": ("summary",), "contrib.metrics": ("metrics",),
    "contrib.rnn": ("nn.rnn_cell",), "contrib.lookup": ("lookup",),
    "nn.seq2seq": ("contrib.legacy_seq2seq",), "contrib.data": ("data.experimental", "data"),
}  # fmt: skip
# Packages whose modules other modules inside of TensorFlow import, and so have as names.
IMPORTED = ("python.ops", "python.framework", "python.util", "python.eager", "python.training",
            "python.platform", "python.client", "python.lib.io", "core.framework", "core.protobuf",
            "python")  # fmt: skip
# Where a module inside of TensorFlow finds a name that isn't at the top.
SPREAD = (
    "", "nn", "math", "image", "linalg", "random", "train", "sparse", "losses", "metrics",
    "layers", "initializers", "summary", "app", "flags", "gfile", "logging", "errors", "test",
    "nest", "nn.rnn_cell", "contrib.layers", "python",
)  # fmt: skip


# Modules of TensorFlow that hold names of its Keras: the path of the module of Keras, and whether
# there's nothing else in it. Whoever hosts Keras says how a module of Keras is found.
OF_KERAS = {
    "python.keras": ("", True),
    "contrib.keras": ("", True),
    "optimizers": ("optimizers", True),
    "losses": ("losses", False),
    "metrics": ("metrics", False),
    "initializers": ("initializers", False),
}
module_of_keras: Callable[[str], ModuleType] | None = None


def _of_keras(path: str, whole: bool) -> ModuleType | None:
    """The module of Keras whose names a module has, alone or beside its own."""
    meant, alone = OF_KERAS.get(path, ("", False))
    if module_of_keras is None or path not in OF_KERAS or alone is not whole:
        return None
    return module_of_keras(meant)


class Namespace(ModuleType):
    """A module of TensorFlow's names over K; any name that it lacks is an error with advice."""

    def __init__(self, path: str, names: dict[str, Any]):
        full = f"{ROOT}.{path}" if path else ROOT
        super().__init__(full, f"Names of TensorFlow {VERSION} over Kameleon.")
        self.__dict__.update(names)
        self.__path__: list[str] = []
        self.__file__ = __file__
        self.__spec__ = ModuleSpec(full, None, is_package=True)
        self.__package__ = full

    def __getattr__(self, name: str) -> Any:
        start, path = split(self.__name__)
        child = f"{path}.{name}" if path else name
        if child == NEWER:
            return module(f"{ROOT}.{NEWER}")
        keras = _of_keras(child, True)
        if keras is not None:
            self.__dict__[name] = keras
            return keras
        if child in _paths():
            found = self.__dict__[name] = module(f"{start}.{child}")
            return found
        if name.startswith("__"):  # asked by copy, pickle and inspect, not by a program
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        if is_inside(path):
            spread = _spread(path, name)
            if spread is not None:
                return spread.value
        for other in BESIDE.get(path, ()):
            full = f"{other}.{name}"
            if full in NAMES or qualifies(full):
                self.__dict__[name] = getattr(module(f"{ROOT}.{other}"), name)
                return self.__dict__[name]
        if qualifies(child):
            value = found_installed(child)
            if start != ROOT:
                value = as_newer(child, value)
            self.__dict__[name] = value
            return value
        beside = _of_keras(path, False)
        if beside is not None and hasattr(beside, name):
            return getattr(beside, name)
        if start != ROOT and path in NEWER_OF_KERAS:
            return getattr(module(f"{ROOT}.{path}"), name)  # where there's no Keras
        raise MissingNameError(advice(child))

    def __dir__(self) -> Iterable[str]:
        _, path = split(self.__name__)
        start = f"{path}." if path else ""
        # Without those of `compat.v2`, which has the same names again.
        names = (name for name in NAMES if not name.startswith(NEWER))
        own = (name.removeprefix(start) for name in names if name.startswith(start))
        return sorted({name.partition(".")[0] for name in own})

    def __repr__(self) -> str:
        return f"<module {self.__name__!r} over kameleon.backend>"


class Found(NamedTuple):
    """A name's value, which may be None."""

    value: Any


def is_inside(path: str) -> bool:
    """Whether a module is one that TensorFlow's public names don't lie in."""
    return path.partition(".")[0] in ("python", "core", "tools") or ".python" in path


def _spread(path: str, name: str) -> Found | None:
    """What a module inside of TensorFlow has under a name: from all namespaces, or a module."""
    own = path.partition(".python")[0]  # of `contrib.layers.python.layers`, `contrib.layers`
    for place in (*SPREAD, own):
        full = f"{place}.{name}" if place else name
        if full in NAMES:
            return Found(NAMES[full])
        if qualifies(full):
            return Found(found_installed(full))
    for package in IMPORTED:
        if f"{package}.{name}" in _paths():
            return Found(module(f"{ROOT}.{package}.{name}"))
    return None


def advice(name: str) -> str:
    """What to say of a name that there isn't.

    >>> advice("nothing")
    "tf.nothing isn't there: Kameleon has many names of TensorFlow 1, but this one it hasn't; use \
K functions (such as K.sum, K.dot, K.switch) instead"
    """
    use = hint(name) or OTHERWISE
    return (
        f"tf.{name} isn't there: Kameleon has many names of TensorFlow 1, but this one it hasn't;"
        f" use {use}"
    )


@functools.cache
def _paths() -> frozenset[str]:
    """All modules, without the first part of their names."""
    found = {*_parents(NAMES), *_parents(names_installed()), "compat", "compat.v1"}
    found |= {*BESIDE, *_parents(BESIDE)}
    for package, children in (*_inside().items(), *ALSO.items()):
        found |= {f"{package}.{child}".lstrip(".") for child in children.split()}
    return frozenset(found)


def _inside() -> dict[str, str]:
    """The modules inside of TensorFlow 1.15 by package, as recorded."""
    text = resources.files(__package__).joinpath("inside.json").read_text("utf-8")
    found: dict[str, str] = json.loads(text)
    return found


def _parents(names: Iterable[str]) -> set[str]:
    return {
        ".".join(parts[:n])
        for parts in (name.split(".") for name in names)
        for n in range(1, len(parts))
    }


def module(name: str) -> ModuleType:
    """The module that stands for one of TensorFlow's.

    Args:
        name: its dotted name, from `tensorflow` on.

    Raises:
        ModuleNotFoundError: there is none; the message says what to use.

    >>> module("tensorflow.python.ops.array_ops").reshape is module("tensorflow").reshape
    True
    """
    start, path = split(name)
    if path and path not in _paths():
        raise ModuleNotFoundError(advice(path), name=name)
    return _made(start, path)


def split(name: str) -> tuple[str, str]:
    """What a module's names begin with, `tensorflow` or `tensorflow.compat.v2`, and its path.

    >>> split("tensorflow.compat.v1.nn"), split("tensorflow.compat.v2")
    (('tensorflow', 'nn'), ('tensorflow.compat.v2', ''))
    """
    start, path = ROOT, name.removeprefix(ROOT).lstrip(".")
    while path.startswith(("compat.v1", NEWER)):
        start = f"{ROOT}.{NEWER}" if path.startswith(NEWER) else ROOT
        path = path[len(NEWER) :].lstrip(".")
    return start, path


@functools.cache
def _made(start: str, path: str) -> ModuleType:
    names = {**_names_in(SAME.get(path, path)), **_names_in(path)}
    if start == ROOT:
        return Namespace(path, names)
    return Namespace(f"{NEWER}.{path}".rstrip("."), newer(path, names))


def _names_in(path: str) -> dict[str, Any]:
    start = f"{path}." if path else ""
    return {
        key.removeprefix(start): value
        for key, value in NAMES.items()
        if key.startswith(start) and "." not in key.removeprefix(start)
    }


methods.install()
