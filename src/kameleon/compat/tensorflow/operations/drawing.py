"""Random numbers and orders: those of a seed are TensorFlow's own, others the engine's."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from threading import local
from typing import Any

import numpy as np

from kameleon import backend as K
from kameleon.backend.calling import call

from ..arithmetic import drawing, rejection
from ..failures import invalid
from ..graph import Operation, shape_text
from ..lowering import Lowering
from ..resources.philox import Philox
from ..variables import Reference, Store
from .keeping import kept
from .table import effect, host
from .values import Kind, integers, result_type, sizes_in, tensor

Array = np.ndarray

# Types whose numbers follow from seeds, if they are given; by their kinds what draws where there
# are none.
_SEEDED = "RandomUniform RandomStandardNormal TruncatedNormal RandomUniformInt"
_BY_ENGINE: dict[str, Callable[..., Any]] = {
    "Uniform": K.random_uniform,
    "Normal": K.random_normal,
    "TruncatedNormal": K.truncated_normal,
}


class _Iteration(local):
    """What the functions of a dataset draw from, while an iterator asks for its next element. (No
    context variable: engines compute in contexts of their own.)

    Attributes:
        drawn: what was drawn from before, by what draws.
        places: of each of the datasets around that have several others, which of these is asked.
    """

    drawn: dict[Any, Any] | None = None
    places: tuple[int, ...] = ()


ITERATION = _Iteration()


@contextmanager
def iterating(drawn: dict[Any, Any]) -> Iterator[None]:
    """A block in which the functions of a dataset draw from this."""
    before, ITERATION.drawn = ITERATION.drawn, drawn
    try:
        yield
    finally:
        ITERATION.drawn = before


def _kind(operation: Operation) -> str:
    """What's drawn, which the type says: `StatelessRandomUniformInt` draws `UniformInt`."""
    return re.sub("^(Stateless|Stateful)?(Random)?(Standard)?|V2$", "", operation.type)


def drawn_sizes(value: Any) -> tuple[int, ...]:
    """The sizes of what is drawn, none below zero."""
    found = tuple(int(size) for size in np.asarray(value))
    if found and min(found) < 0:
        raise invalid(f"Dimension {min(found)} must be >= 0")
    return found


def reserved(store: Store, operation: Operation, count: int) -> Philox:
    """The next numbers of an operation, so many, which aren't given again. Those of an iteration
    over a dataset begin anew with it, in each of its functions.
    """
    with store.waiting.changed:
        held: dict[Any, Any] = store.streams
        key: tuple[Any, str] = (operation.graph.function, operation.name)
        if ITERATION.drawn is not None:
            held, key = ITERATION.drawn, (operation.graph, operation.name)
        if key not in held:
            held[key] = Philox(operation.attribute("seed"), operation.attribute("seed2"))
        numbers: Philox = held[key]
        return numbers.reserved(count)


def stream(store: Store, operation: Operation, count: int) -> Philox:
    """Where an operation draws so many values from."""
    return reserved(store, operation, 4 * drawing.RESERVED * count)


def is_seeded(operation: Operation) -> bool:
    """Whether an operation's numbers are told by seeds."""
    return bool(operation.attribute("seed") or operation.attribute("seed2"))


@host(_SEEDED)
def _drawn(store: Store, operation: Operation, sizes: Any, *limits: Any) -> list[np.ndarray]:
    shape = drawn_sizes(sizes)
    numbers = stream(store, operation, int(np.prod(shape, dtype=np.int64)))
    return [drawing.drawn(_kind(operation), numbers, shape, result_type(operation), *limits)]


@effect(_SEEDED)
def _draw(lowering: Lowering, operation: Operation, sizes: Any, *limits: Any) -> Any:
    wanted, dtype = lowering.value(sizes), result_type(operation)
    by_engine = _BY_ENGINE.get(_kind(operation))
    if by_engine is not None and not is_seeded(operation):
        seed = int.from_bytes(os.urandom(4), "little")
        return by_engine(sizes_in(wanted), dtype=dtype, seed=seed)
    shape = tuple(integers(wanted))
    given = [tensor(lowering.value(limit)) for limit in limits]
    function = partial(_drawn, lowering.store, operation, shape)
    return call(
        function, given, "numpy", shapes=[shape], dtypes=[dtype], pure=False, name=operation.name
    )


@host("RandomShuffle")
def _shuffle(store: Store, operation: Operation, rows: Array) -> Array:
    """Rows in another order, another one in each run."""
    count = len(rows) if rows.ndim else 1
    if count < 2:
        return rows
    order = np.arange(count)
    numbers = reserved(store, operation, count - 1)
    for place in range(count - 1):
        other = place + numbers.next() % (count - place)
        order[[place, other]] = order[[other, place]]
    return rows[order]


# Without a state --------------------------------------------------------------------------------


@host(
    "StatelessRandomUniform StatelessRandomNormal StatelessTruncatedNormal"
    " StatelessRandomUniformInt"
)
def _draw_by_seeds(
    operation: Operation, sizes: Any, seeds: Any, *limits: Any, dtype: Kind
) -> np.ndarray:
    numbers = drawing.stateless(seeds)
    return drawing.drawn(_kind(operation), numbers, drawn_sizes(sizes), dtype, *limits)


# Of a stream whose state is a variable ----------------------------------------------------------

_WORD = (1 << 64) - 1


def _advanced(store: Store, state: Reference, algorithm: int, count: int) -> Philox:
    """The stream of a variable (a counter, its upper half, a key), which moves on by a count."""
    if algorithm != 1:
        raise invalid(f"Unsupported algorithm id: {algorithm}")
    with store.waiting.changed:
        value = store.variables.value(state)
        counter, upper, key = (int(word) & _WORD for word in value[:3])
        moved = (upper << 64 | counter) + count * drawing.RESERVED
        kept = [moved & _WORD, moved >> 64 & _WORD, key, *value[3:].tolist()]
        store.variables.begin(state, np.array(kept, np.uint64).astype(value.dtype))
    return Philox(key, upper, counter)


