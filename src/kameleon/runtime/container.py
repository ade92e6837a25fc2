"""Arrays and texts as one run of bytes: the format safetensors, with a checksum over all of it.

It's written here as it is, since functions are saved where NumPy alone is installed. (The library
of that name gives no texts of files that are held as bytes, lacks bfloat16 for NumPy, and writes
texts in another order each time.) Tests read every kind of saved function by that library.

The first eight bytes say how long the header is. The header is JSON, and gives for every array the
dtype, the shape and where its bytes lie behind the header. Texts are the header's `__metadata__`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ..errors import FileFormatError
from ..graph.ir.kinds import elements, is_int, is_shape
from ..graph.ir.serial import at_place, expect, field
from ..graph.ir.types import DTYPES, DType, as_dtype

DTYPE_NAMES = {
    "bool": "BOOL",
    "uint8": "U8",
    "uint16": "U16",
    "uint32": "U32",
    "uint64": "U64",
    "int8": "I8",
    "int16": "I16",
    "int32": "I32",
    "int64": "I64",
    "float16": "F16",
    "float32": "F32",
    "float64": "F64",
    "bfloat16": "BF16",
}
DTYPES_OF = {name: DTYPES[dtype] for dtype, name in DTYPE_NAMES.items()}
TEXTS = "__metadata__"
CHECKSUM = "kameleon.sha256"
ALIGNMENT = 8

Array = np.ndarray[Any, Any]


def packed(arrays: Mapping[str, Array], texts: Mapping[str, str]) -> bytes:
    """Arrays and texts as bytes, with their checksum."""
    header: dict[str, Any] = {TEXTS: {**texts, CHECKSUM: checksum(arrays, texts)}}
    at = 0
    for name, array in arrays.items():
        header[name] = {
            "dtype": DTYPE_NAMES[as_dtype(array.dtype)],
            "shape": list(array.shape),
            "data_offsets": [at, at := at + array.nbytes],
        }
    head = json.dumps(header).encode()
    head += b" " * (-len(head) % ALIGNMENT)
    return b"".join([len(head).to_bytes(8, "little"), head, *map(_bytes_of, arrays.values())])


def _bytes_of(array: Array) -> bytes:
    return _little(np.ascontiguousarray(array)).tobytes()


def _little(array: Array) -> Array:
    """The array with the bytes of its numbers in the order of the file."""
    return array.astype(array.dtype.newbyteorder("<"), copy=False)


def checksum(arrays: Mapping[str, Array], texts: Mapping[str, str]) -> str:
    """SHA-256 of all arrays and texts, however a file lays them out."""
    digest = hashlib.sha256()

    def add(part: bytes) -> None:
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)

    for name, text in sorted(texts.items()):
        if name != CHECKSUM:
            add(name.encode(errors="surrogatepass"))
            add(text.encode(errors="surrogatepass"))
    for name, array in sorted(arrays.items()):
        add(f"{name} {as_dtype(array.dtype)} {array.shape}".encode(errors="surrogatepass"))
        add(_bytes_of(array))
    return digest.hexdigest()


def unpacked(data: bytes) -> tuple[dict[str, Array], dict[str, str]]:
    """Arrays (read-only) and texts; the checksum, if there is one, is among the texts.

    Raises:
        FileFormatError: the bytes aren't what `packed` gives, or the checksum says that they
            were changed.
    """
    header, body = at_place("header", _split, data)
    texts = header.pop(TEXTS, {})
    is_text = type(texts) is dict and all(type(text) is str for text in texts.values())
    expect(is_text, f"{TEXTS} must hold texts")
    arrays: dict[str, Array] = {}
    end = 0
    for name, entry in sorted(header.items(), key=_offset):
        arrays[name], end = at_place(f"array {name!a}", _array, entry, body, end)
    expect(end == len(body), f"{len(body) - end} bytes behind the last array belong to none")
    stated = texts.get(CHECKSUM)
    if stated is not None and stated != checksum(arrays, texts):
        raise FileFormatError(
            "the checksum over graph and arrays isn't the one that is stated: something in the"
            " file was changed"
        )
    return arrays, texts


def _split(data: bytes) -> tuple[dict[str, Any], memoryview]:
    """The header, and what lies behind it."""
    expect(len(data) >= 8, f"there are only {len(data)} bytes")
    length = int.from_bytes(data[:8], "little")
    expect(
        length <= len(data) - 8, f"the header should have {length} bytes; there are {len(data) - 8}"
    )
    header = json.loads(data[8 : 8 + length].decode())
    expect(type(header) is dict, "the header isn't a JSON object")
    return header, memoryview(data)[8 + length :]


def _offset(item: tuple[str, Any]) -> Any:
    """Where an array begins, as far as that can be told."""
    try:
        begin, end = item[1]["data_offsets"]
        return (begin, end) if is_int(begin, 0, 2**62) and is_int(end, 0, 2**62) else (0, 0)
    except (TypeError, KeyError, ValueError):
        return (0, 0)


def _array(entry: Any, body: memoryview, begin: int) -> tuple[Array, int]:
    """The array that begins at a place, and where it ends."""
    dtype = DTYPES_OF.get(field(entry, "dtype", str))
    if dtype is None:
        raise FileFormatError(f"dtype {entry['dtype']!a} is unknown")
    shape = tuple(field(entry, "shape", list))
    expect(is_shape(shape) and None not in shape, f"{entry['shape']!a} are no sizes")
    count = 0 if 0 in shape else elements(shape)
    end = begin + count * dtype.itemsize
    stated = field(entry, "data_offsets", list)
    expect(stated == [begin, end], f"it should lie at {[begin, end]}, not at {stated!a}")
    expect(end <= len(body), f"it should end at {end}; there are {len(body)} bytes")
    return _read(body[begin:end], dtype, shape), end


def _read(data: memoryview, dtype: DType, shape: Iterable[int]) -> Array:
    as_dtype(dtype.name)  # raises where the package is missing that bfloat16 needs
    kind = np.dtype(dtype.name)
    if dtype.is_bool:
        expect(not (np.frombuffer(data, np.uint8) > 1).any(), "a bool is neither 0 nor 1")
    return (
        np.frombuffer(data, kind.newbyteorder("<")).astype(kind, copy=False).reshape(tuple(shape))
    )
