"""Quantization: pretended in floats, compiled; and to integers and back, on the host."""

from __future__ import annotations

from typing import Any

import numpy as np

from kameleon.graph.ir.node import Tensor as Node
from kameleon.graph.primitives import elementwise as E
from kameleon.graph.primitives.filling import full_like
from kameleon.graph.primitives.reduce import reduce_max, reduce_min, reduce_sum

from ..dtypes import held, name_of
from ..failures import invalid
from ..graph import Operation
from .elementwise import zero
from .table import fold, pure
from .values import Kind, broadcast, integer, sizes_of, tensor

Array = np.ndarray

# Pretended --------------------------------------------------------------------------------------


class Range:
    """A range of floats, moved so that 0 is one of the steps into which it's divided.

    Source: Jacob et al., "Quantization and training of neural networks for efficient
    integer-arithmetic-only inference" (2018).
    """

    def __init__(self, operation: Operation, low: Node, high: Node) -> None:
        first = 1.0 if operation.attribute("narrow_range") else 0.0
        last = float((1 << operation.attribute("num_bits")) - 1)
        start, end = (E.cast(value, "float32") for value in (low, high))
        self.of_channels = bool(low.shape)
        self.empty = E.logical_and(E.eq(start, zero(start)), E.eq(end, zero(end)))
        self.step = (E.select(self.empty, full_like(end, 1), end) - start) / (last - first)
        at = first - start / self.step
        at = E.floor(E.minimum(E.maximum(at, full_like(at, first)), full_like(at, last)) + 0.5)
        self.low, self.high = (first - at) * self.step, (last - at) * self.step

    def rounded(self, x: Node) -> Node:
        """Numbers at the nearest steps; zeros for an empty range."""
        x, low, high, step, empty = broadcast(x, self.low, self.high, self.step, self.empty)
        inside = E.maximum(E.minimum(x, high), low) - low
        steps = inside / step if self.of_channels else inside * (1 / step)
        return E.select(empty, zero(x), E.floor(steps + 0.5) * step + low)

    def slopes(self, g: Node, x: Node) -> list[Node]:
        """The gradients that belong to the numbers, to the low and to the high end."""
        x, low, high, empty = broadcast(x, self.low, self.high, self.empty)
        below, above = E.lt(x, low), E.gt(x, high)
        inside = E.logical_and(E.ge(x, low), E.le(x, high))
        return [
            E.select(E.logical_or(inside, empty), g, zero(g)),
            *(E.select(E.logical_and(e, E.logical_not(empty)), g, zero(g)) for e in (below, above)),
        ]


def _attribute_range(operation: Operation) -> Range:
    ends = (np.float32(operation.attribute(name)) for name in ("min", "max"))
    return Range(operation, *map(tensor, ends))


@pure("FakeQuantWithMinMaxArgs")
def _rounded(operation: Operation, x: Node, *, min: float, max: float, num_bits: int) -> Node:
    if min >= max or not 2 <= num_bits <= 16:
        raise ValueError(f"min {min} has to be smaller than max {max}; num_bits from 2 to 16")
    return _attribute_range(operation).rounded(x)


@pure("FakeQuantWithMinMaxArgsGradient")
def _rounded_slope(operation: Operation, g: Node, x: Node) -> Node:
    return _attribute_range(operation).slopes(g, x)[0]


@pure("FakeQuantWithMinMaxVars FakeQuantWithMinMaxVarsPerChannel")
def _rounded_within(operation: Operation, x: Node, low: Node, high: Node) -> Node:
    if low.shape and sizes_of(low) != sizes_of(x)[-1:]:
        raise ValueError(f"min has incorrect size, expected {sizes_of(x)[-1:]}")
    return Range(operation, low, high).rounded(x)


@pure("FakeQuantWithMinMaxVarsGradient FakeQuantWithMinMaxVarsPerChannelGradient")
def _rounded_slopes(operation: Operation, g: Node, x: Node, low: Node, high: Node) -> list[Node]:
    found, *ends = Range(operation, low, high).slopes(g, x)
    axes = range(len(found.shape) - len(low.shape))
    return [found, *(reduce_sum(end, axes) for end in ends)]


def _side(bound: int, end: Node) -> Node:
    """By how much the range must be scaled for one end to become a bound."""
    product = end * float(bound)
    fits = E.gt(product, zero(product))
    most = full_like(end, float(np.finfo(str(end.dtype)).max))
    return E.select(fits, float(bound) / E.select(fits, end, full_like(end, 1)), most)


