"""Strings cut into words, letters and numbers: how many there are follows from data."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
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
    delimiters, rows = delimiter.item(), []
    bounds = re.compile(b"[" + re.escape(delimiters) + b"]" if delimiters else rb"(?!^|\Z)")
    for one in x:
        parts = bounds.split(one)
        rows.append([part for part in parts if part] if skip_empty else parts if one else [])
    return of_batch(rows, "object").parts()


@fold("StringSplitV2")
def _split_at(x: Texts, separator: Texts, *, maxsplit: int) -> list[Array]:
    """As Python does it; but what is left after the last split counts, be it empty."""
    given, rows = separator.item() or None, []
    for one in x:
        parts = one.split(given, maxsplit) if maxsplit else [one]
        is_cut = given is None and len(parts) == maxsplit and one.strip()
        rows.append([*parts, b""] if is_cut else parts)
    return of_batch(rows, "object").parts()


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
CODECS = {"UTF-16": "UTF-16-BE", "UTF-32": "UTF-32-BE"}  # without a mark of the order
NEW = "\ufffd"


@dataclass
class Letter:
    """A character of a string.

    Attributes:
        text: the character.
        size: how many bytes it takes in the string.
    """

    text: str
    size: int


def _decoded(operation: Operation, x: bytes, encoding: str) -> list[Letter]:
    """The characters of a string; what is malformed is replaced, or has no text, or is an error."""
    errors, new = operation.attribute("errors"), chr(operation.attribute("replacement_char"))
    hidden = HIDDEN if operation.attribute("replace_control_characters") else ""
    found = []
    for letter in _letters(x, CODECS.get(encoding, encoding)):
        if not letter.text and errors == b"strict":
            raise invalid("Invalid formatting on input string")
        if letter.text in hidden:  # as no text is
            letter.text = "" if errors == b"ignore" else new
        found.append(letter)
    return found


def _letters(x: bytes, codec: str) -> Iterator[Letter]:
    """The characters of a string; of what is malformed, one without text."""
    at = 0
    while at < len(x):
        try:
            good, bad = x[at:].decode(codec), 0
        except UnicodeDecodeError as error:
            good, bad = x[at : at + error.start].decode(codec), error.end - error.start
        except LookupError:
            raise invalid(f"Could not create converter for input encoding: {codec}") from None
        for text in good:
            yield Letter(text, len(text.encode(codec)))
            at += len(text.encode(codec))
        if bad:
            yield Letter("", bad)
            at += bad


@fold("UnicodeDecode UnicodeDecodeWithOffsets")
def _decode(operation: Operation, x: Texts, *, input_encoding: str, Tsplits: Kind) -> list[Array]:
    rows, starts = [], []
    for one in x.ravel():
        letters = _decoded(operation, one, input_encoding)
        ends = itertools.accumulate((each.size for each in letters), initial=0)
        kept = [(each.text, at) for each, at in zip(letters, ends, strict=False) if each.text]
        rows.append([ord(text) for text, _ in kept])
        starts += [at for _, at in kept]
    splits = np.cumsum([0, *map(len, rows)]).astype(Tsplits)
    found = [splits, np.array([number for row in rows for number in row], np.int32)]
    return [*found, np.array(starts, np.int64)][: len(operation.types)]


@fold("UnicodeEncode")
def _encode(operation: Operation, letters: Array, ends: Array, *, output_encoding: str) -> Array:
    letter, rows = _letter(operation), []
    for begin, end in itertools.pairwise(ends):
        row = "".join(filter(None, map(letter, letters[begin:end])))
        rows.append(_encoded(row, output_encoding))
    return objects(rows)


def _encoded(letters: str, encoding: str) -> bytes:
    """Text as bytes. Two halves of a pair are one character; UTF-8 doesn't hold single ones."""
    halves = "surrogatepass"
    paired = letters.encode("utf-16-be", halves).decode("utf-16-be", halves)
    if encoding == "UTF-8":
        paired = re.sub("[\ud800-\udfff]", NEW, paired)
    return paired.encode(encoding.lower(), halves)


def _letter(operation: Operation) -> Any:
    errors, new = operation.attribute("errors"), chr(operation.attribute("replacement_char"))

    def letter(number: Any) -> str:
        if 0 <= number < 0x110000:
            return chr(number)
        if errors == b"strict":
            raise invalid("Code point value out of valid Unicode range.")
        return new if errors == b"replace" else ""

    return letter


@fold("UnicodeTranscode")
def _transcode(
    operation: Operation, x: Texts, *, input_encoding: str, output_encoding: str
) -> Array:
    to = output_encoding.lower()

    def transcoded(one: bytes) -> bytes:
        return "".join(each.text for each in _decoded(operation, one, input_encoding)).encode(to)

    return each(transcoded, x)


@cache
def _scripts() -> tuple[Array, Array]:
    """Where runs of characters of the same script end, and the numbers that ICU has for these:
    `scripts.txt` has how many there are in each, from character 0 on.
    """
    text = files(__package__.rpartition(".")[0]).joinpath("scripts.txt").read_text("ascii")
    counts, numbers = np.array([each.split(":") for each in text.split()], np.int32).T
    return counts.cumsum(), numbers


@fold("UnicodeScript")
def _script(x: Array) -> Array:
    ends, numbers = _scripts()
    found = numbers[ends.searchsorted(x, "right").clip(max=len(ends) - 1)]
    return np.where((x >= 0) & (x < ends[-1]), found, np.int32(-1))
