"""Rewriting a graph into an equal, smaller one: identities, common nodes, expansion of composites.

Simplifying never changes a value but in the last bits (and the sign of a zero).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

from ..ir.context import context, rewriting
from ..ir.leaves import CONSTANT
from ..ir.node import ITEM, Node, walk
from ..ir.program import KEYED_CONSTANT, Graph, attrs_key
from ..ir.rewrite import attrs_with
from ..ir.types import TensorType
from ..primitives.elementwise import constant
from . import arithmetic, choices, contraction, extrema, order
from .identities import RULES, TUPLE_RULES, outer_broadcast
from .scans import merge_scans, merge_siblings
from .window_kernels import by_kernel

Fold = Callable[[Node], Any]
Native = Callable[[Node], bool]

FOLDED_SIZE = KEYED_CONSTANT
# Rules for primitives that an engine has, for nodes for which the engine's own rule doesn't hold.
LEGAL = {
    **arithmetic.RULES,
    **choices.RULES,
    **contraction.RULES,
    **extrema.RULES,
    **order.RULES,
}


class Rewriter:
    """Rewrites the nodes of one graph, operands first.

    Args:
        native: whether the engine does a node itself; other composites are expanded.
        fold: gives the value of a node whose operands are constants, or None.
        keep: names of primitives that no rule of `RULES` is applied to.
    """

    def __init__(
        self,
        native: Native | None,
        fold: Fold | None,
        inputs: Iterable[Node],
        keep: Collection[str] = (),
    ):
        self.native, self.fold = native, fold
        self.rules = {k: v for k, v in RULES.items() if k not in keep} if keep else RULES
        self.keep = keep
        self.final: dict[Node, Node] = {n: n for n in inputs}
        self.parts: dict[Node, tuple[Node, ...]] = {}
        self.shared: dict[Any, Node] = {}
        self.bodies: dict[Graph, Graph] = {}

    def rewrite(self, outputs: Sequence[Node]) -> list[Node]:
        """Nodes equal to the outputs."""
        for node in walk(outputs, self.final):
            if node not in self.final:
                context.source = node._source
                self._visit(node)
        return [self.final[n] for n in outputs]

    def _visit(self, node: Node) -> None:
        if node.primitive is ITEM:
            self.final[node] = self._item(node)
            return
        final = self.final
        operands = tuple([final[n] for n in node.operands])
        attrs = attrs_with(node, self._body)
        if operands == node.operands and attrs is node.attrs:
            candidate = node
        else:
            candidate = node.primitive(*operands, **attrs)
        if isinstance(node.type, TensorType):
            settled = self._settled(candidate)
            final[node] = final[candidate] = final[settled] = settled
        else:
            self._visit_tuple(node, candidate)

    def _item(self, node: Node) -> Node:
        producer, index = node.operands[0], node.attrs["index"]
        parts = self.parts.get(producer)
        part = self.final[producer].results[index] if parts is None else parts[index]
        self.final[part] = part
        return part

    def _visit_tuple(self, node: Node, candidate: Node) -> None:
        parts = self._replaced_parts(candidate)
        if parts is None:
            candidate = self._common(candidate)
            self.final[node] = self.final[candidate] = candidate
        else:
            self.final[node] = candidate
            self.parts[node] = self.parts[candidate] = tuple(self.rewrite(parts))

    def _replaced_parts(self, node: Node) -> tuple[Node, ...] | None:
        rule = TUPLE_RULES.get(node.primitive.name)
        parts = rule(node) if rule else None
        if parts is None and self._must_expand(node):
            assert node.primitive.expand is not None
            parts = node.primitive.expand(*node.operands, **node.attrs)
        return parts

    def _must_expand(self, node: Node) -> bool:
        if node.primitive.expand is None or self.native is None:
            return False
        return not self.native(node)

    def _settled(self, node: Node) -> Node:
        replaced = self._replaced(node)
        if replaced is None or replaced is node:
            return self._common(node)
        final = self.final
        if replaced not in final and all(map(final.__contains__, replaced.operands)):
            context.source = replaced._source
            self._visit(replaced)  # the usual case, without a walk
        return final[replaced] if replaced in final else self.rewrite([replaced])[0]

    def _replaced(self, node: Node) -> Node | None:
        if not node.operands:
            return None
        for rule in self.rules.get(node.primitive.name, ()):
            found = rule(node)
            if found is not None:
                return found
        if node.primitive.elementwise:
            found = outer_broadcast(node)
            if found is not None:
                return found
        if self.native is not None and self._must_expand(node):
            assert node.primitive.expand is not None
            other = by_kernel(node, self.native)
            if other is not None:
                return other
            expanded: Node = node.primitive.expand(*node.operands, **node.attrs)
            return expanded
        legal = self._legal(node)
        return self._folded(node) if legal is None else legal

    def _legal(self, node: Node) -> Node | None:
        """See `LEGAL`."""
        rule = LEGAL.get(node.primitive.name)
        if rule is None or self.native is None or self.native(node):
            return None
        return rule(node)

    def _folded(self, node: Node) -> Node | None:
        """f(constants) -> a constant, where it's small (broadcasts stay: they cost nothing)."""
        if (
            self.fold is None
            or node.primitive.name == "broadcast_to"
            or not all(n.primitive is CONSTANT for n in node.operands)
        ):
            return None
        if not node.type.is_static or math.prod(node.shape) > FOLDED_SIZE:  # type: ignore[arg-type]
            return None
        value = self.fold(node)
        return None if value is None else constant(value, node.dtype)

    def _common(self, node: Node) -> Node:
        """An equal node that exists already, else this one."""
        if not node.operands and node.primitive.name not in ("constant", "iota"):
            return node
        key = (node.primitive, node.operands, attrs_key(node, structure=False))
        return self.shared.setdefault(key, node)

    def _body(self, graph: Graph) -> Graph:
        if graph not in self.bodies:
            simple = simplify(graph, self.native, self.fold, self.keep)
            self.bodies[graph] = self.bodies[simple] = simple
        return self.bodies[graph]


def simplify(
    graph: Graph,
    native: Native | None = None,
    fold: Fold | None = None,
    keep: Collection[str] = (),
) -> Graph:
    """An equal graph with the same inputs.

    Args:
        graph: any closed graph.
        native: whether the engine does a node itself; where given, other composites are expanded.
        fold: evaluates nodes over constants.
        keep: names of primitives that are left as they are, such as annotations.
    """
    return rewriting(_simplified, graph, native, fold, keep)


def _simplified(
    graph: Graph, native: Native | None, fold: Fold | None, keep: Collection[str]
) -> Graph:
    outputs = merge_siblings(merge_scans(graph), graph.inputs)
    rewriter = Rewriter(native, fold, graph.inputs, keep)
    return Graph(graph.inputs, rewriter.rewrite(outputs), graph.equal)
