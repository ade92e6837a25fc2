"""Files are written once: what other processes than the first write is kept aside.

Processes that run one program all come to `model.save("model.h5")`. The first one writes it; what
another writes lies in a folder of its own, out of everybody's sight but its own: there it finds
again what it has written, beside the files that are there for all. So every process goes the same
way through the program, and none meets a file that another one is just writing.

The first process may be ahead. What it has made or removed already is made and removed here
without an error, and lines that it has written already are written here once, not behind its own.

What knows paths are Python's functions of files (`open`, and those of `os` that the others are
made of), and the functions of libraries in `OTHERS`, which open files by themselves.
"""

from __future__ import annotations

import builtins
import contextlib
import functools
import importlib.abc
import importlib.util
import io
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from types import ModuleType
from typing import Any

# What isn't a file that somebody could find again.
ELSEWHERE = ("/dev/", "/proc/", "/sys/")
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class Overlay:
    """Where files of one process lie that others don't see.

    Args:
        folder: takes what is written. It's empty.
    """

    def __init__(self, folder: str):
        self.folder = os.path.realpath(folder)
        os.utime(self.folder)  # now, by the clock of files
        self._begun = _stat(self.folder).st_mtime_ns
        self._gone: set[str] = set()  # what was removed here, and is there for the others
        self._emptied: set[str] = set()  # folders among it; they may have been made again

    def _own(self, path: str) -> str:
        return self.folder + path

    def _full(self, path: Any) -> str | None:
        """The whole path of what is kept aside; None for what isn't."""
        if isinstance(path, int) or not path:
            return None
        full = os.path.abspath(os.fsdecode(path))
        shared = (*ELSEWHERE, f"{self.folder}{os.sep}", *_shared)
        return None if f"{full}{os.sep}".startswith(shared) else full

    def _is_gone(self, full: str) -> bool:
        if full in self._gone:
            return True
        around = os.path.dirname(full)
        while around not in self._emptied and around != os.path.dirname(around):
            around = os.path.dirname(around)
        return around in self._emptied

    def found(self, path: Any) -> Any:
        """Where to read what the program calls `path`."""
        full = self._full(path)
        if full is None:
            return path
        own = self._own(full)
        return own if _is_there(own) or self._is_gone(full) else path

    def written(self, path: Any, keeps: bool = True, appends: bool = False) -> Any:
        """Where to write what the program calls `path`.

        Args:
            path: of a file or folder that is there or not.
            keeps: whether what it holds is to stay.
            appends: whether what is written goes to the end. The end of a file that has changed
                since this process began is another process's: then nothing is kept.
        """
        full = self._full(path)
        if full is None:
            return path
        own, around = self._own(full), os.path.dirname(full)
        if not _is_folder(self.found(around)):
            return path  # which the function that is asked will refuse
        _make_folders(os.path.dirname(own))
        if keeps and not _is_there(own) and not self._is_gone(full):
            if _is_folder(full):
                _make_folders(own)
            elif not (appends and self._has_changed(full)):
                _copy(full, own)
        self._gone.discard(full)
        return own

    def _has_changed(self, full: str) -> bool:
        with contextlib.suppress(FileNotFoundError):
            return _stat(full).st_mtime_ns >= self._begun
        return False

    def remove(self, path: Any, call: Callable[[Any], Any]) -> Any:
        """Remove a file or folder, here alone; `call` does it where it's kept aside."""
        full = self._full(path)
        if full is None:
            return call(path)
        own, there = self._own(full), _is_there(full) and not self._is_gone(full)
        if there and not _is_there(own):
            self.written(path)
        result = call(own) if _is_there(own) else None
        if there:
            self._gone.add(full)
            self._emptied.add(full)
        return result

    def names(self, path: Any, call: Callable[[Any], Sequence[Any]]) -> list[Any]:
        """What a folder holds, here: names, or what has a name."""
        full = self._full(path)
        if full is None:
            return list(call(path))
        own = self._own(full)
        if self._is_gone(full) or (_is_there(own) and not _is_there(full)):
            return list(call(own))
        here = list(call(own)) if _is_there(own) else []
        known = {_name(x) for x in here}
        there = (x for x in call(path) if _name(x) not in known)
        return here + [x for x in there if not self._is_gone(os.path.join(full, _name(x)))]


def _name(entry: Any) -> str:
    return os.fsdecode(getattr(entry, "name", entry))


class Listed:
    """What `os.scandir` gives: an iterator that can be closed."""

    def __init__(self, entries: Sequence[os.DirEntry[Any]]):
        self._entries = iter(entries)

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        return next(self._entries)

    def __enter__(self) -> Listed:
        return self

    def __exit__(self, *what: object) -> None:
        self.close()

    def close(self) -> None:
        """Leave out what is left."""
        self._entries = iter(())


# Functions ------------------------------------------------------------------------------------

# Python's own, as long as they are themselves: Kameleon asks for files by these.
_stat, _lstat, _make = os.stat, os.lstat, os.mkdir

# By name in `os`: how paths stand in the call. "r" is read, "w" written, "n" made, "t" linked to.
PATHS = {
    **dict.fromkeys(("stat", "lstat", "access", "chdir", "readlink"), "r"),
    **dict.fromkeys(("chmod", "utime", "truncate"), "w"),
    "mkdir": "n",
    "symlink": "tn",
    "link": "rn",
}
REMOVING = ("remove", "unlink", "rmdir")
BY_KIND: dict[str, Callable[[Overlay, Any], Any]] = {
    "r": Overlay.found,
    "w": Overlay.written,
    "t": lambda overlay, path: overlay.found(os.path.abspath(path)),
    "n": lambda overlay, path: overlay.written(path, keeps=False),
}
# Functions of libraries that open files by themselves: by module, the function, and how its paths
# stand in the call; "m" has a mode behind it.
OTHERS = {
    "h5py": ("is_hdf5", "r"),
    "h5py._hl.files": ("File.__init__", "-m"),
    "safetensors.numpy": ("serialize_file", "-w"),
    "torch.serialization": ("save", "-w"),
    "cv2": ("imwrite", "w"),
}


