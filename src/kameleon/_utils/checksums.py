"""Checksums of the files of a folder, in a file beside them that `sha256sum --check` reads, too."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from typing import Any

from ..errors import FileFormatError
from . import files

NAME = "SHA256SUMS"
_LINE = re.compile(r"([0-9a-f]{64})  (.+)")
_OWN = "# of the lines above: "


def write(folder: str, *parts: str) -> None:
    """Write the checksums of all files in some of the folders in a folder."""
    names = [name for part in parts for name in _below(folder, part)]
    lines = [f"{_checksum(os.path.join(folder, name))}  {name}" for name in names]
    files.replace(os.path.join(folder, NAME), _text(lines).encode())


def check(folder: str) -> None:
    """See that files below a folder are what they were when their checksums were written.

    Raises:
        FileNotFoundError: there are no checksums.
        FileFormatError: a file is missing or has changed; the message names it.
    """
    for name, stated in _stated(os.path.join(folder, NAME)).items():
        path = os.path.join(folder, *name.split("/"))
        try:
            found = _checksum(path)
        except OSError as error:
            raise FileFormatError(f"{path} can't be read: {error.strerror}") from None
        if found != stated:
            raise FileFormatError(f"{path} is damaged: its checksum isn't the one in {NAME}")


def _below(folder: str, part: str) -> Iterator[str]:
    """The files in a part of a folder: their paths in the folder, with slashes."""
    for place, _, names in os.walk(os.path.join(folder, part)):
        for name in names:
            yield os.path.relpath(os.path.join(place, name), folder).replace(os.sep, "/")


def _checksum(path: str) -> str:
    with files.open_regular(path, "rb") as file:
        opened: Any = file  # `file_digest` asks for more than `IO` promises
        return hashlib.file_digest(opened, "sha256").hexdigest()


def _text(lines: list[str]) -> str:
    text = "\n".join(sorted(lines))
    return f"{text}\n{_OWN}{hashlib.sha256(text.encode()).hexdigest()}\n"


def _stated(path: str) -> dict[str, str]:
    """The checksums by name."""
    with files.open_regular(path, "rb") as file:
        text = file.read().decode("utf-8", "replace")
    lines = text.split("\n")[:-2]
    found = [_LINE.fullmatch(line) for line in lines]
    if not lines or text != _text(lines) or not all(found):
        raise FileFormatError(f"{path} is damaged: its lines aren't what was written")
    return {match[2]: match[1] for match in found if match}
