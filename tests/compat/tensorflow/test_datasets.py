"""Iterations over datasets go on behind an error, as TensorFlow's do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from kameleon.compat.tensorflow.failures import failure, is_failure
from kameleon.compat.tensorflow.operations.datasets import (
    batches,
    elements,
    groups,
    mixing,
    orders,
)
from kameleon.compat.tensorflow.operations.datasets.base import Dataset, Element

INT64 = 9


def numbers() -> Dataset:
    """0 to 7, but for an error in place of 3."""

    def begin() -> Iterator[Element]:
        rest = iter(range(8))

        def step() -> Element:
            number = next(rest)
            if number == 3:
                raise failure("INVALID_ARGUMENT", "3")
            return (number,)

        return iter(step, None)

    return Dataset(begin, types=[INT64])


def given(dataset: Dataset) -> list[Any]:
    """The elements of one part; "!" in place of errors."""
    following, found = iter(dataset), list[Any]()
    while True:
        try:
            for (number,) in following:
                found.append(number.tolist() if isinstance(number, np.ndarray) else number)
        except Exception as error:
            assert is_failure(error)
            found.append("!")
        else:
            return found


def seven(first: int, *rest: int) -> list[bool]:
    """Whether a number isn't 7."""
    return [first != 7]


CASES: list[tuple[Callable[[Dataset], Dataset], list[Any]]] = [
    (lambda x: elements.mapped(x, lambda n: [n * 10]), [0, 10, 20, "!", 40, 50, 60, 70]),
    (lambda x: elements._scanned(x, [0], lambda s, n: [s + n, s]), [0, 0, 1, "!", 3, 7, 12, 18]),
    (lambda x: elements._filtered(x, seven), [0, 1, 2, "!", 4, 5, 6]),
    (lambda x: elements._while_holds(x, seven), [0, 1, 2, "!", 4, 5, 6]),
    (lambda x: elements._taken(x, 5), [0, 1, 2, "!", 4]),
    (lambda x: elements._skipped(x, 2), [2, "!", 4, 5, 6, 7]),
    (lambda x: elements._shard(x, 2, 0), [0, 2, "!", 5, 7]),
    (lambda x: elements._without_errors(x), [0, 1, 2, 4, 5, 6, 7]),
    (lambda x: elements._distinct(x), [0, 1, 2, "!", 4, 5, 6, 7]),
    (lambda x: batches.batched(x, 2), [[0, 1], "!", [4, 5], [6, 7]]),
    (lambda x: batches._unbatched(batches.batched(x, 2)), [0, 1, "!", 4, 5, 6, 7]),
    (lambda x: orders._repeated(x, 2), [0, 1, 2, "!", 4, 5, 6, 7] * 2),
    (lambda x: orders._kept(x, b""), [0, 1, 2, "!", 4, 5, 6, 7]),
    (lambda x: mixing._concatenated(x, x), [0, 1, 2, "!", 4, 5, 6, 7] * 2),
    (lambda x: mixing._flat(x, lambda n: [Dataset(lambda: [(n,)])]), [0, 1, 2, "!", 4, 5, 6, 7]),
    (lambda x: groups._sliding(x, 2, 2, 1), [[0, 1], "!", [2, 4], [5, 6]]),
]  # fmt: skip


@pytest.mark.parametrize(("make", "expected"), CASES)
def test_an_iteration_goes_on_behind_an_error(
    make: Callable[[Dataset], Dataset], expected: list[Any]
) -> None:
    assert given(make(numbers())) == expected
