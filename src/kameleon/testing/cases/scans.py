"""Cases of scans. Oracles are Python loops over NumPy arrays; bodies are written once for both."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

from ...graph.ir.node import REGISTRY, Node
from ...graph.ir.types import TensorType
from ...graph.primitives import elementwise as ew
from ...graph.primitives.control import cond, run_scan
from ...graph.primitives.filling import full_like
from ...graph.primitives.indexing import gather
from ...graph.primitives.linalg import contract, matmul
from ...graph.primitives.movement import broadcast_to, reshape, slice_axis, transpose
from ...graph.primitives.reduce import reduce_sum
from ...graph.primitives.sizes import dims_of
from .case import Array, Case, Oracle, body, flags, normal, uses, whole

Nodes = Sequence[Node]
Step = Callable[..., tuple[Nodes, Nodes]]  # constants, carry, slices -> new carry, outputs

# Building ----------------------------------------------------------------------------------


def scanned(
    step: Step, consts: Nodes, carry: Nodes, sequences: Nodes, backwards: bool = False
) -> tuple[list[Node], list[Node]]:
    """A scan of `step(constants, carry, slices)`."""
    c, k = len(consts), len(carry)
    slices = [TensorType(x.shape[1:], x.dtype) for x in sequences]

    def outputs(*params: Node) -> Nodes:
        new, ys = step(params[:c], params[c : c + k], params[c + k :])
        return [*new, *ys]

    graph = body([*(x.type for x in (*consts, *carry)), *slices], outputs)
    return run_scan(graph, consts, carry, sequences, backwards)


def chosen(
    condition: Node, operands: Nodes, then: Callable[..., Nodes], otherwise: Callable[..., Nodes]
) -> Nodes:
    """The results of a condition over branches that are given the operands."""
    types = [x.type for x in operands]
    node = cond(condition, *operands, then=body(types, then), otherwise=body(types, otherwise))
    return node.results


def like(x: Node, value: Node) -> Node:
    """`value` stretched to the shape of `x`."""
    return broadcast_to(value, dims_of(x))


def looped(
    step: Callable[..., Any],
    consts: Sequence[Any],
    carry: Sequence[Any],
    sequences: Sequence[Any],
    backwards: bool = False,
) -> tuple[Sequence[Any], list[Array]]:
    """The same as a Python loop over arrays."""
    order = range(len(sequences[0]))
    collected = []
    for t in reversed(order) if backwards else order:
        carry, ys = step(consts, carry, [x[t] for x in sequences])
        collected.append(ys)
    if backwards:
        collected.reverse()
    return carry, [np.array(column) for column in zip(*collected, strict=True)]


# What bodies are made of: functions of nodes, and those of arrays that have the same meaning.
NODES: Any = SimpleNamespace(
    add=ew.add, mul=ew.mul, neg=ew.neg, square=ew.square, select=ew.select, exp=ew.exp, sin=ew.sin,
    cos=ew.cos, tanh=ew.tanh, sigmoid=REGISTRY["sigmoid"], matmul=matmul, contract=contract,
    reshape=reshape, transpose=transpose, dims=dims_of, like=like, scanned=scanned, chosen=chosen,
    ones=lambda x: full_like(x, 1),
    rows=lambda table, index: gather(table, index, 0),
    first=lambda x: slice_axis(x, 0, 0, 1),
    total=lambda x: reduce_sum(x, (0,)),
    dots=lambda a, b: contract(a, b, ((1,), (1,)), ((0,), (0,))),
)  # fmt: skip
ARRAYS: Any = SimpleNamespace(
    add=np.add, mul=np.multiply, neg=np.negative, square=np.square, select=np.where, exp=np.exp,
    sin=np.sin, cos=np.cos, tanh=np.tanh, sigmoid=lambda x: 1 / (1 + np.exp(-x)), matmul=np.matmul,
    contract=np.tensordot, reshape=np.reshape, transpose=np.transpose, dims=np.shape,
    like=lambda x, value: np.broadcast_to(value, x.shape),
    scanned=looped,
    chosen=lambda flag, operands, then, otherwise: (then if flag else otherwise)(*operands),
    ones=np.ones_like,
    rows=lambda table, index: table[index],
    first=lambda x: x[:1],
    total=lambda x: x.sum(axis=0),
    dots=lambda a, b: (a * b).sum(axis=1),
)  # fmt: skip


def both(body: Callable[..., Sequence[Any]]) -> tuple[Callable[..., Any], Oracle]:
    """What makes nodes by a body, whose first argument is one of the two above, and its oracle."""
    return partial(body, NODES), lambda *xs: tuple(body(ARRAYS, *xs))


# Bodies ------------------------------------------------------------------------------------


def rnn(m: Any, consts: Any, carry: Any, slices: Any) -> Any:
    """h = mask ? tanh(x W + h U + b) : h"""
    (w, u, b), (h,), (x, mask) = consts, carry, slices
    z = m.add(m.matmul(x, w), m.matmul(h, u))
    new = m.tanh(m.add(z, m.like(z, b)))
    h = m.select(m.like(new, m.reshape(mask, [*m.dims(mask), 1])), new, h)
    return [h], [new]


def gated(m: Any, consts: Any, carry: Any, slices: Any) -> Any:
    """Two states, each gating the other; one constant is a matrix, the other is broadcast."""
    (k, scale), (h, c), (x,) = consts, carry, slices
    gate = m.sigmoid(m.add(x, m.matmul(h, k)))
    c = m.add(m.mul(gate, c), m.mul(x, m.like(x, scale)))
    return [m.mul(gate, m.tanh(c)), c], [m.square(c), gate]


def counter(m: Any, consts: Any, carry: Any, slices: Any) -> Any:
    """An integer state picks the rows of a table."""
    (table,), (i, total), (x,) = consts, carry, slices
    row = m.rows(table, i)
    return [m.add(i, m.ones(i)), m.add(total, m.mul(row, x))], [row]


def embedded(m: Any, consts: Any, carry: Any, slices: Any) -> Any:
    """Rows of a constant, by indices of the sequence."""
    (table,), (h,), (index,) = consts, carry, slices
    return [m.mul(m.sin(h), m.rows(table, index))], []


def nested(m: Any, consts: Any, carry: Any, slices: Any) -> Any:
    """At each step a scan over a constant sequence, that starts from the outer state."""
    (inner,), (h,), (x,) = consts, carry, slices
    last, ys = m.scanned(
        lambda c, s, z: ([m.sin(m.add(m.mul(s[0], z[0]), c[0]))], [m.square(s[0])]),
        [x],
        [h],
        [inner],
        True,
    )
    return [last[0]], [m.total(ys[0])]


def branching(m: Any, consts: Any, carry: Any, slices: Any) -> Any:
    """At each step one of two branches."""
    (k,), (h,), (x, flag) = consts, carry, slices
    (h,) = m.chosen(
        flag,
        [h, x, k],
        lambda h, x, k: [m.tanh(m.add(h, m.mul(x, m.like(x, k))))],
        lambda h, x, k: [m.mul(h, h)],
    )
    return [h], [m.mul(h, x)]


def shaped(m: Any, consts: Any, carry: Any, slices: Any) -> Any:
    """Constants used through reshape, transpose, broadcast, slice and a batch of products."""
    (k, b), (h,), (x,) = consts, carry, slices
    turned = m.transpose(m.reshape(k, [m.dims(h)[-1]] * 2), (1, 0))
    z = m.add(m.matmul(h, turned), m.like(h, m.neg(b)))
    pairs = m.dots(z, x)
    first = m.first(k)
    wide = m.like(z, m.reshape(pairs, [*m.dims(pairs), 1]))
    return [m.sin(m.add(z, wide))], [m.mul(pairs, m.like(pairs, m.reshape(first, [])))]


def passing(m: Any, consts: Any, carry: Any, slices: Any) -> Any:
    """The state and constants go out as they came in."""
    return [carry[0]], [carry[0], consts[0], slices[0]]


def swapped(m: Any, consts: Any, carry: Any, slices: Any) -> Any:
    """States change places; the sequence only counts the steps."""
    return [carry[1], m.mul(carry[0], m.like(carry[0], consts[0]))], []


def shifted(m: Any, consts: Any, carry: Any, slices: Any) -> Any:
    """A constant and a slice share a cotangent: summed for the constant, stacked for the slice."""
    z = m.add(slices[0], consts[0])
    return [m.tanh(m.mul(carry[0], z))], [z]


def cumulative(m: Any, consts: Any, carry: Any, slices: Any) -> Any:
    """No constants, no sizes: scalars."""
    h = m.mul(m.cos(carry[0]), slices[0])
    return [h], [m.exp(h)]


def stepwise(m: Any, consts: Any, carry: Any, slices: Any) -> Any:
    """No state: a map over the sequence."""
    return [], [m.tanh(m.matmul(slices[0], consts[0]))]


# By the name with which the labels of its cases begin.
BODIES: dict[str, Callable[..., Any]] = {
    "rnn": rnn, "gated": gated, "counter": counter, "embedded": embedded, "nested": nested,
    "branching": branching, "shaped": shaped, "passing": passing, "swapped": swapped,
    "shifted": shifted, "scalars": cumulative, "map": stepwise,
}  # fmt: skip


def scan_case(
    label: str,
    consts: Sequence[Array],
    carry: Sequence[Array],
    sequences: Sequence[Array],
    *,
    backwards: bool = False,
    used: Sequence[int] | None = None,
    fixed: Sequence[int] = (),
) -> Case:
    """A scan; `used` picks results, `fixed` operands that aren't differentiated by."""
    step = BODIES[label.partition("-")[0]]
    c, k = len(consts), len(carry)
    operands = (*consts, *carry, *sequences)

    def results(m: Any, *xs: Any) -> list[Any]:
        last, ys = m.scanned(partial(step, m), xs[:c], xs[c : c + k], xs[c + k :], backwards)
        found = [*last, *ys]
        return found if used is None else [found[i] for i in used]

    build, oracle = both(results)
    floats = [i for i, x in enumerate(operands) if x.dtype == "float64" and i not in fixed]
    return Case(
        primitive="scan",
        label=label,
        build=build,
        operands=operands,
        oracle=oracle,
        wrt=tuple(floats),
        units=64,
    )


