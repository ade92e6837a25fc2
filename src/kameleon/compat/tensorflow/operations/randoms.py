"""Random numbers of a stream whose state is a variable; those between bounds; those of nothing."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arithmetic import drawing
from ..failures import failure
from ..resources.philox import Philox
from .boxes import generator_of
from .drawing import sizes_told
from .table import host
from .values import result_type

if TYPE_CHECKING:
    from ..graph import Operation
    from ..variables import Reference, Store

Array = np.ndarray
_WORD = (1 << 64) - 1


def _advanced(store: Store, state: Reference, algorithm: int, shape: tuple[int, ...]) -> Philox:
    """The stream of a variable (a counter, its upper half, a key), which moves on."""
    if algorithm != 1:
        raise failure("INVALID_ARGUMENT", f"Unsupported algorithm id: {algorithm}")
    with store.waiting.changed:
        value = store.variables.value(state)
        counter, upper, key = (int(word) & _WORD for word in value[:3])
        moved = (upper << 64 | counter) + int(np.prod(shape)) * drawing.RESERVED
        kept = [moved & _WORD, moved >> 64 & _WORD, key, *value[3:].tolist()]
        store.variables.begin(state, np.array(kept, np.uint64).astype(value.dtype))
    return Philox(key, upper, counter)


KINDS = {
    "StatefulStandardNormalV2": "StandardNormal",
    "StatefulTruncatedNormal": "TruncatedNormal",
    "StatefulUniform": "Uniform",
    "StatefulUniformFullInt": "FullInt",
    "StatefulUniformInt": "UniformInt",
}


@host(*KINDS, references=True)
def _of_state(
    store: Store, operation: Operation, state: Any, algorithm: int, sizes: Any, *limits: Any
) -> Array:
    shape = sizes_told(sizes)
    numbers = _advanced(store, state, algorithm, shape)
    return drawing.drawn(KINDS[operation.type], numbers, shape, result_type(operation), *limits)


@host("RngSkip", references=True)
def _skip(store: Store, state: Any, algorithm: int, delta: int) -> list[Any]:
    _advanced(store, state, algorithm, (delta,))
    return []


@host("ParameterizedTruncatedNormal")
def _bounded(store: Store, operation: Operation, sizes: Any, *told: Any) -> Array:
    """Normal numbers between bounds, which belong to rows of the result."""
    shape = sizes_told(sizes)
    mean, deviation, low, high = (
        np.reshape(value, (-1, *[1] * (len(shape) - 1))).astype(np.float64) for value in told
    )
    generator, found = generator_of(store, operation), np.full(shape, np.nan)
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
    kind, shape = np.dtype(result_type(operation)), sizes_told(sizes)
    drawn = os.urandom(int(np.prod(shape)) * kind.itemsize)
    return np.frombuffer(drawn, kind).reshape(shape).copy()
