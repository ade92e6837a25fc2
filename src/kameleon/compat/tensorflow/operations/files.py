"""Names of files, and files as a whole."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from ..checkpoints import reported
from ..paths import make_folders, matching, path_of
from .table import host
from .values import objects, scalar, text, texts


def contents(path: str) -> bytes:
    """What is in a file.

    Raises:
        NotFoundError: (TensorFlow's) it isn't there.
    """
    with reported(path), open(path_of(path), "rb") as file:
        return file.read()


@host("ShardedFilename")
def _sharded(base: str, number: int, count: int) -> np.ndarray:
    return scalar(f"{base}-{number:05d}-of-{count:05d}")


@host("ShardedFilespec")
def _pattern(base: str, count: int) -> np.ndarray:
    return scalar(f"{base}-?????-of-{count:05d}")


host("ReadFile")(lambda path: scalar(contents(text(path))))


@host("WriteFile")
def _write(path: str, data: bytes) -> None:
    with reported(path):
        place = path_of(path)
        make_folders(os.path.dirname(place))
        with open(place, "wb") as file:
            file.write(data)


def files_of(patterns: Any) -> list[bytes]:
    """The files of patterns, sorted."""
    names = [path_of(each) for each in texts(patterns).ravel()]
    with reported(""):
        return sorted(os.fsencode(path) for each in names for path in matching(each))


host("MatchingFiles")(lambda patterns: objects(files_of(patterns)))
