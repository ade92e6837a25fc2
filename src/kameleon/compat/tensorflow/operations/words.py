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
from .values import Kind, Texts, objects

Array = np.ndarray


# Words ------------------------------------------------------------------------------------------


@fold("StringSplit")
def _split(x: Texts, delimiter: Texts, *, skip_empty: bool) -> list[Array]:
    """At each byte of the delimiter; between all bytes, if it's empty."""
    told, rows = delimiter.item(), []
    for one in x:
        if not told:
            parts = [one[at : at + 1] for at in range(len(one))]
        else:
            parts = re.split(b"[" + re.escape(told) + b"]", one)
        rows.append([part for part in parts if part] if skip_empty else parts if one else [])
    return of_batch(rows, "object").parts()


@fold("StringSplitV2")
def _split_at(x: Texts, separator: Texts, *, maxsplit: int) -> list[Array]:
    """As Python does it."""
    told = separator.item() or None
    return of_batch([one.split(told, maxsplit) for one in x], "object").parts()


@fold("StringNGrams")
def _ngrams(operation: Operation, data: Texts, ends: Array) -> list[Array]:
    for end in ends.tolist():
        if not 0 <= end <= data.size:
            raise invalid(f"Invalid split value {end}, must be in [0,{data.size}]")
    pairs = itertools.pairwise(ends)
    rows = [_grams(operation, list(data[begin:end])) for begin, end in pairs]
    counts = np.cumsum([0, *map(len, rows)]).astype(ends.dtype)
    return [objects([gram for row in rows for gram in row]), counts]


def _grams(operation: Operation, words: list[bytes]) -> list[bytes]:
    names = ("separator", "pad_width", "left_pad", "right_pad")
    separator, widest, left, right = map(operation.attribute, names)
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
    try:
        found = x.decode(encoding, handled)
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
def _decode(operation: Operation, x: Texts, *, input_encoding: str, Tsplits: Kind) -> list[Array]:
    rows = [_decoded(operation, one, input_encoding) for one in x.ravel()]
    splits = np.cumsum([0, *map(len, rows)]).astype(Tsplits)
    found = [splits, np.array([ord(letter) for row in rows for letter in row], np.int32)]
    if operation.type.endswith("Offsets"):
        wide = {"UTF-8": "utf-8", "UTF-16-BE": "utf-16-be"}.get(input_encoding, "utf-32-be")
        sizes = [[len(letter.encode(wide)) for letter in row] for row in rows]
        starts = [np.cumsum([0, *row])[:-1] for row in sizes]
        found.append(np.concatenate([np.zeros(0), *starts]).astype(np.int64))
    return found


@fold("UnicodeEncode")
def _encode(operation: Operation, letters: Array, ends: Array, *, output_encoding: str) -> Array:
    letter, pairs = _letter(operation), itertools.pairwise(ends)
    rows = ["".join(map(letter, letters[begin:end])) for begin, end in pairs]
    return objects([row.encode(output_encoding.lower()) for row in rows])


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
def _transcode(
    operation: Operation, x: Texts, *, input_encoding: str, output_encoding: str
) -> Array:
    to = output_encoding.lower()
    return each(lambda one: _decoded(operation, one, input_encoding).encode(to), x)
