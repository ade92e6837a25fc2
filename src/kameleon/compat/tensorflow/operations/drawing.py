"""Random numbers: those of a seed are TensorFlow's own, others are drawn by the engine."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from kameleon import backend as K
from kameleon.backend.calling import call

from ..arithmetic import drawing
from ..dtypes import name_of
from ..failures import failure
from ..resources.philox import Philox
from .table import effect, host
from .values import dtype_of, integers, sizes_in, tensor

if TYPE_CHECKING:
    from ..graph import Operation
    from ..lowering import Lowering
    from ..variables import Store

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


def _type(operation: Operation) -> str:
    return dtype_of(operation, "Tout" if operation.type == "RandomUniformInt" else "dtype")


def _drawn(
    store: Store, operation: Operation, shape: tuple[int, ...], *limits: Any
) -> list[np.ndarray]:
    numbers = stream(store, operation, int(np.prod(shape, dtype=np.int64)))
    kind = _KINDS[operation.type][0]
    return [drawing.drawn(kind, numbers, shape, _type(operation), *limits)]


@effect(*_KINDS)
def _draw(lowering: Lowering, operation: Operation, sizes: Any, *limits: Any) -> Any:
    told, dtype = lowering.value(sizes), _type(operation)
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


@host("StatelessRandomUniform StatelessRandomNormal StatelessTruncatedNormal")
def _draw_by_seeds(store: Store, operation: Operation, sizes: Any, seeds: Any) -> Any:
    kind = operation.type.removeprefix("Stateless").removeprefix("Random")
    kind = "StandardNormal" if kind == "Normal" else kind
    shape, dtype = sizes_told(sizes), dtype_of(operation, "dtype")
    return drawing.drawn(kind, drawing.stateless(seeds), shape, dtype)


@host("StatelessRandomUniformInt")
def _draw_integers(
    store: Store, operation: Operation, sizes: Any, seeds: Any, low: Any, high: Any
) -> Any:
    shape, dtype = sizes_told(sizes), dtype_of(operation, "dtype")
    return drawing.drawn("UniformInt", drawing.stateless(seeds), shape, dtype, low, high)


# Of distributions that are told -----------------------------------------------------------------


@host("Multinomial")
def _choose(store: Store, operation: Operation, logits: Any, count: Any) -> np.ndarray:
    rows, times = np.asarray(logits, np.float64), int(count)
    numbers = stream(store, operation, len(rows) * 2 * (-(-times // 4) * 4))
    return drawing.chosen(rows, times, numbers).astype(dtype_of(operation, "output_dtype"))


@host("StatelessMultinomial")
def _choose_by_seeds(
    store: Store, operation: Operation, logits: Any, count: Any, seeds: Any
) -> np.ndarray:
    rows, numbers = np.asarray(logits, np.float64), drawing.stateless(seeds)
    return drawing.chosen(rows, int(count), numbers).astype(dtype_of(operation, "output_dtype"))


def _generator(store: Store, operation: Operation) -> np.random.Generator:
    return np.random.default_rng(list(stream(store, operation, 1).block()))


@host("RandomGamma")
def _gamma(store: Store, operation: Operation, sizes: Any, alpha: Any) -> np.ndarray:
    given = np.asarray(alpha)
    shape = (*sizes_told(sizes), *given.shape)
    return _generator(store, operation).standard_gamma(given, shape).astype(given.dtype)


@host("RandomPoisson RandomPoissonV2")
def _poisson(store: Store, operation: Operation, sizes: Any, rate: Any) -> np.ndarray:
    given = np.asarray(rate)
    shape = (*sizes_told(sizes), *given.shape)
    found = _generator(store, operation).poisson(given, shape)
    return found.astype(name_of(operation.types[0]))
