"""Cells of recurrent networks that are one operation, and their gradients."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from kameleon import backend as K
from kameleon.graph.ir.node import Tensor as Node
from kameleon.graph.primitives import elementwise as E
from kameleon.graph.primitives import movement as M
from kameleon.graph.primitives.linalg import contract
from kameleon.graph.primitives.reduce import reduce_sum

from ..graph import Operation
from .elementwise import zero
from .table import pure
from .values import broadcast, sizes_of


def _product(a: Node, b: Node, over: tuple[int, int] = (1, 0)) -> Node:
    """The product of matrices over an axis of each."""
    return contract(a, b, ((over[0],), (over[1],)))


def _plus(x: Node, row: Node) -> Node:
    return E.add(*broadcast(x, row))


def _scaled(x: Node, row: Node) -> Node:
    return E.mul(*broadcast(x, row))


def _joined(*parts: Node) -> Node:
    return M.concatenate(list(parts), 1)


def _split(x: Node, count: int) -> list[Node]:
    return _cut(x, *[sizes_of(x)[1] // count] * (count - 1))


def _cut(x: Node, *sizes: int) -> list[Node]:
    """Columns, so many each; the last part has the rest."""
    ends = [*itertools.accumulate(sizes, initial=0), sizes_of(x)[1]]
    return [M.slice_axis(x, 1, start, end) for start, end in itertools.pairwise(ends)]


# Long short-term memory -------------------------------------------------------------------------


@dataclass(frozen=True)
class Memory:
    """A cell with a memory: its weights, and how it uses them.

    Attributes:
        w: (inputs + units, 4 units): of the input gate, the new values, the forget and output gate.
        peepholes: for the input, forget and output gate, how it sees the memory; or None.
        b: (4 units,).
        forget: is added to the forget gate.
        clip: the memory stays within it, if it's above zero.

    Source: Hochreiter and Schmidhuber, "Long short-term memory" (1997); Gers and Schmidhuber,
    "Recurrent nets that time and count" (2000), on peepholes.
    """

    w: Node
    peepholes: list[Node] | None
    b: Node
    forget: float = 0.0
    clip: float = 0.0

    def step(self, x: Node, memory: Node, state: Node) -> list[Node]:
        """The input gate, memory, forget and output gate, new values, bounded memory, state."""
        gates = _plus(_product(_joined(x, state), self.w), self.b)
        i, new, f, o = _split(gates, 4)
        f = f + self.forget
        if self.peepholes:
            i, f = i + _scaled(memory, self.peepholes[0]), f + _scaled(memory, self.peepholes[1])
        i, f, new = K.sigmoid(i), K.sigmoid(f), E.tanh(new)
        kept = new * i + memory * f
        if self.clip > 0:
            kept = K.clip(kept, -self.clip, self.clip)
        if self.peepholes:
            o = o + _scaled(kept, self.peepholes[2])
        o, bounded = K.sigmoid(o), E.tanh(kept)
        return [i, kept, f, o, new, bounded, o * bounded]

    def back(self, before: Node, found: list[Node], g_memory: Node, g_state: Node) -> list[Node]:
        """The gradients of the memory before, of all gates, and of the peepholes.

        Args:
            before: the memory before.
            found: what the step gave, but for the state.
            g_memory, g_state: the gradients of the memory and the state.
        """
        i, kept, f, o, new, bounded = found
        d_o = g_state * bounded * o * (1 - o)
        d_kept = g_state * o * (1 - bounded * bounded) + g_memory
        if self.peepholes:
            d_kept = d_kept + _scaled(d_o, self.peepholes[2])
        d_new = d_kept * i * (1 - new * new)
        d_f, d_i = d_kept * before * f * (1 - f), d_kept * new * i * (1 - i)
        d_before = d_kept * f
        slopes = [reduce_sum(part, [0]) for part in (d_i * before, d_f * before, d_o * kept)]
        if self.peepholes:
            d_before = d_before + _scaled(d_i, self.peepholes[0]) + _scaled(d_f, self.peepholes[1])
        return [d_before, _joined(d_i, d_new, d_f, d_o), *slopes]


def _memory(operation: Operation, w: Node, *weights: Node) -> Memory:
    *peepholes, b = weights
    forget, clip = (operation.attribute(name) or 0.0 for name in ("forget_bias", "cell_clip"))
    return Memory(w, peepholes if operation.attribute("use_peephole") else None, b, forget, clip)


@pure("LSTMBlockCell")
def _cell(operation: Operation, x: Node, memory: Node, state: Node, *weights: Node) -> list[Node]:
    return _memory(operation, *weights).step(x, memory, state)


@pure("LSTMBlockCellGrad")
def _cell_gradient(
    operation: Operation, x: Node, before: Node, state: Node, *given: Node
) -> list[Node]:
    *found, g_memory, g_state = given[5:]
    return _memory(operation, *given[:5]).back(before, found, g_memory, g_state)


def _at(x: Node, time: int) -> Node:
    return M.reshape(M.slice_axis(x, 0, time, time + 1), sizes_of(x)[1:])


@pure("BlockLSTM")
def _cells(
    operation: Operation, longest: int, x: Node, kept: Node, out: Node, *weights: Node
) -> list[Node]:
    """A cell along a first axis, time; zeros behind the longest sequence."""
    cell, found = _memory(operation, *weights), []
    for time in range(longest):
        found.append(cell.step(_at(x, time), kept, out))
        kept, out = found[-1][1], found[-1][6]
    nothing = [zero(kept)] * (sizes_of(x)[0] - len(found))
    return [M.stack([*(step[part] for step in found), *nothing], 0) for part in range(7)]


@pure("BlockLSTMGrad")
def _cells_gradient(
    operation: Operation, longest: int, x: Node, memory: Node, state: Node, *given: Node
) -> list[Node]:
    cell = _memory(operation, *given[:5])
    *found, outputs, g_memory, g_state = given[5:]
    d_kept, d_out = zero(memory), zero(state)
    sums = [zero(each) for each in given[:5]]
    slopes = [zero(_at(x, 0))] * sizes_of(x)[0]
    for time in reversed(range(longest)):
        before = _at(found[1], time - 1) if time else memory
        out = _at(outputs, time - 1) if time else state
        parts = [_at(part, time) for part in found]
        d_kept, gates, *of_peepholes = cell.back(
            before, parts, _at(g_memory, time) + d_kept, _at(g_state, time) + d_out
        )
        whole = _joined(_at(x, time), out)
        slopes[time], d_out = _cut(_product(gates, cell.w, (1, 1)), sizes_of(x)[2])
        new = [_product(whole, gates, (0, 0)), *of_peepholes, reduce_sum(gates, [0])]
        sums = [total + each for total, each in zip(sums, new, strict=True)]
    if not operation.attribute("use_peephole"):
        sums[1:4] = [zero(each) for each in sums[1:4]]
    return [M.stack(slopes, 0), d_kept, d_out, *sums]


# Gated recurrent units --------------------------------------------------------------------------


@pure("GRUBlockCell")
def _gated(x: Node, h: Node, w_gates: Node, w: Node, b_gates: Node, b: Node) -> list[Node]:
    """Source: Cho et al., "Learning phrase representations using RNN encoder-decoder" (2014)."""
    gates = K.sigmoid(_plus(_product(_joined(x, h), w_gates), b_gates))
    r, u = _split(gates, 2)
    new = E.tanh(_plus(_product(_joined(x, h * r), w), b))
    return [r, u, new, u * h + (1 - u) * new]


@pure("GRUBlockCellGrad")
def _gated_gradient(*given: Node) -> list[Node]:
    x, h, w_gates, w, _, _, r, u, new, g = given
    size = sizes_of(x)[1]
    d_new = g * (1 - u) * (1 - new * new)
    of_x, of_reset = _cut(_product(d_new, w, (1, 1)), size)
    d_gates = _joined(of_reset * h * r * (1 - r), g * (h - new) * u * (1 - u))
    more_of_x, of_h = _cut(_product(d_gates, w_gates, (1, 1)), size)
    return [of_x + more_of_x, of_reset * r + of_h + g * u, d_new, d_gates]
