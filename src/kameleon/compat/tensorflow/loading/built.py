"""A message as a graph of operations, as far as their types are in the table."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from kameleon._utils.suggestions import suggestion
from kameleon.errors import ArgumentError

from ..capi.graph_defs import Import, import_message
from ..graph import Graph
from ..operations import table
from ..protocol.messages import of_file
from ..protocol.signatures import definitions
from ..running.expansion import EXPANDED, PLACEHOLDERS
from ..running.needed import DIRECTING

Shapes = Mapping[str, Sequence[int | None]]
# All types that run here; `definitions` has those of them that TensorFlow 1.15 registers.
TABLES = (table.PURE, table.EFFECTS, table.HOST, table.FOLDS, EXPANDED, DIRECTING, PLACEHOLDERS)


def built(message: Any, shapes: Shapes) -> tuple[Graph, dict[str, set[str]]]:
    """The graph of a message GraphDef, without what isn't in the table.

    Args:
        message: it's changed.
        shapes: of placeholders, in place of those in the message.

    Returns:
        The graph; and by name of a node that isn't in it the types that are lacking, for itself or
        for what it takes.
    """
    graph = Graph(of_file, definitions)
    lacking = _lacking(message.node, _lacking_in(message.library.function))
    if lacking:
        kept = [node for node in message.node if node.name not in lacking]
        del message.node[:]
        message.node.extend(kept)
    _set_shapes(message.node, shapes)
    import_message(graph, message, Import())
    for gradient in message.library.gradient:
        graph.functions[gradient.function_name].gradients.append(gradient.gradient_func)
    return graph, lacking


def _needs(node: Any, functions: Mapping[str, set[str]]) -> set[str]:
    """Types that aren't in the table and that a node needs: its own, or its functions'."""
    if node.op not in definitions() and node.op not in functions:
        return {node.op}
    called = {node.op}
    for value in node.attr.values():
        called |= {each.name for each in (value.func, *value.list.func)}
    return set[str]().union(*(functions.get(name, ()) for name in called))


def _lacking_in(library: Any) -> dict[str, set[str]]:
    """By function, types that it needs and that aren't in the table."""
    found: dict[str, set[str]] = {each.signature.name: set() for each in library}
    is_new = True
    while is_new:  # a function needs what those need that it calls
        before = {name: len(types) for name, types in found.items()}
        for each in library:
            found[each.signature.name].update(*(_needs(node, found) for node in each.node_def))
        is_new = before != {name: len(types) for name, types in found.items()}
    return found


def _lacking(nodes: Any, functions: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """By name of a node, types that it needs and that aren't in the table."""
    takers: dict[str, list[str]] = defaultdict(list)
    found: dict[str, set[str]] = {}
    for node in nodes:
        needed = _needs(node, functions)
        if needed:
            found[node.name] = needed
        for text in node.input:
            takers[text.lstrip("^").partition(":")[0]].append(node.name)
    rest = list(found)
    while rest:
        name = rest.pop()
        for taker in takers[name]:
            known = found.setdefault(taker, set())
            if not found[name] <= known:
                known |= found[name]
                rest.append(taker)
    return found


def _set_shapes(nodes: Any, shapes: Shapes) -> None:
    holes = {node.name: node for node in nodes if node.op in PLACEHOLDERS}
    for name, sizes in shapes.items():
        node = holes.get(name.partition(":")[0])
        if node is None:
            meant = suggestion(name, holes)
            raise ArgumentError(f"load_graph: shapes: no placeholder is called {name!r}{meant}")
        shape = node.attr["shape"].shape
        shape.Clear()
        for size in sizes:
            shape.dim.add(size=-1 if size is None else int(size))
