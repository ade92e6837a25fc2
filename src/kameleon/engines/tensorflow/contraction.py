"""Contractions as products of matrices; transpositions are left to the product where possible."""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from ...ir.node import Node
from ...prims.linalg import free_axes
from .kernels import Tensor, kernel, raw, reshaped, shape_of, transposed

if TYPE_CHECKING:
    from .lowering import Tracing

Axes = tuple[int, ...]
_matmul = kernel("MatMul", "a", "b")
_batched = kernel("BatchMatMulV2", "x", "y")
_mul = kernel("Mul", "x", "y")


class Groups(NamedTuple):
    """The axes of an operand, by what becomes of them."""

    batch: Axes
    free: Axes
    over: Axes

    def cost(self) -> int:
        """0 if the operand is a (batch of a) matrix as it lies, perhaps transposed; else 1."""
        order = tuple(range(sum(map(len, self))))
        return int(order not in (self.batch + self.free + self.over, self._swapped()))

    def _swapped(self) -> Axes:
        return self.batch + self.over + self.free

    def swaps(self) -> bool:
        """Whether it lies there with the contracted axes before the free ones."""
        swapped = self._swapped()
        return swapped == tuple(range(len(swapped))) and bool(self.free and self.over)


def contract(e: Tracing, node: Node, a: Tensor, b: Tensor) -> Tensor:
    left, right = _groups(node)
    pairs = zip(left.batch, right.batch, strict=True)
    e.agree_on_each(node, [((node.operands[0], i), (node.operands[1], j)) for i, j in pairs])
    sizes = shape_of(a), shape_of(b)
    batch = [sizes[0][i] for i in left.batch]
    dims = [*batch, *(sizes[0][i] for i in left.free), *(sizes[1][i] for i in right.free)]
    if not left.over:
        return _outer(a, b, left, right, sizes)
    x, swap_x = _matrix(a, left, sizes[0])
    y, swap_y = _matrix(b, right, sizes[1])
    if left.batch:
        # The kernel takes (…, rows, over) and (…, over, columns).
        product = _batched(x, y, adj_x=swap_x, adj_y=not swap_y)
    else:
        product = _matmul(x, y, transpose_a=swap_x, transpose_b=not swap_y)
    plain = len(left.free) == 1 and len(right.free) == 1
    return product if plain else reshaped(product, dims)


def _groups(node: Node) -> tuple[Groups, Groups]:
    """The groups of both operands; the contracted pairs in the order that moves least."""
    (over_a, over_b), (batch_a, batch_b) = node.attrs["over"], node.attrs["batch"]
    ranks = [len(x.shape) for x in node.operands]
    free_a = free_axes(ranks[0], over_a, batch_a)
    free_b = free_axes(ranks[1], over_b, batch_b)
    found = []
    for key in (0, 1):
        pairs = sorted(zip(over_a, over_b, strict=True), key=itemgetter(key))
        left = Groups(batch_a, free_a, tuple(i for i, _ in pairs))
        right = Groups(batch_b, free_b, tuple(j for _, j in pairs))
        found.append((left.cost() + right.cost(), key, left, right))
    _, _, left, right = min(found)
    return left, right


def _matrix(x: Tensor, groups: Groups, sizes: list[Any]) -> tuple[Tensor, bool]:
    """An operand as (*batch, free, over), or with these two swapped, which is said."""
    swap = groups.swaps()
    first, last = (groups.over, groups.free) if swap else (groups.free, groups.over)
    x = transposed(x, (*groups.batch, *first, *last))
    if len(first) == 1 and len(last) == 1:
        return x, swap
    dims = [sizes[i] for i in groups.batch]
    dims += [_product([sizes[i] for i in axes]) for axes in (first, last)]
    return reshaped(x, dims), swap


def _product(sizes: list[Any]) -> Any:
    """The product of sizes: an int, or a scalar where some are unknown."""
    known = 1
    unknown: list[Tensor] = []
    for size in sizes:
        if isinstance(size, int):
            known *= size
        else:
            unknown.append(size)
    if not unknown:
        return known
    total = unknown[0]
    for size in unknown[1:]:
        total = raw.Mul(x=total, y=size)
    return total if known == 1 else raw.Mul(x=total, y=known)


def _outer(a: Tensor, b: Tensor, left: Groups, right: Groups, sizes: Any) -> Tensor:
    """Nothing is summed: each element of one with each of the other, in step along the batch."""
    x = transposed(a, (*left.batch, *left.free))
    y = transposed(b, (*right.batch, *right.free))
    if right.free and left.free:
        dims = [sizes[0][i] for i in (*left.batch, *left.free)]
        x = reshaped(x, [*dims, *[1] * len(right.free)])
    elif right.free:
        x = reshaped(x, [*(sizes[0][i] for i in left.batch), *[1] * len(right.free)])
    if left.free:
        batch = [sizes[1][i] for i in right.batch]
        free = [sizes[1][i] for i in right.free]
        y = reshaped(y, [*batch, *[1] * len(left.free), *free])
    return _mul(x, y)
