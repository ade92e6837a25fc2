"""Strings: they are bytes, in arrays of objects, on the host."""

from __future__ import annotations

import base64
import re
import sys
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from ..arithmetic import hashes as H
from ..arithmetic import patterns
from ..failures import failure, invalid
from ..graph import Operation, shape_text
from ..showing import element
from .table import fold, host
from .values import Kind, Texts, plain, scalar, text, texts

Array = np.ndarray


def each(function: Callable[..., Any], *given: Any, kind: str = "object") -> Array:
    """A function of elements, over arrays that are stretched to one shape."""
    wide = given if len({x.shape for x in given}) == 1 else np.broadcast_arrays(*given)
    found = np.empty(wide[0].shape, kind)
    found.reshape(-1)[:] = [*map(function, *[x.ravel().tolist() for x in wide])]
    return found


def mapped(*names: str, kind: str = "object") -> Callable[..., Any]:
    """Decorates what some types make of each string: `(operation, bytes)`."""

    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        @fold(*names)
        def run(operation: Operation, x: Any) -> Array:
            return each(lambda one: function(operation, one), texts(x), kind=kind)

        return function

    return add


# Letters ----------------------------------------------------------------------------------------


@mapped("StringLower StringUpper")
def _cased(operation: Operation, x: bytes) -> bytes:
    lower = operation.type.endswith("Lower")
    if encoding := operation.attribute("encoding"):
        if encoding != b"utf-8":
            about = "only utf-8 or '' (no encoding) is supported"
            raise invalid(f"{about}, received {text(encoding)}")
        letters = x.decode("utf-8", "replace")
        return (letters.lower() if lower else letters.upper()).encode()
    return x.lower() if lower else x.upper()


mapped("StringStrip")(lambda operation, x: x.strip())


def letters_of(x: bytes) -> list[bytes]:
    """The characters of UTF-8, each with the bytes that continue it."""
    return re.findall(rb"[^\x80-\xbf][\x80-\xbf]*|^[\x80-\xbf]+", x)


@mapped("StringLength", kind="int32")
def _length(operation: Operation, x: bytes) -> int:
    return len(letters_of(x) if operation.attribute("unit") == b"UTF8_CHAR" else x)


@fold("Substr")
def _part(x: Texts, at: Array, size: Array, *, unit: bytes) -> Array:
    by_letters = unit == b"UTF8_CHAR"

    def cut(one: bytes, start: int, count: int) -> bytes:
        parts: Any = letters_of(one) if by_letters else one
        if not -len(parts) <= start <= len(parts):
            at = next(at for at, each in enumerate(x.flat) if each is one)
            what = "string" if by_letters else f"string b'{one.decode(errors='replace')}'"
            raise invalid(f"pos {start} out of range for {what} at index {at}")
        begin = start + len(parts) if start < 0 else start
        # What is negative is without end for bytes, and nothing for characters.
        end = begin + count if count >= 0 or by_letters else len(parts)
        found = parts[begin : max(begin, end)]
        return b"".join(found) if by_letters else bytes(found)

    return each(cut, x, at, size)


# Numbers ----------------------------------------------------------------------------------------


@fold("StringToNumber")
def _numbers(x: Texts, *, out_type: Kind) -> Array:
    return each(lambda one: number_of(one, np.dtype(out_type)), x, kind=out_type)


NUMBER = re.compile(rb"[+-]?(\d+\.?\d*([eE][+-]?\d+)?|\.\d+([eE][+-]?\d+)?|inf|nan)", re.I)


def number_of(x: bytes, kind: np.dtype[Any]) -> Any:
    """A number that is written in a string.

    Raises:
        InvalidArgumentError: (TensorFlow's) it isn't one, or too large.
    """
    given = x.strip()
    if kind.kind == "f":
        if x and not given:
            return 0.0
        if NUMBER.fullmatch(given):
            return float(given)
        if re.fullmatch(rb"[+-]?0[xX][0-9a-fA-F]+", given):
            return float.fromhex(given.decode())
    elif re.fullmatch(rb"-?\d+", given):
        info, found = np.iinfo(kind), int(given)
        if info.min <= found <= info.max:
            return found
    raise invalid(f"StringToNumberOp could not correctly convert string: {text(x)}")


FILLINGS = ("", " ", "+", "-", "0", "#")


