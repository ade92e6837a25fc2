"""Checkpoints of the first version: one table with the values of tensors, or of parts of them."""

from __future__ import annotations

import glob
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kameleon._utils import files

from ..dtypes import NUMBERS, name_of
from . import tables
from .bundles import Entry, Part, number_of, numpy_dtype, shape_message, shape_of_message
from .slices import Extents, bounds, index_of, key, message, of_message
from .wire import field, fields, read_varint, signed, varint

# The field of a message TensorProto that holds numbers of a type, and how they are written.
_FIELDS = {
    "float32": (5, "f"), "float64": (6, "d"), "string": (8, ""), "complex64": (9, "f"),
    "int64": (10, "v"), "bool": (11, "v"), "complex128": (12, "d"), "float16": (13, "v"),
}  # fmt: skip
_OF_INTEGERS = (7, "v")
HEADER = b""


class OldCheckpoint:
    """A checkpoint of the first version to read.

    Args:
        pattern: the file's name, or a pattern for those of several.
    """

    def __init__(self, pattern: str) -> None:
        self._values: dict[bytes, bytes] = {}
        self.entries: dict[str, Entry] = {}
        paths = sorted(glob.glob(pattern)) or [pattern]
        for path in paths:
            with open(path, "rb") as file:
                table = tables.read(file.read())
            told = dict(fields(table.pop(HEADER, b"")))
            self._values.update(table)
            for number, data in fields(told.get(1, b"")):
                if number == 1:
                    self._note(data)

    def _note(self, data: bytes) -> None:
        told: dict[int, Any] = {4: ()}
        for number, value in fields(data):
            told[number] = (*told[4], of_message(value)) if number == 4 else value
        name = told[1].decode()
        known = self.entries[name].parts if name in self.entries else ()
        shape = shape_of_message(told.get(2, b""))
        self.entries[name] = Entry(told.get(3, 0), shape, parts=known + told[4])

    def names(self) -> list[str]:
        """The tensors."""
        return list(self.entries)

    def __contains__(self, name: str) -> bool:
        return name in self.entries

    def entry(self, name: str) -> Entry:
        """What the file tells of a tensor."""
        return self.entries[name]

    def tensor(self, name: str, extents: Extents | None = None) -> np.ndarray:
        """A tensor, or a part of it."""
        entry = self.entries[name]
        found = np.empty(entry.shape, numpy_dtype(entry.dtype))
        for part in entry.parts:
            told = dict(fields(dict(fields(self._values[key(name, part)]))[2]))
            sizes = [end - start for start, end in bounds(part, entry.shape)]
            values = _numbers(told[3], name_of(entry.dtype), int(np.prod(sizes)))
            found[index_of(part)] = values.reshape(sizes)
        return found if extents is None else found[index_of(extents)]


def _numbers(data: bytes, dtype: str, count: int) -> np.ndarray:
    """The values in a message TensorProto."""
    number, kind = _FIELDS.get(dtype, _OF_INTEGERS)
    parts = [value for at, value in fields(data) if at == number]
    if dtype == "string":
        found = np.empty(len(parts), object)
        found[:] = parts
        return found
    joined = b"".join(part for part in parts if isinstance(part, bytes))
    if kind == "v":
        values = [signed(part) for part in parts if isinstance(part, int)] + _varints(joined)
        if dtype == "float16":
            return np.array(values, np.uint16).view(np.float16)
        return np.array(values, np.int64).astype(numpy_dtype(NUMBERS[dtype]))
    values_of = np.frombuffer(joined, "<f4" if kind == "f" else "<f8")
    return values_of.view(dtype) if dtype.startswith("complex") else values_of[:count]


def _varints(data: bytes) -> list[int]:
    found, at = [], 0
    while at < len(data):
        number, at = read_varint(data, at)
        found.append(signed(number))
    return found


# Writing ----------------------------------------------------------------------------------------


def write(path: str, tensors: Mapping[str, np.ndarray | Sequence[Part]]) -> None:
    """Write a checkpoint: arrays by name, or parts of them."""
    meta, rows = b"", {}
    for name, given in tensors.items():
        parts = _parts(given)
        dtype = number_of(parts[0].values)
        told = field(1, name.encode()) + field(2, shape_message(parts[0].shape)) + field(3, dtype)
        for part in parts:
            extents = message(part.extents)
            told += field(4, extents)
            values = field(3, _written(part.values, name_of(dtype)))
            content = field(1, name.encode()) + field(2, extents) + values
            rows[key(name, part.extents)] = field(2, content)
        meta += field(1, told)
    header = field(1, meta + field(2, field(1, 1)))
    entries = [(HEADER, header), *((name, rows[name]) for name in sorted(rows))]
    files.replace(path, tables.written(entries))


def _parts(given: np.ndarray | Sequence[Part]) -> Sequence[Part]:
    if isinstance(given, np.ndarray):
        return [Part(given.shape, (None,) * given.ndim, given)]
    return given


def _written(values: np.ndarray, dtype: str) -> bytes:
    number, kind = _FIELDS.get(dtype, _OF_INTEGERS)
    flat = values.ravel()
    if dtype == "string":
        return b"".join(
            field(8, each if isinstance(each, bytes) else str(each).encode()) for each in flat
        )
    if kind != "v":
        return field(number, np.ascontiguousarray(flat).tobytes())
    numbers = flat.view(np.uint16) if dtype == "float16" else flat
    return field(number, b"".join(varint(int(each)) for each in numbers))
