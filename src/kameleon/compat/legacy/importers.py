"""Who is old code: the program, and the libraries of its days. Everybody else sees today's names.

An importer is judged by its module's globals: by the file that it's in, and, for an installed
library, by what the library's own metadata say of the Python versions that it knows.
"""

from __future__ import annotations

import builtins
import enum
import os
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

MARK = "_gives_old_names"  # of the function that the import statement calls


class Importer(enum.Enum):
    """What a module is, for whoever decides which names it sees."""

    PROGRAM = "a module of the program"
    LIBRARY = "an installed library of the days of Keras 2"
    OTHER = "anything else"


# Packages that are never old code, wherever they lie. Keras and its two companions are old, and
# have shims of their own.
NEVER = frozenset(
    """
    kameleon keras keras_applications keras_preprocessing keras_core keras_hub keras_nlp keras_cv
    numpy scipy h5py PIL pandas sklearn matplotlib networkx yaml six
    tf_keras torch torchvision torchaudio jax jaxlib flax optax onnx onnxruntime pytensor pymc cntk
    pytest _pytest pluggy xdist hypothesis pip setuptools pkg_resources _distutils_hack
    """.split()
)
# Originals that are run as they were published.
ORIGINALS = frozenset(
    "keras keras_applications keras_preprocessing tensorflow_core tensorflow_estimator".split()
)
# What the names of installed packages begin with that are never old code: the engines' families.
# (Of libraries beside TensorFlow, such as its Hub and Probability, the metadata tell.)
FAMILIES = (
    "tensorflow.", "tensorflow_io", "tensorflow_estimator", "tensorflow_cpu",
    "tensorboard.", "tensorboard_", "torch_", "jax", "onnx", "nvidia", "google.",
)  # fmt: skip

_INSTALLED = re.compile(r"^(.*[/\\](?:site|dist)-packages[/\\])")
_PYTHONS = os.path.join(os.path.dirname(os.path.realpath(os.__file__)), "")
_OURS = os.path.join(Path(__file__).resolve().parents[2], "")


def importer(space: Mapping[str, Any]) -> Importer:
    """What the module with these globals is.

    >>> importer({"__name__": "__main__"}), importer(vars(os))
    (<Importer.PROGRAM: 'a module of the program'>, <Importer.OTHER: 'anything else'>)
    """
    name, file = space.get("__name__"), space.get("__file__")
    if not isinstance(name, str):
        return Importer.OTHER
    return _judge(name, file if isinstance(file, str) else "")


def is_old(space: Mapping[str, Any]) -> bool:
    """Whether the module with these globals is old code.

    >>> is_old({"__name__": "train", "__file__": "train.py"}), is_old(vars(re))
    (True, False)
    """
    return importer(space) is not Importer.OTHER


def gives_old_names() -> bool:
    """Whether the import statement is the one of old code now: else nobody sees old names."""
    return getattr(builtins.__import__, MARK, False)


def asking(frame: FrameType | None) -> FrameType | None:
    """The first frame, from this one outwards, that isn't Python's own library or Kameleon."""
    while frame is not None:
        if not _is_between(frame.f_code.co_filename):
            return frame
        frame = frame.f_back
    return None


@cache
def _judge(name: str, file: str) -> Importer:
    top = name.partition(".")[0]
    if not file:  # typed in, or built into Python
        return Importer.PROGRAM if name == "__main__" else Importer.OTHER
    place = place_of(file)
    installed = _INSTALLED.match(os.path.abspath(file)) or _INSTALLED.match(place)
    if top in NEVER or place.startswith(_OURS):
        return Importer.OTHER
    if name == "__main__":
        return Importer.PROGRAM
    if installed is None:
        return Importer.OTHER if is_pythons(place) else Importer.PROGRAM
    modern = f"{name}.".startswith(FAMILIES) or _is_modern(top, installed[1])
    return Importer.OTHER if modern else Importer.LIBRARY


@cache
def _is_between(file: str) -> bool:
    place = place_of(file)
    return file.startswith("<frozen ") or place.startswith(_OURS) or is_pythons(place)


def place_of(file: str) -> str:
    """The place of a file behind all links; that of its folder is found once."""
    folder, name = os.path.split(os.path.abspath(file))
    place = os.path.join(_real_folder(folder), name)
    return os.path.realpath(place) if os.path.islink(place) else place


_real_folder = cache(os.path.realpath)


@cache
def is_pythons(file: str) -> bool:
    """Whether a file is of Python's own library."""
    return file.startswith(_PYTHONS) and not _INSTALLED.match(file)


# --- what an installed library says of itself ---------------------------------------------------

# A library that names a version of Python from here on was written after the old names had gone.
NAMES_AT_LEAST = 11  # Python 3.11, of October 2022
NEEDS_AT_LEAST = 9  # NumPy and SciPy dropped Python 3.8 in 2023

_NAMED = re.compile(r"^Classifier: Programming Language :: Python :: 3\.(\d+)\s*$", re.MULTILINE)
_NEEDED = re.compile(r"^Requires-Python:.*>=?\s*3\.(\d+)", re.MULTILINE)


def says_modern(metadata: str) -> bool:
    """Whether a library's metadata say that it knows today's Python.

    >>> says_modern("Name: a\\nRequires-Python: >=3.10"), says_modern("Name: keras-rl")
    (True, False)
    """
    header = metadata.partition("\n\n")[0]
    named = any(int(minor) >= NAMES_AT_LEAST for minor in _NAMED.findall(header))
    return named or any(int(minor) >= NEEDS_AT_LEAST for minor in _NEEDED.findall(header))


def _is_modern(package: str, folder: str) -> bool:
    where = _distributions(folder).get(package)
    return where is not None and says_modern(_read(os.path.join(folder, where)))


@cache
def _distributions(folder: str) -> Mapping[str, str]:
    """By importable name, the file with the metadata of the library that brings it."""
    found: dict[str, str] = {}
    for entry in sorted(os.listdir(folder)):
        kind = {".dist-info": "METADATA", ".egg-info": "PKG-INFO"}.get(os.path.splitext(entry)[1])
        if kind is None:
            continue
        is_file = os.path.isfile(os.path.join(folder, entry))
        metadata = entry if is_file else os.path.join(entry, kind)
        for name in _brought(folder, entry):
            found.setdefault(name, metadata)
    return found


def _brought(folder: str, entry: str) -> set[str]:
    """The importable names that a distribution brings, as its lists of names or files say."""
    modules = _read(os.path.join(folder, entry, "top_level.txt")).split()
    if modules:
        return {*modules}
    files = _read(os.path.join(folder, entry, "RECORD")).splitlines()
    tops = {line.partition(",")[0].partition("/")[0] for line in files}
    named = re.split(r"-\d", entry.rpartition(".")[0], maxsplit=1)[0]
    return {top.partition(".py")[0] for top in tops} | {named.replace("-", "_")}


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def forget() -> None:
    """Judge anew: for tests, and for libraries that were installed meanwhile."""
    _judge.cache_clear()
    _distributions.cache_clear()
