"""Nodes that PyTorch computes together: parts of a whole, and maxima with what is made of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ...graph.ir.node import Node
from ...graph.ir.program import Graph
from ...graph.ir.sizes import Sizes
from ...graph.primitives.movement import plain_cut
from .windows import is_regular


class Part(NamedTuple):
    """The slice of this number among those, of these sizes, that make up `source` along an axis."""

    source: Node
    axis: int
    sizes: tuple[int, ...]
    number: int


def parts(graph: Graph) -> dict[Node, Part]:
    """The slices that together make up another node: one call gives all of them."""
    groups: dict[tuple[Node, int], dict[int, Node]] = {}
    for node in graph.nodes:
        cut = plain_cut(node)
        if cut is not None:
            groups.setdefault(cut, {})[node.attrs["windows"][cut[1]][0]] = node
    found: dict[Node, Part] = {}
    for (source, axis), starts in groups.items():
        at, members = 0, []
        while at in starts:
            members.append(starts[at])
            at = starts[at].attrs["windows"][axis][1]
        if at == source.shape[axis] and len(members) > 1:
            windows = [n.attrs["windows"][axis] for n in members]
            sizes = tuple(stop - start for start, stop, _ in windows)
            found |= {n: Part(source, axis, sizes, i) for i, n in enumerate(members)}
    return found


def flat_pools(graph: Graph, users: Mapping[Node, Sequence[Node]], sizes: Sizes) -> set[Node]:
    """Maxima that PyTorch's own function gives, and nodes that use the cells that they chose.

    PyTorch says where in space a maximum was, not in which cell of the window. So its answer is
    for those nodes alone that see the same windows of the same space.
    """
    found: set[Node] = set()
    for pool in graph.nodes:
        if pool.primitive.name != "max_pool" or not pool.operands[0].dtype.is_float:
            continue
        if is_regular(pool.attrs["window"]):
            pickers = users.get(pool.results[1], [])
            if pool.results[1] not in graph.outputs and all(
                _picks_from(pool, node, sizes) for node in pickers
            ):
                found.update((pool, *pickers))
    return found


def _picks_from(pool: Node, node: Node, sizes: Sizes) -> bool:
    """Whether a node picks from, or puts back to, the same windows of the same space as a pool."""
    if node.primitive.name not in ("unpool", "pool_pick") or node.operands[0] is pool.results[1]:
        return False
    x, space = pool.operands[0], node if node.primitive.name == "unpool" else node.operands[0]
    same = all(sizes.of(x, i) == sizes.of(space, i) for i in range(1, len(x.shape) - 1))
    return same and node.attrs["window"] == pool.attrs["window"]
