"""Lowering rules of contractions: products of matrices, and batches of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...graph.ir.node import Node
from ...graph.primitives.constants import known_array
from ...graph.primitives.linalg import is_of_matrices, lie_transposed
from .._lowering import Rule
from .lowering import OnnxLowering
from .windows import with_bias

L = OnnxLowering


# The dtypes of ONNX's product of two matrices, `Gemm`.
_GEMM = ("float32", "float64")


def has_product(node: Node) -> bool:
    """Whether a contraction is a product of matrices, or has a single matrix on the right, which
    takes any number of axes before the last one on the left.
    """
    (a, b), (over, _), (batch, _) = node.operands, node.attrs["over"], node.attrs["batch"]
    single = not batch and len(b.shape) == 2 and over == (len(a.shape) - 1,)
    return single or is_of_matrices(node)


def _contract(lo: L, node: Node, x: str, y: str) -> Any:
    (a, b), flips = node.operands, lie_transposed(node)
    lead = len(node.attrs["batch"][0])
    if len(a.shape) == len(b.shape) == 2 and node.dtype in _GEMM:
        return lo.op("Gemm", x, y, transA=int(flips[0]), transB=int(flips[1]))
    if len(a.shape) - lead != 2:
        flips = False, flips[1]
    swap = [*range(lead), lead + 1, lead]
    left, right = (
        lo.op("Transpose", value, perm=swap) if flip else value
        for value, flip in zip((x, y), flips, strict=True)
    )
    return lo.op("MatMul", left, right)


# Sums with products ------------------------------------------------------------------------


def _with_product(sign: float) -> Rule:
    """c + s * a b, and c - s * a b, as one `Gemm`: steps of training are such sums."""
    kind = "Add" if sign > 0 else "Sub"

    def rule(lo: L, node: Node, x: str, y: str) -> Any:
        biased = with_bias(lo, node) if kind == "Add" else None
        if biased is not None:
            return biased
        found = _scaled_product(lo, node.operands[1]) if node.dtype in _GEMM else None
        if found is not None:
            return _onto(lo, *found, sign, x)
        found = _scaled_product(lo, node.operands[0]) if kind == "Add" else None
        if found is not None and node.dtype in _GEMM:
            return _onto(lo, *found, sign, y)
        return lo.op(kind, x, y)

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
        # The attribute that holds the number has the precision of float32.
        exact = np.float32(number.flat[0]) == number.flat[0]
        return (product, float(number.flat[0])) if exact and _is_matrices(product) else None
    return None


def _is_matrices(node: Node) -> bool:
    return node.primitive.name == "contract" and all(len(x.shape) == 2 for x in node.operands)


def _onto(lo: L, product: Node, factor: float, sign: float, term: str) -> Any:
    flips = lie_transposed(product)
    a, b = map(lo.value, product.operands)
    return lo.op(
        "Gemm", a, b, term, alpha=sign * factor, transA=int(flips[0]), transB=int(flips[1])
    )


RULES: dict[str, Rule] = {
    "contract": _contract,
    "add": _with_product(1.0),
    "sub": _with_product(-1.0),
}
