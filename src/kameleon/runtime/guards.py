"""Argument guards: are the values NumPy arrays of the declared dtypes and sizes, and are sizes
equal that meet?

Every call asks, so the code is of fixed arity.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..engines._codegen.fixed_arity import numbered, written
from ..engines._codegen.literal import literal
from ..errors import EvaluationError
from ..graph.ir.forms import substituted, text
from ..graph.ir.program import Given
from ..graph.ir.types import TensorType
from ..graph.passes.equal_sizes import Meeting, equalities
from ..graph.primitives.stretching import DIFFER
from .compiler import computing


def fits(types: Sequence[TensorType]) -> Callable[[Sequence[Any]], bool]:
    """The function that tells whether values are NumPy arrays of these types, as many as types."""
    return _asked(types, "True", "False")


def where_fit(
    types: Sequence[TensorType], call: Callable[..., Any], equal: Sequence[tuple[Given, Given]] = ()
) -> Callable[[Sequence[Any]], Any]:
    """The function that calls `call` with values if they fit, and else gives None.

    It also gives None where there are not as many values as types, or where sizes differ that are
    to be `equal`, and raises nothing but what `call` raises.
    """
    return _asked(types, f"call({_names(types)})", "None", equal, call=call)


def _asked(
    types: Sequence[TensorType],
    then: str,
    other: str,
    equal: Sequence[tuple[Given, Given]] = (),
    **names: Any,
) -> Callable[..., Any]:
    conditions = [c for i, type in enumerate(types) for c in _conditions(i, type)]
    conditions += [f"{_size(a)} == {_size(b)}" for a, b in equal]
    rows = [
        "def written(values):",
        f" try: [{_names(types)}] = values",
        f" except (TypeError, ValueError): return {other}",
        f" if {' and '.join(conditions) or True}:",
        f"  return {then}",
        f" return {other}",
    ]
    dtypes = {f"d{i}": np.dtype(type.dtype) for i, type in enumerate(types)}
    return written(rows, array=np.ndarray, max=max, min=min, **dtypes, **names)


def _names(types: Sequence[TensorType]) -> str:
    return ", ".join(numbered("x", len(types)))


def _size(given: Given) -> str:
    return text(given, lambda at: f"x{literal(at[0])}.shape[{literal(at[1])}]")


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


class SizeGuard:
    """Whether sizes are equal where they meet, or one of them is to be stretched.

    Attributes:
        equal: pairs of sizes to compare.
    """

    def __init__(self, found: Sequence[Meeting]):
        self._meetings = found
        self.equal = equalities(found)

    def holds(self, shapes: Sequence[Sequence[int]]) -> bool:
        """Whether all sizes that meet are equal.

        Raises:
            EvaluationError: two sizes that surely meet differ, and neither is 1; names the node.
        """
        if all(_of(shapes, a) == _of(shapes, b) for a, b in self.equal):
            return True
        for meeting in self._meetings:
            sizes = sorted({_of(shapes, size) for size in meeting.sizes} - {1})
            if len(sizes) > 1 and meeting.is_certain:
                shown = " and ".join(map(str, sizes))
                raise EvaluationError(f"{DIFFER}: {shown}{computing(meeting.node)}")
        return False


def _of(shapes: Sequence[Sequence[int]], given: Given) -> int:
    found: int = substituted(given, lambda at: shapes[at[0]][at[1]])
    return found
