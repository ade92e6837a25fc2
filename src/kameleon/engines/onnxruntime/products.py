"""Rules of contractions: products of matrices, and batches of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...ir.node import Node
from ...prims.constants import known_array
from .._lowering import Rule
from .lowering import OnnxLowering

L = OnnxLowering


class _Factor:
    """One operand of a contraction: in which order its axes lie, and their sizes."""

    def __init__(self, lo: L, node: Node, over: Sequence[int], batch: Sequence[int]):
        self.lo, self.node = lo, node
        taken = {*over, *batch}
        self.batch, self.over = list(batch), list(over)
        self.free = [i for i in range(len(node.shape)) if i not in taken]
        order = [*batch, *over, *self.free]
        self.over_first = order == sorted(order)

    def value(self, flat_free: bool, shape_too: str | None) -> str:
        """(batch, free, over), or (batch, over, free) if `over_first`, flat where it must be."""
        lo = self.lo
        inner = [self.over, self.free] if self.over_first else [self.free, self.over]
        x = lo.transpose(lo.value(self.node), [*self.batch, *inner[0], *inner[1]])
        flat = [len(g) != 1 and (flat_free or g is self.over) for g in inner]
        if not any(flat) and shape_too is None:
            return x
        dims: list[Any] = lo.dims_of(self.node, self.batch)
        for group, is_flat in zip(inner, flat, strict=True):
            sizes = lo.dims_of(self.node, group)
            dims += [lo.product(sizes)] if is_flat else sizes
        shape = lo.joined(dims)
        shape = shape if shape_too is None else lo.op("Add", shape, shape_too)
        result: str = lo.op("Reshape", x, shape, allowzero=1)
        return result


def _contract(lo: L, node: Node, x: str, y: str) -> Any:
    over, batch = node.attrs["over"], node.attrs["batch"]
    left, right = _factors(lo, node)
    equal = _equal_sizes(lo, node, left, right)
    # One matrix on the right takes any number of axes before it on the left.
    wide = not batch[0] and len(over[0]) == 1 and len(left.free) > 1 and not left.over_first
    flat_left = not wide and len(left.free) != 1
    a = left.value(flat_left, None)
    b = right.value(len(right.free) != 1, equal)
    result = _product(lo, node, a, b, left.over_first, not right.over_first, not wide)
    if flat_left or len(right.free) != 1:
        dims = lo.dims_of(left.node, [*left.batch, *left.free])
        result = lo.reshape(result, [*dims, *lo.dims_of(right.node, right.free)])
    return result


def _factors(lo: L, node: Node) -> tuple[_Factor, _Factor]:
    over, batch = node.attrs["over"], node.attrs["batch"]
    pairs = sorted(zip(*over, strict=True))
    left = _Factor(lo, node.operands[0], [i for i, _ in pairs], batch[0])
    return left, _Factor(lo, node.operands[1], [j for _, j in pairs], batch[1])


# What ONNX's product of two matrices, `Gemm`, is done in.
_GEMM = ("float32", "float64")


def _product(lo: L, node: Node, a: str, b: str, flip_a: bool, flip_b: bool, matrices: bool) -> Any:
    """The product of matrices, or batches of them, some of which lie transposed."""
    lead = len(node.attrs["batch"][0])
    if not lead and matrices and node.dtype in _GEMM:
        return lo.op("Gemm", a, b, transA=int(flip_a), transB=int(flip_b))
    swap = [*range(lead), lead + 1, lead]
    a = lo.op("Transpose", a, perm=swap) if flip_a else a
    b = lo.op("Transpose", b, perm=swap) if flip_b else b
    return lo.kernel("MatMul", node.dtype, (a, b))


def _equal_sizes(lo: L, node: Node, left: _Factor, right: _Factor) -> str | None:
    """Zero, checked at run time, where the product itself wouldn't notice that sizes differ."""
    pairs = list(zip(left.batch, right.batch, strict=True))
    if len(left.over) > 1:
        pairs += zip(left.over, right.over, strict=True)
    total = None
    for i, j in pairs:
        if not lo.same_size(left.node, i, right.node, j):
            zero = lo.zero_if_equal(lo.dim(left.node, i), lo.dim(right.node, j))
            total = zero if total is None else lo.op("Add", total, zero)
    return total


# Sums with products ------------------------------------------------------------------------


def _with_product(sign: float) -> Rule:
    """c + s * a b, and c - s * a b, at once: `Gemm` takes both. Such are steps of training."""
    kind = "Add" if sign > 0 else "Sub"

    def rule(lo: L, node: Node, x: str, y: str) -> Any:
        if node.dtype.is_bool:
            return lo.op("Or", x, y)
        found = _scaled_product(lo, node.operands[1]) if node.dtype in _GEMM else None
        if found is not None:
            return _onto(lo, *found, sign, x)
        found = _scaled_product(lo, node.operands[0]) if kind == "Add" else None
        if found is not None and node.dtype in _GEMM:
            return _onto(lo, *found, sign, y)
        return lo.kernel(kind, node.dtype, (x, y))

    return rule


def _scaled_product(lo: L, node: Node) -> tuple[Node, float] | None:
    """A product of two matrices that nothing else needs, and what number it's multiplied by."""
    if not lo.used_once(node):
        return None
    if _is_matrices(node):
        return node, 1.0
    if node.primitive.name != "mul":
        return None
    for product, factor in (node.operands, node.operands[::-1]):
        number = known_array(factor)
        if number is None or number.size != 1 or not lo.used_once(product):
            continue
        # The attribute that holds it has the precision of float32.
        exact = np.float32(number.flat[0]) == number.flat[0]
        return (product, float(number.flat[0])) if exact and _is_matrices(product) else None
    return None


def _is_matrices(node: Node) -> bool:
    if node.primitive.name != "contract" or len(node.shape) != 2 or node.attrs["batch"][0]:
        return False
    return all(
        len(x.shape) - len(o) == 1 for x, o in zip(node.operands, node.attrs["over"], strict=True)
    )


def _onto(lo: L, product: Node, factor: float, sign: float, term: str) -> Any:
    left, right = _factors(lo, product)
    equal = _equal_sizes(lo, product, left, right)
    a, b = left.value(False, None), right.value(False, equal)
    flips = {"transA": int(left.over_first), "transB": int(not right.over_first)}
    return lo.op("Gemm", a, b, term, alpha=sign * factor, **flips)


RULES: dict[str, Rule] = {
    "contract": _contract,
    "add": _with_product(1.0),
    "sub": _with_product(-1.0),
}
