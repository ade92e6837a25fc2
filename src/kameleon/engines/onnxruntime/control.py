"""Lowering rules of conditions, loops and identity-like annotations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...graph.ir.node import Node
from ...graph.ir.types import BOOL, TensorType
from .._lowering import Rule, first
from .lowering import OnnxLowering
from .model import typed

L = OnnxLowering


def several(
    lo: L, types: Sequence[TensorType], kind: str, *inputs: str, **attrs: Any
) -> tuple[str, ...]:
    """An operator with results of these types."""
    names = lo.writer.ops(kind, *inputs, outputs=len(types), **attrs)
    lo.writer.declare(names, types)
    return names


def _types(node: Node) -> list[TensorType]:
    return [y.type for y in node.results]


def _cond(lo: L, node: Node, condition: str, *operands: str) -> tuple[str, ...]:
    if not node.results:
        return ()
    branches = {
        name: lo.body(node.attrs[ours], operands)
        for name, ours in (("then_branch", "then"), ("else_branch", "otherwise"))
    }
    return several(lo, _types(node), "If", condition, **branches)


def _while(lo: L, node: Node, *operands: str) -> tuple[str, ...]:
    count = node.attrs["consts"]
    consts, carry = operands[:count], operands[count:]
    test, body = node.attrs["condition"], node.attrs["body"]
    # Before the first step the condition is evaluated outside of the loop.
    first = type(lo)(test, operands, lo.writer).run()[0]
    step, params = lo.opened(body, [*consts, *[None] * len(carry)])
    new = step.run()
    again = type(lo)(test, [*consts, *new], step.writer).run()[0]
    names = [step.writer.shared.name() for _ in range(2)]
    lead = [typed(names[0], "int64", ()), typed(names[1], "bool", ())]
    types = [TensorType((), BOOL), *_types(node)]
    proto = step.writer.body([*lead, *params], [again, *new], types)
    return several(lo, _types(node), "Loop", "", first, *carry, body=proto)


# Scans -------------------------------------------------------------------------------------


def _scan(lo: L, node: Node, *operands: str) -> tuple[str, ...]:
    first, states = node.attrs["consts"], node.attrs["carry"]
    consts, rest = operands[:first], operands[first:]
    body = lo.body(node.attrs["body"], [*consts, *[None] * len(rest)])
    sequences, types = len(rest) - states, _types(node)
    stacked = [TensorType((None, *t.shape[1:]), t.dtype) for t in types[states:]]
    way = int(node.attrs["backwards"])
    ways = {"scan_input_directions": [way] * sequences}
    if stacked:
        ways["scan_output_directions"] = [way] * len(stacked)
    types = [*types[:states], *stacked]
    return several(lo, types, "Scan", *rest, body=body, num_scan_inputs=sequences, **ways)


RULES: dict[str, Rule] = {
    **dict.fromkeys(("identity", "stop_gradient", "with_gradient", "check"), first),
    "cond": _cond,
    "while": _while,
    "scan": _scan,
}
