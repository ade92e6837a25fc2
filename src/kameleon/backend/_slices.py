"""Slices whose bounds are tensors: which elements `x[start:stop:step]` takes along one axis.

A bound that the graph knows beforehand becomes an int; then the size of the result is known as
well. For all other bounds, NumPy's rules are arithmetic with sizes.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import ArgumentError
from ..graph.ir.node import Node, Primitive
from ..graph.ir.types import INT32
from ..graph.primitives import elementwise as ew
from ..graph.primitives.control import check
from ..graph.primitives.movement import broadcast_to, iota
from ..graph.primitives.sizes import Size, as_node
from ._known import known_int

Bound = Size | None
Parts = tuple[Bound, Bound, Bound]
LEAST, MOST = (int(limit) for limit in (np.iinfo(np.int32).min, np.iinfo(np.int32).max))
NAMES = ("start", "stop", "step")


def _folded(known: Callable[[int, int], int], primitive: Primitive) -> Callable[..., Size]:
    """Arithmetic that is done at once where both operands are ints."""

    def apply(a: Size, b: Size) -> Size:
        if isinstance(a, int) and isinstance(b, int):
            return known(a, b)
        found: Node = primitive(as_node(a), as_node(b))
        return found

    return apply


_add = _folded(operator.add, ew.add)
_sub = _folded(operator.sub, ew.sub)
_floor_div = _folded(operator.floordiv, ew.floor_div)
_minimum = _folded(min, ew.minimum)
_maximum = _folded(max, ew.maximum)
_is_less = _folded(operator.lt, ew.lt)


def _where(condition: Size, a: Size, b: Size) -> Size:
    """`a` where the condition holds, else `b`."""
    if isinstance(condition, Node):
        return ew.select(condition, as_node(a), as_node(b))
    return a if condition else b


def bounds(item: slice) -> Parts:
    """The parts of a slice: ints, int32 scalars, and None for those that weren't given.

    Raises:
        ArgumentError: a bound is no integer scalar; the step is 0.
    """
    start, stop, step = (_bound(getattr(item, name), name) for name in NAMES)
    if isinstance(step, int) and step == 0:
        raise ArgumentError("the step of a slice must not be 0")
    return start, stop, step


def _bound(value: Any, name: str) -> Bound:
    if isinstance(value, Node):
        if value.shape != () or not value.dtype.is_integer:
            raise ArgumentError(
                f"the {name} of a slice must be an integer scalar, not {value!r}; take one element"
                " of a vector (n[0]), and K.cast(n, 'int32') floats"
            )
        known = known_int(value)
        return _narrowed(value) if known is None else known
    try:
        return None if value is None else operator.index(value)
    except TypeError:
        raise ArgumentError(
            f"the {name} of a slice must be an int, an integer scalar or None, not {value!r}"
        ) from None


def _narrowed(value: Node) -> Node:
    """An integer scalar as int32; beyond all sizes, one number is as good as another."""
    own = np.iinfo(str(value.dtype))
    if own.max > MOST:
        value = ew.minimum(value, ew.constant(MOST, value.dtype))
    if own.min < LEAST:
        value = ew.maximum(value, ew.constant(LEAST, value.dtype))
    return ew.cast(value, INT32)


def places(size: Size, parts: Parts) -> Node:
    """The indices, an int32 vector, that a slice takes along an axis of `size`, as NumPy has it.

        low, high = 0, size         (step > 0)
        low, high = -1, size - 1    (step < 0)
        start, stop = clip(start or low, low, high), clip(stop or high, low, high)
        count = max((stop - start - sign(step)) // step + 1, 0)

    With step < 0, the default of start is high, and that of stop is low.
    """
    start, stop, step = (_clamped(part) for part in parts)
    step = 1 if step is None else _not_zero(step)
    back = _is_less(step, 0)
    low = _where(back, -1, 0)
    high = size if low == 0 else _add(size, low)
    first = _where(back, high, low) if start is None else _clipped(start, size, low, high)
    last = _where(back, low, high) if stop is None else _clipped(stop, size, low, high)
    count = _count(first, last, step, back)
    index = iota([count])
    if step != 1:
        index = ew.mul(index, broadcast_to(as_node(step), [count]))
    if first == 0:
        return index
    return ew.add(index, broadcast_to(as_node(first), [count]))


def _count(first: Size, last: Size, step: Size, back: Size) -> Size:
    """How many elements there are from `first` to before `last`."""
    if step == 1:
        return _maximum(_sub(last, first), 0) if first != 0 else last
    sign = _where(back, -1, 1)
    steps = _floor_div(_sub(_sub(last, first), sign), step)
    return _maximum(_add(steps, 1), 0)


def _clamped(part: Bound) -> Bound:
    return max(LEAST, min(part, MOST)) if isinstance(part, int) else part


def _not_zero(step: Size) -> Size:
    """The step, with an error at run time where it's 0."""
    if isinstance(step, int):
        return step
    holds = ew.ne(step, ew.constant(0, INT32))
    return check(step, holds, message="the step of a slice must not be 0")


def _clipped(bound: Size, size: Size, low: Size, high: Size) -> Size:
    """A bound counted from the front, within `low` and `high`."""
    if isinstance(bound, int):
        return _maximum(_add(size, bound), low) if bound < 0 else _minimum(bound, high)
    from_end = _maximum(_add(bound, size), low)
    return _where(_is_less(bound, 0), from_end, _minimum(bound, high))
