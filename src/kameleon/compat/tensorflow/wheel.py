"""Reads TensorFlow's Python files and its licence out of its wheel, 5 of 110 megabytes.

The wheel is a file here, or lies at an address; where the server answers for ranges of bytes, the
rest isn't fetched. Each file is held against the wheel's own list of checksums, and that list
against the published one.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import itertools
import urllib.request
import zipfile
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

from ...errors import KameleonError

# SHA-256 of RECORD in the published wheel that is fetched.
RECORD = "83098b29e4094d79a243325d12d7a46a2fc978934888a7fcbed577467784ff6a"
LICENCE = "tensorflow_core/include/external/com_google_absl/LICENSE"  # Apache 2.0, as TensorFlow's
CHUNK = 1 << 16  # files of a wheel that lie so close together are fetched by one request

Progress = Callable[[int, int], None]  # is called with the bytes that are here, and that there are


class WheelError(KameleonError, ValueError):
    """A wheel isn't TensorFlow 1.15's, or is damaged; the message names what doesn't fit."""


class Remote(io.RawIOBase):
    """A file at an address, which is fetched in ranges of bytes, as it's read.

    Raises:
        OSError: the server doesn't answer, or answers with the whole file.
    """

    def __init__(self, address: str) -> None:
        self._address, self._place, self._kept = address, 0, (0, b"")
        with self._asked("bytes=-1") as answer:
            self.size = int(answer.headers["Content-Range"].rpartition("/")[2])

    def _asked(self, wanted: str) -> Any:
        request = urllib.request.Request(self._address, headers={"Range": wanted})
        answer = urllib.request.urlopen(request, timeout=60)
        if answer.status != 206:
            answer.close()
            raise OSError(f"{self._address}: the server doesn't answer for parts of a file")
        return answer

    def fetch(self, start: int, stop: int) -> None:
        """Keep a range of bytes, which the next reads take."""
        with self._asked(f"bytes={start}-{stop - 1}") as answer:
            self._kept = (start, answer.read())

    def seekable(self) -> bool:
        return True

    def readable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._place

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._place = offset + (0, self._place, self.size)[whence]
        return self._place

    def read(self, size: int = -1) -> bytes:
        stop = self.size if size < 0 else min(self.size, self._place + size)
        start, data = self._kept
        if not start <= self._place <= stop <= start + len(data):
            self.fetch(self._place, min(self.size, max(stop, self._place + CHUNK)))
            start, data = self._kept
        found = data[self._place - start : stop - start]
        self._place = stop
        return found


def python_files(wheel: BinaryIO | Remote, progress: Progress) -> Iterator[tuple[str, bytes]]:
    """The names and contents of the Python files and licences in a wheel.

    Args:
        wheel: a `Remote`, or an open file.
        progress: is called after each group of files.

    Raises:
        WheelError: it's another wheel, or a damaged one.
    """
    try:
        with zipfile.ZipFile(wheel) as archive:
            sums = _sums(archive, isinstance(wheel, Remote))
            wanted = [info for info in archive.infolist() if _is_wanted(info.filename)]
            total, done = sum(info.compress_size for info in wanted), 0
            for group in _close_together(wanted):
                if isinstance(wheel, Remote):
                    wheel.fetch(group[0].header_offset, _end(group[-1], wheel.size))
                for info in group:
                    data = archive.read(info)
                    if sums.get(info.filename) != _sum(data):
                        raise WheelError(f"{info.filename}: it isn't what the wheel says it is")
                    yield info.filename, data
                done += sum(info.compress_size for info in group)
                progress(done, total)
    except zipfile.BadZipFile as error:
        raise WheelError(f"it isn't a wheel, or a damaged one: {error}") from None


def _is_wanted(name: str) -> bool:
    is_code = name.startswith("tensorflow_core/") and name.endswith(".py")
    return is_code or name == LICENCE or name.endswith(".dist-info/METADATA")


def _sums(archive: zipfile.ZipFile, is_published: bool) -> dict[str, str]:
    """By name of a file, its checksum, from the wheel's list."""
    records = [name for name in archive.namelist() if name.endswith(".dist-info/RECORD")]
    if len(records) != 1 or not records[0].startswith(
        ("tensorflow-1.15.5", "tensorflow_cpu-1.15.5")
    ):
        raise WheelError("it isn't a wheel of TensorFlow 1.15.5")
    listed = archive.read(records[0])
    if is_published and hashlib.sha256(listed).hexdigest() != RECORD:
        raise WheelError("it isn't the wheel of TensorFlow 1.15.5 that was published")
    lines = csv.reader(listed.decode("utf-8").splitlines())
    return {name: digest for name, digest, _ in lines}


def _sum(data: bytes) -> str:
    """A checksum as lists in wheels have them.

    >>> _sum(b"")
    'sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU'
    """
    return f"sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip('=')}"


def _end(info: zipfile.ZipInfo, size: int) -> int:
    """Behind the last byte of a file in the archive, with its header, whose length is a guess."""
    return min(size, info.header_offset + info.compress_size + len(info.filename) + CHUNK // 4)


def _close_together(infos: list[zipfile.ZipInfo]) -> Iterator[list[zipfile.ZipInfo]]:
    """Files in the order in which they lie in the archive, neighbours together."""
    ordered = sorted(infos, key=lambda info: info.header_offset)
    breaks = itertools.accumulate(
        after.header_offset - before.header_offset - before.compress_size > CHUNK
        for before, after in itertools.pairwise(ordered)
    )
    numbered = zip([0, *breaks], ordered, strict=True)
    for _, group in itertools.groupby(numbered, key=lambda pair: pair[0]):
        yield [info for _, info in group]
