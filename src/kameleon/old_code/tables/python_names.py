"""What Python's own library had and has no longer."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import os
import re
import shutil
import sys
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any, NamedTuple

from ..stand_in import Old, Table, constant, from_module, function, same

ABSTRACT = (
    "Awaitable AsyncIterable AsyncIterator ByteString Callable Collection Container Coroutine"
    " Generator Hashable ItemsView Iterable Iterator KeysView Mapping MappingView MutableMapping"
    " MutableSequence MutableSet Reversible Sequence Set Sized ValuesView"
).split()


class ArgSpec(NamedTuple):
    """What `inspect.getargspec` gave."""

    args: list[str]
    varargs: str | None
    keywords: str | None
    defaults: tuple[Any, ...] | None


def getargspec(func: Callable[..., Any]) -> ArgSpec:
    """The parameters of a function; ValueError for those that must be named."""
    found = inspect.getfullargspec(func)
    if found.kwonlyargs or found.annotations:
        raise ValueError(
            "Function has keyword-only parameters or annotations, use inspect.signature() API which"
            " can support them"
        )
    return ArgSpec(found.args, found.varargs, found.varkw, found.defaults)


# imp ----------------------------------------------------------------------------------------


def load_source(name: str, pathname: str, file: Any = None) -> ModuleType:
    """The module of that name, from a file."""
    spec = importlib.util.spec_from_file_location(name, pathname)
    if spec is None or spec.loader is None:
        raise ImportError(f"{pathname} is no file of Python source", name=name)
    made = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


# distutils ----------------------------------------------------------------------------------


class LooseVersion:
    """A version as a list of numbers and words, which is compared from left to right.

    >>> LooseVersion("1.10.2") > "1.9", LooseVersion("2.3.1").version
    (True, [2, 3, 1])
    """

    version: list[Any]

    def __init__(self, vstring: str | None = None):
        if vstring is not None:
            self.parse(vstring)

    def parse(self, vstring: str) -> None:
        """Take the version from a string."""
        self.vstring = vstring
        parts = (part for part in re.split(r"(\d+|[a-z]+|\.)", vstring) if part not in ("", "."))
        self.version = [int(part) if part.isdigit() else part for part in parts]

    def __str__(self) -> str:
        return self.vstring

    def __repr__(self) -> str:
        return f"LooseVersion ('{self}')"

    def _other(self, other: Any) -> list[Any]:
        found: list[Any] = (
            other if isinstance(other, LooseVersion) else LooseVersion(str(other))
        ).version
        return found

    def __eq__(self, other: object) -> bool:
        return self.version == self._other(other)

    def __hash__(self) -> int:
        return hash(tuple(self.version))

    def __lt__(self, other: Any) -> bool:
        return self.version < self._other(other)

    def __le__(self, other: Any) -> bool:
        return self.version <= self._other(other)

    def __gt__(self, other: Any) -> bool:
        return self.version > self._other(other)

    def __ge__(self, other: Any) -> bool:
        return self.version >= self._other(other)


def strtobool(val: str) -> int:
    """1 for yes, true, on …; 0 for no, false, off …; ValueError for anything else."""
    words = {**dict.fromkeys(("y", "yes", "t", "true", "on", "1"), 1),
             **dict.fromkeys(("n", "no", "f", "false", "off", "0"), 0)}  # fmt: skip
    if val.lower() not in words:
        raise ValueError(f"invalid truth value {val!r}")
    return words[val.lower()]


def copy_tree(src: str, dst: str, *args: Any, **options: Any) -> list[str]:
    """Copy what is in a folder into another one; the files that were made."""
    shutil.copytree(src, dst, dirs_exist_ok=True)
    return [os.path.join(root, name) for root, _, names in os.walk(dst) for name in names]


def mkpath(name: str, mode: int = 0o777, *args: Any, **options: Any) -> list[str]:
    """Make a folder, and those around it."""
    there = os.path.isdir(name)
    os.makedirs(name, mode, exist_ok=True)
    return [] if there else [name]


def remove_tree(directory: str, *args: Any, **options: Any) -> None:
    """Remove a folder with all that is in it."""
    shutil.rmtree(directory)


VERSION = {
    "LooseVersion": constant("packaging.version.Version", LooseVersion),
    "StrictVersion": constant("packaging.version.Version", LooseVersion),
}

TABLES: Mapping[str, Table] = {
    "collections": Table({name: from_module("collections.abc", name) for name in ABSTRACT}),
    "inspect": Table({"getargspec": function("inspect.getfullargspec", getargspec)}),
    "time": Table({"clock": from_module("time", "process_time")}),
    "string": Table(
        {
            "letters": same("string.ascii_letters"),
            "lowercase": same("string.ascii_lowercase"),
            "uppercase": same("string.ascii_uppercase"),
            "maketrans": Old("str.maketrans", lambda _: str.maketrans),
            "join": Old("str.join", lambda _: lambda words, sep=" ": sep.join(words)),
            "atoi": Old("int", lambda _: int),
            "atof": Old("float", lambda _: float),
        }
    ),
    "imp": Table(
        {
            "reload": from_module("importlib", "reload"),
            "load_source": function("importlib.util.spec_from_file_location", load_source),
            "new_module": Old("types.ModuleType", lambda _: ModuleType),
        },
        made=True,
    ),
    "distutils": Table(made=True),
    "distutils.version": Table(VERSION, made=True),
    "distutils.spawn": Table({"find_executable": from_module("shutil", "which")}, made=True),
    "distutils.util": Table({"strtobool": function("a comparison", strtobool)}, made=True),
    "distutils.dir_util": Table(
        {
            "copy_tree": function("shutil.copytree", copy_tree),
            "mkpath": function("os.makedirs", mkpath),
            "remove_tree": function("shutil.rmtree", remove_tree),
        },
        made=True,
    ),
}
