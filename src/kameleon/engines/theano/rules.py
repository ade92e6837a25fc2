"""The table: what is PyTensor's own arithmetic, and what runs as an Op over embedded code."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytensor.tensor as pt
from pytensor.graph.basic import Apply
from pytensor.tensor.elemwise import Elemwise
from pytensor.tensor.type import TensorType as ArrayType
from pytensor.tensor.variable import TensorConstant

from ...graph.ir.node import Node
from .._lowering import Rule, first
from ..numpy.rules import RULES as EMBEDDED
from .lowering import TheanoLowering
from .operations import OPERATIONS
from .ops import array_type, constant, meant, stretchable

Value = Any

# What C code is quick at: PyTensor fuses chains of these to one loop. Where a compiler can't
# vectorise (tanh, exp, reductions along rows …) NumPy's loops are 4 to 40 times as fast.
ARITHMETIC = (
    "neg abs sqrt square floor ceil is_nan logical_not bit_not add sub mul div maximum minimum "
    "eq ne lt le gt ge logical_and logical_or bit_and bit_or bit_xor select"
).split()

# In C PyTensor computes these in doubles, which hold no large integers.
IN_DOUBLES = frozenset({"maximum", "minimum", "relu"})
# By kind of dtype: what isn't PyTensor's arithmetic. Its Numba keeps bits that unsigned integers
# don't have: the graphs that Ops of ours mean have casts against that, which kernels don't need.
# int32 is left to loops in C, which are four times as fast.
BY_KERNELS = {
    "bool": IN_DOUBLES,
    "signed": IN_DOUBLES,
    "unsigned": IN_DOUBLES | {"neg", "square", "add", "sub", "mul", "bit_not"},
}


def embedded(low: TheanoLowering, node: Node, *operands: Value) -> Value:
    """By the embedded engine's code."""
    return low.embedded(node)


def _own(low: TheanoLowering, node: Node) -> bool:
    """Whether PyTensor's arithmetic does a node: not float16, nor integers below 32 bits."""
    if node.primitive.name in BY_KERNELS.get(node.dtype.kind, ()):
        return False
    return all(x.dtype.itemsize >= 4 or x.dtype.is_bool for x in (node, *node.operands))


def _arithmetic(name: str) -> Rule:
    op = OPERATIONS[name]

    def rule(low: TheanoLowering, node: Node, *operands: Value) -> Value:
        if not _own(low, node):
            return low.embedded(node)
        pairs = zip(node.operands, operands, strict=True)
        raised = [_raised(_unstretched(low, n, x), len(node.shape)) for n, x in pairs]
        # Its type is known: to find it out takes PyTensor longer than all the rest.
        if isinstance(op, Elemwise):
            return Apply(op, raised, [array_type(node.type)()]).outputs[0]
        return op(*raised)

    return rule


def _unstretched(low: TheanoLowering, operand: Node, x: Value) -> Value:
    """The value that a chain of broadcasts stretches; a broadcast may tell that a size is 1."""
    ones: set[int] = set()
    while operand.primitive.name == "broadcast_to" and low.values.get(operand) is not x:
        operand = operand.operands[0]
        new = len(operand.shape) - x.type.ndim
        ones |= {i - new for i, d in enumerate(operand.shape) if d == 1 and i >= new}
    return stretchable(x, tuple(1 if i in ones else None for i in range(x.type.ndim)))


def _raised(x: Value, rank: int) -> Value:
    """A value with as many axes as the result has, the new ones in front."""
    more = (1,) * (rank - x.type.ndim)
    if not more:
        return x
    if isinstance(x, TensorConstant):
        return constant(x.data.reshape((*more, *x.data.shape)))
    type = ArrayType(x.type.dtype, (*more, *x.type.shape))
    meaning = lambda values: [pt.expand_dims(values[0], tuple(range(len(more))))]  # noqa: E731
    kernel = lambda: lambda a: (a.reshape((*more, *a.shape)),)  # noqa: E731
    key = ("expand_dims", x.type, type)
    return meant("expand_dims", [x], [type], key, meaning, kernel, True)[0]


def _cast(low: TheanoLowering, node: Node, x: Value) -> Value:
    own = node.dtype.is_float and _own(low, node)  # PyTensor's cast of integers doesn't wrap
    return pt.cast(x, str(node.dtype)) if own else low.embedded(node)


def _relu(low: TheanoLowering, node: Node, x: Value) -> Value:
    if not _own(low, node):
        return low.embedded(node)
    return pt.maximum(x, constant(np.zeros((1,) * len(node.shape), str(node.dtype))))


OWN: dict[str, Rule] = {
    **{name: _arithmetic(name) for name in ARITHMETIC},
    "cast": _cast,
    "relu": _relu,
    **dict.fromkeys(("identity", "stop_gradient", "with_gradient"), first),
}
# Chains of arithmetic that NumPy computes block by block, for as long as there's no C code.
IN_BLOCKS = ("normal_quantile",)
RULES: dict[str, Rule] = {**dict.fromkeys((*EMBEDDED, *IN_BLOCKS), embedded), **OWN}