T, N, X, H = 4, 2, 3, 2
WEIGHTS = [normal(X, H), normal(H, H), normal(H)]
STATE = normal(N, H, seed=1)
INPUT, MASK = normal(T, N, X), flags(T, N)
RNN = (WEIGHTS, [STATE], [INPUT, MASK])
GATED = ([normal(H, H), normal(H)], [STATE, normal(N, H, seed=2)], [normal(T, N, H)])
NESTED = ([normal(3, 2)], [normal(2)], [normal(T, 2)])
SCALARS: tuple[Any, ...] = ([], [normal()], [normal(T)])
SCANS: list[Case] = [
    scan_case("rnn", *RNN),
    scan_case("rnn-backwards", *RNN, backwards=True),
    scan_case("rnn-last", *RNN, used=[0]),
    scan_case("rnn-outputs", *RNN, used=[1]),
    scan_case("rnn-one-step", WEIGHTS, [STATE], [INPUT[:1], MASK[:1]]),
    scan_case("rnn-by-sequence", *RNN, fixed=[0, 1, 2, 3]),
    scan_case("rnn-by-state", *RNN, fixed=[0, 1, 2, 4], used=[0]),
    scan_case("gated", *GATED),
    scan_case("gated-backwards", *GATED, backwards=True, used=[1, 3]),
    scan_case("counter", [normal(5, 2)], [np.array(1), normal(2)], [normal(3, 2)]),
    scan_case("embedded", [normal(4, 3)], [normal(3)], [np.array([3, 0, 3, 1])]),
    scan_case("nested", *NESTED),
    scan_case("branching", [normal()], [normal(3)], [normal(T, 3), flags(T)]),
    scan_case("shaped", [normal(4), normal(2)], [STATE], [normal(T, N, H)]),
    scan_case("passing", [normal(2)], [normal(3)], [normal(T)]),
    scan_case("swapped", [normal()], [normal(3), normal(3, seed=1)], [whole(5)]),
    scan_case("shifted", [normal(2, 3)], [normal(2, 3)], [normal(T, 2, 3)]),
    scan_case("shifted-outputs", [normal(2)], [normal(2, seed=1)], [normal(T, 2)], used=[1]),
    scan_case("scalars", *SCALARS),
    scan_case("scalars-backwards", *SCALARS, backwards=True),
    scan_case("map", [normal(3, 2)], [], [INPUT]),
    scan_case("map-backwards", [normal(3, 2)], [], [INPUT], backwards=True),
]


