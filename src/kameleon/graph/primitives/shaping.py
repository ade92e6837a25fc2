"""Which values decide shapes: what an engine with static shapes must know before it makes code."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any
from weakref import WeakKeyDictionary

from ..ir.leaves import CONSTANT, INPUT
from ..ir.node import ITEM, Node
from ..ir.program import Graph, bodies
from ..ir.sizes import Sizes
from ..ir.types import TensorType
from .sizes import size_origin


def shape_operands(node: Node, outer: bool = True) -> Sequence[Node]:
    """The operands whose values decide the shape of something in `node` or in its bodies.

    Unless `outer`, the node is inside of a body: a condition there may change from step to step, so
    both of its branches must give the same shapes.
    """
    first = node.primitive.first_size
    if first is not None:
        return node.operands[first:]
    graphs = bodies(node)
    if not graphs:
        return ()
    # The bodies of `cond` take the operands behind the condition; other bodies take all operands.
    chooses = node.primitive.name == "cond"
    given = node.operands[1:] if chooses else node.operands
    needed = {i for body in graphs for i in shape_inputs(body, outer=False)}
    chosen = node.operands[:1] if chooses and outer and _shapes_may_differ(*graphs) else ()
    return [*chosen, *(given[i] for i in sorted(needed))]


def _shapes_may_differ(then: Graph, otherwise: Graph) -> bool:
    """Whether the outputs of two branches aren't provably of the same shapes."""
    pairs = zip(_shapes(then), _shapes(otherwise), strict=True)
    return any(a != b or None in a for a, b in pairs)


def _shapes(branch: Graph) -> Iterator[list[Any]]:
    """For each output its sizes: an int, the (number, axis) of an input of this size, or None."""
    sizes = Sizes(size_origin)
    place = {x: i for i, x in enumerate(branch.inputs)}

    def located(root: Any) -> Any:
        node, axis = root if isinstance(root, tuple) else (root, None)
        return root if isinstance(root, int) else (place[node], axis) if node in place else None

    for y in branch.outputs:
        yield [located(sizes.of(y, axis)) for axis in range(len(y.shape))]


# What `shape_inputs` has found, for as long as the graph lives.
_found: WeakKeyDictionary[Graph, dict[bool, tuple[int, ...]]] = WeakKeyDictionary()


def shape_inputs(graph: Graph, outer: bool = True) -> tuple[int, ...]:
    """The positions of those inputs whose values decide shapes in the graph."""
    known = _found.setdefault(graph, {})
    found = known.get(outer)
    if found is None:
        deciding = shape_nodes(graph, outer)
        found = known[outer] = tuple(i for i, x in enumerate(graph.inputs) if x in deciding)
    return found


def shape_nodes(graph: Graph, outer: bool = True) -> set[Node]:
    """The nodes whose values decide shapes; the search doesn't look behind sizes of axes."""
    found: set[Node] = set()
    for node in reversed(graph.nodes):
        found.update(shape_operands(node, outer))
        if node in found and node.primitive.name != "size":
            found.update(_behind_item(node) if node.primitive is ITEM else node.operands)
    return found


def _behind_item(item: Node) -> Sequence[Node]:
    """The operands of a loop that decide one of its results, where all steps give the same."""
    node, index = item.operands[0], item.attrs["index"]
    body = node.attrs.get("body")
    if body is None:
        return ()
    needed = _sources(body.outputs[index], body)
    return [x for x, p in zip(node.operands, body.inputs, strict=True) if p in needed]


def _sources(y: Node, body: Graph) -> set[Node]:
    """The nodes of a body that decide the number y, but for what is behind sizes of axes."""
    needed = {y}
    for node in reversed(body.nodes):
        if node in needed and node.primitive.name != "size":
            needed.update(_behind_item(node) if node.primitive is ITEM else node.operands)
    return needed


# What sizes are computed with, beside elementwise primitives.
ARITHMETIC = frozenset(
    (
        "reshape broadcast_to iota transpose slice reverse pad concatenate gather reduce_sum"
        " reduce_prod reduce_max reduce_min"
    ).split()
)
# Vectors of more elements aren't sizes.
FEW = 64


def follows_from_sizes(graph: Graph, given: Collection[Node] | None = None) -> set[Node]:
    """Nodes that are known while code is made: sizes of axes, constants, integers that are fed
    (scalars and short vectors), and what is computed from these.

    A scan's outputs are among them, where each step gives the same such number.

    Args:
        graph: any closed graph.
        given: the inputs that may be known; all, if None.
    """
    known: set[Node] = set()
    for node in graph.nodes:
        primitive = node.primitive
        if primitive is CONSTANT or primitive.name == "size":
            found = True
        elif primitive is INPUT:
            found = (given is None or node in given) and not node.dtype.is_float and is_short(node)
        elif primitive is ITEM:
            found = _is_steady(node, known)
        else:
            plain = primitive.elementwise or primitive.name in ARITHMETIC
            found = plain and known.issuperset(node.operands) and is_short(node)
        if found:
            known.add(node)
    return known


def unchanging(node: Node, body: Graph, known: Collection[Node]) -> list[Node]:
    """Those inputs of a body of `node` that are the same in each step.

    Args:
        node: a loop or a condition.
        body: one of its bodies.
        known: nodes around `node` that follow from sizes.
    """
    count = node.attrs.get("consts", len(body.inputs))
    found = list(body.inputs[:count])
    for param, x in zip(body.inputs[count:], node.operands[count:], strict=False):
        if x.primitive is ITEM and x in known:
            found.append(param)
    return found


def _is_steady(item: Node, known: Collection[Node]) -> bool:
    """Whether a scan stacks the same number, which follows from sizes, in each step."""
    node, index = item.operands[0], item.attrs["index"]
    if node.primitive.name != "scan" or index < node.attrs["carry"]:
        return False
    body: Graph = node.attrs["body"]
    y = body.outputs[index]
    return y.shape == () and y in follows_from_sizes(body, unchanging(node, body, known))


def is_short(node: Node) -> bool:
    """Whether a node is a scalar, or a vector of a few elements."""
    if not isinstance(node.type, TensorType) or len(node.shape) > 1:
        return False
    return all(d is not None and d <= FEW for d in node.shape)