@fold("AsString")
def _written(
    given: Array, *, width: int, fill: str, precision: int, scientific: bool, shortest: bool
) -> Array:
    form = _form(given.dtype, width, fill, precision, (scientific, shortest))
    if given.dtype.kind == "b":
        return each(lambda one: b"true" if one else b"false", given)
    if given.dtype.kind in "iu":
        return each(lambda one: (f"{form}d" % int(one)).encode(), given)
    form += "e" if scientific else "g" if shortest else "f"
    if given.dtype.kind == "c":
        return each(lambda one: f"({form},{form})".__mod__((one.real, one.imag)).encode(), given)
    return each(lambda one: (form % float(one)).encode(), given)


def _form(
    kind: np.dtype[Any], width: int, fill: str, precision: int, ways: tuple[bool, bool]
) -> str:
    """How numbers of a type are written, but for the letter."""
    if len(fill) > 1:
        raise invalid("Fill string must be one or fewer characters")
    if fill not in FILLINGS:
        raise invalid(f'Fill argument not supported: "{fill}"')
    is_exact = kind.kind in "biu"
    if any(ways) and is_exact:
        raise invalid(f"scientific and shortest format not supported for datatype {kind}")
    if all(ways):
        raise invalid("Cannot select both scientific and shortest notation")
    if precision >= 0 and is_exact:
        raise invalid(f"precision not supported for datatype {kind}")
    form = f"%{fill}{width if width >= 0 else ''}"
    return f"{form}.{precision}" if precision >= 0 else form


# Hashes -----------------------------------------------------------------------------------------


@fold("StringToHashBucket")
def _bucket(x: Texts, *, num_buckets: int) -> Array:
    return each(lambda one: H.murmur(one) % num_buckets, x, kind="int64")


@fold("StringToHashBucketFast")
def _fast_bucket(x: Texts, *, num_buckets: int) -> Array:
    return each(lambda one: H.fingerprint(one) % num_buckets, x, kind="int64")


@fold("StringToHashBucketStrong")
def _strong_bucket(x: Texts, *, num_buckets: int, key: Any) -> Array:
    if len(key) != 2:
        raise invalid("Key must have 2 elements")
    one, other = (number % 2**64 for number in key)
    return each(lambda text: H.keyed(text, (one, other)) % num_buckets, x, kind="int64")


@fold("Fingerprint")
def _fingerprints(given: Array, method: Any) -> Array:
    rows = [b"".join(texts(row).flat) if given.dtype == object else row.tobytes() for row in given]
    words = [H.fingerprint(row).to_bytes(8, "little") for row in rows]
    return np.frombuffer(b"".join(words), np.uint8).reshape(len(rows), 8)


# Patterns ---------------------------------------------------------------------------------------


@cache
def pattern_of(pattern: bytes) -> re.Pattern[str]:
    """A pattern.

    Raises:
        InvalidArgumentError: (TensorFlow's) it isn't one.
    """
    try:
        return patterns.compiled(_letters(pattern))
    except patterns.PatternError as error:
        raise invalid(f"Invalid pattern: {text(pattern)}, error: {error}") from None


def _letters(text: bytes) -> str:
    """Text; bytes that aren't UTF-8 stand in it as surrogates."""
    return text.decode("utf-8", "surrogateescape")


@fold("RegexReplace StaticRegexReplace")
def _replace(operation: Operation, x: Texts, *given: Texts) -> Array:
    arguments = [each.item() for each in given]
    pattern, rewrite = arguments or (operation.attribute("pattern"), operation.attribute("rewrite"))
    found, everywhere = pattern_of(pattern), operation.attribute("replace_global")

    def replace(one: bytes) -> bytes:
        new = patterns.replaced(found, _letters(one), _letters(rewrite), everywhere)
        return new.encode("utf-8", "surrogateescape")

    return each(replace, x)


@fold("RegexFullMatch StaticRegexFullMatch")
def _match(operation: Operation, x: Texts, *given: Texts) -> Array:
    found = pattern_of(given[0].item() if given else operation.attribute("pattern"))

    def matches(one: bytes) -> bool:
        return found.fullmatch(_letters(one)) is not None

    return each(matches, x, kind="bool")


# Joining ----------------------------------------------------------------------------------------


