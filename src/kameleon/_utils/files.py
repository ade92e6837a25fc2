"""Files written atomically: a draft is written beside the target, then takes its place.

A reader sees the old file or the new one, never a part; several writers of one path each publish
a whole file, and the last one stays. A draft is locked by its writer. The lock ends with the
process, so a draft that can be locked is abandoned, and the next writer removes it.

A draft's data are on the disk before the draft is renamed: after a power failure, too, there's the
old file or the new one.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import contextmanager, suppress

from ..errors import ArgumentError, TargetError

try:
    import fcntl
except ImportError:  # Windows, where nobody removes a file that is open
    fcntl = None  # type: ignore[assignment]

TYPE_CHECKING = False  # `typing` takes longer to import than this module
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import IO, Any

SUFFIX = ".part"
# A draft's name begins with its target's name, of which it takes at most this many characters.
LONGEST = 40
TOKEN = 16  # random hexadecimal digits that follow in a draft's name


def path_of(what: str, path: Any) -> str:
    """A path as text.

    Args:
        what: the function that was given the path, for errors.
        path: text, bytes or a `Path`.

    Raises:
        ArgumentError: it's no path, or none that a file can have.

    >>> path_of("save", "")
    Traceback (most recent call last):
        ...
    kameleon.errors.ArgumentError: save: the path is empty; name a file
    """
    if not isinstance(path, str | bytes | os.PathLike):
        raise ArgumentError(f"{what}: a path is text or a Path, not {path!r}")
    name = os.fsdecode(path)
    if not name:
        raise ArgumentError(f"{what}: the path is empty; name a file")
    if "\0" in name:
        raise ArgumentError(f"{what}: the path {name!r} has a zero character, which no file's has")
    return name


def checked(what: str, path: Any) -> str:
    """A path as text, of a file that can be written as far as can be told.

    Raises:
        ArgumentError: it's no path.
        FileNotFoundError: its folder doesn't exist.
        TargetError: it's that of something other than a file.
    """
    name = path_of(what, path)
    if name.endswith((os.sep, os.altsep or os.sep)) and not os.path.isdir(name):
        raise TargetError(f"{what}: {name} is the path of a folder; name a file")
    target = os.path.realpath(name)
    _mode_of(target, f"{what}: {name}")
    folder = os.path.dirname(target)
    if not os.path.isdir(folder):
        raise FileNotFoundError(
            errno.ENOENT, f"{what}: there is no folder {folder}; make it first", name
        )
    return name


def replace(path: str | bytes | os.PathLike[str], data: bytes) -> None:
    """Write a file; one that exists is replaced atomically. A link to a file stays a link.

    Args:
        path: of the file.
        data: the whole new content.

    Raises:
        TargetError: the path names something other than a regular file: a folder, a device, a
            pipe.
        OSError: the file can't be written.
    """
    name = os.fsdecode(path)
    target = os.path.realpath(name)
    mode = _mode_of(target, name)

    def publish(draft: str) -> bool:
        if mode is not None:
            os.chmod(draft, mode)
        os.replace(draft, target)
        return True

    try:
        _written(target, data, publish)
    except OSError as error:
        # As if it had been one step: the draft's name, which may be in the error, helps nobody.
        raise type(error)(error.errno, error.strerror, name).with_traceback(
            error.__traceback__
        ) from None


def create(path: str, data: bytes) -> bool:
    """Write a file where there's none, and return whether this call did. No file is replaced."""

    def publish(draft: str) -> bool:
        try:
            os.link(draft, path)  # fails where the file exists; a replace would overwrite it
        except FileExistsError:
            return False
        except (OSError, AttributeError):  # a file system without links; a browser's Python
            if os.path.lexists(path):
                return False
            os.replace(draft, path)
        return True

    return _written(path, data, publish)


def _mode_of(target: str, path: str) -> int | None:
    """The permissions of the file at `target`; None, if there's none."""
    try:
        found = os.stat(target)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(found.st_mode):
        raise TargetError(
            f"{path} is {kind_of(found.st_mode)}: it isn't replaced by a file; name a"
            " new file, or one that shall be replaced"
        )
    return stat.S_IMODE(found.st_mode)


KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
}


def kind_of(mode: int) -> str:
    """What something in the file system is, in words."""
    return KINDS.get(stat.S_IFMT(mode), "a file")


def _written(target: str, data: bytes, publish: Callable[[str], bool]) -> bool:
    """Write a draft and publish it; returns what `publish` returns."""
    remove_abandoned(target)
    while True:
        draft = draft_of(target)
        with open(draft, "xb") as file:
            try:
                _claim(file.fileno())
                if not os.path.lexists(draft):  # another writer took it for an abandoned one
                    continue
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
                if fcntl is None:  # what is open can't be renamed on Windows
                    file.close()
                return publish(draft)
            finally:
                file.close()
                with suppress(FileNotFoundError):  # published, or removed as an abandoned one
                    os.remove(draft)


# Reading -------------------------------------------------------------------------------------


def open_regular(path: str, mode: str = "r", encoding: str | None = None) -> IO[Any]:
    """`open` for reading; a pipe or a device, which might block for ever, is an error.

    Raises:
        OSError: the path names no regular file, or the file can't be read.
    """

    def opener(path: str, flags: int) -> int:
        descriptor = os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
        found = os.fstat(descriptor).st_mode
        if not stat.S_ISREG(found):
            os.close(descriptor)
            raise OSError(errno.EINVAL, f"it's {kind_of(found)}, not a regular file", path)
        return descriptor

    return open(path, mode, encoding=encoding, opener=opener)


# Drafts --------------------------------------------------------------------------------------


def draft_of(target: str) -> str:
    """A new name for a draft, beside its target."""
    folder, name = os.path.split(target)
    return os.path.join(folder, f"{name[:LONGEST]}.{os.urandom(TOKEN // 2).hex()}{SUFFIX}")


@contextmanager
def draft_folder(target: str, remove: Callable[[str], None]) -> Iterator[str]:
    """A new folder beside the target; removed after the block, unless the block has renamed it.

    Args:
        target: the folder whose place the new one shall take.
        remove: removes a folder with all that's in it.
    """
    remove_abandoned(target, remove)
    draft = draft_of(target)
    os.mkdir(draft, 0o700)
    descriptor = None if fcntl is None else os.open(draft, os.O_RDONLY)
    try:
        if descriptor is not None:
            _claim(descriptor)
        yield draft
    finally:
        if descriptor is not None:
            os.close(descriptor)
        if os.path.lexists(draft):
            remove(draft)


def _claim(descriptor: int) -> None:
    """Lock a draft as long as it's open; nothing happens where files can't be locked."""
    if fcntl is not None:
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)


def remove_abandoned(target: str, remove: Callable[[str], None] = os.remove) -> None:
    """Remove the drafts of a target whose writers were killed."""
    folder, name = os.path.split(target)
    start = f"{name[:LONGEST]}."
    try:
        found = os.listdir(folder or os.curdir)
    except OSError:  # writing the file will raise the same
        return
    for other in found:
        token = other[len(start) : -len(SUFFIX)]
        ours = len(token) == TOKEN and not token.strip("0123456789abcdef")
        if ours and other == start + token + SUFFIX:
            _remove_free(os.path.join(folder, other), remove)


def _remove_free(draft: str, remove: Callable[[str], None]) -> None:
    """Remove a draft unless somebody writes it."""
    try:
        if fcntl is None:
            remove(draft)
            return
        descriptor = os.open(draft, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            remove(draft)
        finally:
            os.close(descriptor)
    except OSError:  # the draft is being written, or belongs to another user
        return
