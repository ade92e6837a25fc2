"""Gradients of conditions, loops and identity-like annotations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..ir.leaves import LEAVES, input_node
from ..ir.node import Node
from ..ir.program import Graph
from ..ir.types import INT32, TensorType
from ..primitives.control import cond, identity, run_scan, while_
from ..primitives.elementwise import add, cast, constant
from ..primitives.filling import full_like
from ..primitives.movement import iota
from .rules import ZERO, Rule, flat, jointly
from .scan import scan_pullback
from .sweep import pullback


def _custom_back(y: Node, gs: Any, needed: tuple[bool, ...]) -> Sequence[Node | None]:
    parts = y.attrs["rule"](gs[0])
    return [None, *(p if want else None for p, want in zip(parts, needed[1:], strict=True))]


def _cond_back(y: Node, gs: Any, needed: tuple[bool, ...]) -> Sequence[Node | None]:
    """A condition whose branches are the reverse sweeps of the two branches."""
    live = [i for i, g in enumerate(gs) if g is not None]
    wanted = [i for i, want in enumerate(needed[1:]) if want]
    params = [input_node(gs[i].type) for i in live]
    graphs = y.attrs["then"], y.attrs["otherwise"]
    found = []
    for branch in graphs:
        outputs, wrt = [branch.outputs[i] for i in live], [branch.inputs[i] for i in wanted]
        found.append(dict(zip(wanted, pullback(outputs, params, wrt, branch.inputs), strict=True)))
    # Of some operands nothing but sizes is read: no cotangent goes to those operands.
    wanted = [i for i in wanted if any(parts[i] is not None for parts in found)]
    branches = []
    for branch, parts in zip(graphs, found, strict=True):
        filled = [full_like(branch.inputs[i], 0) if (p := parts[i]) is None else p for i in wanted]
        branches.append(Graph([*branch.inputs, *params], filled))
    node = cond(y.operands[0], *y.operands[1:], *(gs[i] for i in live),
                then=branches[0], otherwise=branches[1])  # fmt: skip
    back: list[Node | None] = [None] * len(needed)
    for i, result in zip(wanted, node.results, strict=True):
        back[i + 1] = result
    return back


def _while_back(y: Node, gs: Any, needed: tuple[bool, ...]) -> Sequence[Node | None]:
    """The loop once more, as a scan of as many steps as it takes, which remembers its states."""
    consts = y.attrs["consts"]
    body = y.attrs["body"]
    operands = [identity(x) for x in y.operands]  # distinct: one node may be several operands
    t = input_node(TensorType((), INT32))
    sequence = iota([steps_of(y)])
    last, _ = run_scan(
        Graph([*body.inputs, t], body.outputs),
        operands[:consts], operands[consts:], [cast(sequence, INT32)],
    )  # fmt: skip
    pairs = [(x, g) for x, g in zip(last, gs, strict=True) if g is not None]
    outputs, cotangents = zip(*pairs, strict=True)
    found = pullback(outputs, cotangents, operands, operands)
    return [g if want else None for g, want in zip(found, needed, strict=True)]


def steps_of(loop: Node) -> Node:
    """How many steps a `while` takes: a scalar."""
    condition, body, consts = (loop.attrs[name] for name in ("condition", "body", "consts"))
    t, one = input_node(TensorType((), INT32)), constant(1, INT32)
    counting = while_(
        *loop.operands, constant(0, INT32),
        condition=Graph([*condition.inputs, t], condition.outputs),
        body=Graph([*body.inputs, t], [*body.outputs, add(t, one)]),
        consts=consts,
    )  # fmt: skip
    return counting.results[-1]


RULES: dict[str, Rule] = {
    **{leaf.name: ZERO for leaf in LEAVES},
    # Cotangents of items are read by the rule of the node whose results they are.
    "item": jointly(lambda y, gs, needed: (None,)),
    "identity": [lambda g, y, x: g],
    "check": [lambda g, y, x, holds, message: g, None],
    "with_gradient": jointly(_custom_back),
    "cond": jointly(_cond_back),
    "scan": jointly(scan_pullback),
    "call": jointly(lambda y, gs, needed: y.attrs["callee"].back(y, gs, needed)),
    "while": jointly(_while_back),
    **flat("stop_gradient"),
}
