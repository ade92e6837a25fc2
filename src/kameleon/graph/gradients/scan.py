"""The gradient of `scan`: a scan backwards over what the forward one leaves behind.

The body is differentiated once. Values of the forward body that its reverse needs are stacked
by an augmented forward scan (which the simplifier merges with the original one). Cotangents of
constants are sums over steps: where a step's share is a contraction or a sum, its factors are
stacked and contracted once after the loop; other shares are added up in the carry. What changes
its shape from step to step (what `nonzero` picks) can't be stacked: the reverse computes it again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ..ir.leaves import input_node
from ..ir.node import Node, dependents, walk
from ..ir.program import Graph
from ..ir.rewrite import closed, substitute
from ..primitives.control import run_scan, scan_parts
from ..primitives.elementwise import add, neg
from ..primitives.filling import full_like, zeros
from ..primitives.linalg import contract
from ..primitives.movement import broadcast_to, reshape, transpose
from ..primitives.reduce import reduce_sum
from ..primitives.sizes import Size, as_node, dims_of, size_of
from .loop_invariance import LoopInvariantShapes
from .sweep import pullback


class _Reverse:
    """The reverse of one body: its parameters, its outputs, and what it needs from outside."""

    def __init__(self, y: Node, gs: Sequence[Node | None], needed: Sequence[bool]):
        self.node, self.body = y, y.attrs["body"]
        c, k = y.attrs["consts"], y.attrs["carry"]
        self.consts, self.carry, self.sequences = scan_parts(y)
        inputs = self.body.inputs
        self.const_params, self.carry_params = inputs[:c], inputs[c : c + k]
        self.x_params = inputs[c + k :]
        self.states = [i for i in range(k) if self.carry[i].dtype.is_float]
        self.outs = [j for j in range(k, len(gs)) if gs[j] is not None]
        self.g_states = [input_node(y.results[i].type) for i in self.states]
        self.g_outs = [input_node(self.body.outputs[j].type) for j in self.outs]
        self.wanted_consts = [i for i in range(c) if needed[i]]
        self.wanted_xs = [i for i in range(len(self.x_params)) if needed[c + k + i]]
        wrt = [
            *(self.const_params[i] for i in self.wanted_consts),
            *(self.carry_params[i] for i in self.states),
            *(self.x_params[i] for i in self.wanted_xs),
        ]
        parts = pullback(
            [self.body.outputs[i] for i in (*self.states, *self.outs)],
            [*self.g_states, *self.g_outs],
            wrt,
            inputs,
        )
        # Of some constants nothing but sizes is read: no cotangent goes to those constants.
        count = len(self.wanted_consts)
        unread = {i for i, p in zip(self.wanted_consts, parts, strict=False) if p is None}
        self.wanted_consts = [i for i in self.wanted_consts if i not in unread]
        shares = [p for p in parts[:count] if p is not None]
        rest = zip(parts[count:], wrt[count:], strict=True)
        filled = [*shares, *(full_like(x, 0) if p is None else p for p, x in rest)]
        self.shares, self.steps, self.g_xs = self._with_sizes_from_states(filled)

    def _with_sizes_from_states(self, outputs: list[Node]) -> tuple[list[Node], ...]:
        """Sizes of the carry are read from its cotangent, which the reverse body has."""
        own = {self.carry_params[i]: g for i, g in zip(self.states, self.g_states, strict=True)}
        stop = {*self.body.inputs}
        sizes = {
            n: as_node(size_of(own[n.operands[0]], n.attrs["axis"]))
            for n in walk(outputs, stop)
            if n.primitive.name == "size" and n.operands[0] in own
        }
        if sizes:
            outputs = substitute(outputs, sizes)
        a, b = len(self.wanted_consts), len(self.wanted_consts) + len(self.states)
        return outputs[:a], outputs[a:b], outputs[b:]

    def outside(self, nodes: Sequence[Node]) -> list[Node]:
        """Nodes of the body that depend on constants and sizes alone, as nodes around the loop."""
        y = self.node
        around = {
            **{p: (x, 0) for p, x in zip(self.const_params, self.consts, strict=True)},
            **{p: (x, 0) for p, x in zip(self.carry_params, self.carry, strict=True)},
            **{p: (x, 1) for p, x in zip(self.x_params, self.sequences, strict=True)},
            **{g: (y.results[i], 0) for g, i in zip(self.g_states, self.states, strict=True)},
            **{g: (y.results[j], 1) for g, j in zip(self.g_outs, self.outs, strict=True)},
        }
        replaced = dict(zip(self.const_params, self.consts, strict=True))
        for n in walk(nodes, set(around)):
            if n.primitive.name == "size" and n.operands[0] in around:
                x, shift = around[n.operands[0]]
                replaced[n] = as_node(size_of(x, n.attrs["axis"] + shift))
        return substitute(nodes, replaced)

    def residuals(self, outputs: Sequence[Node]) -> list[Node]:
        """Nodes of the forward body that `outputs` need and that differ from step to step.

        A node that is cheaply made from other residuals is left to the reverse body, and so is one
        that no stack can hold.
        """
        stop = {*self.body.inputs, *self.g_states, *self.g_outs}
        order = walk(outputs, stop)
        varying = dependents(order, {*self.carry_params, *self.x_params})
        backward = dependents(order, {*self.g_states, *self.g_outs})
        used = {n for node in order if node in backward and node not in stop for n in node.operands}
        used.update(outputs)
        kept = {n for n in order if n in used and n in varying and n not in backward}
        _leave_unsteady(
            kept, LoopInvariantShapes(self.body.inputs, varying), varying - {*self.x_params}
        )
        free = {*kept, *self.x_params}
        for node in [n for n in reversed(order) if n in kept]:
            if node.operands and _remade(node, free - {node}, varying):
                kept.discard(node)
                free.discard(node)
        needed = set(walk(outputs, {*stop, *kept}))
        return [n for n in order if n in kept or (n in needed and n in self.x_params)]


def _leave_unsteady(kept: set[Node], invariant: LoopInvariantShapes, inner: set[Node]) -> None:
    """Keep, in place of nodes that no stack can hold, what they're made of."""
    pending = [n for n in kept if n not in invariant]
    while pending:
        node = pending.pop()
        kept.discard(node)
        for x in node.operands:
            if x in inner and x not in kept:
                kept.add(x)
                if x not in invariant:
                    pending.append(x)


