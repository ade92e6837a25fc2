"""The file system, as TensorFlow's `gfile` asks for it: local files alone."""

from __future__ import annotations

import io
import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from errno import ENOENT
from types import SimpleNamespace
from typing import IO, Any

from ..failures import failure, invalid, refused
from ..paths import make_folders, matching, path_of
from .exports import as_text, export
from .graph_defs import Status

Name = str | bytes


def on_paths(function: Callable[..., Any], count: int = 1) -> Callable[..., Any]:
    """The function, on names in the API's manner; what the system refuses is TensorFlow's error."""

    def call(*arguments: Any) -> Any:
        paths = [path_of(name) for name in arguments[:count]]
        try:
            return function(*paths, *arguments[count:])
        except OSError as error:
            raise refused(error, paths[0]) from error

    return call


def _demand(path: str, *_: Any) -> None:
    if not os.path.exists(path):
        raise FileNotFoundError(ENOENT, os.strerror(ENOENT), path)


def _delete_tree(path: str, *_: Any) -> None:
    os.stat(path)
    shutil.rmtree(path)


def _make_one(path: str, *_: Any) -> None:
    with suppress(FileExistsError):
        os.mkdir(path)


def _rename(old: str, new: str, overwrite: bool = True, *_: Any) -> None:
    _demand_free(new, overwrite)
    os.replace(old, new)


def _copy(old: str, new: str, overwrite: bool = True, *_: Any) -> None:
    _demand_free(new, overwrite)
    shutil.copyfile(old, new)


def _demand_free(path: str, overwrite: bool) -> None:
    if not overwrite and os.path.exists(path):
        raise failure("ALREADY_EXISTS", "file already exists")


def _stat(path: str, found: Any = None, *_: Any) -> Any:
    status = os.stat(path)
    made = found or SimpleNamespace()
    made.length, made.mtime_nsec = status.st_size, status.st_mtime_ns
    made.is_directory = os.path.isdir(path)
    return made


class WritableFile:
    """A file that is written at its end."""

    def __init__(self, path: str, mode: str) -> None:
        self._file: IO[bytes] = open(path, "ab" if "a" in mode else "wb")  # noqa: SIM115

    def append(self, data: Name) -> None:
        """Write behind what was written."""
        self._file.write(data.encode() if isinstance(data, str) else data)

    def Flush(self) -> Status:  # noqa: N802
        self._file.flush()
        return Status()

    def Close(self) -> Status:  # noqa: N802
        self._file.close()
        return Status()


class ReadableFile(io.BufferedReader):
    """A file that is read from a place on."""

    def __init__(self, path: str, *_: Any) -> None:
        super().__init__(io.FileIO(path))

    ReadLineAsString = io.BufferedReader.readline
    Tell = io.BufferedReader.tell

    def Seek(self, place: int) -> Status:  # noqa: N802
        if place < 0:
            raise invalid(f"Seeking to a negative position: {place}")
        self.seek(place)
        return Status()


for _name, _function, _count in (
    ("FileExists", _demand, 1),
    ("RecursivelyCreateDir", lambda path, *_: make_folders(path), 1),
    ("CreateDir", _make_one, 1),
    ("DeleteFile", lambda path, *_: os.remove(path), 1),
    ("DeleteRecursively", _delete_tree, 1),
    ("RenameFile", _rename, 2),
    ("CopyFile", _copy, 2),
    ("IsDirectory", lambda path, *_: os.path.isdir(path), 1),
    ("GetMatchingFiles", lambda path, *_: [*map(os.fsencode, matching(path))], 1),
    ("GetChildren", lambda path, *_: [*map(os.fsencode, os.listdir(path))], 1),
    ("Stat", _stat, 1),
    ("CreateWritableFile", lambda path, mode, *_: WritableFile(path, as_text(mode)), 1),
    ("CreateBufferedInputStream", ReadableFile, 1),
):
    export(_name)(on_paths(_function, _count))

export("AppendToFile")(lambda data, file, *_: file.append(data))
export("ReadFromStream")(lambda file, count, *_: file.read(count))
export("FileStatistics")(SimpleNamespace)