@pure("QuantizeAndDequantize QuantizeAndDequantizeV2 QuantizeAndDequantizeV3")
def _there_and_back(
    operation: Operation, node: Node, *bounds: Any, range_given: bool, signed_input: bool,
    narrow_range: bool | None, round_mode: bytes | None,
) -> Node:  # fmt: skip
    """Scaled so that the range becomes that of integers and 0 stays 0, rounded, scaled back."""
    low, high = map(tensor, bounds[:2] or _ends(operation, node))
    bits = integer(bounds[2]) if len(bounds) > 2 else operation.attribute("num_bits")
    least, most = 0, (1 << bits) - 1
    if signed_input:
        least, most = -(1 << bits - 1) + bool(narrow_range), (1 << bits - 1) - 1
    if not range_given:
        axes = range(len(node.shape))
        low, high = reduce_min(node, axes), reduce_max(node, axes)
    sides = _side(least, low) if least else full_like(low, np.inf), _side(most, high)
    by_low = E.lt(*sides)
    back = E.select(by_low, low / float(least or 1), high / float(most))
    scale = E.minimum(*sides)
    wide, by, step = broadcast(node, scale, back)
    if range_given:
        wide = E.minimum(E.maximum(wide, step * float(least)), step * float(most))
    scaled = wide * by
    return (E.floor(scaled + 0.5) if round_mode == b"HALF_UP" else E.round(scaled)) * step


def _ends(operation: Operation, like: Node) -> list[Array]:
    kind = str(like.dtype)
    return [np.asarray(operation.attribute(f"input_{end}"), kind) for end in ("min", "max")]


# To integers and back ---------------------------------------------------------------------------


def _limits(kind: str) -> tuple[int, int, int]:
    """The least and the greatest number of a type, and half of its range if it's signed."""
    found = np.iinfo(held(kind))
    least, most = int(found.min), int(found.max)
    return least, most, (most - least + 1) // 2 if least else 0


def _away(x: Any) -> Any:
    """Rounded, halves away from 0."""
    return np.trunc(x + np.copysign(np.float32(0.5), x))


def _steps(low: np.float32, high: np.float32, kind: str) -> np.float64:
    """How many steps of a type go on a unit."""
    count = 1 << np.dtype(held(kind)).itemsize * 8
    return count / ((np.float64(high) - low) * (count / (count - 1.0)))


@fold("QuantizeV2")
def _quantized(
    x: Array, start: Array, end: Array, *, T: Kind, mode: bytes, round_mode: bytes
) -> list[Array]:
    if round_mode == b"HALF_TO_EVEN" and mode != b"SCALED":
        only = "only supported for mode 'SCALED', but mode is"
        raise invalid(f"Round mode 'HALF_TO_EVEN' {only} '{mode.decode()}'.")
    least, most, half = _limits(T)
    low = np.minimum(np.float32(0), start)
    apart = max(1.0, abs(float(start)), abs(float(end))) / 100
    high = np.float32(max(float(end), float(low) + apart, 0.0))
    if mode == b"SCALED":
        sides = [
            np.float32(bound) / side if bound * side > 0 else np.finfo(np.float32).max
            for bound, side in ((least, low), (most, high))
        ]
        scale = np.float32(min(sides))
        low, high = np.float32(least) / scale, np.float32(most) / scale
        given = np.clip(x, low, high) * scale
        found = np.rint(given) if round_mode == b"HALF_TO_EVEN" else _away(given)
    elif mode == b"MIN_FIRST":
        by = _steps(low, high, T)
        found = np.clip(_away(x * by) - _away(low * by) + least, least, most)
    else:
        scale = np.float32((float(most) - least) / (high - low))
        given = (np.clip(x, low, high) - low) * scale
        found = _away(given - half) if half else np.floor(given + np.float32(0.5))
    whole = np.clip(found.astype(np.float64), least, most)
    return [whole.astype(held(T)), low, high]


@fold("Dequantize")
def _dequantized(operation: Operation, x: Any, low: Any, high: Any, *, mode: bytes) -> Any:
    source, index = operation.inputs[0]
    kind = name_of(source.types[index])
    least, most, half = _limits(kind)
    given = x.astype(np.float64)
    low, high = (np.ravel(end)[0] for end in (low, high))
    if mode == b"SCALED":
        by = max(low / least, high / most) if least else high / most
        return (given * by).astype(np.float32)
    if mode == b"MIN_FIRST":
        step = 1 / _steps(low, high, kind) if low != high else 0.0
        first = _away(low / step) * step if step else low
        return ((given - least) * step + first).astype(np.float32)
    return ((given + half) * ((high - low) / (float(most) - least)) + low).astype(np.float32)


fold("QuantizedReshape")(lambda x, sizes, *ends: [np.reshape(x, sizes), *ends])
