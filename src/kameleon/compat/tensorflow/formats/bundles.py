"""Checkpoints of the second version: an index `PREFIX.index`, and files of tensors' bytes."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from kameleon._utils import files

from ..dtypes import name_of
from ..paths import make_folder
from ..protocol.messages import message
from ..protocol.tensors import number_of, numpy_dtype, shape_message, sizes_of, strings
from . import tables
from .crc import crc, masked
from .slices import Extents, bounds, index_of, is_whole, key, message_of, of_message
from .tables import DamagedError, read_varint, varint

Shape = tuple[int, ...]
HEADER = b""  # the key of the table's first entry


class MissingPartError(LookupError):
    """Parts of a tensor that is stored in parts don't cover what is asked for."""


class Part(NamedTuple):
    """A part of a tensor: the shape of the whole, where the part is, and its values."""

    shape: Shape
    extents: Extents
    values: np.ndarray


@dataclass(frozen=True)
class Entry:
    """What an index tells of a tensor.

    Attributes:
        dtype: the number of its type.
        shape: its shape.
        shard: the number of the file.
        offset: where it begins.
        size: how many bytes it has.
        checksum: masked.
        parts: of a tensor that is stored in parts: which there are.
    """

    dtype: int
    shape: Shape
    shard: int = 0
    offset: int = 0
    size: int = 0
    checksum: int = 0
    parts: tuple[Extents, ...] = ()

    def message(self) -> bytes:
        """As a message BundleEntryProto."""
        made = message("BundleEntryProto")(
            dtype=self.dtype, shape=shape_message(self.shape), shard_id=self.shard,
            offset=self.offset, size=self.size, crc32c=self.checksum,
            slices=list(map(message_of, self.parts)),
        )  # fmt: skip
        return bytes(made.SerializeToString())

    @classmethod
    def of_message(cls, data: bytes) -> Entry:
        """What a message tells."""
        row = message("BundleEntryProto").FromString(data)
        return cls(
            row.dtype, sizes_of(row.shape), row.shard_id, row.offset, row.size, row.crc32c,
            tuple(map(of_message, row.slices)),
        )  # fmt: skip


def data_file(prefix: str, shard: int, shards: int) -> str:
    """The name of a file of tensors' bytes.

    >>> data_file("model", 0, 1)
    'model.data-00000-of-00001'
    """
    return f"{prefix}.data-{shard:05d}-of-{shards:05d}"


# Reading ----------------------------------------------------------------------------------------


class Bundle:
    """A checkpoint to read.

    Attributes:
        entries: by key, of whole tensors and of parts.
    """

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        with open(f"{prefix}.index", "rb") as file:
            table = tables.read(file.read())
        header = message("BundleHeaderProto").FromString(table.pop(HEADER))
        self._shards = header.num_shards or 1
        self.entries = {name: Entry.of_message(data) for name, data in table.items()}

    def names(self) -> list[str]:
        """The tensors, without the parts of them."""
        return [name.decode() for name in self.entries if not name.startswith(b"\0")]

    def __contains__(self, name: str) -> bool:
        return name.encode() in self.entries

    def entry(self, name: str) -> Entry:
        """What the index tells of a tensor."""
        return self.entries[name.encode()]

    def shards(self) -> list[str]:
        """The files of tensors' bytes."""
        return [data_file(self._prefix, number, self._shards) for number in range(self._shards)]

    def tensor(self, name: str, extents: Extents | None = None) -> np.ndarray:
        """A tensor, or a part of it."""
        entry = self.entry(name)
        if extents is None or is_whole(extents, entry.shape):
            extents = (None,) * len(entry.shape)
        if not entry.parts:
            found: np.ndarray = self._values(entry)[index_of(extents)]
            return found
        return self._joined(name, entry, bounds(extents, entry.shape))

    def _joined(self, name: str, entry: Entry, wanted: list[tuple[int, int]]) -> np.ndarray:
        """A part of a tensor that is stored in parts."""
        found = np.empty([end - start for start, end in wanted], numpy_dtype(entry.dtype))
        filled = 0
        for part in entry.parts:
            has = bounds(part, entry.shape)
            both = [(max(a, c), min(b, d)) for (a, b), (c, d) in zip(has, wanted, strict=True)]
            if any(start >= end for start, end in both):
                continue
            values = self._values(self.entries[key(name, part)])
            values = values.reshape([end - start for start, end in has])
            into = found[_within(both, wanted)]
            into[...] = values[_within(both, has)]
            filled += into.size
        if filled < found.size:
            raise MissingPartError(f"Does not have sufficient slices for partitioned tensor {name}")
        return found

    def _values(self, entry: Entry) -> np.ndarray:
        path = data_file(self._prefix, entry.shard, self._shards)
        with open(path, "rb") as file:
            file.seek(entry.offset)
            data = file.read(entry.size)
        if len(data) < entry.size:
            raise DamagedError(f"{path} is too short")
        if name_of(entry.dtype) == "string":
            return _texts(data, entry)
        _demand_checksum(crc(data), entry)
        return np.frombuffer(data, numpy_dtype(entry.dtype)).reshape(entry.shape).copy()


