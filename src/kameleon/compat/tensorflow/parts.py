"""Parts of tensors along an axis, and what lies around them, whose sizes needn't be known."""

from __future__ import annotations

from collections.abc import Sequence

from kameleon.graph.ir.node import Tensor as Node
from kameleon.graph.primitives import elementwise as E
from kameleon.graph.primitives import indexing as I
from kameleon.graph.primitives import movement as M
from kameleon.graph.primitives.control import check
from kameleon.graph.primitives.filling import full_like
from kameleon.graph.primitives.sizes import Size, are_one_size, as_node, minus, plus, size_of

from .tensors import dims

Margins = Sequence[tuple[Size, Size]]


def part(x: Node, axis: int, start: Size, count: Size) -> Node:
    """So many elements of a tensor along an axis, from one on; an error where it has fewer."""
    size = size_of(x, axis)
    if start == 0 and are_one_size(count, size):
        return x
    x = demand_none_below(x, start, count, minus(minus(size, start), count))
    return I.span(x, axis, start, count)


def demand_none_below(x: Node, *numbers: Size) -> Node:
    """The tensor; an error where one of some numbers is below zero."""
    if any(isinstance(each, int) and each < 0 for each in numbers):
        raise ValueError(f"a part that lies outside of a tensor of shape {x.shape}")
    open_numbers = [each for each in numbers if isinstance(each, Node)]
    if not open_numbers:
        return x
    together = M.stack(open_numbers, 0)
    return check(x, E.ge(together, full_like(together, 0)), message="a part that lies outside")


def padded(x: Node, margins: Margins, value: float = 0) -> Node:
    """A tensor with margins, each of one value, before and behind along each axis."""
    if all(isinstance(size, int) for pair in margins for size in pair):
        return M.pad(x, margins, value)  # type: ignore[arg-type]
    for axis, pair in enumerate(margins):
        if pair == (0, 0):
            continue
        shapes = [[*dims(x)[:axis], size, *dims(x)[axis + 1 :]] for size in pair]
        before, behind = (M.broadcast_to(E.constant(value, x.dtype), each) for each in shapes)
        parts = [before, x, behind]
        x = M.concatenate([each for each in parts if each.shape[axis] != 0], axis)
    return x


def replaced(x: Node, start: Size, rows: Node) -> Node:
    """A tensor with other rows, from one on."""
    if are_one_size(size_of(x, 0), size_of(rows, 0)):
        return rows
    end = plus(start, size_of(rows, 0))
    behind = part(x, 0, end, minus(size_of(x, 0), end))
    return M.concatenate([part(x, 0, 0, start), rows, behind], 0)


def clamped(place: Size, size: Size) -> Size:
    """A place along an axis, counted from the front, as slices do that begin or end outside."""
    if isinstance(place, int) and isinstance(size, int):
        return slice(place, None).indices(size)[0]
    at = I.from_front(as_node(place), size)
    return E.minimum(E.maximum(at, full_like(at, 0)), as_node(size))
