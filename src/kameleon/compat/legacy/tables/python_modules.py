"""Modules that Python's own library had in 2019 and has no longer."""

from __future__ import annotations

import html
import importlib
import importlib.machinery
import importlib.util
import os
import re
import shutil
import sys
import sysconfig
from collections.abc import Mapping
from functools import total_ordering
from types import ModuleType
from typing import Any

from ..stand_in import Table, constant, from_module, moved, taken_from

# imp ----------------------------------------------------------------------------------------


def load_source(name: str, pathname: str, file: Any = None) -> ModuleType:
    """The module of that name, from a file."""
    spec = importlib.util.spec_from_file_location(name, pathname)
    if spec is None or spec.loader is None:
        raise ImportError(f"{pathname} is no file of Python source", name=name)
    made = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


PY_SOURCE, PY_COMPILED, C_EXTENSION, PKG_DIRECTORY, C_BUILTIN, PY_FROZEN = 1, 2, 3, 5, 6, 7


def find_module(name: str, path: Any = None) -> tuple[Any, str, tuple[str, str, int]]:
    """A module's file, opened, its path, and its suffix, mode and kind, for `load_module`."""
    spec = importlib.machinery.PathFinder.find_spec(name, path)
    if spec is None and path is None:
        spec = importlib.util.find_spec(name)
    if spec is None:
        raise ImportError(f"No module named {name!r}", name=name)
    if spec.submodule_search_locations:
        return None, next(iter(spec.submodule_search_locations)), ("", "", PKG_DIRECTORY)
    if not spec.has_location:
        return None, "", ("", "", C_BUILTIN)
    place = str(spec.origin)
    suffix = os.path.splitext(place)[1]
    if suffix == ".py":
        return open(place, encoding="utf-8"), place, (suffix, "r", PY_SOURCE)
    kind = PY_COMPILED if suffix == ".pyc" else C_EXTENSION
    return open(place, "rb"), place, (suffix, "rb", kind)


def load_module(name: str, file: Any, filename: str, details: tuple[str, str, int]) -> ModuleType:
    """The module that `find_module` found."""
    if details[2] == C_BUILTIN:
        return importlib.import_module(name)
    inside = details[2] == PKG_DIRECTORY
    return load_source(name, os.path.join(filename, "__init__.py") if inside else filename)


def get_suffixes() -> list[tuple[str, str, int]]:
    """The endings of files that modules lie in, with the mode to open them and their kind."""
    machinery = importlib.machinery
    return [
        *((suffix, "rb", C_EXTENSION) for suffix in machinery.EXTENSION_SUFFIXES),
        *((suffix, "r", PY_SOURCE) for suffix in machinery.SOURCE_SUFFIXES),
        *((suffix, "rb", PY_COMPILED) for suffix in machinery.BYTECODE_SUFFIXES),
    ]


KINDS = {
    name: constant(str(value), value)
    for name, value in globals().items()
    if name.startswith(("PY_", "C_", "PKG_"))
}

# imghdr, cgi --------------------------------------------------------------------------------

# How the files of images begin: at which byte, with what, and what kind of image that is.
BEGINNINGS = (
    (6, b"JFIF", "jpeg"), (6, b"Exif", "jpeg"), (0, b"\xff\xd8\xff\xdb", "jpeg"),
    (0, b"\x89PNG\r\n\x1a\n", "png"), (0, b"GIF87a", "gif"), (0, b"GIF89a", "gif"),
    (0, b"MM", "tiff"), (0, b"II", "tiff"), (0, b"\x01\xda", "rgb"), (0, b"BM", "bmp"),
    (8, b"WEBP", "webp"), (0, b"\x76\x2f\x31\x01", "exr"), (0, b"#define ", "xbm"),
    (0, b"\x59\xa6\x6a\x95", "rast"), (0, b"P1", "pbm"), (0, b"P4", "pbm"),
    (0, b"P2", "pgm"), (0, b"P5", "pgm"), (0, b"P3", "ppm"), (0, b"P6", "ppm"),
)  # fmt: skip


def what(file: Any, h: bytes | None = None) -> str | None:
    """The kind of image in a file, as its first bytes tell."""
    if h is None and isinstance(file, str | os.PathLike):
        with open(file, "rb") as opened:
            h = opened.read(32)
    elif h is None:
        place = file.tell()
        h = file.read(32)
        file.seek(place)
    for at, beginning, kind in BEGINNINGS:
        if h is not None and h[at:].startswith(beginning):
            return kind
    return None


