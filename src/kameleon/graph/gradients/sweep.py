"""The reverse sweep: cotangents flow from outputs to whatever they depend on.

The sweep reads the table of rules and knows nothing of any operation but how cotangents add up.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial

from ..._utils.collection import uncollected
from ...errors import GradientError
from ..ir.context import context, rewriting
from ..ir.node import Node, walk
from ..ir.sizes import Sizes
from ..ir.types import TensorType
from ..primitives.elementwise import add
from ..primitives.filling import full_like
from ..primitives.movement import broadcast_to
from ..primitives.sizes import dims_of, size_origin
from .rules import GRADIENTS, ZERO, Rule, jointly

# What stands for the rule of a node: for it and its cotangent, the parts that flow to others.
Replaced = Callable[[Node, Node], "Sequence[tuple[Node, Node]] | None"]


def gradients(loss: Node, wrt: Sequence[Node], seed: Node | None = None) -> list[Node | None]:
    """The gradient of the sum of `loss` with respect to each of `wrt`.

    Args:
        loss: a float tensor; where it isn't a scalar, its elements are summed.
        wrt: any tensors of the graph.
        seed: the cotangent of the loss; ones, if None.

    Returns:
        For each of `wrt` a tensor of its type, or None if it has no influence on the loss.

    Raises:
        GradientError: the loss isn't of a float dtype; or an operation on the way has no
            gradient.
    """
    if not loss.dtype.is_float:
        raise GradientError(
            f"gradients: the loss must be a float tensor, not {loss!r}; K.cast(loss, 'float32')"
        )
    if seed is None:
        seed = rewriting(_ones, loss)
    sizes = Sizes(size_origin)
    return [
        None if g is None else _of_sizes(g, x, sizes)
        for g, x in zip(pullback([loss], [seed], wrt), wrt, strict=True)
    ]


def _ones(loss: Node) -> Node:
    context.source = loss.source.for_gradient()
    return full_like(loss, 1)


def _of_sizes(g: Node, x: Node, sizes: Sizes) -> Node:
    """`g` with the sizes of `x`; where these differ, an error at run time says so.

    The gradient may not need the operation that took the sizes as equal, and would have failed.
    """
    same = all(sizes.of(g, axis) == sizes.of(x, axis) for axis in range(len(x.shape)))
    return g if same else broadcast_to(g, dims_of(x))


def pullback(
    outputs: Sequence[Node],
    cotangents: Sequence[Node],
    wrt: Sequence[Node],
    stop: Collection[Node] = (),
    replaced: Replaced | None = None,
) -> list[Node | None]:
    """The cotangents of `wrt`, given those of `outputs`; None where there is no influence.

    Args:
        outputs, cotangents: in pairs of equal type.
        wrt: any nodes, which may depend on each other.
        stop: nodes behind which the sweep does not look (the inputs of a body).
        replaced: gives what stands for a node's rule, for the node and its cotangent: pairs of a
            node before it and the part that flows there; or None, where its rule holds.

    Raises:
        GradientError: a primitive without gradient lies on a path; names it and the user's line.
    """
    order = walk(outputs, set(stop))
    active = _active(order, wrt, stop)
    found: dict[Node, Node] = {}
    for output, cotangent in zip(outputs, cotangents, strict=True):
        _accumulate(found, output, cotangent)
    sweep = partial(rewriting, _sweep, found, reversed(order), active, stop, replaced)
    uncollected(len(order), sweep)
    return [found.get(node) if node in active else None for node in wrt]


def _sweep(
    found: dict[Node, Node],
    order: Iterable[Node],
    active: set[Node],
    stop: Collection[Node],
    replaced: Replaced | None,
) -> None:
    for node in order:
        if node in active and node not in stop and _rule_of(node) is not ZERO:
            gs = tuple(map(found.get, node.results))
            if any(g is not None for g in gs):
                context.source = node.source.for_gradient()
                parts = replaced(node, gs[0]) if replaced and gs[0] is not None else None
                for operand, part in _paired(node, gs, active) if parts is None else parts:
                    if part is not None:
                        _accumulate(found, operand, part)


def _paired(
    node: Node, gs: tuple[Node | None, ...], active: Collection[Node]
) -> Iterable[tuple[Node, Node | None]]:
    return zip(node.operands, _pull(node, gs, active), strict=True)


def _active(order: Sequence[Node], wrt: Sequence[Node], stop: Collection[Node]) -> set[Node]:
    """The nodes that depend on `wrt` in a way that has a derivative."""
    active = {n for n in wrt if n.dtype.is_float}
    for node in order:
        if (
            node.operands
            and _rule_of(node) is not ZERO
            and node not in stop
            and (not isinstance(node.type, TensorType) or node.type.dtype.is_float)
            and not active.isdisjoint(node.operands)
        ):
            active.add(node)
    return active


def _rule_of(node: Node) -> Rule:
    return GRADIENTS.get(node.primitive.name, "it has no rule")


def _pull(
    node: Node, gs: tuple[Node | None, ...], active: Collection[Node]
) -> Sequence[Node | None]:
    rule = _rule_of(node)
    needed = tuple(operand in active for operand in node.operands)
    if isinstance(rule, str):
        raise GradientError(
            f"{node.primitive.name} has no gradient: {rule} (made at {node.source})"
        )
    if isinstance(rule, jointly):
        return rule.rule(node, gs, needed)
    assert isinstance(rule, list)
    return [
        each(gs[0], node, *node.operands, **node.attrs) if want and each is not None else None
        for each, want in zip(rule, needed, strict=True)
    ]


def _accumulate(found: dict[Node, Node], node: Node, part: Node) -> None:
    before = found.get(node)
    found[node] = part if before is None else add(before, part)
