"""Windows that may have nothing to see when a graph runs.

TensorFlow's convolutions give wrong sizes, or fail, where there are no samples, places or
channels. So a call whose inputs have none isn't made (`Executable.needs_elements`); where that
can't be told from the inputs, the convolution is one branch of a condition, and zeros the other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import tensorflow as tf

from ...ir.node import Node
from ...prims.windows import Window
from .._lowering import Rule
from .._windows import counted_axes, filled_by
from .kernels import Tensor, constant, raw, shape_of, shielded, vector

if TYPE_CHECKING:
    from .lowering import Tracing


def places(space: list[Any], window: Window) -> list[Any]:
    """How many places a window takes along each axis: ints, or scalars."""
    found = []
    for i, size in enumerate(space):
        span = (window.sizes[i] - 1) * window.dilation[i] + 1
        offset, stride = sum(window.padding[i]) - span, window.strides[i]
        if isinstance(size, int):
            found.append(max(0, (size + offset) // stride + 1))
        else:
            found.append(raw.Maximum(x=raw.FloorDiv(x=size + offset, y=stride) + 1, y=0))
    return found


def in_doubt(e: Tracing, node: Node) -> bool:
    """Whether there may be nothing to see though the inputs that the graph counts on have some."""
    roots = [filled_by(e.sizes, *axis) for axis in counted_axes(node)]
    counted_on = [e.counts_on(root) for root in roots]  # all of them: each is taken down
    return not all(counted_on)


def where_some(
    counts: list[Any], compute: Callable[[], Tensor], dims: list[Any], dtype: Any
) -> Tensor:
    """What `compute` gives where no count is 0, else zeros of a shape and a dtype.

    TensorFlow may know of a count that the graph doesn't; and it refuses windows, also in a branch
    that never runs, which it knows to see nothing.
    """
    zero = constant(0, dtype)
    if any(isinstance(count, int) and count == 0 for count in counts):
        return raw.Fill(dims=vector(dims), value=zero)
    some = raw.Greater(x=raw.Min(input=vector(counts), axis=[0]), y=0)
    return tf.cond(some, compute, lambda: raw.Fill(dims=vector(dims), value=zero))


def populated(rule: Rule) -> Rule:
    """The rule of a convolution, or of an adjoint, and zeros where there's nothing to see."""

    def where_it_sees(e: Tracing, node: Node, *values: Tensor) -> Tensor:
        if not in_doubt(e, node):
            return rule(e, node, *values)
        dims = _dims(e, node, values)
        counts = _counts(node, values, dims)
        compute = lambda: rule(e, node, *map(shielded, values))  # noqa: E731
        found = where_some(counts, compute, dims, values[0].dtype)
        found.set_shape(node.shape)
        return found

    return where_it_sees


def _dims(e: Tracing, node: Node, values: tuple[Tensor, ...]) -> list[Any]:
    """The shape of the result."""
    first, second = shape_of(values[0]), shape_of(values[1]) if len(values) > 1 else []
    window, name = node.attrs["window"], node.primitive.name
    if "space" in node.attrs:
        channels = second[-2] if name.endswith("_input") else first[-1]
        dims = [first[0], *e.size_operands(node, values, "space"), channels]
    elif name == "conv_kernel":
        dims = [*window.sizes, first[-1], second[-1]]
    elif name == "depthwise_kernel":
        dims = [*window.sizes, first[-1], second[-1] // first[-1]]
    else:
        depth = {
            "conv": lambda: second[-1],
            "depthwise_conv": lambda: second[-1] * second[-2],
            "patches": lambda: first[-1] * window.cells,
            "sum_pool": lambda: first[-1],
        }
        dims = [first[0], *places(first[1:-1], window), depth[name]()]
    return [b if a is None else a for a, b in zip(node.shape, dims, strict=True)]


def _counts(node: Node, values: tuple[Tensor, ...], dims: list[Any]) -> list[Any]:
    """How many samples, places and channels there are, where that is unknown."""
    given = {x: shape_of(value) for x, value in zip(node.operands, values, strict=False)}
    return [given.get(x, dims)[axis] for x, axis in counted_axes(node)]
