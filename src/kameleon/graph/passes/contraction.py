"""Contractions as products of matrices, for engines that have no others.

    contract(a, b) -> reshape(contract(reshape(transpose(a)), reshape(transpose(b))))

Axes of one kind (batch, free, contracted) are brought together, in the order that moves least, and
merged. Where no axis is contracted, a contraction is an elementwise multiplication.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import NamedTuple

from ..ir.node import Node
from ..primitives.elementwise import mul
from ..primitives.linalg import contract, free_axes, is_of_matrices
from ..primitives.movement import broadcast_to, reshape, transpose
from ..primitives.sizes import Size, are_one_size, dims_of, sizes_product

Axes = tuple[int, ...]


class Groups(NamedTuple):
    """The axes of an operand, by what becomes of them."""

    batch: Axes
    free: Axes
    over: Axes

    @property
    def swapped(self) -> bool:
        """Whether the contracted axes lie before the free ones."""
        order = self.batch + self.over + self.free
        return order == tuple(range(len(order))) and bool(self.free and self.over)

    @property
    def order(self) -> Axes:
        """The axes in the order in which the matrices have them."""
        inner = self.over + self.free if self.swapped else self.free + self.over
        return self.batch + inner

    @property
    def moves(self) -> bool:
        """Whether the operand has to be transposed."""
        return self.order != tuple(range(len(self.order)))


def of_matrices(node: Node) -> Node | None:
    """See the equation of this module."""
    if is_of_matrices(node):
        return None
    a, b = node.operands
    left, right = _groups(node)
    if not left.over:
        return _outer(node, left, right)
    x, y = _matrix(a, left), _matrix(_agreeing(a, b, left.over, right.over), right)
    lead = len(left.batch)
    over = lead + (not left.swapped), lead + (not right.swapped)
    batch = tuple(range(lead))
    product = contract(x, y, ((over[0],), (over[1],)), (batch, batch))
    return reshape(product, _dims(node, left, right))


def _dims(node: Node, left: Groups, right: Groups) -> list[Size]:
    """The sizes of the result: numbers where its type knows them, else sizes of the operands."""
    sizes = [dims_of(x) for x in node.operands]
    dims = [sizes[0][i] for i in left.batch + left.free] + [sizes[1][j] for j in right.free]
    return [size if dim is None else dim for dim, size in zip(node.shape, dims, strict=True)]


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
        found.append((left.moves + right.moves, key, left, right))
    _, _, left, right = min(found)
    return left, right


def _agreeing(a: Node, b: Node, over_a: Axes, over_b: Axes) -> Node:
    """b, whose contracted sizes are checked against those of a, one by one: of merged axes, nothing
    but the product of the sizes would be compared.
    """
    if len(over_a) == 1:
        return b
    sizes, dims = dims_of(a), dims_of(b)
    known = all(are_one_size(sizes[i], dims[j]) for i, j in zip(over_a, over_b, strict=True))
    for i, j in zip(over_a, over_b, strict=True):
        dims[j] = sizes[i]
    return b if known else broadcast_to(b, dims)


def _matrix(x: Node, groups: Groups) -> Node:
    """An operand as (*batch, free, over), or with the last two swapped."""
    dims = dims_of(x)
    first, last = groups.free, groups.over
    if groups.swapped:
        first, last = last, first
    x = transpose(x, groups.order) if groups.moves else x
    merged = [sizes_product([dims[i] for i in axes]) for axes in (first, last)]
    return reshape(x, _inferred([*(dims[i] for i in groups.batch), *merged]))


def _inferred(dims: list[Size]) -> list[Size]:
    """The sizes, with -1 for the only unknown one where it follows from the others."""
    unknown = [i for i, d in enumerate(dims) if not isinstance(d, int)]
    if len(unknown) == 1 and 0 not in dims:
        dims[unknown[0]] = -1
    return dims


def _outer(node: Node, left: Groups, right: Groups) -> Node:
    """The products of all elements of one operand with all of the other, batch by batch."""
    (a, b), shape = node.operands, _dims(node, left, right)
    ones = [1] * len(left.free), [1] * len(right.free)

    def spread(x: Node, groups: Groups, before: Sequence[int], behind: Sequence[int]) -> Node:
        dims = dims_of(x)
        x = transpose(x, groups.order) if groups.moves else x
        lead, own = ([dims[i] for i in axes] for axes in (groups.batch, groups.free))
        return broadcast_to(reshape(x, [*lead, *before, *own, *behind]), shape)

    return mul(spread(a, left, (), ones[1]), spread(b, right, ones[0], ()))


RULES: dict[str, Callable[[Node], Node | None]] = {"contract": of_matrices}
