"""The geometry of sliding windows over channels-last arrays `(batch, *spatial, channels)`.

A window has, per spatial dimension, a size, a stride, a padding `(low, high)` and a dilation. The
one numbered `i` of a dimension sees the cells `i * stride + offset * dilation - low`, for every
offset inside the window. Negative padding crops.
"""

from collections.abc import Iterator
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple, TypeAlias

import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]
Dims: TypeAlias = tuple[int, ...]
Pads: TypeAlias = tuple[tuple[int, int], ...]
Slices: TypeAlias = tuple[slice, ...]
# Sizes, strides, padding, dilation.
Window: TypeAlias = tuple[Dims, Dims, Pads, Dims]

_BLOCK = 2**20  # bytes of one operand worked on at a time: a share of the second-level cache


class Offset(NamedTuple):
    """One position inside the window, and what of the array all windows together see there."""

    number: int  # row-major
    cells: Slices  # of the array, after the batch: what the windows see here
    windows: Slices  # of the result, after the batch: the windows that see a cell at all


def window_counts(spatial: Dims, window: Window) -> Dims:
    """How many windows there are in each spatial dimension, `(size + pads - reach) // stride + 1`.

    Example:
        >>> window_counts((28, 28), ((3, 3), (2, 2), ((0, 1), (0, 1)), (1, 1)))
        (14, 14)
    """
    return tuple(
        max(0, (n + low + high - (w - 1) * d - 1) // s + 1)
        for n, w, s, (low, high), d in zip(spatial, *window, strict=True)
    )


@lru_cache(maxsize=512)
def offsets_of(spatial: Dims, window: Window) -> tuple[Offset, ...]:
    """All offsets of the window, row-major; the slices stay inside, so nothing is ever padded.

    Example:
        >>> for offset in offsets_of((4,), ((2,), (2,), ((1, 0),), (1,))):
        ...     print(offset.cells[1], offset.windows[1])
        slice(1, 2, 2) slice(1, 2, None)
        slice(0, 3, 2) slice(0, 2, None)
    """
    rows = zip(spatial, window_counts(spatial, window), *window, strict=True)
    axes = [
        [_seen(n, count, s, offset * d - low) for offset in range(w)]
        for n, count, w, s, (low, _), d in rows
    ]
    return tuple(
        Offset(
            number,
            (slice(None), *(cells for cells, _ in pairs)),
            (slice(None), *(windows for _, windows in pairs)),
        )
        for number, pairs in enumerate(product(*axes))
    )


def _seen(size: int, count: int, stride: int, start: int) -> tuple[slice, slice]:
    """The cells `start + i * stride` that exist, for `i < count`; and the slice of those `i`."""
    first = max(0, -(start // stride))
    last = min(count - 1, (size - 1 - start) // stride)
    if last < first:
        return slice(0, 0), slice(0, 0)
    return slice(start + first * stride, start + last * stride + 1, stride), slice(first, last + 1)


def are_apart(window: Window) -> bool:
    """Whether no cell is seen by two windows."""
    return all(s > (w - 1) * d for w, s, _, d in zip(*window, strict=True))


def is_unpadded(padding: Pads) -> bool:
    """Whether there is neither padding nor cropping."""
    return all(low == high == 0 for low, high in padding)


def blocks_of(items: int, bytes_per_item: int) -> Iterator[slice]:
    """Slices of a batch, each of about `_BLOCK` bytes."""
    step = max(1, _BLOCK // max(1, bytes_per_item))
    for start in range(0, items, step):
        yield slice(start, start + step)


def flat_rows(x: Array) -> Array:
    """`(..., width, channels)` as `(..., width * channels)`."""
    return x.reshape(*x.shape[:-2], x.shape[-2] * x.shape[-1])


def flat_slices(slices: Slices, channels: int) -> Slices:
    """Slices of spatial dimensions, the last of step 1, for an array with flat rows."""
    last = slices[-1]
    return (*slices[:-1], slice(last.start * channels, last.stop * channels))
