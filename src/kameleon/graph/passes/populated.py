"""Windows over what may be empty when a program runs, for engines that take no empty operands.

    f(x, …) -> cond(counts > 0, f(x, …), 0)

Counts are the unknown sizes of which none may be 0 if a window shall see anything: samples, places,
channels. A size of an input of the program needs no condition: a call where it's 0 never reaches
the engine (`runtime.assisted`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from ..ir.leaves import input_node
from ..ir.node import Node, producer
from ..ir.program import Graph
from ..ir.rewrite import rebuilt
from ..ir.sizes import Root, Sizes
from ..primitives.control import cond
from ..primitives.elementwise import gt, minimum
from ..primitives.filling import full_like, zeros
from ..primitives.sizes import as_node, size_origin, stated_dims
from .windows import inferred_dims

Axis = tuple[Node, int]
# By name of a primitive: the counts that must not be 0.
Needs = Mapping[str, Collection[str]]
# The axes of inputs, as (number of the input, axis), whose sizes must not be 0.
Counted = list[tuple[int, int]]


def populated(graph: Graph, needs: Needs) -> tuple[Graph, Counted]:
    """The graph with conditions around windows that may see nothing, and the axes of its inputs
    whose sizes it takes as not 0.

    Args:
        graph: a simplified graph.
        needs: by name of a primitive, the counts that must not be 0: "samples", "places",
            "channels".
    """
    change = _Change(needs, graph.inputs)
    found = change.graph(graph)
    return found, [(graph.inputs.index(x), axis) for x, axis in change.counted]


class _Change:
    """Gives the condition that takes a node's place."""

    def __init__(self, needs: Needs, inputs: Collection[Node] = ()):
        self.needs, self.inputs = needs, frozenset(inputs)
        self.sizes = Sizes(size_origin)
        self.counted: dict[Axis, None] = {}

    def graph(self, graph: Graph) -> Graph:
        """The graph with conditions; the same graph, where none is needed."""
        return rebuilt(graph, self, lambda body: _Change(self.needs).graph(body))

    def __call__(self, node: Node, operands: tuple[Node, ...]) -> Node | None:
        """The node's condition, or None."""
        needs = self.needs.get(node.primitive.name)
        doubts = [axis for axis in counted_axes(node, needs) if not self._counts_on(axis)]
        return _where_some(node, operands, doubts) if doubts else None

    def _counts_on(self, axis: Axis) -> bool:
        """Whether a size is taken as not 0: a known one, or an input's, which is then `counted`."""
        root = filled_by(self.sizes, *axis)
        if isinstance(root, int):
            return root > 0
        if not isinstance(root, tuple) or root[0] not in self.inputs:
            return False
        self.counted[root] = None
        return True


def counted_axes(node: Node, needs: Collection[str] | None) -> list[Axis]:
    """The axes of unknown size whose counts `needs` names."""
    if not needs:
        return []
    *parts, result = node.primitive.parts
    places = node.results[0] if result == "places" else node.operands[parts.index("places")]
    last = len(places.shape) - 1
    tensors = [x for x in node.operands if len(x.shape) == last + 1]
    found = [(places, 0)] if "samples" in needs else []
    found += [(places, i) for i in range(1, last) if "places" in needs]
    found += [(x, last) for x in tensors if "channels" in needs]
    return [(x, axis) for x, axis in found if x.shape[axis] is None]


def filled_by(sizes: Sizes, node: Node, axis: int) -> Root:
    """A size that proves, where it isn't 0, that this axis isn't empty: the root of the axis's size
    (see `Sizes.of`), which is also looked for behind windows.

    A window whose margins are at least its span less 1 has a place as soon as its space has a cell.
    """
    step: Axis | None = (node, axis)
    while step is not None:
        root = sizes.of(*step)
        step = _before(*root) if isinstance(root, tuple) else None
    return root


def _before(node: Node, axis: int) -> Axis | None:
    source = producer(node)
    window, last = source.attrs.get("window"), len(node.shape) - 1
    if window is None or not 0 < axis < last:
        return None
    if source.primitive.moves_windows:
        seen, margins = source.operands[0], sum(window.padding[axis - 1])
        if seen.primitive.name == "pad":
            seen, margins = seen.operands[0], margins + sum(seen.attrs["margins"][axis])
        return (seen, axis) if margins >= window.spans[axis - 1] - 1 else None
    if "space" not in source.attrs:
        return None
    size = stated_dims(source)[axis - 1]
    if isinstance(size, int) or size.primitive.name != "size":
        return None
    return size.operands[0], size.attrs["axis"]


def _where_some(node: Node, operands: tuple[Node, ...], doubts: list[Axis]) -> Node:
    """The condition."""
    new = dict(zip(node.operands, operands, strict=True))
    outside = node.primitive(*operands, **node.attrs)
    new |= dict(zip(node.results, outside.results, strict=True))
    sizes = [as_node(inferred_dims(new[x])[axis]) for x, axis in doubts]
    inputs = [input_node(x.type) for x in operands]
    inside = node.primitive(*inputs, **node.attrs)
    nothing = [zeros(inferred_dims(result), result.dtype) for result in inside.results]
    least = sizes[0]
    for size in sizes[1:]:
        least = minimum(least, size)
    found = cond(
        gt(least, full_like(least, 0)),
        *operands,
        then=Graph(inputs, inside.results),
        otherwise=Graph(inputs, nothing),
    )
    return found.results[0] if inside.results == (inside,) else found
