"""What NumPy gives for what rearranges and picks: of known values, strings, complex numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .arrays import reshaped_sum
from .table import fold
from .values import integers

if TYPE_CHECKING:
    from ..graph import Operation

Array = np.ndarray


def _pad(operation: Operation, x: Array, pads: Array, value: Any = None) -> Array:
    filling = (b"" if x.dtype == object else 0) if value is None else np.asarray(value).item()
    return np.pad(x, pads, constant_values=filling)


def _select(operation: Operation, condition: Array, a: Array, b: Array) -> Array:
    return np.where(condition.reshape(condition.shape + (1,) * (a.ndim - condition.ndim)), a, b)


def _split_unevenly(operation: Operation, x: Array, sizes: Array, axis: Array) -> list[Array]:
    told = reshaped_sum(integers(sizes), x.shape[int(axis)])
    return np.split(x, np.cumsum(told)[:-1], int(axis))


# By type: `(operation, *arrays)`, as it's called soonest.
MOVED: dict[str, Callable[..., Any]] = {
    "Reshape": lambda operation, x, sizes: np.reshape(x, integers(sizes)),
    "ExpandDims": lambda operation, x, axis: np.expand_dims(x, integers(axis)[0]),
    "Squeeze": lambda operation, x: np.squeeze(x, (*operation.attribute("squeeze_dims"),) or None),
    "Transpose": lambda operation, x, order: np.transpose(x, integers(order)),
    "BroadcastTo": lambda operation, x, sizes: np.broadcast_to(x, integers(sizes)),
    "ReverseV2": lambda operation, x, axes: np.flip(x, tuple(integers(axes))),
    "ConcatV2": lambda operation, *values: np.concatenate(values[:-1], int(values[-1])),
    "Pack": lambda operation, *values: np.stack(values, operation.attribute("axis") or 0),
    "Split": lambda operation, axis, x: np.split(x, operation.attribute("num_split"), int(axis)),
    "SplitV": _split_unevenly,
    "GatherNd": lambda operation, x, at: np.asarray(x[tuple(np.moveaxis(at, -1, 0))], x.dtype),
    "Pad PadV2": _pad,
    "Select": _select,
    "SelectV2": lambda operation, *values: np.where(*values),
}
for _names, _function in MOVED.items():
    fold(_names)(_function)
