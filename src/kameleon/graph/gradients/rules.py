"""The table of gradients, by primitive, and what its entries may be."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..ir.node import Node

# (node, cotangents of its results, which operands want one) -> the operands' cotangents, where
# None is zero.
Pullback = Callable[[Node, tuple[Node | None, ...], tuple[bool, ...]], Sequence[Node | None]]
# (cotangent of the result, the result, *operands, **attrs) -> cotangent of one operand.
Slope = Callable[..., Node | None]


class Zero:
    """The rule of a primitive whose result is flat wherever it is differentiable."""

    def __repr__(self) -> str:
        return "ZERO"


ZERO = Zero()


class jointly:  # noqa: N801 (reads as a word in the tables)
    """Marks a `Pullback` that gives the cotangents of all operands at once."""

    __slots__ = ("rule",)

    def __init__(self, rule: Pullback):
        self.rule = rule


def of_first(slope: Slope) -> jointly:
    """The rule `(g, y, **attrs)` of a primitive whose other operands are sizes or indices."""
    return jointly(lambda y, gs, needed: [slope(gs[0], y, **y.attrs), *[None] * (len(needed) - 1)])


# One slope for each operand, or None where the operand has no influence; or all `jointly`; or the
# reason why there is no gradient, which is an error where one is needed; or ZERO.
Rule = list[Slope | None] | jointly | str | Zero

# By the name of the primitive. Each module of this package has the rules of a subject.
GRADIENTS: dict[str, Rule] = {}


def flat(names: str) -> dict[str, Any]:
    """ZERO for each of the primitives."""
    return dict.fromkeys(names.split(), ZERO)