@fold("StringJoin")
def _join(*parts: Texts, separator: bytes | None) -> Array:
    shapes = [part.shape for part in parts if part.ndim]
    for shape in shapes:
        if shape != shapes[0]:
            shown = f"{shape_text(shapes[0])} vs. {shape_text(shape)}"
            raise invalid(f"Input shapes do not match: {shown}")
    return each(lambda *row: (separator or b"").join(row), *parts)


@fold("ReduceJoin")
def _reduce(given: Texts, over: list[int], *, separator: bytes, keep_dims: bool) -> Array:
    if not over:
        return given
    for axis in over:
        if not -given.ndim <= axis < given.ndim:
            about = f"{axis} for input with {given.ndim} dimension(s)"
            raise failure("OUT_OF_RANGE", f"Invalid reduction dimension {about}")
    counted, over = over, [axis % given.ndim for axis in over]
    for place, axis in enumerate(over):
        if axis in over[:place]:
            raise invalid(f"Duplicate reduction dimension {counted[place]}")
    left = [axis for axis in range(given.ndim) if axis not in over]
    sizes = [given.shape[axis] for axis in left]
    rows = given.transpose(left + over[::-1]).reshape(*sizes, -1)  # the first axis is joined first
    found = np.empty(sizes, object)
    for at in np.ndindex(*sizes):
        found[at] = separator.join(rows[at])
    if keep_dims:
        found = found.reshape([1 if axis in over else n for axis, n in enumerate(given.shape)])
    return found


@fold("UnsortedSegmentJoin")
def _join_segments(x: Texts, places: Array, count: int, *, separator: bytes) -> Array:
    given, flat = x.reshape(places.size, *x.shape[places.ndim :]), places.ravel()
    if ((flat < 0) | (flat >= count)).any():
        about = "are not allowed to exceed num_segments or to have negative values."
        raise invalid(f"segment_ids {about}")
    found = np.empty((count, *given.shape[1:]), object)
    for at in np.ndindex(*found.shape):
        rows = np.flatnonzero(flat == at[0])
        found[at] = separator.join(given[(row, *at[1:])] for row in rows)
    return found


# Printing ---------------------------------------------------------------------------------------


def shown(x: Any, count: int) -> str:
    """A tensor as TensorFlow prints it; of each axis the first and last so many, -1: all."""
    given = plain(x)
    if not given.ndim:
        return element(given[()])
    return _rows(given, count, 0)


def _rows(x: Array, count: int, depth: int) -> str:
    size, lines = len(x), "\n" * (x.ndim - 1)
    if x.ndim > 1 and size and not x.size:
        return f"[{lines} ...]"
    at = range(size) if count < 0 or 2 * count >= size else [*range(count), *range(-count, 0)]
    parts = [element(x[i]) if x.ndim == 1 else _rows(x[i], count, depth + 1) for i in at]
    if len(at) < size:
        parts.insert(count, "...")
    between = lines + " " * (depth + 1 if lines else 1)
    return f"[{between.join(parts)}]"


@fold("StringFormat")
def _format(*values: Any, template: str, placeholder: str, summarize: int) -> Array:
    written = [shown(value, summarize) for value in values]
    parts = zip(template.split(placeholder), [*written, ""], strict=True)
    return scalar("".join(part + end for part, end in parts))


@host("PrintV2")
def _print(x: str, *, output_stream: str, end: str) -> None:
    if output_stream.startswith("file://"):
        with open(output_stream.removeprefix("file://"), "a", encoding="utf-8") as file:
            print(x, end=end or "", file=file)
    else:
        stream = sys.stdout if output_stream == "stdout" else sys.stderr
        print(x, end=end or "", file=stream, flush=True)


# Of six bits ------------------------------------------------------------------------------------


@mapped("EncodeBase64")
def _encode(operation: Operation, x: bytes) -> bytes:
    found = base64.urlsafe_b64encode(x)
    return found if operation.attribute("pad") else found.rstrip(b"=")


@mapped("DecodeBase64")
def _decode(operation: Operation, x: bytes) -> bytes:
    given = re.sub(rb"==?$", b"", x) if len(x) % 4 == 0 else x
    if len(x) % 4 == 1:
        raise invalid("Base64 string length cannot be 1 modulo 4.")
    if not re.fullmatch(rb"[\w-]*", given) or len(given) % 4 == 1:
        raise invalid("Invalid character found in base64.")
    return base64.urlsafe_b64decode(given + b"=" * (-len(given) % 4))
