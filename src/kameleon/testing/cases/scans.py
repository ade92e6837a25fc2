"""Cases of scans. Oracles are Python loops over NumPy arrays."""

from collections.abc import Callable, Sequence
from dataclasses import replace
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
from ...graph.primitives.sizes import dims_of, size_of
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
    step: Callable[..., tuple[Sequence[Any], Sequence[Any]]],
    consts: int,
    carry: int,
    backwards: bool = False,
    used: Sequence[int] | None = None,
) -> Oracle:
    """The oracle of a scan: a Python loop; `used` picks among last carry and outputs."""

    def oracle(*operands: Array) -> tuple[Array, ...]:
        fixed, rows = operands[:consts], operands[consts + carry :]
        state: Sequence[Any] = operands[consts : consts + carry]
        order = list(range(len(rows[0])))
        collected = []
        for t in reversed(order) if backwards else order:
            state, ys = step(fixed, state, [x[t] for x in rows])
            collected.append(ys)
        if backwards:
            collected.reverse()
        results = (*state, *(np.array(column) for column in zip(*collected, strict=True)))
        return results if used is None else tuple(results[i] for i in used)

    return oracle


# Bodies: as graph and as NumPy -------------------------------------------------------------


def rnn(consts: Nodes, carry: Nodes, slices: Nodes) -> tuple[Nodes, Nodes]:
    """h = mask ? tanh(x W + h U + b) : h"""
    (w, u, b), (h,), (x, mask) = consts, carry, slices
    z = ew.add(matmul(x, w), matmul(h, u))
    new = ew.tanh(ew.add(z, like(z, b)))
    held = broadcast_to(reshape(mask, [*dims_of(mask), 1]), dims_of(new))
    h = ew.select(held, new, h)
    return [h], [new]


def rnn_meaning(consts: Any, carry: Any, slices: Any) -> Any:
    (w, u, b), (h,), (x, mask) = consts, carry, slices
    new = np.tanh(x @ w + h @ u + b)
    h = np.where(mask[:, None], new, h)
    return [h], [new]


def gated(consts: Nodes, carry: Nodes, slices: Nodes) -> tuple[Nodes, Nodes]:
    """Two states, each gating the other; one constant is a matrix, the other is broadcast."""
    (k, scale), (h, c), (x,) = consts, carry, slices
    gate = REGISTRY["sigmoid"](ew.add(x, matmul(h, k)))
    c = ew.add(ew.mul(gate, c), ew.mul(x, like(x, scale)))
    return [ew.mul(gate, ew.tanh(c)), c], [ew.square(c), gate]


def gated_meaning(consts: Any, carry: Any, slices: Any) -> Any:
    (k, scale), (h, c), (x,) = consts, carry, slices
    gate = 1 / (1 + np.exp(-(x + h @ k)))
    c = gate * c + x * scale
    return [gate * np.tanh(c), c], [c**2, gate]


def counter(consts: Nodes, carry: Nodes, slices: Nodes) -> tuple[Nodes, Nodes]:
    """An integer state picks the rows of a table."""
    (table,), (i, total), (x,) = consts, carry, slices
    row = gather(table, i, 0)
    return [ew.add(i, full_like(i, 1)), ew.add(total, ew.mul(row, x))], [row]


def counter_meaning(consts: Any, carry: Any, slices: Any) -> Any:
    (table,), (i, total), (x,) = consts, carry, slices
    return [i + 1, total + table[i] * x], [table[i]]


def embedded(consts: Nodes, carry: Nodes, slices: Nodes) -> tuple[Nodes, Nodes]:
    """Rows of a constant, by indices of the sequence."""
    (table,), (h,), (index,) = consts, carry, slices
    h = ew.mul(ew.sin(h), gather(table, index, 0))
    return [h], []


def embedded_meaning(consts: Any, carry: Any, slices: Any) -> Any:
    (table,), (h,), (index,) = consts, carry, slices
    return [np.sin(h) * table[index]], []


def nested(consts: Nodes, carry: Nodes, slices: Nodes) -> tuple[Nodes, Nodes]:
    """At each step a scan over a constant sequence, that starts from the outer state."""
    (inner,), (h,), (x,) = consts, carry, slices
    last, ys = scanned(
        lambda c, s, z: ([ew.sin(ew.add(ew.mul(s[0], z[0]), c[0]))], [ew.square(s[0])]),
        [x],
        [h],
        [inner],
        True,
    )
    return [last[0]], [reduce_sum(ys[0], (0,))]


def nested_meaning(consts: Any, carry: Any, slices: Any) -> Any:
    (inner,), (h,), (x,) = consts, carry, slices
    total = 0
    for z in inner[::-1]:
        total = total + h**2
        h = np.sin(h * z + x)
    return [h], [total]


def branching(consts: Nodes, carry: Nodes, slices: Nodes) -> tuple[Nodes, Nodes]:
    """At each step one of two branches."""
    (k,), (h,), (x, flag) = consts, carry, slices
    (h,) = chosen(
        flag,
        [h, x, k],
        lambda h, x, k: [ew.tanh(ew.add(h, ew.mul(x, like(x, k))))],
        lambda h, x, k: [ew.mul(h, h)],
    )
    return [h], [ew.mul(h, x)]


def branching_meaning(consts: Any, carry: Any, slices: Any) -> Any:
    (k,), (h,), (x, flag) = consts, carry, slices
    h = np.tanh(h + x * k) if flag else h * h
    return [h], [h * x]