def _remade(node: Node, given: set[Node], varying: set[Node]) -> bool:
    """Whether `node` follows from `given` by cheap primitives."""
    pending = [node]
    while pending:
        n = pending.pop()
        if n not in given and n in varying:
            if not (n.primitive.is_cheap and n.operands):
                return False
            pending.extend(n.operands)
    return True


class _Found(NamedTuple):
    """What the loops give: values of all steps, and sums over all steps; a node may have both."""

    stacks: dict[Node, Node]
    totals: dict[Node, Node]


class _Sums:
    """Sums over all steps of nodes in the reverse body, made after the loop where possible."""

    def __init__(self, reverse: _Reverse):
        self.reverse = reverse
        self.stacked: dict[Node, None] = {}
        self.carried: dict[Node, Node | None] = {}  # each with a tensor of its type outside
        self.params = {*reverse.body.inputs, *reverse.g_states, *reverse.g_outs}
        loose, order = self.params - {*reverse.const_params}, walk(reverse.shares, self.params)
        self.varying = dependents(order, loose)
        # No step changes a size: what follows from sizes alone isn't among these.
        self.unsized = dependents([n for n in order if n.primitive.name != "size"], loose)
        self.stackable = LoopInvariantShapes(self.params, self.varying)

    def plan(self, share: Node, const: Node) -> Any:
        """How to sum a share of the cotangent of `const`: a function from `_Found` to the sum."""
        return self._after(share, const) or self._carried(share, const)

    def _after(self, share: Node, like: Node | None = None) -> Any:
        """How to sum `share` after the loop; None if that can't be."""
        name = share.primitive.name
        if share in self.params or share not in self.stackable:
            return None
        if not share.operands or not all(x in self.stackable for x in share.operands):
            return None
        if name == "contract" and not share.attrs["batch"][0]:
            return self._contracted(share)
        if name == "reduce_sum":
            return self._reduced(share)
        if name == "add":
            return self._added(share, like)
        if name in _LINEAR and self.unsized.isdisjoint(share.operands[1:]):
            inner = self._after(share.operands[0])
            rest = self.reverse.outside(share.operands[1:])
            return inner and (lambda found: _LINEAR[name](inner(found), share, rest))
        return None

    def _added(self, share: Node, like: Node | None) -> Any:
        parts = [self._after(x, like) for x in share.operands]
        if not any(parts):
            return None
        a, b = (p or self._carried(x, like) for p, x in zip(parts, share.operands, strict=True))
        return lambda found: add(a(found), b(found))

    def _carried(self, share: Node, like: Node | None) -> Any:
        if self.carried.get(share) is None:
            self.carried[share] = like
        return lambda found: found.totals[share]

    def _contracted(self, share: Node) -> Any:
        a, b = share.operands
        if not self.varying.issuperset((a, b)):
            return None
        self.stacked.update({a: None, b: None})
        over_a, over_b = ((0, *(i + 1 for i in axes)) for axes in share.attrs["over"])
        return lambda found: contract(found.stacks[a], found.stacks[b], (over_a, over_b))

    def _reduced(self, share: Node) -> Any:
        (x,) = share.operands
        if x not in self.varying:
            return None
        self.stacked[x] = None
        axes = (0, *(i + 1 for i in share.attrs["axes"]))
        return lambda found: reduce_sum(found.stacks[x], axes)


