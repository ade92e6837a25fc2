"""Cases of conditions, loops and identity-like annotations."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ...graph.ir.node import REGISTRY, Node
from ...graph.primitives import elementwise as ew
from ...graph.primitives.control import while_
from ...graph.primitives.filling import full_like, scaled
from ...graph.primitives.movement import slice_axis
from ...graph.primitives.reduce import reduce_sum
from .case import Array, Case, body, each, normal, uses
from .scans import STATE, H, N, Nodes, T, both, chosen

# Conditions --------------------------------------------------------------------------------


def one_or_other(m: Any, flag: Any, a: Any, b: Any) -> Any:
    """Two results; one branch ignores an operand, one gives an operand as it is."""

    def otherwise(a: Any, b: Any) -> list[Any]:
        return [m.exp(a), m.square(a)]

    return m.chosen(flag, [a, b], lambda a, b: [m.mul(a, m.sin(b)), a], otherwise)


def in_turn(m: Any, first: Any, second: Any, x: Any) -> Any:
    """A condition within a branch."""

    def inner(x: Any, flag: Any) -> Any:
        return m.chosen(flag, [x], lambda x: [m.sin(x)], lambda x: [m.cos(x)])

    return m.chosen(first, [x, second], inner, lambda x, flag: [m.neg(x)])


def loop_or_not(m: Any, flag: Any, w: Any, h: Any, x: Any) -> Any:
    """A scan in one branch."""

    def step(consts: Any, carry: Any, slices: Any) -> Any:
        h = m.tanh(m.add(m.matmul(carry[0], consts[0]), slices[0]))
        return [h], [m.square(h)]

    def loop(w: Any, h: Any, x: Any) -> list[Any]:
        last, ys = m.scanned(step, [w], [h], [x])
        return [last[0], ys[0]]

    return m.chosen(flag, [w, h, x], loop, lambda w, h, x: [m.mul(h, h), m.neg(x)])


YES, NO = np.array(True), np.array(False)
either = partial(uses, "cond", *both(one_or_other), wrt=(1, 2), units=64)
nested = partial(uses, "cond", *both(in_turn), wrt=(2,), units=64)
loop = partial(uses, "cond", *both(loop_or_not), wrt=(1, 2, 3), units=64)
CONDITIONS: list[Case] = [
    *(
        case
        for flag in (YES, NO)
        for case in (
            *either((f"either-{flag}", (flag, normal(3), normal(3, seed=1)))),
            *either((f"scalars-{flag}", (flag, normal(), normal(seed=1)))),
            *nested((f"nested-{flag}", (flag, YES, normal(2, 2)))),
            *nested((f"nested-no-{flag}", (flag, NO, normal(2, 2)))),
            *loop((f"scan-{flag}", (flag, normal(2, 2), STATE, normal(T, N, H)))),
        )
    ),
    *uses(
        "cond",
        lambda flag, x: chosen(
            flag, [x], lambda x: [slice_axis(x, 0, 0, 2)], lambda x: [ew.sin(x)]
        ),
        lambda flag, x: x[:2] if flag else np.sin(x),
        ("different-sizes", (YES, normal(3, 2))),
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


WHILE = uses(
    "while",
    halved,
    halved_meaning,
    *(
        (label, (np.array(limit), x, np.array(0, "int32")))
        for label, limit, x in (
            ("some", 1.0, normal(3, 2) * 5),
            ("none", 1e6, normal(3)),
            ("scalar", 0.1, np.array(8.0)),
        )
    ),
)

# Identity-like annotations -----------------------------------------------------------------


def checked(x: Node) -> Node:
    return REGISTRY["check"](x, ew.gt(ew.exp(x), full_like(x, 0)), message="never")


def with_another(x: Node) -> Node:
    return REGISTRY["with_gradient"](ew.mul(x, full_like(x, 1)), x, rule=lambda g: [g])


NOTES: list[Case] = [
    case
    for name, build, wrt in (
        ("identity", REGISTRY["identity"], (0,)),
        ("stop_gradient", REGISTRY["stop_gradient"], ()),
        ("check", checked, (0,)),
        ("with_gradient", with_another, (0,)),
    )
    for case in uses(name, build, each(lambda x: x), ("smooth", normal(3, 2)), wrt=wrt)
]

CASES: list[Case] = [*CONDITIONS, *WHILE, *NOTES]