def _within(
    inner: Sequence[tuple[int, int]], outer: Sequence[tuple[int, int]]
) -> tuple[slice, ...]:
    """Where one part is in another."""
    pairs = zip(inner, outer, strict=True)
    return tuple(slice(start - begin, end - begin) for (start, end), (begin, _) in pairs)


def _demand_checksum(found: int, entry: Entry) -> None:
    if masked(found) != entry.checksum:
        raise DamagedError(
            f"Checksum does not match: stored {entry.checksum} vs. calculated on the restored"
            f" bytes {masked(found)}"
        )


def _texts(data: bytes, entry: Entry) -> np.ndarray:
    count, at = int(np.prod(entry.shape, dtype=np.int64)), 0
    sizes = []
    for _ in range(count):
        size, at = read_varint(data, at)
        sizes.append(size)
    at += 4
    _demand_checksum(_crc_of_texts(sizes, data[at:]), entry)
    found = np.empty(count, object)
    for place, size in enumerate(sizes):
        found[place] = data[at : at + size]
        at += size
    return found.reshape(entry.shape)


def _crc_of_sizes(sizes: Sequence[int]) -> int:
    found = 0
    for size in sizes:
        found = crc(size.to_bytes(4 if size < 1 << 32 else 8, "little"), found)
    return found


def _crc_of_texts(sizes: Sequence[int], data: bytes) -> int:
    of_sizes = _crc_of_sizes(sizes)
    return crc(data, crc(masked(of_sizes).to_bytes(4, "little"), of_sizes))


# Writing ----------------------------------------------------------------------------------------


def write(prefix: str, tensors: Mapping[str, np.ndarray | Sequence[Part]]) -> None:
    """Write a checkpoint: arrays by name, or parts of them."""
    entries: dict[bytes, Entry] = {}
    data = bytearray()
    for name, given in tensors.items():
        for at, dtype, values in _stored(name, given, entries):
            content, checksum = _content(values, dtype)
            entries[at] = Entry(
                dtype, values.shape, 0, len(data), len(content), masked(checksum)
            )  # fmt: skip
            data += content
    make_folder(os.path.dirname(prefix))
    files.replace(data_file(prefix, 0, 1), bytes(data))
    _write_index(prefix, 1, entries)


def _stored(
    name: str, given: np.ndarray | Sequence[Part], entries: dict[bytes, Entry]
) -> Iterator[tuple[bytes, int, np.ndarray]]:
    """What is stored of a tensor: keys, types, arrays."""
    if isinstance(given, np.ndarray):
        yield name.encode(), number_of(given), given
        return
    for part in given:
        dtype = number_of(part.values)
        if is_whole(part.extents, part.shape):
            yield name.encode(), dtype, part.values.reshape(part.shape)
            continue
        known = entries.get(name.encode(), Entry(dtype, part.shape))
        entries[name.encode()] = replace(known, parts=(*known.parts, part.extents))
        yield key(name, part.extents), dtype, part.values


def _content(values: np.ndarray, dtype: int) -> tuple[bytes, int]:
    if name_of(dtype) != "string":
        data = np.ascontiguousarray(values).tobytes()
        return data, crc(data)
    texts = strings(values)
    sizes, joined = [len(text) for text in texts], b"".join(texts)
    lengths = b"".join(map(varint, sizes)) + masked(_crc_of_sizes(sizes)).to_bytes(4, "little")
    return lengths + joined, _crc_of_texts(sizes, joined)


def _write_index(prefix: str, shards: int, entries: Mapping[bytes, Entry]) -> None:
    header = message("BundleHeaderProto")(num_shards=shards, version={"producer": 1})
    rows = [(HEADER, header.SerializeToString())]
    rows += [(name, entries[name].message()) for name in sorted(entries)]
    files.replace(f"{prefix}.index", tables.written(rows))


def merge(prefixes: Sequence[str], prefix: str, remove: bool) -> None:
    """Put several checkpoints into one, whose files of bytes are theirs."""
    entries: dict[bytes, Entry] = {}
    moved: list[str] = []
    for each in prefixes:
        bundle = Bundle(each)
        for name, entry in bundle.entries.items():
            known = entries.get(name)
            if known is not None and entry.parts:
                entry = replace(known, parts=known.parts + entry.parts)
            elif not entry.parts:
                entry = replace(entry, shard=entry.shard + len(moved))
            entries[name] = entry
        moved += bundle.shards()
    make_folder(os.path.dirname(prefix))
    for number, path in enumerate(moved):
        os.replace(path, data_file(prefix, number, len(moved)))
    _write_index(prefix, len(moved), entries)
    for each in prefixes:
        os.remove(f"{each}.index")
        if remove:
            with suppress(OSError):
                os.rmdir(os.path.dirname(each))
