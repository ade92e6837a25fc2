"""Lowering rules of convolutions. ONNX has channels before space, the primitives behind it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...graph.ir.node import Node
from ...graph.primitives.constants import bare
from ...graph.primitives.sizes import stated_dims
from ...graph.primitives.windows import Window, has_margins, seen_by
from .._lowering import Rule
from .lowering import OnnxLowering
from .movement import END, padded, sliced

L = OnnxLowering


def _channels_first(lo: L, x: str, n: int) -> str:
    """(batch, *space, channels), of `n` axes of space, as (batch, channels, *space)."""
    return lo.transpose(x, [0, n + 1, *range(1, n + 1)])


def _channels_last(lo: L, x: str, n: int) -> str:
    """The other way round."""
    return lo.transpose(x, [0, *range(2, n + 2), 1])


def _pads(window: Window) -> list[int]:
    return [p for side in zip(*window.padding, strict=True) for p in side]


def _moves(window: Window, padding: bool = True) -> dict[str, Any]:
    return {
        "kernel_shape": list(window.sizes),
        "strides": list(window.strides),
        "dilations": list(window.dilation),
        **({"pads": _pads(window)} if padding else {}),
    }


# Convolution -------------------------------------------------------------------------------


def _weights(lo: L, node: Node, k: str) -> tuple[str, int]:
    """The kernel as ONNX has it, and the number of groups of channels: in a depthwise convolution
    each channel is one.
    """
    window, operand = node.attrs["window"], node.operands[1]
    n = window.rank
    if node.primitive.name in ("conv", "conv_input"):
        return lo.transpose(k, [n + 1, n, *range(n)]), 1
    depth = lo.product(lo.dims_of(operand, (-2, -1)))
    moved = lo.transpose(k, [n, n + 1, *range(n)])
    return lo.reshape(moved, [depth, 1, *window.sizes]), operand.shape[-2] or 0


def _conv(lo: L, node: Node, x: str, k: str, *bias: str) -> str:
    window = node.attrs["window"]
    weights, group = _weights(lo, node, k)
    x = _channels_first(lo, x, window.rank)
    y = lo.op("Conv", x, weights, *bias, **_moves(window), group=group)
    return _channels_last(lo, y, window.rank)


def _conv_input(lo: L, node: Node, g: str, k: str, *sizes: str) -> Any:
    """The adjoint, onto the widest space that the windows may come from, cut to the wanted one."""
    window = node.attrs["window"]
    n, lows = window.rank, [a for a, _ in window.padding]
    weights, group = _weights(lo, node, k)
    y = lo.op(
        "ConvTranspose",
        _channels_first(lo, g, n),
        weights,
        **_moves(window, padding=False),
        pads=[*lows, *[0] * n],
        output_padding=[s - 1 for s in window.strides],
        group=group,
    )
    y = sliced(lo, y, range(2, n + 2), [0] * n, stated_dims(node), [1] * n)
    return _channels_last(lo, y, n)


# With fewer channels one product of all cells' patches is quicker than one for each cell.
FEW = 16


def _conv_kernel(lo: L, node: Node, x: str, g: str) -> Any:
    """What the cells see times the cotangent, added up over samples and places.

    Channels of x come first: ONNX Runtime is quicker where the sum is over the last axis of the
    left matrix. In the right matrix the axis of the sum stays, as moving it would cost more.
    """
    window, (operand, up) = node.attrs["window"], node.operands
    n = window.rank
    channels, outputs = lo.dim(operand, -1), lo.dim(up, -1)
    lows, highs = zip(*window.padding, strict=True)
    if has_margins(window):
        x = padded(lo, x, node.dtype, [0, *lows, 0, 0, *highs, 0])
    cells = list(_seen(lo, lo.transpose(x, [n + 1, *range(n + 1)]), window))
    if isinstance(channels, int) and channels < FEW and len(cells) > 1:
        cells = [lo.op("Concat", *cells, axis=0)]
    places = lo.joined([lo.product(lo.dims_of(up, range(n + 1)))])
    flat_g = lo.reshape(g, [places, outputs])
    sums = []
    for cell in cells:
        flat = lo.reshape(cell, [lo.op("Shape", cell, end=1), places])
        sums.append(lo.op("Gemm", flat, flat_g))
    whole = sums[0] if len(sums) == 1 else lo.op("Concat", *sums, axis=0)
    return lo.reshape(whole, [*window.sizes, channels, outputs])


def _seen(lo: L, x: str, window: Window) -> Iterator[Any]:
    """For each cell what it sees of x (channels, batch, *space) at all places."""
    for cell in np.ndindex(*window.sizes):
        starts, stops, steps = zip(*seen_by(cell, window)[1:-1], strict=True)
        ends = [END if stop is None else stop for stop in stops]
        yield sliced(lo, x, range(2, window.rank + 2), starts, ends, steps)


def has_groups(node: Node) -> bool:
    """Whether ONNX's grouped convolution will do: channels are groups, of a known number."""
    return node.dtype in ("float16", "float32") and node.operands[1].shape[-2] is not None


# Sums ----------------------------------------------------------------------------------------

# Rules that take a bias, too.
BIASED: dict[str, Rule] = dict.fromkeys(("conv", "depthwise_conv"), _conv)


def with_bias(lo: L, node: Node) -> str | None:
    """A sum conv(x, k) + b as one operator; None where b isn't one number for each channel."""
    for y, term in (node.operands, node.operands[::-1]):
        rule, b = BIASED.get(y.primitive.name), bare(term)
        if rule and lo.used_once(y) and b.shape == y.shape[-1:] != (None,):
            return str(rule(lo, y, *map(lo.value, (*y.operands, b))))
    return None


RULES: dict[str, Rule] = {
    **BIASED,
    **dict.fromkeys(("conv_input", "depthwise_input"), _conv_input),
    "conv_kernel": _conv_kernel,
}
