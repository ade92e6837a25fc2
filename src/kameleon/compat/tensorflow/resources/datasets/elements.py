"""Datasets whose elements are others, or fewer, than those of another one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...failures import failure, is_failure
from ..queues import padded, stacked
from .base import Dataset, Element, Next, array, ends, row, sparse
from .sources import Begin

Function = Callable[..., Sequence[Any]]


def mapped(source: Dataset, function: Function, whole: bool = False) -> Begin:
    """What a function gives for each element; with `whole`, it may not end the dataset."""

    def begin() -> Next:
        following = source.begin()
        is_done = False

        def next_element() -> Element | None:
            nonlocal is_done
            element = None if is_done else following()
            if element is None:
                return None
            try:
                return tuple(function(*element))
            except Exception as error:
                if not ends(error):
                    raise
                if whole:
                    message = f"Function invocation produced OutOfRangeError: {error}"
                    raise failure("INVALID_ARGUMENT", message) from error
                is_done = True
                return None

        return next_element

    return begin


def filtered(source: Dataset, holds: Function) -> Begin:
    """The elements for which a function gives true."""

    def begin() -> Next:
        following = source.begin()

        def next_element() -> Element | None:
            while (element := following()) is not None:
                if bool(np.asarray(holds(*element)[0])):
                    return element
            return None

        return next_element

    return begin


def without_last(source: Dataset) -> Begin:
    """The elements whose last part is true, without it."""
    chosen = Dataset(source.types, filtered(source, lambda *parts: parts[-1:]))
    return mapped(chosen, lambda *parts: parts[:-1])


def while_holds(source: Dataset, holds: Function) -> Begin:
    """The elements before the first one for which a function gives false."""

    def begin() -> Next:
        following = source.begin()
        is_done = False

        def next_element() -> Element | None:
            nonlocal is_done
            element = None if is_done else following()
            if element is not None and not bool(np.asarray(holds(*element)[0])):
                is_done, element = True, None
            return element

        return next_element

    return begin


def taken(source: Dataset, count: int) -> Begin:
    """The first elements; all, if their number is negative."""

    def begin() -> Next:
        following, done = source.begin(), 0

        def next_element() -> Element | None:
            nonlocal done
            if 0 <= count <= done:
                return None
            done += 1
            return following()

        return next_element

    return begin


def skipped(source: Dataset, count: int) -> Begin:
    """The elements behind the first ones; none, if their number is negative."""

    def begin() -> Next:
        following, done = source.begin(), 0

        def next_element() -> Element | None:
            nonlocal done
            while done < count:
                done += 1
                if following() is None:
                    return None
            return None if count < 0 else following()

        return next_element

    return begin


def each_of(source: Dataset, count: int, at: int) -> Begin:
    """Each so-manieth element."""

    def begin() -> Next:
        following, done = source.begin(), 0

        def next_element() -> Element | None:
            nonlocal done
            while (element := following()) is not None:
                done += 1
                if (done - 1) % count == at:
                    return element
            return None

        return next_element

    return begin


def without_errors(source: Dataset) -> Begin:
    """The elements that are no errors."""

    def begin() -> Next:
        following = source.begin()

        def next_element() -> Element | None:
            while True:
                try:
                    return following()
                except Exception as error:
                    if not is_failure(error):
                        raise

        return next_element

    return begin


def distinct(source: Dataset) -> Begin:
    """Each element once."""

    def begin() -> Next:
        following, seen = source.begin(), set[Any]()

        def next_element() -> Element | None:
            while (element := following()) is not None:
                key = tuple(array(part).tobytes() if array(part).dtype != object
                            else tuple(array(part).ravel()) for part in element)  # fmt: skip
                if key not in seen:
                    seen.add(key)
                    return element
            return None

        return next_element

    return begin


def scanned(source: Dataset, state: Sequence[Any], function: Function) -> Begin:
    """What a function gives for a state, which it changes, and each element."""

    def begin() -> Next:
        following, now = source.begin(), list(state)

        def next_element() -> Element | None:
            element = following()
            if element is None:
                return None
            try:
                found = list(function(*now, *element))
            except Exception as error:
                if ends(error):
                    return None
                raise
            now[:] = found[: len(now)]
            return tuple(found[len(now) :])

        return next_element

    return begin


# Batches ----------------------------------------------------------------------------------------


def _gathered(following: Next, size: int, drop: bool) -> list[Element] | None:
    """The next elements, so many; fewer at the end, or none."""
    found: list[Element] = []
    while len(found) < size:
        element = following()
        if element is None:
            return None if drop or not found else found
        found.append(element)
    return found


def _batches(
    source: Dataset, size: int, drop: bool, join: Callable[[list[Element]], Element]
) -> Begin:
    if size <= 0:
        raise failure("INVALID_ARGUMENT", "Batch size must be greater than zero.")

    def begin() -> Next:
        following = source.begin()

        def next_element() -> Element | None:
            found = _gathered(following, size, drop)
            return None if found is None else join(found)

        return next_element

    return begin


def joined(source: Dataset, found: list[Element]) -> Element:
    """Elements as one, whose parts have one more axis."""
    parts = []
    for place, dtype in enumerate(source.dtypes):
        arrays = [array(element[place]) for element in found]
        for number, each in enumerate(arrays):
            if each.shape != arrays[0].shape:
                message = (
                    f"Cannot batch tensors with different shapes in component {place}. First"
                    f" element had shape {_shown(arrays[0])} and element {number} had shape"
                    f" {_shown(each)}."
                )
                raise failure("INVALID_ARGUMENT", message)
        parts.append(stacked(arrays, dtype))
    return tuple(parts)


def _shown(found: np.ndarray) -> str:
    return f"[{','.join(map(str, found.shape))}]"


def batched(source: Dataset, size: int, drop: bool) -> Begin:
    """Elements in batches."""
    return _batches(source, size, drop, lambda found: joined(source, found))


def padded_batches(
    source: Dataset, size: int, shapes: Sequence[Any], fills: Sequence[Any], drop: bool
) -> Begin:
    """Elements in batches, filled up to shapes: -1, the largest in the batch."""
    told = [[int(n) for n in np.ravel(shape)] for shape in shapes]

    def join(found: list[Element]) -> Element:
        parts = []
        for place, dtype in enumerate(source.dtypes):
            arrays = [array(element[place]) for element in found]
            sizes = _sizes(arrays, told[place], place)
            fill = np.asarray(fills[place])[()]
            parts.append(padded(arrays, sizes, dtype, fill))
        return tuple(parts)

    return _batches(source, size, drop, join)


def _sizes(arrays: Sequence[np.ndarray], told: list[int], place: int) -> list[int]:
    """The sizes that all are filled up to."""
    for each in arrays:
        if each.ndim != len(told):
            message = (
                f"All elements in a batch must have the same rank as the padded shape for component"
                f"{place}: expected rank {len(told)} but got element with rank {each.ndim}"
            )
            raise failure("INVALID_ARGUMENT", message)
    largest = [max(each.shape[axis] for each in arrays) for axis in range(len(told))]
    pairs = zip(told, largest, strict=True)
    if any(0 <= size < most for size, most in pairs):
        message = "Attempted to pad to a smaller size than the input element."
        raise failure("DATA_LOSS", message)
    return [most if size < 0 else size for size, most in zip(told, largest, strict=True)]


def sparse_batches(source: Dataset, size: int, shape: Any, drop: bool = False) -> Begin:
    """Elements in batches, as sparse tensors of rows of a shape."""
    told = [int(n) for n in np.ravel(shape)]

    def join(found: list[Element]) -> Element:
        arrays = [array(element[0]) for element in found]
        sizes = _sizes(arrays, told, 0)
        places = [
            np.column_stack(
                [np.full(each.size, at), *np.indices(each.shape).reshape(each.ndim, -1)]
            )
            for at, each in enumerate(arrays)
        ]
        values = np.concatenate([each.ravel() for each in arrays])
        dense = np.array([len(arrays), *sizes], np.int64)
        return (sparse(np.concatenate(places).astype(np.int64), values, dense),)

    return _batches(source, size, drop, join)


def unbatched(source: Dataset) -> Begin:
    """The rows of each element."""

    def begin() -> Next:
        following = source.begin()
        now: list[Any] = [(), 0, 0]  # an element, the next row, how many there are

        def next_element() -> Element | None:
            while now[1] >= now[2]:
                element = following()
                if element is None:
                    return None
                now[:] = [array(part) for part in element], 0, len(array(element[0]))
            now[1] += 1
            return tuple(row(part, now[1] - 1) for part in now[0])

        return next_element

    return begin
