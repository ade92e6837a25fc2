"""Rewriting scans: those over the same steps become one."""

from __future__ import annotations

from collections.abc import Sequence

from ..ir.node import Node
from ..ir.program import Graph
from ..ir.rewrite import substitute
from ..prims.control import scan


def merge_scans(graph: Graph) -> list[Node]:
    """The outputs of `graph`, where scans that differ only in what they stack have become one.

    A gradient leaves a forward scan beside the original one that gives its inner values, too.
    """
    outputs = list(graph.outputs)
    groups: dict[object, list[Node]] = {}
    for node in graph.nodes:
        if node.primitive is scan:
            key = (node.attrs["body"].inputs, node.operands, node.attrs["backwards"])
            groups.setdefault(key, []).append(node)
    for group in groups.values():
        if len(group) > 1:
            return merge_scans(Graph(graph.inputs, substitute(outputs, _merged(group))))
    return outputs


def _merged(group: Sequence[Node]) -> dict[Node, Node]:
    """For each result of these scans, the same result of one scan that gives them all."""
    first = group[0]
    carry = first.attrs["carry"]
    states = first.attrs["body"].outputs[:carry]
    stacked = dict.fromkeys(y for n in group for y in n.attrs["body"].outputs[carry:])
    outputs = [*states, *stacked]
    body = Graph(first.attrs["body"].inputs, outputs)
    whole = scan(*first.operands, **{**first.attrs, "body": body})
    place = {y: carry + i for i, y in enumerate(stacked)}
    return {
        result: whole.results[i if i < carry else place[node.attrs["body"].outputs[i]]]
        for node in group
        for i, result in enumerate(node.results)
    }
