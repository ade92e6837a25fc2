"""From a Python function over tensors to a body: what the function captures becomes an input."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...errors import GraphError
from .leaves import CONSTANT, SOURCE
from .node import Node, Print, Update, dependents, walk
from .program import has_effects


class Closure:
    """The part of a graph that belongs to a function called for its nodes.

    The part is what depends on `params`, on random streams opened inside, or on functions with
    effects called inside; with `whole`, it's
    whatever was made since `start` (for a branch, which shall run only if it's taken).

    Attributes:
        captured: outer nodes that the part uses; constants are not captured, they stay inside.
        sources: random streams opened after `start`; they are among `captured`.
    """

    __slots__ = ("captured", "params", "sources")

    def __init__(
        self,
        what: str,
        params: Sequence[Node],
        outputs: Sequence[Node],
        start: int,
        whole: bool = False,
    ):
        since = min([start, *(p.serial for p in params)])
        order = walk(outputs, _Ends(since, params))
        self.params = tuple(params)
        self.sources = [n for n in order if n.primitive is SOURCE and n.serial > start]
        acting = {n for n in order if n.serial > start and has_effects(n)}
        inside = dependents(order, {*params, *self.sources, *acting}) - set(self.sources)
        if whole:
            inside.update(n for n in order if n.serial > start and n.operands)
        inside.update(_stretches(order, inside))
        used = [n for node in inside if node not in params for n in node.operands]
        outer = {n for n in (*used, *outputs) if n not in inside}
        self.captured = sorted(
            (n for n in outer if n.primitive is not CONSTANT), key=lambda n: n.serial
        )
        for node in inside:
            if isinstance(node, Update) or any(isinstance(e, Print) for e in node.effects):
                raise GraphError(
                    f"{what}: updates can't be made inside of its functions; return the value and"
                    f" update it outside (made at {node.source})"
                )


class _Ends:
    """Where the walk through a function ends, which may lie in a large graph: at parameters, and at
    what was made before, but for broadcasts, of which the part captures what they stretch."""

    __slots__ = ("_params", "_since")

    def __init__(self, since: int, params: Sequence[Node]) -> None:
        self._since, self._params = since, set(params)

    def __contains__(self, node: Any) -> bool:
        is_near = node.serial > self._since or node.primitive.name == "broadcast_to"
        return not is_near or node in self._params


def _stretches(order: Sequence[Node], inside: set[Node]) -> set[Node]:
    """Broadcasts that the part uses: inside they cost nothing, and only their small operands are
    captured."""
    used = {n for node in inside for n in node.operands}
    found = set()
    for node in reversed(order):
        if node.primitive.name == "broadcast_to" and node in used:
            found.add(node)
            used.update(node.operands)
    return found
