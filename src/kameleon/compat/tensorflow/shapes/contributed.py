"""Shapes of what single libraries of contrib brought along."""

from __future__ import annotations

from ..graph import Operation, Shape
from .known import value_at
from .notation import table
from .rules import UNKNOWN, ShapeMismatchError, at_least, axis_of, product, same, shape_of

table(
    """
    DecodeLibsvm : x -> x (?,?) (?) (?)
    ObtainNext : (?) () -> ()
    SkipGramGenerateCandidates : (?) () () () () () -> (?) (?)
    """
)


@shape_of("PeriodicResample")
def _rearranged(operation: Operation, given: list[Shape]) -> Shape:
    """What the attribute says; its open size is what the others leave of all elements."""
    wanted: tuple[int, ...] = tuple(operation.attribute("shape"))
    if given[0] is None or UNKNOWN in given[0] or wanted.count(UNKNOWN) != 1:
        return wanted
    left = product(given[0]) // max(product([size for size in wanted if size >= 0]), 1)
    return tuple(left if size < 0 else size for size in wanted)


@shape_of("ReduceSliceSum ReduceSliceProd ReduceSliceMax ReduceSliceMin")
def _reduced_slices(operation: Operation, given: list[Shape]) -> Shape:
    shape, bounds, axis = at_least(given[0], 1), at_least(given[1], 1), value_at(operation, 2)
    if bounds is not None and len(bounds) > 1:
        if len(bounds) > 2:
            raise ShapeMismatchError(f"Shape must be at most rank 2 but is rank {len(bounds)}")
        same(bounds[1], 2)
    if shape is None or axis is None:
        return None if shape is None else (UNKNOWN,) * len(shape)
    at = axis_of(int(axis), len(shape))
    count = UNKNOWN if bounds is None or len(bounds) == 1 else bounds[0]
    return (*shape[:at], count, *shape[at + 1 :])