def shaped(consts: Nodes, carry: Nodes, slices: Nodes) -> tuple[Nodes, Nodes]:
    """Constants used through reshape, transpose, broadcast, slice and a batch of products."""
    (k, b), (h,), (x,) = consts, carry, slices
    turned = transpose(reshape(k, [size_of(h, -1), size_of(h, -1)]), (1, 0))
    z = ew.add(matmul(h, turned), like(h, ew.neg(b)))
    pairs = contract(z, x, ((1,), (1,)), ((0,), (0,)))
    first = slice_axis(k, 0, 0, 1)
    wide = broadcast_to(reshape(pairs, [*dims_of(pairs), 1]), dims_of(z))
    return [ew.sin(ew.add(z, wide))], [
        ew.mul(pairs, broadcast_to(reshape(first, []), dims_of(pairs)))
    ]


def shaped_meaning(consts: Any, carry: Any, slices: Any) -> Any:
    (k, b), (h,), (x,) = consts, carry, slices
    n = h.shape[-1]
    z = h @ k.reshape(n, n).T - b
    pairs = (z * x).sum(axis=1)
    return [np.sin(z + pairs[:, None])], [pairs * k[0]]


def passing(consts: Nodes, carry: Nodes, slices: Nodes) -> tuple[Nodes, Nodes]:
    """The state and constants go out as they came in."""
    return [carry[0]], [carry[0], consts[0], slices[0]]


def swapped(consts: Nodes, carry: Nodes, slices: Nodes) -> tuple[Nodes, Nodes]:
    """States change places; the sequence only counts the steps."""
    return [carry[1], ew.mul(carry[0], like(carry[0], consts[0]))], []


def swapped_meaning(consts: Any, carry: Any, slices: Any) -> Any:
    return [carry[1], carry[0] * consts[0]], []


def shifted(consts: Nodes, carry: Nodes, slices: Nodes) -> tuple[Nodes, Nodes]:
    """A constant and a slice share a cotangent: summed for the constant, stacked for the slice."""
    z = ew.add(slices[0], consts[0])
    return [ew.tanh(ew.mul(carry[0], z))], [z]


def shifted_meaning(consts: Any, carry: Any, slices: Any) -> Any:
    z = slices[0] + consts[0]
    return [np.tanh(carry[0] * z)], [z]


def cumulative(consts: Nodes, carry: Nodes, slices: Nodes) -> tuple[Nodes, Nodes]:
    """No constants, no sizes: scalars."""
    h = ew.mul(ew.cos(carry[0]), slices[0])
    return [h], [ew.exp(h)]


def cumulative_meaning(consts: Any, carry: Any, slices: Any) -> Any:
    h = np.cos(carry[0]) * slices[0]
    return [h], [np.exp(h)]


def stepwise(consts: Nodes, carry: Nodes, slices: Nodes) -> tuple[Nodes, Nodes]:
    """No state: a map over the sequence."""
    return [], [ew.tanh(matmul(slices[0], consts[0]))]


def stepwise_meaning(consts: Any, carry: Any, slices: Any) -> Any:
    return [], [np.tanh(slices[0] @ consts[0])]


# By the name with which the labels of its cases begin.
BODIES: dict[str, tuple[Step, Callable[..., Any]]] = {
    "rnn": (rnn, rnn_meaning),
    "gated": (gated, gated_meaning),
    "counter": (counter, counter_meaning),
    "embedded": (embedded, embedded_meaning),
    "nested": (nested, nested_meaning),
    "branching": (branching, branching_meaning),
    "shaped": (shaped, shaped_meaning),
    "passing": (passing, passing),
    "swapped": (swapped, swapped_meaning),
    "shifted": (shifted, shifted_meaning),
    "scalars": (cumulative, cumulative_meaning),
    "map": (stepwise, stepwise_meaning),
}


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
    step, meaning = BODIES[label.partition("-")[0]]
    c, k = len(consts), len(carry)
    operands = (*consts, *carry, *sequences)

    def build(*xs: Node) -> Nodes:
        last, ys = scanned(step, xs[:c], xs[c : c + k], xs[c + k :], backwards)
        results = [*last, *ys]
        return results if used is None else [results[i] for i in used]

    floats = [i for i, x in enumerate(operands) if x.dtype == "float64" and i not in fixed]
    return Case(
        primitive="scan",
        label=label,
        build=build,
        operands=operands,
        oracle=looped(meaning, c, k, backwards, used),
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


def reused(x: Node, w: Node) -> Nodes:
    """The sequence is a constant, too, and its first row the initial state."""
    start = reshape(slice_axis(x, 0, 0, 1), dims_of(x)[1:])

    def step(consts: Nodes, carry: Nodes, slices: Nodes) -> tuple[Nodes, Nodes]:
        mixed = contract(consts[0], consts[1], ((0,), (0,)))
        return [ew.sin(ew.add(contract(mixed, carry[0], ((1,), (0,))), slices[0]))], [slices[1]]

    last, ys = scanned(step, [x, w], [start], [x, x])
    return [last[0], ys[0]]


def reused_meaning(x: Array, w: Array) -> tuple[Array, Array]:
    h = x[0]
    for row in x:
        h = np.sin(x.T @ w @ h + row)
    return h, x


CASES: list[Case] = [
    *SCANS,
    *NO_STEPS,
    *uses(
        "scan",
        reused,
        reused_meaning,
        ("reused", (normal(3, 2), normal(3, 2, seed=1))),
        wrt=(0, 1),
        units=64,
    ),
]