# Primitives that commute with a sum over steps: how they apply to the sum.
_LINEAR: dict[str, Any] = {
    "transpose": lambda s, node, rest: transpose(s, node.attrs["perm"]),
    "reshape": lambda s, node, rest: _in_shape(reshape, s, node, rest),
    "broadcast_to": lambda s, node, rest: _in_shape(broadcast_to, s, node, rest),
    "neg": lambda s, node, rest: neg(s),
}


def _in_shape(
    move: Callable[[Node, Sequence[Size]], Node], s: Node, node: Node, rest: Sequence[Node]
) -> Node:
    sizes = iter(rest)
    return move(s, [next(sizes) if d is None else d for d in node.attrs["shape"]])


def scan_pullback(
    y: Node, gs: Sequence[Node | None], needed: Sequence[bool]
) -> Sequence[Node | None]:
    """Cotangents of a scan's operands, by a scan in the other direction."""
    reverse = _Reverse(y, gs, needed)
    sums = _Sums(reverse)
    consts = [reverse.consts[i] for i in reverse.wanted_consts]
    plans = [sums.plan(s, const) for s, const in zip(reverse.shares, consts, strict=True)]
    wanted = [*reverse.steps, *reverse.g_xs, *sums.stacked, *sums.carried]
    residuals = reverse.residuals(wanted)
    stacks = _forward_stacks(reverse, [r for r in residuals if r not in reverse.x_params])
    stacks.update(zip(reverse.x_params, reverse.sequences, strict=True))
    for j, g in zip(reverse.outs, reverse.g_outs, strict=True):
        stacks[g] = gs[j]  # type: ignore[assignment]

    last, found = _backward_scan(reverse, sums, gs, residuals, stacks)
    back: list[Node | None] = [None] * len(needed)
    for i, plan in zip(reverse.wanted_consts, plans, strict=True):
        back[i] = plan(found)
    c, k = len(reverse.consts), len(reverse.carry)
    for i, g in zip(reverse.states, last, strict=True):
        back[c + i] = g
    for i, share in zip(reverse.wanted_xs, reverse.g_xs, strict=True):
        back[c + k + i] = found.stacks[share]
    return back


def _forward_stacks(reverse: _Reverse, residuals: list[Node]) -> dict[Node, Node]:
    """The residuals of all steps, stacked by a forward scan that gives them too."""
    if not residuals:
        return {}
    body = Graph(reverse.body.inputs, [*reverse.body.outputs, *residuals])
    _, stacked = run_scan(
        body, reverse.consts, reverse.carry, reverse.sequences, reverse.node.attrs["backwards"]
    )
    return dict(zip(residuals, stacked[-len(residuals) :], strict=True))


def _backward_scan(
    reverse: _Reverse,
    sums: _Sums,
    gs: Sequence[Node | None],
    residuals: list[Node],
    stacks: dict[Node, Node],
) -> tuple[list[Node], _Found]:
    """The cotangents of the initial states; and what was stacked and summed."""
    totals = [input_node(share.type) for share in sums.carried]
    ys = [n for n in dict.fromkeys([*reverse.g_xs, *sums.stacked]) if n not in stacks]
    new_totals = [add(t, s) for t, s in zip(totals, sums.carried, strict=True)]
    sequences = list(dict.fromkeys([*residuals, *reverse.g_outs]))
    if not sequences:  # nothing else says how many steps there are
        sequences = [reverse.x_params[0]]
    body = closed(
        [*reverse.const_params, *reverse.g_states, *totals, *sequences],
        [*reverse.steps, *new_totals, *ys],
    )
    start = [
        full_like(reverse.node.results[i], 0) if (g := gs[i]) is None else g for i in reverse.states
    ]
    zeros = [_outer_zero(reverse, *item) for item in sums.carried.items()]
    last, stacked = run_scan(
        body,
        reverse.consts,
        [*start, *zeros],
        [stacks[n] for n in sequences],
        not reverse.node.attrs["backwards"],
    )
    count = len(start)
    stacks = {**stacks, **dict(zip(ys, stacked, strict=True))}
    return last[:count], _Found(stacks, dict(zip(sums.carried, last[count:], strict=True)))


def _outer_zero(reverse: _Reverse, share: Node, like: Node | None) -> Node:
    """Zeros of the type of a share of a constant's cotangent, built outside of the loop."""
    if like is not None:
        return full_like(like, 0)
    dims = [reverse.outside([d])[0] if isinstance(d, Node) else d for d in dims_of(share)]
    return zeros(dims, share.dtype)
