"""Conditions, loops and checks: `ifelse`, `scan` and `Assert`."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import pytensor
import pytensor.tensor as pt
from pytensor.scan.utils import until

from ....graph.ir.node import Node
from ..._lowering import Rule
from .lowering import NativeLowering, Value, asserted

# It moved with PyTensor 3.3.
_PLACE = "conditional.op" if find_spec("pytensor.conditional") else "ifelse"
ifelse = import_module(f"pytensor.{_PLACE}").ifelse

L = NativeLowering
# A loop that ends by a condition makes so many steps at most.
ENDLESS = 2**60


def _check(low: L, node: Node, x: Value, holds: Value) -> Value:
    return asserted(x, node.attrs["message"], pt.all(holds))


def _cond(low: L, node: Node, condition: Value, *operands: Value) -> tuple[Value, ...]:
    if not node.results:
        return ()
    branches = [low.inner(node.attrs[name], operands) for name in ("then", "otherwise")]
    return tuple(
        ifelse(condition, *(_typed(y, node, i) for y in pair))
        for i, pair in enumerate(zip(*branches, strict=True))
    )


def _typed(x: Value, node: Node, index: int) -> Value:
    """A value with the sizes that the graph knows of one of the node's results."""
    return _known(x, node.results[index].shape)


def _known(x: Value, shape: Sequence[int | None]) -> Value:
    """A value of which PyTensor knows these sizes, too."""
    if all(d is None or d == s for d, s in zip(shape, x.type.shape, strict=True)):
        return x
    return pt.specify_shape(
        x, [s if d is None else d for d, s in zip(shape, x.type.shape, strict=True)]
    )


def _scan(low: L, node: Node, *operands: Value) -> tuple[Value, ...]:
    body, c, k = (node.attrs[name] for name in ("body", "consts", "carry"))
    consts, sequences = list(operands[:c]), list(operands[c + k :])
    states = [_typed(x, node, i) for i, x in enumerate(operands[c : c + k])]

    def step(*values: Any) -> list[Value]:
        slices = values[: len(sequences)]
        carry = values[len(sequences) : len(sequences) + k]
        results = low.inner(body, [*values[len(sequences) + k :], *carry, *slices])
        kept = [_known(y, x.type.shape) for x, y in zip(carry, results, strict=False)]
        return [*kept, *results[k:]]

    found = pytensor.scan(
        step,
        sequences=sequences,
        outputs_info=[*states, *(None for _ in body.outputs[k:])],
        non_sequences=consts,
        go_backwards=node.attrs["backwards"],
        strict=True,
        return_list=True,
        return_updates=False,
    )
    stacks = (y[::-1] if node.attrs["backwards"] else y for y in found[k:])
    return (*(x[-1] for x in found[:k]), *stacks)


def _while(low: L, node: Node, *operands: Value) -> tuple[Value, ...]:
    body, test, c = (node.attrs[name] for name in ("body", "condition", "consts"))
    consts, k = list(operands[:c]), len(operands) - c
    states = [_typed(x, node, i) for i, x in enumerate(operands[c:])]

    def step(*values: Any) -> tuple[list[Value], Any]:
        carry, rest = list(values[:k]), list(values[k:])
        results = low.inner(body, [*rest, *carry])
        new = [_known(y, x.type.shape) for x, y in zip(carry, results, strict=True)]
        (again,) = low.inner(test, [*rest, *new])
        return new, until(pt.invert(again))

    (first,) = low.inner(test, [*consts, *states])
    steps = pt.switch(first, ENDLESS, 0)
    traces = pytensor.scan(
        step,
        outputs_info=states,
        non_sequences=consts,
        n_steps=steps,
        strict=True,
        return_list=True,
        return_updates=False,
    )
    return _of_last_states(traces, states)


def _of_last_states(traces: Sequence[Value], states: Sequence[Value]) -> tuple[Value, ...]:
    """The last states of a loop that is changed to keep two states, not one for each step that it
    might make; without a step, both are the initial state."""
    loop = traces[0].owner.inputs[0].owner
    inputs = list(loop.inputs)
    begin = inputs.index(loop.op.outer_sitsot(inputs)[0])
    for i, state in enumerate(states):
        inputs[begin + i] = pt.stack([state, state])
    return tuple(y[-1] for y in loop.op(*inputs, return_list=True))


RULES: dict[str, Rule] = {
    "check": _check,
    "cond": _cond,
    "scan": _scan,
    "while": _while,
}
