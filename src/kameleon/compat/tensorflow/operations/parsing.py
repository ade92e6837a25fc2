"""Strings that hold numbers, tables and tensors: raw bytes, lines of columns, messages."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..dtypes import NUMBERS, name_of, shown
from ..failures import failure, invalid
from ..protocol.messages import message
from ..protocol.tensors import array_of, tensor_message
from .strings import each, number_of
from .table import fold
from .values import Kind, Texts, plain, scalar, text, texts

Array = np.ndarray


# Raw bytes --------------------------------------------------------------------------------------


@fold("DecodeRaw")
def _raw(x: Texts, *, out_type: Kind, little_endian: bool) -> Array:
    kind, rows = np.dtype(out_type), list(x.ravel())
    if len({len(row) for row in rows}) > 1:
        sizes = [len(row) for row in rows]
        at = next(at for at, size in enumerate(sizes) if size != sizes[0])
        raise invalid(
            "DecodeRaw requires input strings to all be the same size, but element"
            f" {at} has size {sizes[at]} != {sizes[0]}"
        )
    size = len(rows[0]) if rows else 0
    if size % kind.itemsize:
        parts = f"a multiple of {kind.itemsize}, the size of {shown(NUMBERS[kind.name])}"
        raise invalid(f"Input to DecodeRaw has length {size} that is not {parts}")
    found = np.frombuffer(b"".join(rows), kind.newbyteorder("<" if little_endian else ">"))
    return found.astype(kind).reshape(*x.shape, size // kind.itemsize)


@fold("DecodePaddedRaw")
def _padded_raw(x: Texts, size: int, *, out_type: Kind, little_endian: bool) -> Array:
    width = np.dtype(out_type).itemsize
    if size <= 0 or size % width:
        raise invalid(f"fixed_length ({size}) must be a positive multiple of {width}")
    padded = each(lambda row: row[:size].ljust(size, b"\0"), x)
    return _raw(padded, out_type=out_type, little_endian=little_endian)


@fold("DecodeCompressed")
def _plain(x: Texts, *, compression_type: str) -> Array:
    kinds: dict[str, Any] = {"": bytes, "ZLIB": zlib.decompress, "GZIP": gzip.decompress}
    if compression_type not in kinds:
        raise invalid(f"Only ZLIB, GZIP or NONE are supported compressions, not {compression_type}")
    try:
        return each(kinds[compression_type], x)
    except (zlib.error, EOFError, OSError) as error:
        raise failure("DATA_LOSS", f"inflate() failed with error {error}") from error


# Columns ----------------------------------------------------------------------------------------


@dataclass
class Columns:
    """How lines hold columns.

    Attributes:
        mark: what's between two.
        quotes: whether some may stand between quotes.
        missing: what stands for a value that is missing, as nothing does.
        chosen: the numbers of those that are read, in order; none: all.
        count: how many are read.
        of_nothing: whether an empty line has one field, which is empty; else it has none.
    """

    mark: bytes
    quotes: bool
    missing: bytes
    chosen: list[int] | None
    count: int
    of_nothing: bool = False

    def __post_init__(self) -> None:
        if len(self.mark) != 1:
            raise invalid("field_delim should be only 1 char")
        chosen = self.chosen or []
        if chosen and len(chosen) != self.count:
            raise invalid("select_cols should match output size")
        if any(column < 0 for column in chosen) or chosen != sorted(set(chosen)):
            raise invalid("select_cols should be strictly increasing indices")

    def read(self, records: Any, defaults: Sequence[Any]) -> list[Array]:
        """The columns of lines, of the defaults' types."""
        lines, missing = texts(records), [plain(each).ravel() for each in defaults]
        found = [np.empty(lines.size, each.dtype) for each in missing]
        for at, line in enumerate(lines.ravel()):
            fields = self._fields(line)
            if self.chosen:
                fields = [fields[column] for column in self.chosen if column < len(fields)]
            if len(fields) != len(missing):
                raise invalid(f"Expect {len(missing)} fields but have {len(fields)} in record {at}")
            for place, field in enumerate(fields):
                found[place][at] = self._value(field, missing[place], place, at)
        return [column.reshape(lines.shape) for column in found]

    def _value(self, field: bytes, default: Array, place: int, at: int) -> Any:
        if field in (b"", self.missing):
            if not len(default):
                raise invalid(f"Field {place} is required but missing in record {at}!")
            return default[0]
        if default.dtype == object:
            return field
        try:
            return number_of(field, default.dtype)
        except Exception:  # TensorFlow's, of another text
            kind = default.dtype.name.replace("float32", "float").replace("float64", "double")
            message = f"Field {place} in record {at} is not a valid {kind}: {text(field)}"
            raise invalid(message) from None

    def _fields(self, line: bytes) -> list[bytes]:
        """The fields of a line, some of which may stand between quotes (RFC 4180)."""
        if not line and not self.of_nothing:
            return []
        if not self.quotes:
            return line.split(self.mark)
        found, at = [], 0
        while True:
            if line[at : at + 1] == b'"':
                field, at = _quoted(line, at + 1)
                if at < len(line) and line[at : at + 1] != self.mark:
                    raise invalid("Quoted field has to end with quote followed by delim or end")
            else:
                end = line.find(self.mark, at)
                end = len(line) if end < 0 else end
                field, at = line[at:end], end
                if any(letter in field for letter in b'"\r\n'):
                    raise invalid("Unquoted fields cannot have quotes/CRLFs inside")
            found.append(field)
            if at >= len(line):
                return found
            at += 1


@fold("DecodeCSV")
def _columns(
    records: Any,
    *defaults: Any,
    field_delim: bytes,
    use_quote_delim: bool,
    na_value: bytes,
    select_cols: list[int] | None,
) -> list[Array]:
    count = len(defaults)
    columns = Columns(field_delim, use_quote_delim, na_value, select_cols, count)
    return columns.read(records, defaults)


def _quoted(line: bytes, at: int) -> tuple[bytes, int]:
    """What stands up to the closing quote, in which two quotes are one; and what's behind it."""
    parts = []
    while True:
        end = line.find(b'"', at)
        if end < 0:
            raise invalid("Quoted field has to end with quote followed by delim or end")
        parts.append(line[at:end])
        if line[end + 1 : end + 2] != b'"':
            return b'"'.join(parts), end + 1
        at = end + 2


# Tensors ----------------------------------------------------------------------------------------


def serialized(x: Array) -> bytes:
    """A tensor as a message."""
    return bytes(tensor_message(np.asarray(x)).SerializeToString())


def parsed(data: bytes, kind: str | None = None) -> Array:
    """A tensor of a message, which must be of a data type."""
    try:
        found = message("TensorProto").FromString(data)
    except Exception:  # protobuf's own classes depend on its version
        raise invalid("Could not parse the serialized tensor") from None
    name = name_of(found.dtype) if found.dtype else "none"
    if kind is not None and name != kind:
        pair = [shown(NUMBERS[each]) if each in NUMBERS else each for each in (name, kind)]
        raise invalid("Type mismatch between parsed tensor ({}) and dtype ({})".format(*pair))
    return array_of(found)


fold("SerializeTensor")(lambda x: scalar(serialized(x)))


@fold("ParseTensor")
def _parse(x: bytes, *, out_type: Kind) -> Array:
    return parsed(x, out_type)
