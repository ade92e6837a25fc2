"""Tensors that meet themselves: in x - max(x), x == max(x), max(x) - x[label].

Programs rely on it that the largest element is the maximum, to the last bit: softmax takes the
exponential of x - max(x), which mustn't be positive; the gradient of an extremum asks which
elements are equal to the extremum. A compiler that computes x anew for each of its uses may round
x differently in each: it contracts a product with the difference that it goes into, and of
a * b - max(a * b) there remains what the maximum lost when it was rounded. Where numbers are large
that is large, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from ..ir.node import Node
from ..ir.program import Graph

MEETINGS = frozenset("sub add eq ne lt le gt ge".split())
# So many nodes before each operand are looked at.
FAR = 32
# What is rounded, but alike wherever it's computed, as long as no operand is a product.
ALIKE = frozenset(("add", "sub", "sqrt"))
# What compilers compute once for all uses.
ONCE = frozenset("cond while scan call argsort".split())


def meeting_themselves(graph: Graph) -> set[Node]:
    """The nodes of a graph (not of its bodies) that must have one value in all their uses."""
    met = {x for node in graph.nodes if node.primitive.name in MEETINGS for x in _met(node)}
    return {x for x in met if _may_differ(x)}


def _met(node: Node) -> Iterator[Node]:
    """The last node whose elements come to both operands, to one of them from another place."""
    first, second = map(_origins, node.operands)
    for x, moved in first.items():
        if x in second and (moved or second[x]):
            yield x
            return


def _origins(x: Node) -> dict[Node, bool]:
    """The nodes that the elements of `x` come from, and whether they were moved on the way."""
    found, pending = {x: False}, [x]
    for node in pending:
        passes, moves = node.primitive.passes, node.primitive.moves
        which = passes or moves
        for operand in () if which is None else node.operands[which]:
            if operand not in found and len(found) < FAR:
                found[operand] = moves is not None or found[node]
                pending.append(operand)
    return found


def _may_differ(x: Node) -> bool:
    """Whether `x` may be rounded differently where it's computed anew."""
    seen, pending = {x}, [x]
    for node in pending:
        if not node.operands or _is_once(node):
            continue
        if node.primitive.accuracy == "rounded" and node.primitive.name not in ALIKE:
            return True
        new = [n for n in node.operands if n not in seen]
        seen.update(new)
        pending += new
    return False


def _is_once(node: Node) -> bool:
    """Whether compilers compute a node once; contractions that add nothing become products."""
    name = node.primitive.name
    if name in ("contract", "conv"):
        x, k = node.operands
        summed = [x.shape[i] for i in node.attrs["over"][0]] if name == "contract" else k.shape[:-1]
        return None not in summed and prod(d or 0 for d in summed) > 1
    return name in ONCE