def parse_header(line: str) -> tuple[str, dict[str, str]]:
    """The value in a header, and the options behind it."""
    message: Any = importlib.import_module("email.message").Message()
    message["content-type"] = line
    (value, _), *options = message.get_params([("", "")], unquote=True)
    return value, dict(options)


# distutils ----------------------------------------------------------------------------------


@total_ordering
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


def copy_file(src: str, dst: str, *args: Any, **options: Any) -> tuple[str, int]:
    """Copy a file, to a place or into a folder; where it's now, and 1."""
    return shutil.copy2(src, dst), 1


def _python_lib(plat_specific: int = 0, standard_lib: int = 0, prefix: Any = None) -> str:
    kind = ("purelib", "platlib", "stdlib", "platstdlib")[
        2 * bool(standard_lib) + bool(plat_specific)
    ]
    return sysconfig.get_path(kind)


def _python_inc(plat_specific: int = 0, prefix: Any = None) -> str:
    return sysconfig.get_path("platinclude" if plat_specific else "include")


VERSION = {
    "LooseVersion": constant("packaging.version.Version", LooseVersion),
    "StrictVersion": constant("packaging.version.Version", LooseVersion),
}

# What stands for a module that is gone, and for those in it.
DISTUTILS = {
    "spawn": {"find_executable": from_module("shutil", "which")},
    "util": {
        "strtobool": constant("a comparison", strtobool),
        "get_platform": from_module("sysconfig", "get_platform"),
    },
    "dir_util": {
        "copy_tree": constant("shutil.copytree", copy_tree),
        "mkpath": constant("os.makedirs", mkpath),
        "remove_tree": constant("shutil.rmtree", remove_tree),
    },
    "file_util": {
        "copy_file": constant("shutil.copy2", copy_file),
        "move_file": from_module("shutil", "move"),
    },
    "sysconfig": {
        "get_python_lib": constant("sysconfig.get_path('purelib')", _python_lib),
        "get_python_inc": constant("sysconfig.get_path('include')", _python_inc),
        **taken_from("sysconfig", "get_config_var get_config_vars"),
    },
    "version": VERSION,
    "errors": {
        name: constant("an exception of your own", type(name, (Exception,), {}))
        for name in ("DistutilsError", "DistutilsExecError", "DistutilsFileError", "CompileError")
    },
}
# Parts of distutils that setuptools has.
OF_SETUPTOOLS = {"core": "setuptools", "extension": "setuptools.extension"}
# By gone module, the package that brings it back: for those too large to stand here.
PACKAGES = {
    "asyncore": "pyasyncore", "asynchat": "pyasynchat", "audioop": "audioop-lts",
    "telnetlib": "standard-telnetlib", "nntplib": "standard-nntplib", "aifc": "standard-aifc",
    "chunk": "standard-chunk", "sndhdr": "standard-sndhdr", "sunau": "standard-sunau",
    "uu": "standard-uu", "xdrlib": "standard-xdrlib", "mailcap": "standard-mailcap",
    "cgitb": "legacy-cgi",
}  # fmt: skip


TABLES: Mapping[str, Table] = {
    "imp": Table(
        {
            "reload": from_module("importlib", "reload"),
            "load_source": constant("importlib.util.spec_from_file_location", load_source),
            "load_compiled": constant("importlib.util.spec_from_file_location", load_source),
            "find_module": constant("importlib.util.find_spec", find_module),
            "load_module": constant("importlib.util.module_from_spec", load_module),
            "get_suffixes": constant("importlib.machinery.all_suffixes", get_suffixes),
            "new_module": constant("types.ModuleType", ModuleType),
            "acquire_lock": constant("nothing", lambda: None),
            "release_lock": constant("nothing", lambda: None),
            **KINDS,
        },
        made=True,
    ),
    "imghdr": Table({"what": constant("PIL.Image.open(…).format", what)}, made=True),
    "cgi": Table(
        {
            "escape": constant("html.escape", lambda s, quote=False: html.escape(s, quote)),
            "parse_header": constant("email.message.Message.get_params", parse_header),
            **taken_from("urllib.parse", "parse_qs parse_qsl"),
        },
        made=True,
    ),
    "pipes": Table({"quote": from_module("shlex", "quote")}, made=True),
    "dummy_threading": moved("threading"),
    "distutils": Table(made=True),
    **{f"distutils.{name}": Table(names, made=True) for name, names in DISTUTILS.items()},
    "distutils.log": moved("logging"),
    **{f"distutils.{name}": moved(module) for name, module in OF_SETUPTOOLS.items()},
    **{
        name: Table(instead=f"Python has no {name} any longer; pip install {package}")
        for name, package in PACKAGES.items()
    },
}
