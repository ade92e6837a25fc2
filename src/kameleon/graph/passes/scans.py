"""Rewriting scans: those over the same steps become one, and slices are cut from one stack."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..ir.node import ITEM, Node
from ..ir.program import Graph, attrs_key
from ..ir.rewrite import substitute
from ..primitives.control import scan
from ..primitives.movement import WHOLE, plain_cut, slice_, slice_axis


def merge_scans(graph: Graph) -> Graph:
    """The graph where scans that differ only in what they stack have become one.

    A gradient leaves a second forward scan beside the original: it stacks inner values, too.
    """
    merged = {n: m for m in _mergers(graph) if len(m.scans) > 1 for n in m.scans}
    if not merged:
        return graph

    def change(node: Node, operands: tuple[Node, ...]) -> Node | None:
        if node in merged:
            return merged[node].scan(operands)
        if node.primitive is ITEM and node.operands[0] in merged:
            return merged[node.operands[0]].result(node)
        return None

    return graph.to(substitute(graph.outputs, {}, change))


class _Merger:
    """Scans over the same steps, and the one scan that gives all their results.

    Attributes:
        scans: in their order.
        first: by key, the first result that has it.
    """

    def __init__(self) -> None:
        self.scans: list[Node] = []
        self.first: dict[object, Node] = {}
        self._whole: Node | None = None
        self._place: dict[object, int] = {}

    def key(self, item: Node) -> object:
        """The key of a result: equal results have equal keys."""
        scan, index = item.operands[0], item.attrs["index"]
        return index if index < scan.attrs["carry"] else scan.attrs["body"].outputs[index]

    def scan(self, operands: tuple[Node, ...]) -> Node:
        """The merged scan; `operands` are those of the scan that is asked for first."""
        if self._whole is None:
            first = self.scans[0]
            carry, inputs = first.attrs["carry"], first.attrs["body"].inputs
            outputs = [n.attrs["body"].outputs for n in self.scans]
            states = outputs[0][:carry]
            stacked = dict.fromkeys(y for each in outputs for y in each[carry:])
            self._place = {y: carry + i for i, y in enumerate(stacked)}
            body = Graph(inputs, [*states, *stacked])
            self._whole = scan(*operands, **{**first.attrs, "body": body})
        return self._whole

    def result(self, item: Node) -> Node:
        """What takes the place of a result of one of the scans."""
        assert self._whole is not None  # operands come first
        key = self.key(item)
        return self._whole.results[key if isinstance(key, int) else self._place[key]]


def _mergers(graph: Graph) -> Iterable[_Merger]:
    """All scans, grouped by their steps.

    Scans that read other scans have equal operands only once those others are merged: results that
    will be merged count as one here.
    """
    groups: dict[object, _Merger] = {}
    group_of: dict[Node, _Merger] = {}
    same: dict[Node, Node] = {}
    for node in graph.nodes:
        if node.primitive is scan:
            body, carry = node.attrs["body"], node.attrs["carry"]
            operands = tuple(same.get(n, n) for n in node.operands)
            states = body.outputs[:carry]
            key = (body.inputs, states, operands, node.attrs["backwards"])
            group_of[node] = group = groups.setdefault(key, _Merger())
            group.scans.append(node)
        elif node.primitive is ITEM and node.operands[0] in group_of:
            group = group_of[node.operands[0]]
            same[node] = group.first.setdefault(group.key(node), node)
    return groups.values()


def stacked_whole(node: Node) -> tuple[Node, ...] | None:
    """The results of an equal scan that stacks a node x of its body whole, where `node` stacks
    slices of x with as many elements in all; the slices are cut from the stack. None, if there are
    no such slices."""
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
    whole = scan(*node.operands, **{**node.attrs, "body": body.to(outputs)})
    results = dict(zip(wholes, whole.results[carry:], strict=True))
    return (
        *whole.results[:carry],
        *(
            _slice_of_all(results[sources[y]], y) if y in sources else results[y]
            for y in body.outputs[carry:]
        ),
    )


def _cover(source: Node, axis: int, group: Sequence[Node]) -> bool:
    """Whether slices have as many elements in all as the node that they are cut from."""
    size = source.shape[axis]
    sizes = [n.shape[axis] for n in group]
    return size is not None and sum(n or 0 for n in sizes) >= size


def _slice_of_all(stack: Node, node: Node) -> Node:
    """The slice `node`, of all steps: cut from the stack of its operand."""
    return slice_(stack, [WHOLE, *node.attrs["windows"]])


# Slices side by side -------------------------------------------------------------------------


def merge_siblings(graph: Graph) -> Graph:
    """f(x[a:b]), f(x[b:c]) -> y[:b-a], y[b-a:], with y = f(x[a:c]); f has one operand.

    Gates of a recurrent cell are computed like that: one call for all gates costs less.
    """
    groups: dict[object, list[Node]] = {}
    for node in graph.nodes:
        if len(node.operands) == 1 and node.primitive.elementwise:
            cut = plain_cut(node.operands[0])
            if cut is not None:
                key = (node.primitive, attrs_key(node, structure=False), *cut)
                groups.setdefault(key, []).append(node)
    replaced: dict[Node, Node] = {}
    for group in groups.values():
        replaced.update(_together(group))
    return graph.to(substitute(graph.outputs, replaced)) if replaced else graph


def _together(group: list[Node]) -> dict[Node, Node]:
    """By member of the group whose slice adjoins another's: its part of one common node."""
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
