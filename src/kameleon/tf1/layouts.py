"""How TensorFlow 1 says windows: strides of all axes, layouts by letters, paddings in capitals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..backend._tensors import as_tensor
from ..backend._windows import Ints, channels_back, channels_to_end
from ..backend._words import DataFormat
from ..errors import ArgumentError
from ..prims.movement import pad

LAYOUTS = {
    "NWC": 1, "NCW": 1, "NHWC": 2, "NCHW": 2, "NDHWC": 3, "NCDHW": 3,
}  # fmt: skip


class Layout(NamedTuple):
    """Where the channels are, among axes of space of some number."""

    rank: int
    word: DataFormat

    @property
    def first(self) -> bool:
        """Whether channels come before space."""
        return self.word == "channels_first"

    def to_end(self, x: Any, what: str) -> Any:
        """`x` with its channels last."""
        return channels_to_end(x, self.word, self.rank, what)

    def back(self, x: Any) -> Any:
        """What has its channels last, in the layout."""
        return channels_back(x, self.word)


def layout_of(data_format: Any, rank: int, what: str) -> Layout:
    """The layout that letters such as 'NHWC' say; channels last, where none are given."""
    letters = str(data_format or "")
    if letters and LAYOUTS.get(letters) != rank:
        known = " and ".join(repr(name) for name, n in LAYOUTS.items() if n == rank)
        raise ArgumentError(f"{what}: data_format is {data_format!r}; there are {known}")
    return Layout(rank, "channels_first" if letters.startswith("NC") else "channels_last")


def each(value: Any, layout: Layout, what: str, argument: str) -> Ints:
    """One number for each axis of space; of what says one for all, or one for each axis of all.

    Raises:
        ArgumentError: another number of numbers; one other than 1 for the batch or the channels.
    """
    found = [1] if value is None else np.atleast_1d(value).tolist()
    rank = layout.rank
    if len(found) == rank + 2:
        inner = found[2:] if layout.first else found[1:-1]
        around = [found[0], found[1] if layout.first else found[-1]]
        if around != [1, 1]:
            raise ArgumentError(
                f"{what}: {argument} is {value!r}; along the batch and the channels it must be 1"
            )
        return tuple(map(int, inner))
    if len(found) not in (1, rank):
        raise ArgumentError(
            f"{what}: {argument} is {value!r}; it must have 1, {rank} or {rank + 2} numbers"
        )
    return tuple(int(n) for n in (found * rank if len(found) == 1 else found))


def padding_of(padding: Any, what: str) -> str:
    """'valid' or 'same'."""
    if str(padding).upper() not in ("VALID", "SAME"):
        raise ArgumentError(f"{what}: padding is {padding!r}; there are 'VALID' and 'SAME'")
    return str(padding).lower()


def margins(x: Any, padding: Any, what: str) -> tuple[Any, str]:
    """`x` with the margins that a list of pairs says, and the padding that's left to do."""
    if isinstance(padding, str) or not isinstance(padding, (list, tuple)):
        return as_tensor(x, what), padding_of(padding, what)
    pairs: Sequence[tuple[int, int]] = [(int(a), int(b)) for a, b in padding]
    return pad(as_tensor(x, what), pairs), "valid"