@host(
    "StatefulStandardNormalV2 StatefulTruncatedNormal StatefulUniform StatefulUniformFullInt"
    " StatefulUniformInt",
    references=True,
)
def _of_state(
    store: Store, operation: Operation, state: Any, algorithm: int, sizes: Any, *limits: Any
) -> Array:
    shape = drawn_sizes(sizes)
    numbers = _advanced(store, state, algorithm, int(np.prod(shape)))
    return drawing.drawn(_kind(operation), numbers, shape, result_type(operation), *limits)


@host("RngSkip", references=True)
def _skip(store: Store, state: Any, algorithm: int, delta: int) -> list[Any]:
    _advanced(store, state, algorithm, int(delta))
    return []


def _demand_rows(values: dict[str, Array], rows: int) -> None:
    """Refuse parameters of which there is neither one nor one for each row of the result."""
    for name, value in values.items():
        if np.ndim(value) and len(value) not in (1, rows):
            about = f"Input {name} should have length 1 or shape[0]"
            raise invalid(f"{about}, got shape: {shape_text(value.shape)}")


_TOGETHER = 100  # numbers that are drawn in a row where all have the same parameters


@host("StatefulRandomBinomial", references=True)
def _binomial(
    store: Store, operation: Operation, state: Any, algorithm: int, sizes: Any,
    counts: Array, probs: Array,
) -> Array:  # fmt: skip
    shape = drawn_sizes(sizes)
    rows, times = shape[0], int(np.prod(shape[1:]))
    _demand_rows({"counts": counts, "probs": probs}, rows)
    groups, drawn = rows, times
    if np.size(counts) == np.size(probs) == 1:
        groups, drawn = -(-rows * times // _TOGETHER), _TOGETHER
    numbers = _advanced(store, state, algorithm, groups * 2 * 100 * (drawn + 3) // 4)
    given = (np.broadcast_to(np.ravel(each), rows).repeat(times) for each in (counts, probs))
    found = [rejection.binomial(numbers, *one) for one in zip(*given, strict=True)]
    return np.array(found).reshape(shape).astype(result_type(operation))


# Of distributions that are told -----------------------------------------------------------------


@host("Multinomial")
def _choose(
    store: Store, operation: Operation, logits: Any, times: int, *, output_dtype: Kind
) -> np.ndarray:
    rows = np.asarray(logits, np.float64)
    numbers = stream(store, operation, len(rows) * 2 * (-(-times // 4) * 4))
    return drawing.chosen(rows, times, numbers).astype(output_dtype)


@host("StatelessMultinomial")
def _choose_by_seeds(logits: Any, times: int, seeds: Any, *, output_dtype: Kind) -> np.ndarray:
    rows, numbers = np.asarray(logits, np.float64), drawing.stateless(seeds)
    return drawing.chosen(rows, times, numbers).astype(output_dtype)


_REJECTION = {"RandomGamma": rejection.gamma, "RandomPoisson": rejection.poisson}


@host("RandomGamma RandomPoisson RandomPoissonV2")
def _by_rejection(store: Store, operation: Operation, sizes: Any, given: Array) -> Array:
    draw, shape = _REJECTION[operation.type.removesuffix("V2")], drawn_sizes(sizes)
    times = int(np.prod(shape))
    numbers = stream(store, operation, times * given.size)
    found = draw(numbers, times, given).T.reshape(*shape, *given.shape)
    return found.astype(result_type(operation))


def _generator_of(store: Store, operation: Operation) -> Any:
    """An operation's own source of random numbers: by its seeds, or the system's."""
    seeds = [operation.attribute(name) or 0 for name in ("seed", "seed2")]
    known = [seed % 2**32 for seed in seeds] if any(seeds) else None
    return kept(store, operation, "generator", lambda: np.random.default_rng(known))


@host("ParameterizedTruncatedNormal")
def _bounded(store: Store, operation: Operation, sizes: Any, *bounds: Any) -> Array:
    """Normal numbers between bounds, which belong to rows of the result."""
    shape = drawn_sizes(sizes)
    names = ("means", "stddevs", "minvals", "maxvals")
    _demand_rows(dict(zip(names, bounds, strict=True)), shape[0])
    mean, deviation, low, high = (
        np.reshape(value, (-1, *[1] * (len(shape) - 1))).astype(np.float64) for value in bounds
    )
    if not ((deviation > 0) & (low < high) & (np.isfinite(low) | np.isfinite(high))).all():
        raise invalid("Invalid parameters")
    generator, found = _generator_of(store, operation), np.full(shape, np.nan)
    wide = np.minimum(high - mean, mean - low) > deviation
    far = np.maximum(np.maximum(low - mean, mean - high), 0)
    while np.isnan(found).any():
        even = low + (high - low) * generator.random(shape)
        taken = np.where(wide, mean + deviation * generator.standard_normal(shape), even)
        chance = np.exp((far**2 - (even - mean) ** 2) / (2 * deviation**2))
        kept = np.where(wide, (taken >= low) & (taken <= high), generator.random(shape) < chance)
        found = np.where(np.isnan(found) & kept, taken, found)
    return found.astype(result_type(operation))


@host("NonDeterministicInts")
def _any_integers(operation: Operation, sizes: Any) -> Array:
    kind, shape = np.dtype(result_type(operation)), drawn_sizes(sizes)
    drawn = os.urandom(int(np.prod(shape)) * kind.itemsize)
    return np.frombuffer(drawn, kind).reshape(shape).copy()
