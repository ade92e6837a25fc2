"""Files of records: each with its length, and checksums; maybe packed."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from typing import IO, Any

from .crc import crc, masked
from .tables import DamagedError

HEAD = 12  # bytes before a record


def packed(data: bytes) -> bytes:
    """A record as a file has it."""
    size = len(data).to_bytes(8, "little")
    return size + _checksum(size) + data + _checksum(data)


def _checksum(data: bytes) -> bytes:
    return masked(crc(data)).to_bytes(4, "little")


class _Unzipped(gzip.GzipFile):
    """What gzip packed, unpacked as it's read."""

    def read(self, size: int | None = -1) -> bytes:
        try:
            return super().read(size)
        except gzip.BadGzipFile as error:
            raise DamagedError("inflate() failed with error -3: incorrect header check") from error


def opened(path: str, packing: str = "") -> IO[bytes]:
    """A file to read, whose packing is none, `ZLIB` or `GZIP`."""
    file = open(path, "rb")  # noqa: SIM115
    if packing == "GZIP":
        return _Unzipped(fileobj=file)  # type: ignore[return-value]
    return _Inflated(file) if packing == "ZLIB" else file  # type: ignore[return-value]


class _Inflated:
    """What zlib packed, unpacked as it's read."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self._rest, self._unpack = file, b"", zlib.decompressobj()

    def read(self, count: int = -1) -> bytes:
        while count < 0 or len(self._rest) < count:
            data = self._file.read(1 << 16)
            if not data:
                break
            self._rest += self._unpack.decompress(data)
        count = len(self._rest) if count < 0 else count
        found, self._rest = self._rest[:count], self._rest[count:]
        return found

    def close(self) -> None:
        self._file.close()


class Reader:
    """Reads records, one after the other.

    Attributes:
        offset: where the next one begins.
    """

    def __init__(self, path: str, packing: str = "", offset: int = 0) -> None:
        self._path, self._file, self.offset = path, opened(path, packing), offset
        self._file.read(offset)

    def next(self) -> bytes | None:
        """The next record; None at the end.

        Raises:
            DamagedError: a record isn't whole, or has changed.
        """
        try:
            head = self._file.read(HEAD)
            if len(head) < HEAD:
                return None
            if _checksum(head[:8]) != head[8:]:
                raise DamagedError(f"corrupted record at {self.offset}")
            size = int.from_bytes(head[:8], "little")
            data = self._file.read(size + 4)
        except (EOFError, OSError, zlib.error) as error:
            raise DamagedError(f"corrupted record at {self.offset}") from error
        if len(data) < size + 4:
            raise DamagedError(f"truncated record at {self.offset}")
        if _checksum(data[:size]) != data[size:]:
            raise DamagedError(f"corrupted record at {self.offset + HEAD}")
        self.offset += HEAD + size + 4
        return data[:size]

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __iter__(self) -> Iterator[bytes]:
        while (found := self.next()) is not None:
            yield found


class Writer:
    """Writes records.

    Args:
        path: of the file.
        packing: none, `ZLIB` or `GZIP`.
        level: how much is packed, from 0 to 9; -1: the usual.
    """

    def __init__(self, path: str, packing: str = "", level: int = -1) -> None:
        self._file: Any = open(path, "wb")  # noqa: SIM115
        bits = {"GZIP": 31, "ZLIB": 15}.get(packing)
        self._pack = None if bits is None else zlib.compressobj(level, wbits=bits)

    def write(self, data: bytes) -> None:
        """Write a record."""
        record = packed(data)
        self._file.write(record if self._pack is None else self._pack.compress(record))

    def flush(self) -> None:
        """See that others can read what has been written."""
        if self._pack is not None and not self._file.closed:
            self._file.write(self._pack.flush(zlib.Z_PARTIAL_FLUSH))
        self._file.flush()

    def close(self) -> None:
        """Close the file; a second call changes nothing."""
        if self._file.closed:
            return
        if self._pack is not None:
            self._file.write(self._pack.flush())
        self._file.close()
