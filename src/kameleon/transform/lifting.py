"""What the steps of a scan needn't wait for moves out: it's computed for all steps at once."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

from ..ir.node import Node, walk
from ..ir.program import Graph
from ..ir.rewrite import closed, substitute
from ..ir.types import TensorType
from ..prims.control import run_scan, scan_parts
from ..prims.elementwise import mul
from ..prims.linalg import contract
from ..prims.movement import broadcast_to, move_axis, reshape, transpose
from ..prims.sizes import dims_of, size_of
from .ranges import is_within_one

# Larger slices stay in the loop: it's their elements that cost, not the calls, and one slice is
# still in the cache when it's needed.
LARGEST_SLICE = 2**16


def hoisted(node: Node) -> tuple[Node, ...] | None:
    """The results of an equal scan that leaves less to its steps; None, if nothing moves.

    What a step computes from its slices and constants alone doesn't wait for the step before:
    one large operation for all steps is faster than one for each.
    """
    work = _Lifting(node)
    work.gather_factors()
    early = work.early()
    if not early:
        return None
    later = [n for n in work.body.nodes if n not in early]
    used = {n for x in later for n in x.operands} | set(work.body.outputs)
    frontier = [n for n in early if n in used]
    consts, carry, sequences = scan_parts(node)
    inputs = work.body.inputs
    k = len(consts) + len(carry)
    body = closed([*inputs, *frontier], work.body.outputs)
    lifted = [work.outside(n) for n in frontier]
    kept = set(body.nodes[len(body.inputs) :])
    read = {n for x in kept for n in x.operands} | set(body.outputs)
    slots = list(zip(body.inputs[k:], [*sequences, *lifted], strict=True))
    slots = [(p, x) for p, x in slots if p in read] or slots[:1]
    whole = run_scan(
        Graph([*body.inputs[:k], *(p for p, _ in slots)], body.outputs),
        consts,
        carry,
        [x for _, x in slots],
        node.attrs["backwards"],
    )
    return (*whole[0], *whole[1])


class _Lifting:
    """The nodes of a scan's body, over all steps at once: with a leading axis of time."""

    def __init__(self, node: Node):
        self.body: Graph = node.attrs["body"]
        consts, carry, sequences = scan_parts(node)
        inputs = self.body.inputs
        params = inputs[len(consts) + len(carry) :]
        self.lifted: dict[Node, Node] = dict(zip(params, sequences, strict=True))
        self.steady: dict[Node, Node] = dict(zip(inputs[: len(consts)], consts, strict=True))
        self._known = {*self.lifted, *self.steady}
        self.length = size_of(sequences[0], 0)

    def places(self) -> tuple[set[Node], set[Node]]:
        """The nodes that are the same in all steps, and those that can be made before the loop."""
        still, movable = set(self.steady), set(self.lifted)
        for node in self.body.nodes[len(self.body.inputs) :]:
            if all(n in still for n in node.operands):
                still.add(node)
            elif all(n in movable or n in still for n in node.operands) and _liftable(node, still):
                movable.add(node)
        return still, movable

    def early(self) -> dict[Node, None]:
        """What moves out: contractions, and elementwise nodes that are small or follow from one."""
        movable = self.places()[1]
        chosen: dict[Node, None] = {}
        for node in self.body.nodes[len(self.body.inputs) :]:
            if node in movable:
                light = _is_small(node) or any(n in chosen for n in node.operands)
                if node.primitive.name == "contract" or (light and node.primitive.elementwise):
                    chosen[node] = None
        return chosen

    def gather_factors(self) -> None:
        """x * a * b -> x * (a * b), where a and b can be made before the loop and x can't.

        Gradients go back through a step in such chains. One of the factors is at most 1, so that
        their product isn't infinite where they aren't.
        """
        still, movable = self.places()
        before = still | movable
        given = {**self.lifted, **self.steady}
        factors: dict[Node, tuple[Node, Node]] = {}  # x, and what it's multiplied by

        def joint(a: Node, b: Node) -> Node | None:
            if still.issuperset((a, b)) or not any(is_within_one(n, given) for n in (a, b)):
                return None
            product = mul(a, b)
            before.add(product)
            return product

        def gathered(node: Node, operands: tuple[Node, ...]) -> Node | None:
            if node.primitive is not mul or not node.dtype.is_float or not _is_small(node):
                return None
            for i, factor in enumerate(node.operands):
                rest = node.operands[1 - i]
                if factor in before and rest not in before:
                    found = factors.get(rest)
                    if found and (both := joint(found[1], factor)) is not None:
                        factors[node] = found[0], both
                        return mul(found[0], both)
                    factors[node] = operands[1 - i], factor
            return None

        self.body = Graph(self.body.inputs, substitute(self.body.outputs, {}, gathered))

    def outside(self, node: Node) -> Node:
        """`node` over all steps."""
        for n in walk([node], self._known):
            if n in self._known:
                continue
            self._known.add(n)
            if any(m in self.lifted for m in n.operands):
                self.lifted[n] = LIFT[_rule_name(n)](self, n)
            else:
                operands = [self.steady[m] for m in n.operands]
                self.steady[n] = n.primitive(*operands, **n.attrs) if operands else n
        return self.lifted[node]

    def over_time(self, node: Node) -> Node:
        """An operand with the axis of time: repeated, if it's the same in all steps."""
        if node in self.lifted:
            return self.lifted[node]
        same = self.steady[node]
        return broadcast_to(same, [self.length, *dims_of(same)])


def _rule_name(node: Node) -> str:
    return "elementwise" if node.primitive.elementwise else node.primitive.name


def _liftable(node: Node, still: set[Node]) -> bool:
    if not isinstance(node.type, TensorType) or _rule_name(node) not in LIFT:
        return False
    if node.primitive.name == "contract":
        return not node.attrs["batch"][0] and any(n in still for n in node.operands)
    return node.primitive.elementwise or all(n in still for n in node.operands[1:])


def _is_small(node: Node) -> bool:
    """Whether a step's value isn't known to be large."""
    return prod(d for d in node.shape if d is not None) <= LARGEST_SLICE


def _lift_contract(work: _Lifting, node: Node) -> Node:
    a, b = node.operands
    over_a, over_b = node.attrs["over"]
    if a in work.lifted:
        return contract(work.lifted[a], work.steady[b], (tuple(i + 1 for i in over_a), over_b))
    product = contract(work.steady[a], work.lifted[b], (over_a, tuple(i + 1 for i in over_b)))
    return move_axis(product, len(a.shape) - len(over_a), 0)


def _lift_elementwise(work: _Lifting, node: Node) -> Node:
    return node.primitive(*map(work.over_time, node.operands), **node.attrs)


def _lift_transpose(work: _Lifting, node: Node) -> Node:
    perm = (0, *(i + 1 for i in node.attrs["perm"]))
    return transpose(work.lifted[node.operands[0]], perm)


def _lift_reshape(work: _Lifting, node: Node) -> Node:
    sizes = iter(work.steady[n] for n in node.operands[1:])
    dims = [next(sizes) if d is None else d for d in node.attrs["shape"]]
    return reshape(work.lifted[node.operands[0]], [work.length, *dims])


# How a node is computed for all steps at once; its operands beside the first are steady, but
# those of elementwise nodes.
LIFT: dict[str, Callable[[_Lifting, Node], Node]] = {
    "contract": _lift_contract,
    "elementwise": _lift_elementwise,
    "transpose": _lift_transpose,
    "reshape": _lift_reshape,
}
