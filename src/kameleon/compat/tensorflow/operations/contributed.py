"""What single libraries of contrib brought along: skip-grams, lines of LibSVM, lists that go round,
elements that move to other axes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from kameleon import backend as K
from kameleon.graph.ir.node import Tensor as Node
from kameleon.graph.primitives import movement as M

from ..dtypes import limits
from ..failures import invalid
from ..graph import Operation
from ..resources.philox import Philox
from ..variables import Reference, Store
from .drawing import reserved
from .slopes import slope
from .table import fold, host, pure
from .values import Kind, Texts, objects, sizes_of, tensor, text

Array = np.ndarray


# Elements at other axes -------------------------------------------------------------------------


@pure("PeriodicResample")
def _rearranged(x: Node, *, shape: list[int]) -> Node:
    sizes = sizes_of(x)
    adjusted, wanted = _adjusted(sizes, shape)
    return M.reshape(K.gather(M.reshape(x, [-1]), _sources(sizes, wanted, adjusted)), wanted)


@pure("PeriodicResampleOpGrad")
def _rearranged_gradient(g: Node, *, original_shape: list[int], desired_shape: list[int]) -> Node:
    return slope(lambda x: _rearranged(x, shape=desired_shape), original_shape, g.dtype, g)


def _adjusted(sizes: tuple[int, ...], shape: list[int]) -> tuple[int, tuple[int, ...]]:
    """The axis that is as long as the others leave it, and all sizes then."""
    open_axes = [axis for axis, size in enumerate(shape) if size < 1]
    begin = "periodic_resample expects"
    if len(shape) != len(sizes):
        ranks = f"the rank of the input tensor, {len(sizes)}, to be the same as the length"
        raise invalid(f"{begin} {ranks} of the desired shape, {len(shape)}.")
    if len(open_axes) > 1:
        raise invalid(f"{begin} only one index to be marked as adjustable.")
    for axis, (size, wanted) in enumerate(zip(sizes, shape, strict=True)):
        if 0 <= wanted < size:
            raise invalid(
                f"{begin} the size of non-adjustable dimensions be at least as large as size of"
                f" input tensor. Dimension {axis} input tensor has size {size}, desired shape has"
                f" size {wanted}."
            )
    if not open_axes:
        raise invalid(f"{begin} at least one index to be marked as adjustable.")
    adjusted = open_axes[0]
    left = math.prod(sizes) // math.prod(size for size in shape if size >= 0)
    if left < 1:
        about = f"periodic_resample found that the adjustable dimension, {adjusted},"
        raise invalid(f"{about} isn't greater than zero, {left}.")
    return adjusted, tuple(left if size < 0 else size for size in shape)


def _sources(sizes: tuple[int, ...], wanted: tuple[int, ...], adjusted: int) -> Node:
    """Where each element of the result lies in what is given: along an axis that grows by a factor,
    so many neighbours are taken from the adjusted axis.
    """
    at = np.indices(wanted).reshape(len(wanted), -1)
    places, step = list(at), wanted[adjusted]
    for axis, (size, grown) in enumerate(zip(sizes, wanted, strict=True)):
        if axis != adjusted:
            factor = -(-grown // size)
            places[axis], neighbour = np.divmod(at[axis], factor)
            places[adjusted] = places[adjusted] + step * neighbour
            step *= factor
    return tensor(np.ravel_multi_index(places, sizes))


# Slices -----------------------------------------------------------------------------------------

REDUCED = {"Sum": np.add, "Prod": np.multiply, "Max": np.fmax, "Min": np.fmin}


@fold("ReduceSliceSum ReduceSliceProd ReduceSliceMax ReduceSliceMin")
def _reduced(operation: Operation, given: Array, bounds: Array, axis: int) -> Array:
    """Slices along an axis, each reduced: from one bound to the next, or to the one beside it."""
    name = operation.type.removeprefix("ReduceSlice")
    pairs = bounds if bounds.ndim > 1 else np.stack([bounds[:-1], bounds[1:]], 1)
    whole = np.moveaxis(given, axis, 0)
    found = np.empty((len(pairs), *whole.shape[1:]), given.dtype)
    for place, (begin, end) in enumerate(np.maximum(pairs, 0)):
        first = _first(name, given.dtype)
        REDUCED[name].reduce(whole[begin:end], axis=0, initial=first, out=found[place, ...])
    return np.moveaxis(found, 0, axis)


def _first(name: str, kind: np.dtype[Any]) -> Any:
    """What reducing begins with, and an empty slice gives."""
    if name in ("Sum", "Prod"):
        return kind.type(name == "Prod")
    if kind.kind == "f":
        return kind.type(-np.inf if name == "Max" else np.inf)
    return limits(kind)[name == "Min"]


# Skip-grams -------------------------------------------------------------------------------------


@host("SkipGramGenerateCandidates")
def _skip_grams(
    store: Store, operation: Operation, given: Array,
    least: int, most: int, start: int, limit: int, with_itself: Array,
) -> list[Array]:  # fmt: skip
    """Pairs of tokens and of those near them, as near as is drawn for each."""
    if least < 0 or most < 0:
        raise invalid("Both min_skips and max_skips must be >= 0.")
    if least > most:
        raise invalid("min_skips must be <= max_skips.")
    end = min(start + limit, len(given)) if limit >= 0 else len(given)
    numbers = reserved(store, operation, end - start + 1)
    places, nearby = [], []
    for place in range(start, end):
        skips = least + _below(numbers, most - least + 1)
        near = range(max(start, place - skips), min(end, place + skips + 1))
        found = [other for other in near if with_itself or other != place]
        places += [place] * len(found)
        nearby += found
    return [given[np.array(chosen, np.int64)] for chosen in (places, nearby)]


def _below(numbers: Philox, count: int) -> int:
    """A number below another one, all alike: what would prefer some is drawn again."""
    least = 0 if count & (count - 1) == 0 else (2**32 - 1) % count + 1
    while (number := numbers.next()) < least:
        pass
    return number % count


# Lines of LibSVM --------------------------------------------------------------------------------


@fold("DecodeLibsvm")
def _decoded(lines: Texts, *, dtype: Kind, label_dtype: Kind, num_features: int) -> list[Array]:
    """Labels, and what is written behind them, `PLACE:VALUE` each, as a sparse tensor."""
    labels: list[float] = []
    places: list[tuple[int, ...]] = []
    values: list[float] = []
    for at, line in np.ndenumerate(lines):
        words = line.split()
        if not words:
            raise invalid(f'No label found for input[{len(labels)}]: "{text(line)}"')
        labels.append(_number(words[0], label_dtype, "Label format incorrect"))
        for place, value in _features(words[1:], dtype):
            places.append((*at, place))
            values.append(value)
    indices = np.array(places, np.int64).reshape(-1, lines.ndim + 1)
    shape = np.array([*lines.shape, num_features], np.int64)
    found = np.array(labels, label_dtype).reshape(lines.shape)
    return [found, indices, np.array(values, dtype), shape]


def _features(words: list[bytes], kind: str) -> Iterator[tuple[int, Any]]:
    for word in words:
        place, colon, value = word.partition(b":")
        if not colon:
            raise invalid(f'Invalid feature "{text(word)}"')
        wrong = "Feature format incorrect"
        number = _number(place, "int64", wrong, word)
        if number < 0:
            raise invalid(f"Feature index should be >= 0, got {number}")
        yield number, _number(value, kind, wrong, word)


def _number(word: bytes, kind: str, wrong: str, whole: bytes | None = None) -> Any:
    make = float if np.dtype(kind).kind == "f" else int
    try:
        if not word.startswith(b"+") and b"_" not in word:
            return make(word)
    except ValueError:
        pass
    raise invalid(f"{wrong}: {text(word if whole is None else whole)}")


# Lists ------------------------------------------------------------------------------------------


@host("ObtainNext", references=True)
def _next(store: Store, strings: Texts, counter: Reference) -> Any:
    """What follows in a list, which begins again behind its end; the counter tells its place."""
    place = (store.variables.value(counter) + 1) % len(strings)
    store.variables.begin(counter, np.asarray(place, np.int64))
    return objects([strings[place]])[0]
