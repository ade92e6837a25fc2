"""Walks over graphs, whatever their nodes are: all that some lead to, and an order of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")


def reached(roots: Iterable[T], sources: Callable[[T], Iterable[T]]) -> set[T]:
    """What roots need, and themselves.

    Args:
        roots: some nodes.
        sources: what a node needs.

    >>> sorted(reached([3], lambda number: range(1, number)))
    [1, 2, 3]
    """
    found, rest = set[T](), list(roots)
    while rest:
        node = rest.pop()
        if node not in found:
            found.add(node)
            rest += sources(node)
    return found


def in_order(roots: Iterable[T], sources: Callable[[T], Iterable[T]]) -> Iterator[T]:
    """The same, each after what it needs; in a circle, what was met first comes last.

    >>> list(in_order([3], lambda number: range(1, number)))
    [1, 2, 3]
    """
    done = set[T]()
    for root in roots:
        if root in done:
            continue
        done.add(root)
        stack = [(root, iter(sources(root)))]
        while stack:
            node, rest = stack[-1]
            source = next((one for one in rest if one not in done), None)
            if source is None:
                stack.pop()
                yield node
            else:
                done.add(source)
                stack.append((source, iter(sources(source))))
