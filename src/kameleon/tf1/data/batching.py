"""Batches of a dataset's elements, and padding."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..failures import ERRORS

Element = Sequence[Any]


def chunks(elements: Iterator[Element], size: int, whole: bool) -> Iterator[list[Element]]:
    """So many elements at a time; fewer at the end, unless all must be `whole`."""
    if size < 1:
        raise ERRORS["InvalidArgumentError"](
            None, None, "Batch size must be greater than zero."
        )  # fmt: skip
    while chunk := list(itertools.islice(elements, size)):
        if len(chunk) == size or not whole:
            yield chunk


def batches(elements: Iterator[Element], size: int, whole: bool) -> Iterator[Element]:
    """Batches of elements that are alike."""
    return _joined(chunks(elements, size, whole), _stacked)


def _joined(
    parts: Iterator[list[Element]], join: Callable[[int, list[Any]], Any]
) -> Iterator[Element]:
    for chunk in parts:
        yield [join(i, list(rows)) for i, rows in enumerate(zip(*chunk, strict=True))]


def _stacked(index: int, rows: list[Any]) -> Any:
    shapes = [list(np.shape(row)) for row in rows]
    odd = next((i for i, shape in enumerate(shapes) if shape != shapes[0]), None)
    if odd is not None:
        raise ERRORS["InvalidArgumentError"](
            None, None,
            f"Cannot batch tensors with different shapes in component {index}. First element had"
            f" shape {shapes[0]} and element {odd} had shape {shapes[odd]}.",
        )  # fmt: skip
    return np.stack(rows)


def padded_batches(
    elements: Iterator[Element], size: int, shapes: Sequence[Any], fills: Sequence[Any],
    whole: bool,
) -> Iterator[Element]:  # fmt: skip
    """Batches of elements, each padded to the largest sizes of a batch, or to given ones."""

    def join(index: int, rows: list[Any]) -> Any:
        return _padded([np.asarray(r) for r in rows], shapes[index], fills[index])

    return _joined(chunks(elements, size, whole), join)


def _padded(rows: list[np.ndarray], shape: Sequence[int | None], fill: Any) -> np.ndarray:
    largest = [max(sizes) for sizes in zip(*(r.shape for r in rows), strict=True)]
    wanted = [m if n is None else n for n, m in zip(shape, largest, strict=True)]
    if any(m > n for n, m in zip(wanted, largest, strict=True)):
        raise ERRORS["DataLossError"](
            None, None,
            f"Attempted to pad to a smaller size than the input element: {wanted}, {largest}",
        )  # fmt: skip
    padded = [np.full(wanted, fill, rows[0].dtype) for _ in rows]
    for found, row in zip(padded, rows, strict=True):
        found[tuple(slice(n) for n in row.shape)] = row
    return np.stack(padded)
