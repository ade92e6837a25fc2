"""Broadcasting along axes whose size is unknown: one that turns out to be 1 is stretched.

Two unknown sizes that meet are nearly always equal. So programs come in two variants: one that
takes them as equal, in which none of these primitives is left (`graph.passes.equal_sizes`), and one
for all other sizes, in which they are computed.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...errors import ShapeError
from ..ir.leaves import CONSTANT
from ..ir.node import Node, Primitive
from ..ir.types import INT32, Dim, Shape, TensorType, broadcast_shapes, show_shape
from .control import check
from .elementwise import INTEGER, cast, constant, elementwise, eq, logical_or, mul, ne, select
from .indexing import gather, scatter_add
from .movement import broadcast_to, infer_broadcast, iota, reshape
from .reduce import reduce_sum
from .sizes import Size, are_one_size, as_node, dims_of, merged, roots_of, size_of, split

DIFFER = "sizes that were taken as equal differ at run time, and can't be broadcast"


def _other_than_one(a: Node, b: Node) -> Node:
    return select(eq(a, constant(1, a.dtype)), b, a)


_common_size: Primitive = elementwise(
    "common_size",
    INTEGER,
    "the size of an axis to which axes of sizes a and b are stretched: the one that isn't 1",
    expand=_other_than_one,
    operands=2,
)


def common_size(a: Size, b: Size) -> Size:
    """The size to which axes of two sizes are stretched; one of the sizes is 1, or they're equal.

    Known sizes that are neither are taken for equal: a check elsewhere refuses them.
    """
    if isinstance(a, int) and a != 1:
        return a
    if isinstance(b, int) or a == 1:
        return a if b == 1 else b
    first, second = as_node(a), as_node(b)
    return _common_size(first, cast(second, first.dtype))


def _in_step(own: Size, other: Size) -> Node | None:
    """For an axis of size `other`: the places on an axis of size `own` that is stretched to it."""
    if are_one_size(own, other):
        return None
    is_long = cast(ne(as_node(own), constant(1, as_node(own).dtype)), INT32)
    return mul(iota([other]), broadcast_to(is_long, [other]))


def _checked(x: Node, own: Size, want: Size) -> Node:
    """`x`; an error where a size isn't that of an axis that is stretched to another one."""
    size = as_node(own)
    same = eq(size, cast(as_node(want), size.dtype))
    return check(x, logical_or(same, eq(size, constant(1, size.dtype))), message=DIFFER)


def _expand_stretch(x: Node, *sizes: Node, shape: Shape) -> Node:
    dims = merged(shape, sizes)
    for axis, want in enumerate(dims[len(shape) - len(x.shape) :]):
        own = size_of(x, axis)
        index = None if isinstance(own, int) else _in_step(own, want)
        if index is not None:
            x = gather(_checked(x, own, want), index, axis)
    return broadcast_to(x, dims)


_stretch = Primitive(
    "stretch",
    infer_broadcast,
    "x stretched along new leading axes, along axes of size 1, and along axes of unknown size"
    " that have size 1 at run time",
    expand=_expand_stretch,
)


def stretch(x: Node, dims: Sequence[Size]) -> Node:
    """`x` stretched to `dims`, aligned at the right, where an unknown size may turn out to be 1."""
    shape, sizes = split(dims)
    offset = len(shape) - len(x.shape)
    if offset >= 0 and not _open_axes(x, dims[offset:]):
        kept = [size_of(x, i - offset) if _is_own(x, i - offset) else d for i, d in enumerate(dims)]
        return x if not offset and _is_own_shape(x, shape) else broadcast_to(x, kept)
    return _stretch(x, *sizes, shape=shape)


def stretched_axes(node: Node) -> list[int]:
    """Of the operand of a `stretch`: the axes of unknown size that may turn out to be 1."""
    x, *sizes = node.operands
    return _open_axes(x, merged(node.attrs["shape"], sizes)[len(node.shape) - len(x.shape) :])


def _open_axes(x: Node, dims: Sequence[Size]) -> list[int]:
    """The axes of unknown size that don't provably have the size in `dims`."""
    return [
        axis
        for axis, want in enumerate(dims)
        if x.shape[axis] is None and roots_of(x, axis) != _roots_of_size(want)
    ]


