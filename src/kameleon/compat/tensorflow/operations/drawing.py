"""Random numbers: those of a seed are TensorFlow's own, others are drawn by the engine."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from kameleon import backend as K
from kameleon.backend.calling import call

from ..arithmetic import drawing
from ..failures import failure
from ..resources.philox import Philox
from .table import effect, host
from .values import Kind, integers, result_type, sizes_in, tensor

if TYPE_CHECKING:
    from ..graph import Operation
    from ..lowering import Lowering
    from ..variables import Store

Array = np.ndarray

# By type: its kind, and what draws where there's no seed.
_KINDS: dict[str, tuple[str, Any]] = {
    "RandomUniform": ("Uniform", K.random_uniform),
    "RandomStandardNormal": ("StandardNormal", K.random_normal),
    "TruncatedNormal": ("TruncatedNormal", K.truncated_normal),
    "RandomUniformInt": ("UniformInt", None),
}


def sizes_told(value: Any) -> tuple[int, ...]:
    """The sizes of what is drawn, none below zero."""
    found = tuple(int(size) for size in np.asarray(value))
    if found and min(found) < 0:
        raise failure("INVALID_ARGUMENT", f"Dimension {min(found)} must be >= 0")
    return found


def reserved(store: Store, operation: Operation, count: int) -> Philox:
    """The next numbers of an operation, so many, which aren't given again."""
    with store.waiting.changed:
        key = ("numbers", operation.name)
        if key not in store.resources:
            seeds = operation.attribute("seed"), operation.attribute("seed2")
            store.resources[key] = Philox(*seeds)
        numbers: Philox = store.resources[key]
        return numbers.reserved(count)


def stream(store: Store, operation: Operation, count: int) -> Philox:
    """Where an operation draws so many values from."""
    return reserved(store, operation, 4 * drawing.RESERVED * count)


def is_seeded(operation: Operation) -> bool:
    """Whether an operation's numbers are told by seeds."""
    return bool(operation.attribute("seed") or operation.attribute("seed2"))


def _drawn(
    store: Store, operation: Operation, shape: tuple[int, ...], *limits: Any
) -> list[np.ndarray]:
    numbers = stream(store, operation, int(np.prod(shape, dtype=np.int64)))
    kind = _KINDS[operation.type][0]
    return [drawing.drawn(kind, numbers, shape, result_type(operation), *limits)]


@effect(*_KINDS)
def _draw(lowering: Lowering, operation: Operation, sizes: Any, *limits: Any) -> Any:
    told, dtype = lowering.value(sizes), result_type(operation)
    by_engine = _KINDS[operation.type][1]
    if by_engine is not None and not is_seeded(operation):
        seed = int.from_bytes(os.urandom(4), "little")
        return by_engine(sizes_in(told), dtype=dtype, seed=seed)
    shape = tuple(integers(told))
    given = [tensor(lowering.value(limit)) for limit in limits]
    function = partial(_drawn, lowering.store, operation, shape)
    return call(
        function, given, "numpy", shapes=[shape], dtypes=[dtype], pure=False, name=operation.name
    )


@host(*_KINDS)
def _draw_at_once(store: Store, operation: Operation, sizes: Any, *limits: Any) -> Any:
    return _drawn(store, operation, sizes_told(sizes), *limits)


# Without a state --------------------------------------------------------------------------------


@host(
    "StatelessRandomUniform StatelessRandomNormal StatelessTruncatedNormal"
    " StatelessRandomUniformInt"
)
def _draw_by_seeds(
    operation: Operation, sizes: Any, seeds: Any, *limits: Any, dtype: Kind
) -> np.ndarray:
    kind = operation.type.removeprefix("Stateless").removeprefix("Random")
    kind = "StandardNormal" if kind == "Normal" else kind
    return drawing.drawn(kind, drawing.stateless(seeds), sizes_told(sizes), dtype, *limits)


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


def _generator(store: Store, operation: Operation) -> np.random.Generator:
    return np.random.default_rng(list(stream(store, operation, 1).block()))


@host("RandomGamma")
def _gamma(store: Store, operation: Operation, sizes: Any, given: Array) -> Array:
    shape = (*sizes_told(sizes), *given.shape)
    return _generator(store, operation).standard_gamma(given, shape).astype(given.dtype)


@host("RandomPoisson RandomPoissonV2")
def _poisson(store: Store, operation: Operation, sizes: Any, given: Array) -> Array:
    shape = (*sizes_told(sizes), *given.shape)
    return _generator(store, operation).poisson(given, shape).astype(result_type(operation))
