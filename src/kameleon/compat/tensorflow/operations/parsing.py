"""Strings that hold numbers, tables and tensors: raw bytes, lines of columns, messages."""

from __future__ import annotations

import gzip
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

from ..dtypes import NUMBERS, name_of
from ..graph import messages
from ..shapes.known import array_of
from .files import text
from .sparse import invalid
from .strings import each, number_of
from .table import fold
from .values import dtype_of, texts

if TYPE_CHECKING:
    from ..graph import Operation

Array = np.ndarray


# Raw bytes --------------------------------------------------------------------------------------


def _numbers(operation: Operation, rows: list[bytes], shape: tuple[int, ...]) -> Array:
    kind = np.dtype(dtype_of(operation, "out_type"))
    order: Any = "<" if operation.attribute("little_endian") else ">"
    found = np.frombuffer(b"".join(rows), kind.newbyteorder(order)).astype(kind)
    size = len(rows[0]) // kind.itemsize if rows else 0
    return found.reshape(*shape, size)


@fold("DecodeRaw")
def _raw(operation: Operation, x: Any) -> Array:
    given = texts(x)
    rows = list(given.ravel())
    if len({len(row) for row in rows}) > 1:
        raise invalid("DecodeRaw requires input strings to all be the same size")
    size = np.dtype(dtype_of(operation, "out_type")).itemsize
    if rows and len(rows[0]) % size:
        raise invalid(f"Input to DecodeRaw has length {len(rows[0])}, no multiple of {size}")
    return _numbers(operation, rows, given.shape)


@fold("DecodePaddedRaw")
def _padded_raw(operation: Operation, x: Any, length: Any) -> Array:
    given, size = texts(x), int(length)
    kind = np.dtype(dtype_of(operation, "out_type"))
    if size <= 0 or size % kind.itemsize:
        raise invalid(f"fixed_length ({size}) must be a positive multiple of {kind.itemsize}")
    return _numbers(operation, [row[:size].ljust(size, b"\0") for row in given.flat], given.shape)


@fold("DecodeCompressed")
def _plain(operation: Operation, x: Any) -> Array:
    how = operation.attribute("compression_type").decode()
    kinds: dict[str, Any] = {"": bytes, "ZLIB": zlib.decompress, "GZIP": gzip.decompress}
    if how not in kinds:
        raise invalid(f"Only ZLIB, GZIP or NONE are supported compressions, not {how}")
    return each(kinds[how], texts(x))


# Columns ----------------------------------------------------------------------------------------


@fold("DecodeCSV")
def _columns(operation: Operation, records: Any, *defaults: Any) -> list[Array]:
    lines, chosen = texts(records), operation.attribute("select_cols") or None
    told = [np.ravel(texts(d) if np.asarray(d).dtype.kind in "OSU" else d) for d in defaults]
    found = [np.empty(lines.size, each.dtype) for each in told]
    for at, line in enumerate(lines.ravel()):
        fields = _fields(operation, line)
        if chosen and len(fields) > chosen[-1]:
            fields = [fields[column] for column in chosen]
        if len(fields) != len(told):
            raise invalid(f"Expect {len(told)} fields but have {len(fields)} in record {at}")
        for place, field in enumerate(fields):
            found[place][at] = _value(operation, field, told[place], place, at)
    return [column.reshape(lines.shape) for column in found]


def _value(operation: Operation, field: bytes, default: Array, place: int, at: int) -> Any:
    if field in (b"", operation.attribute("na_value")):
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


def _fields(operation: Operation, line: bytes) -> list[bytes]:
    """The fields of a line, some of which may stand between quotes (RFC 4180)."""
    mark = operation.attribute("field_delim")
    if not operation.attribute("use_quote_delim"):
        return list(line.split(mark))
    found, at = [], 0
    while True:
        if line[at : at + 1] == b'"':
            field, at = _quoted(line, at + 1)
            if at < len(line) and line[at : at + 1] != mark:
                raise invalid("Quoted field has to end with quote followed by delim or end")
        else:
            end = line.find(mark, at)
            end = len(line) if end < 0 else end
            field, at = line[at:end], end
            if any(letter in field for letter in b'"\r\n'):
                raise invalid("Unquoted fields cannot have quotes/CRLFs inside")
        found.append(field)
        if at >= len(line):
            return found
        at += 1


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
    given = texts(x) if np.asarray(x).dtype.kind in "OSU" else np.asarray(x)
    message = messages("tensor_pb2").TensorProto()
    kind = "string" if given.dtype == object else given.dtype.name
    message.dtype = NUMBERS[kind]
    message.tensor_shape.SetInParent()
    for size in given.shape:
        message.tensor_shape.dim.add(size=size)
    if kind == "string":
        message.string_val.extend(given.ravel())
    else:
        message.tensor_content = given.tobytes()
    return bytes(message.SerializeToString())


def parsed(data: bytes, kind: str | None = None) -> Array:
    """A tensor of a message, which must be of a data type."""
    message = messages("tensor_pb2").TensorProto()
    try:
        message.ParseFromString(data)
    except Exception:  # protobuf's own classes depend on its version
        raise invalid("Could not parse the serialized tensor") from None
    told = name_of(message.dtype) if message.dtype else "none"
    if kind is not None and told != kind:
        raise invalid(f"Type mismatch between parsed tensor ({told}) and dtype ({kind})")
    return array_of(message)


@fold("SerializeTensor")
def _serialize(operation: Operation, x: Any) -> Array:
    return np.array(serialized(x), object)


@fold("ParseTensor")
def _parse(operation: Operation, x: Any) -> Array:
    return parsed(texts(x).item(), dtype_of(operation, "out_type"))
