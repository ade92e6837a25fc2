"""The reverse sweep: cotangents flow from outputs to whatever they depend on.

It knows records of primitives and nothing of any operation; a gradient is a graph like any
other, so it can be differentiated again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from ..errors import GradientError
from .node import Node, context, rewriting, walk
from .primitive import REGISTRY, ZERO, jointly
from .types import TensorType


def pullback(
    outputs: Sequence[Node],
    cotangents: Sequence[Node],
    wrt: Sequence[Node],
    stop: Collection[Node] = (),
) -> list[Node | None]:
    """The cotangents of `wrt`, given those of `outputs`; None where there is no influence.

    Args:
        outputs, cotangents: in pairs of equal type.
        wrt: any nodes, also such that depend on each other.
        stop: nodes behind which the sweep does not look (the inputs of a body).

    Raises:
        GradientError: a primitive without gradient lies on a path; names it and the user's line.
    """
    order = walk(outputs, set(stop))
    active = _active(order, wrt, stop)
    found: dict[Node, Node] = {}
    for output, cotangent in zip(outputs, cotangents, strict=True):
        _accumulate(found, output, cotangent)
    rewriting(_sweep, found, reversed(order), active, stop)
    return [found.get(node) if node in active else None for node in wrt]


def _sweep(
    found: dict[Node, Node], order: Iterable[Node], active: set[Node], stop: Collection[Node]
) -> None:
    for node in order:
        if node in active and node not in stop and node.primitive.gradient is not ZERO:
            gs = tuple(map(found.get, node.results))
            if any(g is not None for g in gs):
                context.source = node._source
                for operand, part in zip(node.operands, _pull(node, gs, active), strict=True):
                    if part is not None:
                        _accumulate(found, operand, part)


def _active(order: Sequence[Node], wrt: Sequence[Node], stop: Collection[Node]) -> set[Node]:
    """What depends on `wrt` in a way that has a derivative."""
    active = {n for n in wrt if n.dtype.is_float}
    for node in order:
        if (
            node.operands
            and node.primitive.gradient is not ZERO
            and node not in stop
            and (not isinstance(node.type, TensorType) or node.type.dtype.is_float)
            and not active.isdisjoint(node.operands)
        ):
            active.add(node)
    return active


def _pull(
    node: Node, gs: tuple[Node | None, ...], active: Collection[Node]
) -> Sequence[Node | None]:
    rule = node.primitive.gradient
    needed = tuple(operand in active for operand in node.operands)
    if isinstance(rule, str):
        raise GradientError(
            f"{node.primitive.name} has no gradient: {rule} (made at {node.source})"
        )
    if isinstance(rule, jointly):
        return rule.rule(node, gs, needed)
    return [
        each(gs[0], node, *node.operands, **node.attrs) if want and each is not None else None
        for each, want in zip(rule, needed, strict=True)
    ]


def _accumulate(found: dict[Node, Node], node: Node, part: Node) -> None:
    before = found.get(node)
    found[node] = part if before is None else REGISTRY["add"](before, part)
