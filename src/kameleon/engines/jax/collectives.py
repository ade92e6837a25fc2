"""What devices tell each other: counted in the text of a compiled program."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from ..._utils.reports import Collective

KINDS = ("all-reduce", "all-gather", "reduce-scatter", "collective-permute", "all-to-all")
# An instruction of XLA's text: its result (one array, or several in parentheses) and its operation.
# What is started and awaited in two instructions counts where it's started.
_LINE = re.compile(rf"= (\(.*?\)|\S+) ({'|'.join(KINDS)})(-start)?\(")
_ARRAY = re.compile(r"([a-z]+\d*)\[([\d,]*)\]")
_BITS = re.compile(r"\d+")


def collectives(text: str) -> list[Collective]:
    """The collective operations of a program, by kind: how many, and the bytes of their results.

    Those in the body of a loop are counted once.
    """
    found = list(_found(text))
    return [
        Collective(kind, len(sizes), sum(sizes))
        for kind in KINDS
        if (sizes := [size for k, size in found if k == kind])
    ]


def _found(text: str) -> Iterator[tuple[str, int]]:
    """Each operation with the bytes of its result."""
    for line in text.splitlines():
        match = _LINE.search(line)
        if match:
            result, kind, started = match.groups()
            sizes = [_bytes(*array) for array in _ARRAY.findall(result)]
            # What is started gives its operands, too.
            yield kind, sum(sizes) // 2 if started and kind != "all-reduce" else sum(sizes)


def _bytes(dtype: str, sizes: str) -> int:
    """Of an array such as f32[3,8], in XLA's words."""
    bits = _BITS.search(dtype)
    width = int(bits.group()) // 8 if bits else 1
    return width * math.prod(int(size) for size in sizes.split(",") if size)
