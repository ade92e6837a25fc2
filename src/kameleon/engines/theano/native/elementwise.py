"""Arithmetic, comparisons, bits and casts: PyTensor's `Elemwise`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytensor.tensor as pt

from ....graph.ir.node import Node
from ....graph.ir.types import DType
from ..._lowering import Rule, first
from ..operations import OPERATIONS
from ..ops import constant
from . import ops
from .lowering import NativeLowering, Value, of_values, raised


def wrapping(function: Callable[..., Value]) -> Rule:
    """A rule whose result wraps around: PyTensor's Numba computes with 64 bits, and keeps those
    that narrower integers don't have until a number is stored."""

    def rule(low: NativeLowering, node: Node, *values: Value) -> Value:
        y = function(*values)
        return ops.wrap(y, str(node.dtype)) if is_narrow(node.dtype) else y

    return rule


def is_narrow(dtype: DType) -> bool:
    """Whether there are integers of fewer than 64 bits."""
    return dtype.is_integer and dtype.itemsize < 8


def _cast(low: NativeLowering, node: Node, x: Value) -> Value:
    source, target = node.operands[0].dtype, node.dtype
    holds = target.is_float or target.is_bool or source.is_bool
    if not holds and not source.is_float:
        holds = np.can_cast(str(source), str(target), "safe")
    if holds:
        return pt.cast(x, str(target))
    if source.is_float and target == "uint64":
        return _negative_wrapped(x)
    return ops.wrap(x, str(target))


def _negative_wrapped(x: Value) -> Value:
    """Floats as uint64: compiled code makes 0 or the largest of negative ones."""
    negative = ops.wrap(ops.wrap(pt.minimum(x, np.zeros((), x.type.dtype)), "int64"), "uint64")
    return pt.switch(pt.lt(x, np.zeros((), x.type.dtype)), negative, ops.wrap(x, "uint64"))


def _bitcast(low: NativeLowering, node: Node, x: Value) -> Value:
    source, target = node.operands[0].dtype, node.dtype
    if source.is_integer and target.is_integer:
        return ops.wrap(x, str(target))
    return ops.bitcast(x, str(target))


def _relu(low: NativeLowering, node: Node, x: Value) -> Value:
    """max(x, 0), with a slope of 0 at 0."""
    return pt.switch(pt.le(x, _number(0, node)), _number(0, node), x)


def _elu(low: NativeLowering, node: Node, x: Value) -> Value:
    """x, or e**x - 1 below 0; the slope at 0 is 1, and e**x can't overflow where x is chosen."""
    zero = _number(0, node)
    return pt.switch(pt.lt(x, zero), pt.expm1(pt.minimum(x, zero)), x)


def _number(value: float, node: Node) -> Value:
    return constant(np.full((1,) * len(node.shape), value, str(node.dtype)))


# Makes x a constant of PyTensor's gradients; compiled code has nothing of that.
def _constant_in_gradients(low: NativeLowering, node: Node, x: Value) -> Value:
    from pytensor.gradient import disconnected_grad

    return disconnected_grad(x)


# Primitives whose results wrap around, and their functions.
WRAPPING: dict[str, Callable[..., Any]] = {
    **{n: OPERATIONS[n] for n in ("abs", "square", "neg", "add", "sub", "mul", "bit_not")},
    "shift_left": ops.shift_left,
}
SINGLE: dict[str, Rule] = {
    **{name: of_values(function) for name, function in OPERATIONS.items()},
    "shift_right": of_values(ops.shift_right),
    **{name: wrapping(function) for name, function in WRAPPING.items()},
    "floor_div": of_values(pt.int_div),
    "cast": _cast,
    "bitcast": _bitcast,
    "relu": _relu,
    "elu": _elu,
    **dict.fromkeys(("identity", "with_gradient"), first),
    "stop_gradient": _constant_in_gradients,
}
RULES = {name: raised(rule) for name, rule in SINGLE.items()}
