"""Contraction: every product of matrices and batches of them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from ...errors import DTypeError, ShapeError
from ..ir.node import Node, Primitive
from ..ir.types import TensorType, join_dims, show_shape

Axes = tuple[int, ...]


@lru_cache(1024)
def free_axes(rank: int, *used: Axes) -> Axes:
    """The axes that are neither contracted nor batch."""
    taken = {a for axes in used for a in axes}
    return tuple(i for i in range(rank) if i not in taken)


def _infer_contract(
    a: Node, b: Node, *, over: tuple[Axes, Axes], batch: tuple[Axes, Axes]
) -> TensorType:
    if a.dtype != b.dtype:
        raise DTypeError(f"contract: dtypes {a.dtype} and {b.dtype} differ; K.cast one")
    for i, j in (*zip(*over, strict=True), *zip(*batch, strict=True)):
        try:
            join_dims(a.shape[i], b.shape[j])
        except ValueError:
            raise ShapeError(
                f"the product of shapes {show_shape(a.shape)} and {show_shape(b.shape)} pairs"
                f" axis {i} of the first with axis {j} of the second, whose sizes differ:"
                f" {a.shape[i]} and {b.shape[j]}"
            ) from None
    shape = (
        *(join_dims(a.shape[i], b.shape[j]) for i, j in zip(*batch, strict=True)),
        *(a.shape[i] for i in free_axes(len(a.shape), over[0], batch[0])),
        *(b.shape[j] for j in free_axes(len(b.shape), over[1], batch[1])),
    )
    return TensorType(shape, a.dtype)


_contract = Primitive(
    "contract",
    _infer_contract,
    "sum of products over the axes `over` (of a, of b), in step along `batch`; the result has"
    " batch axes, then a's free axes, then b's; 0 times infinity is NaN",
    title="MatMul",
)


def contract(
    a: Node,
    b: Node,
    over: tuple[Sequence[int], Sequence[int]],
    batch: tuple[Sequence[int], Sequence[int]] = ((), ()),
) -> Node:
    """Sum the products of `a` and `b` over paired axes, in step along paired batch axes."""
    return _contract(
        a,
        b,
        over=(tuple(over[0]), tuple(over[1])),
        batch=(tuple(batch[0]), tuple(batch[1])),
    )


def is_of_matrices(node: Node) -> bool:
    """Whether a contraction is the product of two matrices, or of batches of them, as they lie:
    batch axes come first in their order, then one free and one contracted axis in either order.
    """
    for x, over, batch in zip(node.operands, node.attrs["over"], node.attrs["batch"], strict=True):
        if batch != tuple(range(len(batch))) or len(over) != 1 or len(x.shape) != len(batch) + 2:
            return False
    return True


def lie_transposed(node: Node) -> tuple[bool, bool]:
    """Which operands of a product of matrices are to be transposed: a product of (free, over) and
    (over, free) needs no transposition.
    """
    (left,), (right,) = node.attrs["over"]
    lead = len(node.attrs["batch"][0])
    return left == lead, right == lead + 1


def matmul(a: Node, b: Node) -> Node:
    """The product of two matrices (m, k) and (k, n)."""
    return contract(a, b, ((1,), (0,)))