_shared: list[str] = []


def share(folder: str) -> None:
    """Let all processes write in a folder: they do it together."""
    _shared.append(os.path.join(folder, ""))


def begin(folder: str) -> None:
    """From now on, this process keeps aside, in that folder, what it writes."""
    overlay = Overlay(folder)
    python_open, os_open = io.open, os.open

    def opened(file: Any, mode: str = "r", *args: Any, **options: Any) -> Any:
        return python_open(_by_mode(overlay, file, mode), mode, *args, **options)

    def os_opened(path: Any, flags: int, *args: Any, **options: Any) -> int:
        if options.get("dir_fd") is None:
            keeps = not (flags & os.O_CREAT and flags & (os.O_TRUNC | os.O_EXCL))
            appends = bool(flags & os.O_APPEND)
            path = overlay.written(path, keeps, appends) if flags & WRITING else overlay.found(path)
        return os_open(path, flags, *args, **options)

    builtins.open = io.open = opened
    os.open = os_opened
    functions: Any = os
    for name, how in PATHS.items():
        setattr(functions, name, _mapped(overlay, getattr(os, name), how))
    for name in REMOVING:
        setattr(functions, name, _removing(overlay, getattr(os, name)))
    for name in ("rename", "replace"):
        setattr(functions, name, _renaming(overlay, getattr(os, name)))
    shutil.rmtree = _removing(overlay, shutil.rmtree)
    listdir, scandir = os.listdir, os.scandir
    functions.listdir = lambda path=".": overlay.names(path, listdir)
    functions.scandir = lambda path=".": Listed(overlay.names(path, lambda p: list(scandir(p))))
    sys.meta_path.insert(0, _Finder(overlay))


def _by_mode(overlay: Overlay, path: Any, mode: str) -> Any:
    if not isinstance(path, str | bytes | os.PathLike):
        return path
    if mode.startswith("r") and "+" not in mode:
        return overlay.found(path)
    return overlay.written(path, keeps=mode[:1] not in "wx", appends=mode.startswith("a"))


def _mapped(overlay: Overlay, function: Callable[..., Any], how: str) -> Any:
    """The function, with its paths where they belong."""

    @functools.wraps(function)
    def mapped(*args: Any, **options: Any) -> Any:
        if options.get("dir_fd") is not None:
            return function(*args, **options)
        arguments = list(args)
        for i, kind in enumerate(how[: len(arguments)]):
            if kind == "m":
                given = [*arguments[i + 1 : i + 2], options.get("mode")]
                arguments[i] = _by_mode(overlay, arguments[i], given[0] or "r")
            elif kind != "-":
                arguments[i] = BY_KIND[kind](overlay, arguments[i])
        return function(*arguments, **options)

    return mapped


def _removing(overlay: Overlay, function: Callable[..., Any]) -> Any:
    @functools.wraps(function)
    def removing(path: Any, *args: Any, **options: Any) -> Any:
        if options.get("dir_fd") is not None:
            return function(path, *args, **options)
        return overlay.remove(path, lambda own: function(own, *args, **options))

    return removing


def _renaming(overlay: Overlay, function: Callable[..., Any]) -> Any:
    @functools.wraps(function)
    def renaming(source: Any, target: Any, **options: Any) -> Any:
        if {options.get("src_dir_fd"), options.get("dst_dir_fd")} != {None}:
            return function(source, target, **options)
        own = overlay.written(source)
        if _is_folder(source) and own != source:
            shutil.copytree(source, own, dirs_exist_ok=True)
        to = overlay.written(target, keeps=False)
        return overlay.remove(source, lambda own: function(own, to, **options))

    return renaming


def _is_there(path: Any) -> bool:
    try:
        _lstat(path)
    except (OSError, ValueError):
        return False
    return True


def _is_folder(path: Any) -> bool:
    try:
        return bool(_stat(path).st_mode & 0o170000 == 0o040000)
    except (OSError, ValueError):
        return False


def _copy(path: str, to: str) -> None:
    """Copy a file that may not be there, or no longer."""
    try:
        shutil.copy2(path, to)
    except FileNotFoundError:
        if _is_there(to):  # it went away before its times were asked for
            os.remove(to)


def _make_folders(path: str) -> None:
    if not _is_there(path):
        _make_folders(os.path.dirname(path))
        _make(path)


# Libraries ------------------------------------------------------------------------------------


class _Finder(importlib.abc.MetaPathFinder):
    """Finds what others find; libraries in `OTHERS` then get their functions."""

    def __init__(self, overlay: Overlay):
        self._overlay = overlay

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """See `importlib.abc.MetaPathFinder`."""
        if name not in OTHERS:
            return None
        rest = sys.meta_path[sys.meta_path.index(self) + 1 :]
        specs = (finder.find_spec(name, path, target) for finder in rest)
        spec = next((found for found in specs if found is not None), None)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def exec_module(module: ModuleType) -> None:
                execute(module)
                self._give(module, *OTHERS[name])

            spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec

    def _give(self, module: ModuleType, path: str, how: str) -> None:
        *around, name = path.split(".")
        place = functools.reduce(getattr, around, module)
        setattr(place, name, _mapped(self._overlay, getattr(place, name), how))
