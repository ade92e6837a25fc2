"""Rewriting scans: those over the same steps become one, and what needn't wait moves out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..ir.node import Node, walk
from ..ir.program import Graph
from ..ir.rewrite import closed, substitute
from ..ir.types import TensorType
from ..prims.control import run_scan, scan, scan_parts
from ..prims.linalg import contract
from ..prims.movement import (
    WHOLE,
    broadcast_to,
    move_axis,
    plain_cut,
    reshape,
    slice_,
    slice_axis,
    transpose,
)
from ..prims.sizes import dims_of, size_of


def merge_scans(graph: Graph) -> list[Node]:
    """The outputs of `graph`, where scans that differ only in what they stack have become one.

    A gradient leaves a forward scan beside the original one that gives its inner values, too.
    """
    outputs = list(graph.outputs)
    groups: dict[object, list[Node]] = {}
    for node in graph.nodes:
        if node.primitive is scan:
            key = (node.attrs["body"].inputs, node.operands, node.attrs["backwards"])
            groups.setdefault(key, []).append(node)
    for group in groups.values():
        if len(group) > 1:
            return merge_scans(Graph(graph.inputs, substitute(outputs, _merged(group))))
    return outputs


def _merged(group: Sequence[Node]) -> dict[Node, Node]:
    """For each result of these scans, the same result of one scan that gives them all."""
    first = group[0]
    carry = first.attrs["carry"]
    states = first.attrs["body"].outputs[:carry]
    stacked = dict.fromkeys(y for n in group for y in n.attrs["body"].outputs[carry:])
    outputs = [*states, *stacked]
    body = Graph(first.attrs["body"].inputs, outputs)
    whole = scan(*first.operands, **{**first.attrs, "body": body})
    place = {y: carry + i for i, y in enumerate(stacked)}
    return {
        result: whole.results[i if i < carry else place[node.attrs["body"].outputs[i]]]
        for node in group
        for i, result in enumerate(node.results)
    }


def hoisted(node: Node) -> tuple[Node, ...] | None:
    """The results of an equal scan whose products of sequences with constants are made before.

    What a step computes from its slices and constants alone doesn't wait for the step before;
    one large contraction is faster than one for each step. None, if there's none.
    """
    work = _Lifting(node)
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


def stacked_whole(node: Node) -> tuple[Node, ...] | None:
    """The results of an equal scan that stacks a node of its body once, where it stacked slices
    of it that have as many elements; they are cut from the stack. None, if there are none."""
    body: Graph = node.attrs["body"]
    carry = node.attrs["carry"]
    stacked = dict.fromkeys(body.outputs[carry:])
    groups: dict[tuple[Node, int], list[Node]] = {}
    for y in stacked:
        cut = plain_cut(y)
        if cut is not None and cut[0] not in body.inputs:
            groups.setdefault(cut, []).append(y)
    sources = {
        y: source
        for (source, axis), group in groups.items()
        for y in group
        if source in stacked or _cover(source, axis, group)
    }
    if not sources:
        return None
    wholes = dict.fromkeys(sources.get(y, y) for y in stacked)
    outputs = [*body.outputs[:carry], *wholes]
    whole = scan(*node.operands, **{**node.attrs, "body": Graph(body.inputs, outputs)})
    results = dict(zip(wholes, whole.results[carry:], strict=True))
    return (
        *whole.results[:carry],
        *(
            _slice_of_all(results[sources[y]], y) if y in sources else results[y]
            for y in body.outputs[carry:]
        ),
    )


def _cover(source: Node, axis: int, group: Sequence[Node]) -> bool:
    """Whether some slices have as many elements as what they are cut from."""
    size = source.shape[axis]
    sizes = [n.shape[axis] for n in group]
    return size is not None and sum(n or 0 for n in sizes) >= size


def _slice_of_all(stack: Node, node: Node) -> Node:
    """The slice `node`, of all steps: cut from the stack of its operand."""
    return slice_(stack, [WHOLE, *node.attrs["windows"]])


class _Lifting:
    """The nodes of a scan's body, over all steps at once: with a leading axis of time."""

    def __init__(self, node: Node):
        self.body: Graph = node.attrs["body"]
        consts, carry, sequences = scan_parts(node)
        inputs = self.body.inputs
        params = inputs[len(consts) + len(carry) :]
        self.lifted: dict[Node, Node] = dict(zip(params, sequences, strict=True))
        self.steady: dict[Node, Node] = dict(zip(inputs[: len(consts)], consts, strict=True))
        self.varying = {*inputs[len(consts) : len(consts) + len(carry)]}
        self.length = size_of(sequences[0], 0)

    def early(self) -> list[Node]:
        """Contractions that can be made before the loop, and what follows from them."""
        movable, found = set(self.lifted), []
        chosen: set[Node] = set()
        still = set(self.steady)
        for node in self.body.nodes[len(self.body.inputs) :]:
            if all(n in still for n in node.operands):
                still.add(node)
            elif all(n in movable or n in still for n in node.operands) and _liftable(node, still):
                movable.add(node)
                after = not chosen.isdisjoint(node.operands)
                if node.primitive.name == "contract" or (after and node.primitive.elementwise):
                    chosen.add(node)
                    found.append(node)
        return found

    def outside(self, node: Node) -> Node:
        """`node` over all steps."""
        for n in walk([node], {*self.lifted, *self.steady}):
            if n in self.lifted or n in self.steady:
                continue
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


# Slices side by side -------------------------------------------------------------------------


def merge_siblings(outputs: Sequence[Node], inputs: Sequence[Node]) -> list[Node]:
    """f(x[a:b]), f(x[b:c]) -> y[:b-a], y[b-a:], with y = f(x[a:c]); f has one operand.

    Gates of a recurrent cell are computed like that: one call for all of them costs less.
    """
    groups: dict[object, list[Node]] = {}
    for node in walk(outputs, set(inputs)):
        if len(node.operands) == 1 and node.primitive.elementwise:
            cut = plain_cut(node.operands[0])
            if cut is not None:
                key = (node.primitive, tuple(node.attrs.items()), *cut)
                groups.setdefault(key, []).append(node)
    replaced: dict[Node, Node] = {}
    for group in groups.values():
        replaced.update(_together(group))
    return substitute(outputs, replaced) if replaced else list(outputs)


def _together(group: list[Node]) -> dict[Node, Node]:
    """The members whose slices lie side by side, from one node."""
    cut = plain_cut(group[0].operands[0])
    assert cut is not None
    source, axis = cut
    window: Callable[[Node], Any] = lambda n: n.operands[0].attrs["windows"][axis]  # noqa: E731
    found: dict[Node, Node] = {}
    run: list[Node] = []
    for node in [*sorted(group, key=window), None]:
        if run and (node is None or window(node)[0] != window(run[-1])[1]):
            if len(run) > 1:
                start = window(run[0])[0]
                whole = slice_axis(source, axis, start, window(run[-1])[1])
                made = run[0].primitive(whole, **run[0].attrs)
                for n in run:
                    a, b, _ = window(n)
                    found[n] = slice_axis(made, axis, a - start, b - start)
            run = []
        if node is not None:
            run.append(node)
    return found
