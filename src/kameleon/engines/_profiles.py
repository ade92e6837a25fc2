"""What the profilers of libraries tell of compiled graphs: events, which are told to be nodes' by
marks in the names of operations.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from ..graph.ir.node import Node
from ..graph.ir.text import lines_by_node
from ._base import Timing
from ._lowering import marking

_MARK = re.compile(r"\bnode(\d+)\b")


def mark_of(node: Node) -> str:
    """What an operation's name holds that is a part of a node."""
    return f"node{node.serial}"


def marked(scope: Callable[[str], Any], call: Callable[[], Any]) -> Any:
    """The result of a call in which graphs are lowered whose operations bear marks.

    Args:
        scope: given a mark, the library's block in which names of operations begin with it.
        call: what makes code.
    """
    token = marking.set(lambda node: scope(mark_of(node)))
    try:
        return call()
    finally:
        marking.reset(token)


class Event(NamedTuple):
    """Something that a thread did.

    Attributes:
        thread: which one.
        name: of the operation.
        start, seconds: when it began, and how long it took, what was done meanwhile included.
    """

    thread: Any
    name: str
    start: float
    seconds: float


def timings(
    events: Iterable[Event], nodes: Iterable[Node | None], names: Mapping[str, str] | None = None
) -> list[Timing]:
    """What nodes took, and what else was done that has no mark, by name.

    Args:
        events: of one run.
        nodes: that marks may tell.
        names: by name of an event a longer one, which holds the mark.
    """
    by_serial = {node.serial: node for node in nodes if node is not None}
    found: dict[tuple[Node | None, str], float] = defaultdict(float)
    for event, seconds in _alone(events):
        marks = _MARK.findall((names or {}).get(event.name, event.name))
        node = by_serial.get(int(marks[-1])) if marks else None
        found[node, event.name if node is None else node.primitive.name] += seconds
    return [Timing(node, name, seconds) for (node, name), seconds in found.items()]


def _alone(events: Iterable[Event]) -> Iterator[tuple[Event, float]]:
    """Events with the seconds that they took themselves: without those within them."""
    threads: dict[Any, list[Event]] = defaultdict(list)
    for event in events:
        threads[event.thread].append(event)
    for each in threads.values():
        each.sort(key=lambda event: (event.start, -event.seconds))
        rest = [event.seconds for event in each]
        around: list[int] = []
        for i, event in enumerate(each):
            while around and each[around[-1]].start + each[around[-1]].seconds <= event.start:
                around.pop()
            if around:
                rest[around[-1]] -= event.seconds
            around.append(i)
        yield from ((event, max(s, 0.0)) for event, s in zip(each, rest, strict=True))


def by_node(texts: Iterable[tuple[str, str]], nodes: Iterable[Node]) -> dict[Node, str]:
    """What is told of nodes, a line each.

    Args:
        texts: names that hold marks, and what is told under them.
        nodes: that marks may tell.
    """
    by_serial = {node.serial: node for node in nodes}
    marked = ((_MARK.findall(name), text) for name, text in texts)
    found = ((by_serial.get(int(marks[-1])), text) for marks, text in marked if marks)
    return lines_by_node((node, text) for node, text in found if node is not None)
