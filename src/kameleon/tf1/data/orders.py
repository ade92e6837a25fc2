"""Orders of a dataset's elements: shuffled, repeated, by turns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..failures import ERRORS

Element = Sequence[Any]


def shuffled(
    elements: Iterator[Element], size: int, generator: np.random.RandomState
) -> Iterator[Element]:
    """Each time one of a buffer of elements, whose place the next one takes."""
    if size < 1:
        raise ERRORS["InvalidArgumentError"](
            None, None, "buffer_size must be greater than zero."
        )  # fmt: skip
    buffer: list[Element] = []
    for parts in elements:
        if len(buffer) < size:
            buffer.append(parts)
            continue
        at = generator.randint(size)
        chosen, buffer[at] = buffer[at], parts
        yield chosen
    while buffer:
        at = generator.randint(len(buffer))
        buffer[at], buffer[-1] = buffer[-1], buffer[at]
        yield buffer.pop()


def repeated(again: Callable[[], Iterator[Element]], count: int) -> Iterator[Element]:
    """The elements so many times; for ever, if negative, but for a dataset without any."""
    while count:
        found = False
        for parts in again():
            found = True
            yield parts
        if not found and count < 0:
            return
        count -= 1


def interleaved(
    sources: Iterator[Iterator[Element]], cycle: int, block: int
) -> Iterator[Element]:  # fmt: skip
    """`block` elements of each of `cycle` sources by turns; where one ends, the next comes."""
    if cycle < 1 or block < 1:
        raise ERRORS["InvalidArgumentError"](
            None, None, "cycle_length and block_length must be greater than zero."
        )
    slots: list[Iterator[Element] | None] = [None] * cycle
    more, at = True, 0
    while more or any(slot is not None for slot in slots):
        slot = slots[at]
        if slot is None and more:
            slot = slots[at] = next(sources, None)
            more = slot is not None
        for _ in range(block if slot is not None else 0):
            try:
                parts = next(slot)  # type: ignore[arg-type]
            except StopIteration:
                slots[at] = None
                break
            yield parts
        at = (at + 1) % cycle


def kept(again: Callable[[], Iterator[Element]], memory: list[Any]) -> Iterator[Element]:
    """The elements: of `memory` where all are there, else made, and remembered at the end."""
    if memory:
        yield from memory[0]
        return
    seen: list[Element] = []
    for parts in again():
        seen.append(parts)
        yield parts
    memory.append(seen)
