"""Windows over space in their plainest form: what a stride or a dilation doesn't say is left out.

Libraries choose their code for a convolution by its strides, and the rarest ones are the least
tried: oneDNN crashed at kernel gradients of strided windows of one cell, and gave garbage for
strided windows with a single place. Neither needs its strides. What is empty isn't computed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..ir.node import Node
from ..ir.types import Dim, Shape
from ..prims.elementwise import constant
from ..prims.movement import WHOLE, broadcast_to, slice_, unslice
from ..prims.sizes import Size, dims_of, size_of, split
from ..prims.windows import Window, space_of

Cut = tuple[int | None, int | None, int]


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
    rest = iter(node.operands[2:])
    space: list[Size] = [next(rest) if d is None else d for d in node.attrs["space"]]
    cells = [
        dim if cut == WHOLE else size_of(g, axis) if cut[2] > 1 else cut[1] or 0
        for axis, (dim, cut) in enumerate(zip(space, cuts, strict=True), 1)
    ]
    shape, sizes = split(cells)
    inner = node.primitive(g, k, *sizes, space=shape, window=window)
    return unslice(inner, [size_of(g, 0), *space, size_of(k, -2)], [WHOLE, *cuts, WHOLE])


def _zeros(node: Node) -> Node:
    return broadcast_to(constant(0, node.dtype), dims_of(node))


def _is_known(node: Node) -> bool:
    """Whether all sizes can be told without the node's value."""
    return not any(isinstance(dim, Node) and node in dim.operands for dim in dims_of(node))


def _of_nothing(node: Node) -> Node | None:
    """f(x, …) -> 0, where x or what it's combined with has no elements; f is linear in both."""
    tensors = [x for x in node.operands if x.shape]
    empty = 0 in node.shape or any(0 in x.shape for x in tensors)
    return _zeros(node) if empty and _is_known(node) else None


def pool_of_nothing(node: Node) -> tuple[Node, ...] | None:
    """max_pool(x) -> (0, 0), where it has no elements"""
    values, _ = node.results
    if 0 not in values.shape or not _is_known(values):
        return None
    return tuple(broadcast_to(constant(0, r.dtype), _pooled_dims(r, node)) for r in node.results)


def _pooled_dims(result: Node, node: Node) -> list[Size]:
    return [size_of(node.operands[0], 0), *dims_of(result)[1:]]


RULES: dict[str, tuple[Callable[[Node], Node | None], ...]] = {
    **dict.fromkeys(
        ("conv", "conv_kernel", "depthwise_conv", "depthwise_kernel"), (_of_nothing, _over_input)
    ),
    **dict.fromkeys(("conv_input", "depthwise_input"), (_of_nothing, _onto_input)),
    **dict.fromkeys(
        ("patches", "fold", "sum_pool", "sum_unpool", "unpool", "pool_pick"), (_of_nothing,)
    ),
}
