"""Names of files, and files as a whole."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..checkpoints import reported
from ..graph import Operation
from ..variables import Store
from .table import host
from .values import texts


def text(value: Any) -> str:
    """A scalar of bytes, or of text, as a string."""
    found = np.asarray(value, object).item()
    return found.decode() if isinstance(found, bytes) else str(found)


def scalar(value: str) -> np.ndarray:
    """A string as a value of a graph."""
    return np.array(value.encode(), object)


def objects(values: Sequence[Any]) -> np.ndarray:
    """A vector of strings, or of what is no array."""
    found = np.empty(len(values), object)
    found[:] = values
    return found


def plain(value: Any) -> np.ndarray:
    """A value as an array; strings as bytes."""
    return texts(value) if np.asarray(value).dtype.kind in "OSU" else np.asarray(value)


def contents(path: str) -> bytes:
    """What is in a file.

    Raises:
        NotFoundError: (TensorFlow's) it isn't there.
    """
    with reported(path), open(path, "rb") as file:
        return file.read()


@host("ShardedFilename")
def _sharded(store: Store, operation: Operation, base: Any, number: Any, count: Any) -> Any:
    return scalar(f"{text(base)}-{int(number):05d}-of-{int(count):05d}")


@host("ShardedFilespec")
def _pattern(store: Store, operation: Operation, base: Any, count: Any) -> Any:
    return scalar(f"{text(base)}-?????-of-{int(count):05d}")


@host("ReadFile")
def _read(store: Store, operation: Operation, path: Any) -> np.ndarray:
    return np.array(contents(text(path)), object)


@host("WriteFile")
def _write(store: Store, operation: Operation, path: Any, data: Any) -> list[Any]:
    os.makedirs(os.path.dirname(text(path)) or ".", exist_ok=True)
    found = np.asarray(data, object).item()
    with reported(text(path)), open(text(path), "wb") as file:
        file.write(found)
    return []


def matching(patterns: Any) -> list[bytes]:
    """The files of patterns, sorted."""
    given = np.ravel(np.asarray(patterns, object))
    return sorted(os.fsencode(path) for each in given for path in glob.glob(text(each)))


@host("MatchingFiles")
def _matching(store: Store, operation: Operation, patterns: Any) -> np.ndarray:
    return objects(matching(patterns))
