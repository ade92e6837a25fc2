"""Names of files: local ones alone; patterns of them; folders that files need."""

from __future__ import annotations

import glob
import os
import re
from contextlib import suppress

from .failures import failure

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9.]*)://")


def path_of(name: str | bytes) -> str:
    """A name of a local file as a path.

    Raises:
        UnimplementedError: (TensorFlow's) it's a file somewhere else.

    >>> path_of(b"file:///tmp/x")
    '/tmp/x'
    """
    path = os.fsdecode(name).removeprefix("file://")
    if scheme := _SCHEME.match(path):
        raise failure(
            "UNIMPLEMENTED", f"File system scheme '{scheme[1]}' not implemented (file: '{path}')"
        )
    return path


def matching(pattern: str) -> list[str]:
    """The files, and folders, of a pattern, sorted; the folder before its first sign must exist."""
    folder = os.path.dirname(re.split(r"[*?\[\\]", pattern)[0])
    os.listdir(folder or ".")
    whole = pattern if folder else os.path.join(".", pattern)
    return sorted(each for each in glob.glob(whole, include_hidden=True) if each[-1] != "/")


def make_folder(path: str) -> None:
    """Make a folder, in one that is there, where nothing has its name."""
    if path and not os.path.exists(path):
        with suppress(FileExistsError):
            os.mkdir(path)


def make_folders(path: str) -> None:
    """Make a folder, and those around it, where nothing has its name."""
    if path and not os.path.exists(path):
        os.makedirs(path, exist_ok=True)
