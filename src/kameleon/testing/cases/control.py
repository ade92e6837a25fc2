"""Cases of conditions, loops and identity-like annotations."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...graph.ir.node import REGISTRY, Node
from ...graph.primitives import elementwise as ew
from ...graph.primitives.control import while_
from ...graph.primitives.filling import full_like, scaled
from ...graph.primitives.linalg import matmul
from ...graph.primitives.movement import slice_axis
from ...graph.primitives.reduce import reduce_sum
from .case import Array, Case, body, each, normal
from .scans import STATE, H, N, Nodes, T, chosen, scanned

# Conditions --------------------------------------------------------------------------------


def one_or_other(flag: Node, a: Node, b: Node) -> Nodes:
    """Two results; one branch ignores an operand, one gives an operand as it is."""
    return chosen(
        flag, [a, b], lambda a, b: [ew.mul(a, ew.sin(b)), a], lambda a, b: [ew.exp(a), ew.square(a)]
    )


def one_or_other_meaning(flag: Array, a: Array, b: Array) -> tuple[Array, Array]:
    return (a * np.sin(b), a) if flag else (np.exp(a), a**2)


def in_turn(first: Node, second: Node, x: Node) -> Nodes:
    """A condition within a branch."""

    def inner(x: Node, flag: Node) -> Nodes:
        return chosen(flag, [x], lambda x: [ew.sin(x)], lambda x: [ew.cos(x)])

    return chosen(first, [x, second], inner, lambda x, flag: [ew.neg(x)])


def in_turn_meaning(first: Array, second: Array, x: Array) -> Array:
    if first:
        return np.sin(x) if second else np.cos(x)
    return -x


def loop_or_not(flag: Node, w: Node, h: Node, x: Node) -> Nodes:
    """A scan in one branch."""

    def loop(w: Node, h: Node, x: Node) -> Nodes:
        last, ys = scanned(stepping, [w], [h], [x])
        return [last[0], ys[0]]

    return chosen(flag, [w, h, x], loop, lambda w, h, x: [ew.mul(h, h), ew.neg(x)])


def stepping(consts: Nodes, carry: Nodes, slices: Nodes) -> tuple[Nodes, Nodes]:
    h = ew.tanh(ew.add(matmul(carry[0], consts[0]), slices[0]))
    return [h], [ew.square(h)]


def loop_or_not_meaning(flag: Array, w: Array, h: Array, x: Array) -> tuple[Array, Array]:
    if not flag:
        return h * h, -x
    rows = []
    for row in x:
        h = np.tanh(h @ w + row)
        rows.append(h**2)
    return h, np.array(rows)


def cond_case(label: str, build: Any, meaning: Any, *operands: Array) -> Case:
    floats = tuple(i for i, x in enumerate(operands) if x.dtype == "float64")
    return Case(
        primitive="cond",
        label=label,
        build=build,
        operands=operands,
        oracle=meaning,
        wrt=floats,
        units=64,
    )


YES, NO = np.array(True), np.array(False)
CONDITIONS: list[Case] = [
    *(
        cond_case(f"{name}-{bool(flag)}", build, meaning, flag, *operands)
        for flag in (YES, NO)
        for name, build, meaning, operands in (
            ("either", one_or_other, one_or_other_meaning, (normal(3), normal(3, seed=1))),
            ("scalars", one_or_other, one_or_other_meaning, (normal(), normal(seed=1))),
            ("nested", in_turn, in_turn_meaning, (YES, normal(2, 2))),
            ("nested-no", in_turn, in_turn_meaning, (NO, normal(2, 2))),
            ("scan", loop_or_not, loop_or_not_meaning, (normal(2, 2), STATE, normal(T, N, H))),
        )
    ),
    Case(
        primitive="cond",
        label="different-sizes",
        build=lambda flag, x: chosen(
            flag, [x], lambda x: [slice_axis(x, 0, 0, 2)], lambda x: [ew.sin(x)]
        ),
        operands=(YES, normal(3, 2)),
        oracle=lambda flag, x: x[:2] if flag else np.sin(x),
        wrt=(1,),
        data_dependent=True,
    ),
]

# While -------------------------------------------------------------------------------------


def halved(limit: Node, x: Node, count: Node) -> Nodes:
    """x is halved as long as its sum of squares is above a limit; and how often that was."""
    types = [n.type for n in (limit, x, count)]

    def condition(limit: Node, x: Node, count: Node) -> Nodes:
        return [ew.gt(reduce_sum(ew.mul(x, x), range(len(x.shape))), limit)]

    def step(limit: Node, x: Node, count: Node) -> Nodes:
        return [scaled(x, 0.5), ew.add(count, full_like(count, 1))]

    return while_(
        limit, x, count, condition=body(types, condition), body=body(types, step), consts=1
    ).results


def halved_meaning(limit: Array, x: Array, count: Array) -> tuple[Array, Array]:
    while (x * x).sum() > limit:
        x, count = x / 2, count + np.int32(1)
    return x, count


def while_case(label: str, limit: float, x: Array) -> Case:
    return Case(
        primitive="while",
        label=label,
        build=halved,
        operands=(np.array(limit), x, np.array(0, "int32")),
        oracle=halved_meaning,
    )


# Identity-like annotations -----------------------------------------------------------------


def checked(x: Node) -> Node:
    return REGISTRY["check"](x, ew.gt(ew.exp(x), full_like(x, 0)), message="never")


NOTES: list[Case] = [
    Case(
        primitive=name,
        label="smooth",
        build=build,
        operands=(normal(3, 2),),
        oracle=each(lambda x: x),
        wrt=wrt,
    )
    for name, build, wrt in (
        ("identity", REGISTRY["identity"], (0,)),
        ("stop_gradient", REGISTRY["stop_gradient"], ()),
        ("check", checked, (0,)),
        (
            "with_gradient",
            lambda x: REGISTRY["with_gradient"](ew.mul(x, full_like(x, 1)), x, rule=lambda g: [g]),
            (0,),
        ),
    )
]

CASES: list[Case] = [
    *CONDITIONS,
    while_case("some", 1.0, normal(3, 2) * 5),
    while_case("none", 1e6, normal(3)),
    while_case("scalar", 0.1, np.array(8.0)),
    *NOTES,
]
