"""Checkpoints of the first version: one table with the values of tensors, or of parts of them."""

from __future__ import annotations

import glob
from collections.abc import Mapping, Sequence

import numpy as np

from kameleon._utils import files

from ..protocol.messages import message
from ..protocol.tensors import (
    array_of,
    number_of,
    numbers_message,
    numpy_dtype,
    shape_message,
    sizes_of,
)
from . import tables
from .bundles import Bundle, Entry, Part
from .slices import Extents, bounds, index_of, key, message_of, of_message

HEADER = b""


class OldCheckpoint(Bundle):
    """A checkpoint of the first version to read.

    Args:
        pattern: the file's name, or a pattern for those of several.
    """

    def __init__(self, pattern: str) -> None:
        self._rows: dict[bytes, bytes] = {}
        self.entries = {}
        paths = sorted(glob.glob(pattern)) or [pattern]
        for path in paths:
            with open(path, "rb") as file:
                table = tables.read(file.read())
            header = message("SavedTensorSlices").FromString(table.pop(HEADER, b""))
            self._rows.update(table)
            for each in header.meta.tensor:
                known = self.entry(each.name).parts if each.name in self else ()
                parts, at = (*known, *map(of_message, each.slice)), each.name.encode()
                self.entries[at] = Entry(each.type, sizes_of(each.shape), parts=parts)

    def tensor(self, name: str, extents: Extents | None = None) -> np.ndarray:
        """A tensor, or a part of it."""
        entry = self.entry(name)
        found = np.empty(entry.shape, numpy_dtype(entry.dtype))
        for part in entry.parts:
            slices = message("SavedTensorSlices").FromString(self._rows[key(name, part)]).data
            sizes = [end - start for start, end in bounds(part, entry.shape)]
            found[index_of(part)] = array_of(slices.data, entry.dtype, sizes)
        return found if extents is None else found[index_of(extents)]


# Writing ----------------------------------------------------------------------------------------


def write(path: str, tensors: Mapping[str, np.ndarray | Sequence[Part]]) -> None:
    """Write a checkpoint: arrays by name, or parts of them."""
    header, rows = message("SavedTensorSlices")(), {}
    header.meta.versions.producer = 1
    for name, given in tensors.items():
        parts = _parts(given)
        dtype, shape = number_of(parts[0].values), shape_message(parts[0].shape)
        described = header.meta.tensor.add(name=name, type=dtype, shape=shape)
        for part in parts:
            extents, row = message_of(part.extents), message("SavedTensorSlices")()
            described.slice.append(extents)
            row.data.name = name
            row.data.slice.CopyFrom(extents)
            row.data.data.CopyFrom(numbers_message(part.values))
            rows[key(name, part.extents)] = row.SerializeToString()
    entries = [(HEADER, header.SerializeToString()), *sorted(rows.items())]
    files.replace(path, tables.written(entries))


def _parts(given: np.ndarray | Sequence[Part]) -> Sequence[Part]:
    if isinstance(given, np.ndarray):
        return [Part(given.shape, (None,) * given.ndim, given)]
    return given
