"""Pooling; layout (batch, *space, channels)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import tensorflow as tf

from ...graph.ir.node import ITEM, Node
from ...graph.primitives.windows import Window, has_margins
from .._lowering import Rule
from . import convolution
from .convolution import lifted, line, moves, over_planes, plane
from .kernels import Tensor, constant, raw, reshaped, shape_of, vector
from .lowering import Tracing

# Sums --------------------------------------------------------------------------------


def _sum_pool(x: Tensor, window: Window) -> Tensor:
    """The mean, times the number of cells."""
    return raw.Mul(x=raw.AvgPool(value=x, **_pool(window)), y=constant(window.cells, x.dtype))


def _sum_unpool(g: Tensor, space: list[Any], window: Window) -> Tensor:
    batch, *_, channels = shape_of(g)
    g = raw.Mul(x=g, y=constant(window.cells, g.dtype))
    shape = vector([batch, *space, channels])
    return raw.AvgPoolGrad(orig_input_shape=shape, grad=g, **_pool(window))


def _pool(window: Window) -> dict[str, Any]:
    return {"ksize": [1, *window.sizes, 1], **moves(window)}


def _has_pool(node: Node) -> bool:
    """Whether the kernels for pooling hold: one axis or two, of common floats."""
    x, window = node.operands[0], node.attrs["window"]
    return x.dtype in ("float32", "float64") and window.rank <= 2 and set(window.dilation) == {1}


# Maxima ------------------------------------------------------------------------------------------


class Pooled(NamedTuple):
    """What the gradient of a max_pool by TensorFlow's kernel needs.

    x and y have two spatial axes. `special` is true where the kernels don't do what the
    primitive says: x holds NaN, y holds the least number, or is empty. Only then is the index of
    cells needed: a branch that calls `cell` computes it.
    """

    x: Tensor
    y: Tensor
    special: Tensor
    window: Window
    cell: Callable[[], Tensor]


def max_pool(e: Tracing, node: Node, x: Tensor) -> tuple[Tensor, Tensor]:
    """The values by a kernel, and the index by cells, where it's needed."""
    window, wide = node.attrs["window"], lifted(node.attrs["window"])
    source = plane(x, window)
    y = _max_by_kernel(node, source, wide)
    special = _is_special(source, y)
    if not _has_known_places(node.results[0]):  # without places the kernel writes no gradient
        none = raw.Equal(x=raw.Size(input=y), y=0)
        special = raw.LogicalOr(x=special, y=none)
    e.pools[node] = Pooled(source, y, special, wide, lambda: e.expanded(node, [x])[1])
    values = tf.cond(special, lambda: e.expanded(node, [x])[0], lambda: line(y, window))
    values.set_shape(node.results[0].shape)
    # Checks of sizes in the index's expansion would run also where nobody needs the index.
    return values, e.expanded(node, [x])[1] if node.results[1] in e.used else values


def _max_by_kernel(node: Node, x: Tensor, window: Window) -> Tensor:
    """The kernel's maxima over two axes; nothing where windows have no place: the kernel fails."""

    def pool() -> Tensor:
        return raw.MaxPool(input=x, **_pool(window))

    def nothing() -> Tensor:
        return raw.Fill(dims=[0, 1, 0, 0], value=constant(0, x.dtype))

    pairs = zip(window.spans, window.padding, strict=True)
    sizes, needed = shape_of(x)[1:-1], [span - sum(pads) for span, pads in pairs]
    if _has_known_places(node.results[0]) or max(needed) <= 1:
        return pool()
    if any(isinstance(d, int) and d < least for d, least in zip(sizes, needed, strict=True)):
        return nothing()  # TensorFlow may know more than the graph, and refuses what would fail
    fit = raw.GreaterEqual(x=vector(sizes), y=vector(needed))
    return tf.cond(raw.All(input=fit, axis=[0]), pool, nothing)


def _has_known_places(y: Node) -> bool:
    """Whether windows provably have places: a result that is known to be empty isn't computed."""
    return None not in y.shape[1:-1]


def _is_special(x: Tensor, y: Tensor) -> Tensor:
    """Whether x holds a NaN, which the kernel skips, or y the number that the kernel starts at."""
    *_, width, channels = shape_of(x)
    rows = raw.Max(input=reshaped(x, [-1, width * channels]), axis=[1])
    top = raw.Max(input=rows, axis=[0])
    low = raw.Min(input=raw.Reshape(tensor=y, shape=[-1]), axis=[0])
    least = constant(x.dtype.min, x.dtype)
    return raw.LogicalOr(x=raw.IsNan(x=top), y=raw.LessEqual(x=low, y=least))


def unpool(e: Tracing, node: Node, g: Tensor, index: Tensor, *sizes: Tensor) -> Tensor:
    """The kernel's adjoint, where the index is that of a pooling here; else the expansion."""
    window, pool = node.attrs["window"], node.operands[1]
    found = e.pools.get(pool.operands[0]) if pool.primitive is ITEM else None
    if found is None or found.window != lifted(window):
        return e.expanded(node, [g, index, *sizes])[0]

    def by_kernel() -> Tensor:
        back = raw.MaxPoolGrad(
            orig_input=found.x, orig_output=found.y, grad=plane(g, window), **_pool(found.window)
        )
        return line(back, window)

    other = by_kernel
    if _has_known_places(pool):
        back = by_kernel()
        other = lambda: raw.Identity(input=back)  # noqa: E731 (quicker outside of a branch)
    out = tf.cond(found.special, lambda: e.expanded(node, [g, found.cell(), *sizes])[0], other)
    out.set_shape(node.shape)
    return out


RULES: dict[str, Rule] = {
    **convolution.RULES,
    "sum_pool": over_planes(_sum_pool),
    "sum_unpool": over_planes(_sum_unpool),
    "max_pool": max_pool,
    "unpool": unpool,
}
WHERE: dict[str, Callable[[Node], bool]] = {
    **convolution.WHERE,
    **dict.fromkeys(
        ("sum_pool", "sum_unpool"),
        lambda node: _has_pool(node) and not has_margins(node.attrs["window"]),
    ),
    **dict.fromkeys(("max_pool", "unpool"), _has_pool),
}
