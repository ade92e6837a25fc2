"""Rewriting a graph into an equal, smaller one: identities, common nodes, expansion of composites.

Simplifying never changes a value but in the last bits (and the sign of a zero).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

from ..ir.context import context, rewriting
from ..ir.leaves import CONSTANT
from ..ir.node import ITEM, Node, Primitive, walk
from ..ir.program import KEYED_CONSTANT, Graph, attrs_key
from ..ir.rewrite import attrs_with
from ..ir.types import TensorType
from ..primitives.elementwise import constant
from . import arithmetic, choices, contraction, extrema, order
from .identities import RULES, TUPLE_RULES, Rule, outer_broadcast
from .scans import merge_scans, merge_siblings
from .window_kernels import by_kernel

Fold = Callable[[Node, Sequence[Any]], Any]
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
        fold: gives the value of a node for arrays in place of its operands, or None.
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
        self.keep = keep
        self.rules: dict[Primitive, tuple[Rule, ...]] = {}
        self.final: dict[Node, Node] = {n: n for n in inputs}
        self.parts: dict[Node, tuple[Node, ...]] = {}
        self.shared: dict[Any, Node] = {}
        self.bodies: dict[Graph, Graph] = {}

    def rewrite(self, outputs: Sequence[Node], order: Iterable[Node] | None = None) -> list[Node]:
        """Nodes equal to the outputs; `order` has all that they need, operands first."""
        for node in walk(outputs, self.final) if order is None else order:
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
        attrs = attrs_with(node, self._body) if node.primitive.bodies else node.attrs
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
        if replaced not in final:
            new = [x for x in replaced.operands if x not in final]
            if not all(map(self._is_next, new)):
                return self.rewrite([replaced])[0]
            for x in dict.fromkeys((*new, replaced)):  # the usual case, without a walk
                context.source = x._source
                self._visit(x)
        return final[replaced]

    def _is_next(self, node: Node) -> bool:
        return all(map(self.final.__contains__, node.operands))

    def _replaced(self, node: Node) -> Node | None:
        """What the first rule that holds gives."""
        if not node.operands:
            return None
        primitive = node.primitive
        rules = self.rules.get(primitive)
        if rules is None:
            rules = self.rules[primitive] = self._rules_of(primitive)
        for rule in rules:
            found = rule(node)
            if found is not None:
                return found
        return None

    def _rules_of(self, primitive: Primitive) -> tuple[Rule, ...]:
        """The rules for a primitive, in the order in which they're tried."""
        name, elementwise = primitive.name, primitive.elementwise
        folds = self.fold is not None and name != "broadcast_to"
        first = (self._folded,) if folds and elementwise else ()
        own = () if name in self.keep else RULES.get(name, ())
        stretched = (outer_broadcast,) if elementwise else ()
        expanded = (self._expanded,) if primitive.expand is not None and self.native else ()
        legal = (self._legal,) if name in LEGAL and self.native else ()
        last = (self._folded,) if folds and not elementwise else ()
        return (*first, *own, *stretched, *expanded, *legal, *last)

    def _expanded(self, node: Node) -> Node | None:
        """A composite that the engine hasn't got, in others that it has."""
        if not self._must_expand(node):
            return None
        assert self.native is not None and node.primitive.expand is not None
        other = by_kernel(node, self.native)
        if other is not None:
            return other
        expanded: Node = node.primitive.expand(*node.operands, **node.attrs)
        return expanded

    def _legal(self, node: Node) -> Node | None:
        """See `LEGAL`."""
        assert self.native is not None
        return None if self.native(node) else LEGAL[node.primitive.name](node)

    def _folded(self, node: Node) -> Node | None:
        """f(constants) -> a constant, where it's small (broadcasts stay: they cost nothing);
        f(broadcast(number), …) -> broadcast(f(number, …))."""
        bare = operands = node.operands
        stretched = node.primitive.elementwise and _is_stretched(operands[0])
        if stretched:
            bare = tuple([x.operands[0] if _is_stretched(x) else x for x in operands])
        if not all(x.primitive is CONSTANT for x in bare):
            return None
        if stretched:
            if any(x.shape for x in bare) or operands[0].shape != node.shape:
                return None
        elif not node.type.is_static or _count(node) > FOLDED_SIZE:
            return None
        assert self.fold is not None
        value = self.fold(node, [x.attrs["value"].array for x in bare])
        if value is None:
            return None
        found = constant(value, node.dtype)
        if not stretched:
            return found
        wide = operands[0]
        return wide.primitive(found, *wide.operands[1:], **wide.attrs)

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


def _count(node: Node) -> int:
    """The number of elements, of axes of known size."""
    return math.prod(d for d in node.shape if d is not None)


def _is_stretched(node: Node) -> bool:
    return node.primitive.name == "broadcast_to"


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
    merged = merge_siblings(merge_scans(graph))
    rewriter = Rewriter(native, fold, graph.inputs, keep)
    return merged.to(rewriter.rewrite(merged.outputs, merged.nodes))
