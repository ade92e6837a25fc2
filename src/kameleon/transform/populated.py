"""Windows that may have nothing to see when a program runs, for engines that don't take them so.

    f(x, …) -> cond(counts > 0, f(x, …), 0)

Counts are the unknown sizes without which a window sees nothing: samples, places, channels. Where
one is that of an input of the program, a call without any isn't made at all, and the graph counts
on it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from ..ir.leaves import input_node
from ..ir.node import ITEM, Node
from ..ir.program import Graph, bodies
from ..ir.rewrite import attrs_with, substitute
from ..ir.sizes import Root, Sizes
from ..prims.control import cond
from ..prims.elementwise import gt, minimum
from ..prims.filling import full_like, zeros
from ..prims.sizes import as_node, size_of, size_origin
from ..prims.windows import OVER, space_dims
from .windows import told

Axis = tuple[Node, int]
# What there has to be some of, by name of a primitive.
Needs = Mapping[str, Collection[str]]
# The axes of an input, as (its number, axis), that must have elements.
Counted = list[tuple[int, int]]

# Whose places there must be some of, where it isn't the node itself: an operand, by its number.
PLACES_OF = {
    **dict.fromkeys(("conv_input", "depthwise_input", "unpool", "sum_unpool"), 0),
    **dict.fromkeys(("conv_kernel", "depthwise_kernel"), 1),
}


def populated(graph: Graph, needs: Needs) -> tuple[Graph, Counted]:
    """The graph with conditions around windows that may see nothing, and which axes of its inputs
    it counts on.

    Args:
        graph: a simplified graph.
        needs: by name of a primitive, of what there must be some: "samples", "places",
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
        """The graph with conditions; itself, where there are none."""
        outputs = substitute(graph.outputs, {}, self)
        return graph if outputs == list(graph.outputs) else Graph(graph.inputs, outputs)

    def __call__(self, node: Node, operands: tuple[Node, ...]) -> Node | None:
        """The node's condition, or None."""
        if bodies(node):
            attrs = attrs_with(node, _Change(self.needs).graph)
            return None if attrs is node.attrs else node.primitive(*operands, **attrs)
        needs = self.needs.get(node.primitive.name)
        doubts = [axis for axis in counted_axes(node, needs) if not self._counts_on(axis)]
        return _where_some(node, operands, doubts) if needs and doubts else None

    def _counts_on(self, axis: Axis) -> bool:
        """Whether a size isn't 0: it's known, or an input's, which is `counted` then."""
        root = filled_by(self.sizes, *axis)
        if isinstance(root, int):
            return root > 0
        if not isinstance(root, tuple) or root[0] not in self.inputs:
            return False
        self.counted[root] = None
        return True


def counted_axes(node: Node, needs: Collection[str] | None) -> list[Axis]:
    """The axes of unknown size without which a window sees nothing, of those that are needed."""
    if not needs:
        return []
    operand = PLACES_OF.get(node.primitive.name)
    places = node.results[0] if operand is None else node.operands[operand]
    last = len(places.shape) - 1
    tensors = [x for x in node.operands if len(x.shape) == last + 1]
    found = [(places, 0)] if "samples" in needs else []
    found += [(places, i) for i in range(1, last) if "places" in needs]
    found += [(x, last) for x in tensors if "channels" in needs]
    return [(x, axis) for x, axis in found if x.shape[axis] is None]


def filled_by(sizes: Sizes, node: Node, axis: int) -> Root:
    """What a size is 0 with: the size itself where it's known, else the first axis on its way back
    that has no origin.

    Where a window's margins make room for it, there are places as soon as there's something.
    """
    step: Axis | None = (node, axis)
    while step is not None:
        root = sizes.of(*step)
        step = _before(*root) if isinstance(root, tuple) else None
    return root


def _before(node: Node, axis: int) -> Axis | None:
    source = node.operands[0] if node.primitive is ITEM else node
    window, last = source.attrs.get("window"), len(node.shape) - 1
    if window is None or not 0 < axis < last:
        return None
    if source.primitive.name in OVER:
        seen, margins = source.operands[0], sum(window.padding[axis - 1])
        if seen.primitive.name == "pad":
            seen, margins = seen.operands[0], margins + sum(seen.attrs["margins"][axis])
        return (seen, axis) if margins >= window.spans[axis - 1] - 1 else None
    if "space" not in source.attrs:
        return None
    size = space_dims(source)[axis - 1]
    if isinstance(size, int) or size.primitive.name != "size":
        return None
    return size.operands[0], size.attrs["axis"]


def _where_some(node: Node, operands: tuple[Node, ...], doubts: list[Axis]) -> Node | None:
    """The condition, if the sizes of what the node gives can be told without it."""
    new = dict(zip(node.operands, operands, strict=True))
    outside = node.primitive(*operands, **node.attrs)
    new |= dict(zip(node.results, outside.results, strict=True))
    sizes = [_size(new[x], axis) for x, axis in doubts]
    inputs = [input_node(x.type) for x in operands]
    inside = node.primitive(*inputs, **node.attrs)
    nothing = []
    for result in inside.results:
        dims = told(result)
        if dims is None:
            return None
        nothing.append(zeros(dims, result.dtype))
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


def _size(x: Node, axis: int) -> Node:
    """A size, told without the value where that is a window's."""
    dims = told(x) if "window" in (x.operands[0] if x.primitive is ITEM else x).attrs else None
    return as_node(size_of(x, axis) if dims is None else dims[axis])