def no_steps(name: str, operands: tuple[Any, Any, Any], shapes: Sequence[tuple[int, ...]]) -> Case:
    """Without steps a state stays as it is, outputs are empty and constants have no influence."""
    consts, carry, sequences = operands
    made = scan_case(f"{name}-no-steps", consts, carry, [x[:0] for x in sequences])

    def oracle(*xs: Array) -> tuple[Array, ...]:
        return (*xs[len(consts) : len(consts) + len(carry)], *(np.zeros((0, *s)) for s in shapes))

    return replace(made, oracle=oracle)


NO_STEPS: list[Case] = [
    no_steps("rnn", RNN, [(N, H)]),
    no_steps("gated", GATED, [(N, H), (N, H)]),
    no_steps("scalars", SCALARS, [()]),
    no_steps("nested", NESTED, [(2,)]),
]

# One operand in several places -------------------------------------------------------------


def reused(m: Any, x: Any, w: Any) -> Sequence[Any]:
    """The sequence is a constant, too, and its first row the initial state."""
    start = m.reshape(m.first(x), m.dims(x)[1:])

    def step(consts: Any, carry: Any, slices: Any) -> Any:
        mixed = m.contract(consts[0], consts[1], ((0,), (0,)))
        return [m.sin(m.add(m.contract(mixed, carry[0], ((1,), (0,))), slices[0]))], [slices[1]]

    last, ys = m.scanned(step, [x, w], [start], [x, x])
    return [last[0], ys[0]]


CASES: list[Case] = [
    *SCANS,
    *NO_STEPS,
    *uses(
        "scan",
        *both(reused),
        ("reused", (normal(3, 2), normal(3, 2, seed=1))),
        wrt=(0, 1),
        units=64,
    ),
]
