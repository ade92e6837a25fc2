"""Windows over space in their plainest form: without strides and dilations that change nothing.

Libraries choose their code for a convolution by its strides, and rare strides are the least tried:
oneDNN crashed at kernel gradients of strided windows of one cell, and gave garbage for strided
windows with a single place. Neither window needs its strides. What is empty isn't computed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..ir.node import Node, producer
from ..ir.types import Dim, Shape
from ..primitives.elementwise import maximum
from ..primitives.filling import full_like, zeros
from ..primitives.movement import WHOLE, Cut, slice_, unslice
from ..primitives.sizes import (
    Size,
    as_node,
    dims_of,
    plus,
    quotient,
    size_of,
    sizes_product,
    split,
    stated_dims,
)
from ..primitives.windows import Window, is_of_single_cells, space_of


def _plain_axis(window: Window, axis: int, dim: Dim) -> tuple[Cut, Window]:
    """Which cells of an axis are needed, and the window over these."""
    size, stride, dilation = window.sizes[axis], window.strides[axis], window.dilation[axis]
    low, high = window.padding[axis]
    cut: Cut = WHOLE
    if size == 1:
        dilation = 1
    if stride > 1 and size == 1 and low == high == 0:
        cut, stride = (None, None, stride), 1
    elif stride > 1 and dim is not None and low >= 0 and window.out_dim(axis, dim) == 1:
        reach = (size - 1) * dilation + 1 - low
        if reach > 0:
            seen = min(dim, reach)
            cut, stride, high = (0, seen, 1), 1, reach - seen
    return cut, Window(
        _with(window.sizes, axis, size),
        _with(window.strides, axis, stride),
        _with(window.padding, axis, (low, high)),
        _with(window.dilation, axis, dilation),
    )


def _with(items: tuple[Any, ...], axis: int, item: Any) -> tuple[Any, ...]:
    return (*items[:axis], item, *items[axis + 1 :])


def _plain(window: Window, space: Shape) -> tuple[list[Cut], Window] | None:
    """The cells that are needed of a space and the plainer window over these, if there is one."""
    cuts, plainer = [], window
    for axis, dim in enumerate(space):
        cut, plainer = _plain_axis(plainer, axis, dim)
        cuts.append(cut)
    return None if plainer == window else (cuts, plainer)


def _over_input(node: Node) -> Node | None:
    """f(x, y, window) -> f(x[cells], y, plainer window)

    Along an axis on which the window has one cell, stride s takes every s-th cell of x. Where the
    window has a single place, its stride says nothing, and cells beyond it aren't seen.
    """
    x, other = node.operands
    found = _plain(node.attrs["window"], space_of(x))
    if found is None:
        return None
    cuts, window = found
    seen = slice_(x, [WHOLE, *cuts, WHOLE])
    return node.primitive(seen, other, **{**node.attrs, "window": window})


def _onto_input(node: Node) -> Node | None:
    """f(g, k, space, window) -> unslice(f(g, k, cells, plainer window)): see `_over_input`."""
    g, k, *_ = node.operands
    found = _plain(node.attrs["window"], node.attrs["space"])
    if found is None:
        return None
    cuts, window = found
    space = stated_dims(node)
    cells = [
        dim if cut == WHOLE else size_of(g, axis) if cut[2] > 1 else cut[1] or 0
        for axis, (dim, cut) in enumerate(zip(space, cuts, strict=True), 1)
    ]
    shape, sizes = split(cells)
    inner = node.primitive(g, k, *sizes, space=shape, window=window)
    return unslice(inner, [size_of(g, 0), *space, size_of(k, -2)], [WHOLE, *cuts, WHOLE])


def _single_cells(node: Node) -> Node | None:
    """patches(x) -> x, for a window of single cells"""
    return node.operands[0] if is_of_single_cells(node.attrs["window"]) else None


# What is empty -------------------------------------------------------------------------------


def count_places(window: Window, axis: int, dim: Size) -> Size:
    """How many places the window takes along an axis of that size."""
    if isinstance(dim, int):
        count = window.out_dim(axis, dim)
        assert count is not None
        return count
    stride, span = window.strides[axis], window.spans[axis]
    room = as_node(plus(dim, sum(window.padding[axis]) - span + stride))
    return quotient(maximum(room, full_like(room, 0)), stride)


def inferred_dims(node: Node) -> list[Size]:
    """All sizes of a value; of a window's primitive, without computing that value."""
    source = producer(node)
    if "window" not in source.attrs:
        return dims_of(node)
    last = len(node.shape) - 1
    return [
        _inferred_dim(source, axis, last) if isinstance(dim, Node) and node in dim.operands else dim
        for axis, dim in enumerate(dims_of(node))
    ]


def _multiplier(node: Node) -> Size:
    channels = as_node(size_of(node.operands[0], -1))
    return quotient(size_of(node.operands[1], -1), maximum(channels, full_like(channels, 1)))


# By primitive whose channels aren't those of an operand: how many come out.
CHANNELS: dict[str, Callable[[Node], Size]] = {
    "depthwise_conv": lambda node: sizes_product([size_of(x, -1) for x in node.operands]),
    "depthwise_kernel": _multiplier,
    "patches": lambda n: sizes_product([size_of(n.operands[0], -1), n.attrs["window"].cells]),
    "fold": lambda node: quotient(size_of(node.operands[0], -1), node.attrs["window"].cells),
}


def _inferred_dim(node: Node, axis: int, last: int) -> Size:
    if axis == last:
        return CHANNELS[node.primitive.name](node)
    if "space" in node.attrs:
        return stated_dims(node)[axis - 1]
    return count_places(node.attrs["window"], axis - 1, size_of(node.operands[0], axis))


def _of_nothing(node: Node) -> Node | None:
    """f(x, …) -> 0, where the result or an operand has no elements; f is linear in each operand."""
    tensors = [x for x in node.operands if x.shape]
    if 0 not in node.shape and not any(0 in x.shape for x in tensors):
        return None
    return zeros(inferred_dims(node), node.dtype)


def pool_of_nothing(node: Node) -> tuple[Node, ...] | None:
    """max_pool(x) -> (0, 0), where the results have no elements"""
    if 0 not in node.results[0].shape:
        return None
    dims = inferred_dims(node.results[0])
    return tuple(zeros(dims, result.dtype) for result in node.results)


RULES: dict[str, tuple[Callable[[Node], Node | None], ...]] = {
    **dict.fromkeys(
        ("conv", "conv_kernel", "depthwise_conv", "depthwise_kernel"), (_of_nothing, _over_input)
    ),
    **dict.fromkeys(("conv_input", "depthwise_input"), (_of_nothing, _onto_input)),
    "patches": (_of_nothing, _single_cells),
    **dict.fromkeys(("fold", "sum_pool", "sum_unpool", "unpool", "pool_pick"), (_of_nothing,)),
}
