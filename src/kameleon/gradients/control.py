"""Gradients of conditions, loops and identity-like annotations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..ir.leaves import LEAVES, input_node
from ..ir.node import Node
from ..ir.program import Graph
from ..prims.control import cond
from ..prims.filling import full_like
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
    "while": "its number of steps is unbounded; give maximum_iterations",
    **flat("stop_gradient"),
}
