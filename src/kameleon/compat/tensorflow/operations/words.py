"""Strings cut into words, letters and numbers: how many there are follows from data."""

from __future__ import annotations

import itertools
import re
from typing import Any

import numpy as np

from ..failures import invalid
from ..graph import Operation
from .sequences import of_batch
from .strings import each
from .table import fold
from .values import dtype_of, objects, texts

Array = np.ndarray


# Words ------------------------------------------------------------------------------------------


@fold("StringSplit")
def _split(operation: Operation, x: Any, delimiter: Any) -> list[Array]:
    """At each byte of the delimiter; between all bytes, if it's empty."""
    told, skip = texts(delimiter).item(), operation.attribute("skip_empty")
    rows = []
    for one in texts(x):
        if not told:
            parts = [one[at : at + 1] for at in range(len(one))]
        else:
            parts = re.split(b"[" + re.escape(told) + b"]", one)
        rows.append([part for part in parts if part] if skip else parts if one else [])
    return of_batch(rows, "object").parts()


@fold("StringSplitV2")
def _split_at(operation: Operation, x: Any, separator: Any) -> list[Array]:
    """As Python does it."""
    told, most = texts(separator).item() or None, operation.attribute("maxsplit")
    return of_batch([one.split(told, most) for one in texts(x)], "object").parts()


@fold("StringNGrams")
def _ngrams(operation: Operation, data: Any, splits: Any) -> list[Array]:
    rows, ends = [], np.asarray(splits)
    for end in ends.tolist():
        if not 0 <= end <= np.size(data):
            raise invalid(f"Invalid split value {end}, must be in [0,{np.size(data)}]")
    for begin, end in itertools.pairwise(ends):
        rows.append(_grams(operation, list(texts(data)[begin:end])))
    counts = np.cumsum([0, *map(len, rows)]).astype(ends.dtype)
    return [objects([gram for row in rows for gram in row]), counts]


def _grams(operation: Operation, words: list[bytes]) -> list[bytes]:
    separator, widest = operation.attribute("separator"), operation.attribute("pad_width")
    left, right = operation.attribute("left_pad"), operation.attribute("right_pad")
    found: list[bytes] = []
    for width in operation.attribute("ngram_widths"):
        pad = width - 1 if widest < 0 else min(widest, width - 1)
        row = [left] * pad + words + [right] * pad
        found += [separator.join(row[at : at + width]) for at in range(len(row) - width + 1)]
    if not found and words and operation.attribute("preserve_short_sequences"):
        pads = max(widest, 0)
        found.append(separator.join([left] * pads + words + [right] * pads))
    return found


# Letters ----------------------------------------------------------------------------------------

HIDDEN = "".join(map(chr, range(32)))


def _decoded(operation: Operation, x: bytes, encoding: str) -> str:
    """The characters of a string; what is malformed is replaced, left out, or an error."""
    errors = operation.attribute("errors")
    handled = {b"strict": "strict", b"replace": "replace", b"ignore": "ignore"}[errors]
    name = {"UTF-16-BE": "utf-16-be", "UTF-32-BE": "utf-32-be"}.get(encoding, encoding)
    try:
        found = x.decode(name, handled)
    except UnicodeDecodeError:
        raise invalid(f"Invalid formatting on input string: {x!r}") from None
    except LookupError:
        raise invalid(f"Could not create converter for input encoding: {encoding}") from None
    new = chr(operation.attribute("replacement_char"))
    found = found.replace("\ufffd", new) if errors == b"replace" else found
    if operation.attribute("replace_control_characters"):
        found = "".join(new if letter in HIDDEN else letter for letter in found)
    return found


@fold("UnicodeDecode UnicodeDecodeWithOffsets")
def _decode(operation: Operation, x: Any) -> list[Array]:
    encoding = operation.attribute("input_encoding").decode()
    rows = [_decoded(operation, one, encoding) for one in texts(x).ravel()]
    kind = dtype_of(operation, "Tsplits")
    splits = np.cumsum([0, *map(len, rows)]).astype(kind)
    found = [splits, np.array([ord(letter) for row in rows for letter in row], np.int32)]
    if operation.type.endswith("Offsets"):
        wide = {"UTF-8": "utf-8", "UTF-16-BE": "utf-16-be"}.get(encoding, "utf-32-be")
        sizes = [[len(letter.encode(wide)) for letter in row] for row in rows]
        starts = [np.cumsum([0, *row])[:-1] for row in sizes]
        found.append(np.concatenate([np.zeros(0), *starts]).astype(np.int64))
    return found


@fold("UnicodeEncode")
def _encode(operation: Operation, letters: Any, splits: Any) -> Array:
    encoding = operation.attribute("output_encoding").decode()
    numbers, ends, rows = np.asarray(letters), np.asarray(splits), []
    for begin, end in itertools.pairwise(ends):
        rows.append("".join(filter(None, map(_letter(operation), numbers[begin:end]))))
    return objects([row.encode(encoding.lower()) for row in rows])


def _letter(operation: Operation) -> Any:
    errors, new = operation.attribute("errors"), chr(operation.attribute("replacement_char"))

    def letter(number: Any) -> str:
        if 0 <= number < 0x110000 and not 0xD800 <= number < 0xE000:
            return chr(number)
        if errors == b"strict":
            raise invalid("Code point is out of range for Unicode, or a noncharacter.")
        return new if errors == b"replace" else ""

    return letter


@fold("UnicodeTranscode")
def _transcode(operation: Operation, x: Any) -> Array:
    encoding = operation.attribute("input_encoding").decode()
    to = operation.attribute("output_encoding").decode().lower()
    return each(lambda one: _decoded(operation, one, encoding).encode(to), texts(x))
