"""Argument guards: are the values NumPy arrays of the declared dtypes and sizes?

Every call asks, so the code is of fixed arity.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..emit.fixed_arity import numbered, written
from ..emit.literal import literal
from ..ir.types import TensorType


def fits(types: Sequence[TensorType]) -> Callable[[Sequence[Any]], bool]:
    """The function that tells whether values are NumPy arrays of these types, as many as types."""
    return _asked(types, "True", "False")


def where_fit(
    types: Sequence[TensorType], call: Callable[..., Any]
) -> Callable[[Sequence[Any]], Any]:
    """The function that calls `call` with values if they fit, and else gives None.

    It also gives None where there are not as many values as types, and raises nothing but what
    `call` raises.
    """
    return _asked(types, f"call({_names(types)})", "None", call=call)


def _asked(types: Sequence[TensorType], then: str, other: str, **names: Any) -> Callable[..., Any]:
    conditions = [c for i, type in enumerate(types) for c in _conditions(i, type)]
    rows = [
        "def written(values):",
        f" try: [{_names(types)}] = values",
        f" except (TypeError, ValueError): return {other}",
        f" if {' and '.join(conditions) or True}:",
        f"  return {then}",
        f" return {other}",
    ]
    dtypes = {f"d{i}": np.dtype(type.dtype) for i, type in enumerate(types)}
    return written(rows, array=np.ndarray, **dtypes, **names)


def _names(types: Sequence[TensorType]) -> str:
    return ", ".join(numbered("x", len(types)))


def _conditions(i: int, type: TensorType) -> list[str]:
    """Of the i-th value: an array of this dtype, this number of axes and these sizes."""
    if type.is_static:
        sizes = [f"x{i}.shape == {literal(type.shape)}"]
    else:
        known = [(axis, size) for axis, size in enumerate(type.shape) if size is not None]
        sizes = [
            f"x{i}.ndim == {type.rank}",
            *(f"x{i}.shape[{a}] == {literal(d)}" for a, d in known),
        ]
    return [f"type(x{i}) is array", f"x{i}.dtype is d{i}", *sizes]
