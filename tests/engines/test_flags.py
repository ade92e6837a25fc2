"""Checks as flags: what one engine reports by raising, a flagged graph reports as values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from kameleon import backend as K
from kameleon.engines._flags import INDICES, flagged
from kameleon.engines.numpy.namespace import NAMESPACE
from kameleon.errors import KameleonError
from kameleon.ir.node import Node
from kameleon.ir.verify import verify
from kameleon.runtime.engines import embedded
from kameleon.runtime.function import Function
from kameleon.transform.simplify import simplify

Build = Callable[[Node, Node], Any]
TABLE = np.arange(12.0, dtype="float32").reshape(4, 3)


def in_a_scan(x: Node, i: Node) -> Any:
    """One step for each index."""

    def step(at: Node, states: list[Node]) -> tuple[Node, list[Node]]:
        row = K.gather(x, K.cast(at, "int32"))
        return row + states[0], [row + states[0]]

    sequence = K.expand_dims(K.expand_dims(K.cast(i, "float32"), -1), 0)
    return K.rnn(lambda t, s: step(t[:, 0], s), sequence, [K.zeros((1, 3))])[0]


def in_a_branch(x: Node, i: Node) -> Any:
    first = K.sum(K.cast(i, "float32"))
    return K.switch(first > 0.0, lambda: K.gather(x, i) * 2.0, lambda: K.gather(x, i - i) * 3.0)


def in_a_loop(x: Node, i: Node) -> Any:
    """Counts up to the largest index, reading the row before each step."""
    top = K.max(i)
    return K.while_loop(
        lambda n, total: n <= top,
        lambda n, total: [n + 1, total + K.sum(K.gather(x, n))],
        [top * 0, K.constant(0.0)],
    )[1]


def in_a_loops_condition(x: Node, i: Node) -> Any:
    """The condition reads one row more than the body."""
    top = K.max(i)
    return K.while_loop(
        lambda n: K.any(K.gather(x[:, 1], n) < K.cast(top, "float32") * 3.0),
        lambda n: [n + 1],
        [top * 0],
    )


@dataclass(frozen=True)
class Program:
    """What is built over a table (None, 3) and indices (None,); indices that are right, wrong."""

    build: Build
    right: Sequence[int]
    wrong: Sequence[int]


PROGRAMS = {
    "gather": Program(lambda x, i: K.gather(x, i), [0, 3], [0, 4]),
    "negative": Program(lambda x, i: K.gather(x, i), [0, 3], [-1, 2]),
    "two": Program(lambda x, i: K.gather(x, i) + K.gather(x, i - 1), [1, 3], [0, 3]),
    "slope": Program(
        lambda x, i: K.gradients(K.sum(K.square(K.gather(x, i))), [x])[0], [0, 3], [0, 9]
    ),
    "scan": Program(in_a_scan, [0, 3, 1], [0, 4, 1]),
    "branch": Program(in_a_branch, [1, 3], [1, 7]),
    "branch not taken": Program(in_a_branch, [0, 0], [1, 7]),
    "loop": Program(in_a_loop, [1, 3], [1, 4]),
    "condition": Program(in_a_loops_condition, [0, 3], [0, 9]),
    "sizes": Program(lambda x, i: K.sum(K.cast(i, "float32") + x[:, 0]), [0, 0, 0, 0], [0]),
}


def raising(function: Function, feeds: Sequence[Any]) -> bool:
    """Whether the embedded engine, which checks by itself, refuses these values."""
    try:
        function(feeds)
    except KameleonError:
        return True
    return False


def check_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """From here on the embedded engine moves indices into the range, and compares no sizes."""
    monkeypatch.setitem(NAMESPACE, "gather", lambda x, i, axis: np.take(x, i, axis, mode="clip"))
    monkeypatch.setitem(NAMESPACE, "scatter_add", lambda g, i, size, axis: np.zeros((size, 3)))
    monkeypatch.setitem(NAMESPACE, "mismatch", lambda *sizes: None)


@pytest.mark.parametrize("name", PROGRAMS)
def test_flags_say_what_the_embedded_engine_says(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = PROGRAMS[name]
    x, i = K.placeholder((None, 3)), K.placeholder((None,), dtype="int32")
    made = program.build(x, i)
    function = Function([x, i], list(made) if isinstance(made, (list, tuple)) else [made])
    graph = simplify(function.graph(), embedded().native)
    with_flags, flags = flagged(graph, set(INDICES), sizes=True)
    verify(with_flags)
    assert flags
    unchecked = embedded().compile(with_flags)
    feeds = [[TABLE, np.array(indices, "int32")] for indices in (program.right, program.wrong)]
    assert [raising(function, given) for given in feeds] == [False, True]
    check_nothing(monkeypatch)
    for given, fails in zip(feeds, (False, True), strict=True):
        found = unchecked(given)[-1]
        assert (found.dtype, found.shape) == (bool, (len(flags),))
        assert found.any() == fails, [f for f, hit in zip(flags, found, strict=True) if hit]


def test_nothing_to_check_changes_nothing() -> None:
    x, y = K.placeholder((2, 3)), K.placeholder((2, 3))
    graph = simplify(Function([x, y], [x + y]).graph(), embedded().native)
    assert flagged(graph, set(INDICES), sizes=True) == (graph, [])
