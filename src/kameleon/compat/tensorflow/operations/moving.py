"""What NumPy gives for what rearranges and picks: of known values, strings, complex numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .arrays import reshaped_sum
from .table import fold
from .values import integers

if TYPE_CHECKING:
    from ..graph import Operation

Array = np.ndarray


@fold("Select")
def _select(operation: Operation, condition: Array, a: Array, b: Array) -> Array:
    return np.where(condition.reshape(condition.shape + (1,) * (a.ndim - condition.ndim)), a, b)


@fold("SelectV2")
def _select_broadcast(operation: Operation, condition: Array, a: Array, b: Array) -> Array:
    return np.where(condition, a, b)


@fold("Transpose")
def _transpose(operation: Operation, x: Array, order: Array) -> Array:
    return np.transpose(x, integers(order))


@fold("BroadcastTo")
def _broadcast(operation: Operation, x: Array, sizes: Array) -> Array:
    return np.broadcast_to(x, integers(sizes))


@fold("ReverseV2")
def _reverse(operation: Operation, x: Array, axes: Array) -> Array:
    found: Array = np.flip(x, tuple(integers(axes)))
    return found


@fold("GatherNd")
def _gather(operation: Operation, x: Array, at: Array) -> Array:
    return np.asarray(x[tuple(np.moveaxis(at, -1, 0))], x.dtype)


@fold("Split")
def _split(operation: Operation, axis: Array, x: Array) -> list[Array]:
    return np.split(x, operation.attribute("num_split"), int(axis))


@fold("SplitV")
def _split_unevenly(operation: Operation, x: Array, sizes: Array, axis: Array) -> list[Array]:
    told = reshaped_sum(integers(sizes), x.shape[int(axis)])
    return np.split(x, np.cumsum(told)[:-1], int(axis))


@fold("Pad PadV2")
def _pad(operation: Operation, x: Array, pads: Array, value: Any = None) -> Array:
    filling = (b"" if x.dtype == object else 0) if value is None else np.asarray(value).item()
    return np.pad(x, pads, constant_values=filling)
