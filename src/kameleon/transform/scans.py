"""Rewriting scans: those over the same steps become one, and slices are cut from one stack."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..ir.node import Node, walk
from ..ir.program import Graph, attrs_key
from ..ir.rewrite import substitute
from ..prims.control import scan
from ..prims.movement import WHOLE, plain_cut, slice_, slice_axis


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


def stacked_whole(node: Node) -> tuple[Node, ...] | None:
    """The results of an equal scan that stacks a node of its body once, where it stacked slices
    of it that have as many elements; they are cut from the stack. None, if there are none."""
    body: Graph = node.attrs["body"]
    carry = node.attrs["carry"]
    stacked = dict.fromkeys(body.outputs[carry:])
    groups: dict[tuple[Node, int], list[Node]] = {}
    for y in stacked:
        cut = plain_cut(y)
        if cut is not None and cut[0] not in body.inputs:
            groups.setdefault(cut, []).append(y)
    sources = {
        y: source
        for (source, axis), group in groups.items()
        for y in group
        if source in stacked or _cover(source, axis, group)
    }
    if not sources:
        return None
    wholes = dict.fromkeys(sources.get(y, y) for y in stacked)
    outputs = [*body.outputs[:carry], *wholes]
    whole = scan(*node.operands, **{**node.attrs, "body": Graph(body.inputs, outputs)})
    results = dict(zip(wholes, whole.results[carry:], strict=True))
    return (
        *whole.results[:carry],
        *(
            _slice_of_all(results[sources[y]], y) if y in sources else results[y]
            for y in body.outputs[carry:]
        ),
    )


def _cover(source: Node, axis: int, group: Sequence[Node]) -> bool:
    """Whether some slices have as many elements as what they are cut from."""
    size = source.shape[axis]
    sizes = [n.shape[axis] for n in group]
    return size is not None and sum(n or 0 for n in sizes) >= size


def _slice_of_all(stack: Node, node: Node) -> Node:
    """The slice `node`, of all steps: cut from the stack of its operand."""
    return slice_(stack, [WHOLE, *node.attrs["windows"]])


# Slices side by side -------------------------------------------------------------------------


def merge_siblings(outputs: Sequence[Node], inputs: Sequence[Node]) -> list[Node]:
    """f(x[a:b]), f(x[b:c]) -> y[:b-a], y[b-a:], with y = f(x[a:c]); f has one operand.

    Gates of a recurrent cell are computed like that: one call for all of them costs less.
    """
    groups: dict[object, list[Node]] = {}
    for node in walk(outputs, set(inputs)):
        if len(node.operands) == 1 and node.primitive.elementwise:
            cut = plain_cut(node.operands[0])
            if cut is not None:
                key = (node.primitive, attrs_key(node, structure=False), *cut)
                groups.setdefault(key, []).append(node)
    replaced: dict[Node, Node] = {}
    for group in groups.values():
        replaced.update(_together(group))
    return substitute(outputs, replaced) if replaced else list(outputs)


def _together(group: list[Node]) -> dict[Node, Node]:
    """The members whose slices lie side by side, from one node."""
    cut = plain_cut(group[0].operands[0])
    assert cut is not None
    source, axis = cut
    window: Callable[[Node], Any] = lambda n: n.operands[0].attrs["windows"][axis]  # noqa: E731
    found: dict[Node, Node] = {}
    run: list[Node] = []
    for node in [*sorted(group, key=window), None]:
        if run and (node is None or window(node)[0] != window(run[-1])[1]):
            if len(run) > 1:
                start = window(run[0])[0]
                whole = slice_axis(source, axis, start, window(run[-1])[1])
                made = run[0].primitive(whole, **run[0].attrs)
                for n in run:
                    a, b, _ = window(n)
                    found[n] = slice_axis(made, axis, a - start, b - start)
            run = []
        if node is not None:
            run.append(node)
    return found