def _is_own(x: Node, axis: int) -> bool:
    return axis >= 0 and x.shape[axis] is None


def _is_own_shape(x: Node, shape: Shape) -> bool:
    return all(d is None or d == want for d, want in zip(x.shape, shape, strict=True))


def _roots_of_size(size: Size) -> frozenset[object]:
    if isinstance(size, Node) and size.primitive is CONSTANT:
        return frozenset((int(size.attrs["value"].array),))
    return roots_of(size) if isinstance(size, Node) else frozenset((size,))


def _infer_sum_to(g: Node, *sizes: Node, shape: Shape) -> TensorType:
    pairs = zip(g.shape, shape, strict=False)
    if len(shape) != len(g.shape) or any(a is not None and b not in (a, 1, None) for a, b in pairs):
        raise ShapeError(f"sum_to: {show_shape(g.shape)} isn't {show_shape(shape)} stretched")
    return TensorType(shape, g.dtype)


def _expand_sum_to(g: Node, *sizes: Node, shape: Shape) -> Node:
    for axis, own in enumerate(merged(shape, sizes)):
        if own == 1 and g.shape[axis] != 1:
            dims = dims_of(g)
            g = reshape(reduce_sum(g, (axis,)), [*dims[:axis], 1, *dims[axis + 1 :]])
        elif shape[axis] is None:
            size = size_of(g, axis)
            index = _in_step(own, size)
            if index is not None:
                g = scatter_add(_checked(g, own, size), index, own, axis)
    return broadcast_to(g, merged(shape, sizes))


_sum_to = Primitive(
    "sum_to",
    _infer_sum_to,
    "the sum of g over axes of which the size in `shape` is 1: the adjoint of `stretch`",
    expand=_expand_sum_to,
)


def sum_to(g: Node, dims: Sequence[Size]) -> Node:
    """The sum of `g` over those axes for which the size in `dims` is 1, if only at run time."""
    shape, sizes = split(dims)
    return g if not sizes and shape == g.shape else _sum_to(g, *sizes, shape=shape)


def stretched_together(operands: Sequence[Node], what: str, own: int = 0) -> list[Node]:
    """The operands stretched to their common shape.

    Args:
        operands: tensors, aligned at the right.
        what: names the function in messages.
        own: so many last axes of each operand are its own, and stay as they are.

    Raises:
        ShapeError: known sizes differ, and none of them is 1.
    """
    first = operands[0]
    if all(x is first or (x.type.is_static and x.shape == first.shape) for x in operands):
        return list(operands)
    shape = broadcast_shapes(what, *(x.shape[: len(x.shape) - own] for x in operands))
    dims = [
        _common_dim([(x, axis) for x in operands if len(x.shape) >= -axis], dim)
        for axis, dim in enumerate(shape, -len(shape) - own)
    ]
    return [stretch(x, [*dims, *dims_of(x)[len(x.shape) - own :]]) for x in operands]


def stretched_along(operands: Sequence[Node], axes: Sequence[int], what: str) -> list[Node]:
    """The operands, of which one axis each (counted from the front) has a common size.

    Args:
        operands, axes: in pairs.
        what: names the function in messages.

    Raises:
        ShapeError: known sizes differ, and none of them is 1.
    """
    pairs = list(zip(operands, axes, strict=True))
    (dim,) = broadcast_shapes(what, *((x.shape[axis],) for x, axis in pairs))
    common = _common_dim(pairs, dim)
    return [
        stretch(x, [common if i == axis else d for i, d in enumerate(dims_of(x))])
        for x, axis in pairs
    ]


def _common_dim(axes: Sequence[tuple[Node, int]], dim: Dim) -> Size:
    """The size to which axes are stretched; `dim`, if it's known."""
    if dim is not None:
        return dim
    unknown = [(x, axis) for x, axis in axes if x.shape[axis] is None]
    each = [roots_of(x, axis) for x, axis in unknown]
    every = frozenset[object]().union(*each)
    if every in each:
        return size_of(*unknown[each.index(every)])
    common: Size = 1
    seen: set[object] = set()
    for (x, axis), roots in zip(unknown, each, strict=True):
        if not roots <= seen:
            common = common_size(common, size_of(x, axis))
        seen |= roots
    return common
