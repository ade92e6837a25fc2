"""Calls that the embedded engine makes where another would compile for ever new sizes.

The engine under test is NumPy's under another name; a clock says what calls take.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from kameleon import backend as K
from kameleon.engines._base import Executable
from kameleon.engines.numpy.engine import NumpyEngine
from kameleon.errors import EvaluationError
from kameleon.graph.ir.program import Graph
from kameleon.runtime import assisted
from kameleon.runtime.function import Function

Array = np.ndarray[Any, Any]
COMPILING, WITHOUT, WITH = 10.0, 3.0, 1.0  # seconds


class _Clock:
    """What the time is: it goes on by what calls take."""

    now = 0.0


class _Code(Executable):
    """Code that is made for each combination of sizes when a call brings it."""

    def __init__(self, graph: Graph, clock: _Clock):
        self._code = NumpyEngine().compile(graph)
        self._made, self._clock = list[Any](), clock

    def __call__(self, arguments: Sequence[Any]) -> Sequence[Any]:
        """See `Executable`."""
        sizes = [np.shape(x) for x in arguments]
        self._clock.now += WITH
        if sizes not in self._made:
            self._made.append(sizes)
            self._clock.now += COMPILING
        return self._code(arguments)

    @property
    def compilations(self) -> int:  # type: ignore[override]
        """See `Executable`."""
        return len(self._made)


class _Static(NumpyEngine):
    """NumPy's, compiling for each combination of sizes."""

    name = "static"
    compiles_each_size = True

    def __init__(self, clock: _Clock) -> None:
        super().__init__()
        self._clock = clock

    def compile(self, graph: Graph) -> Executable:
        """See `Engine.compile`."""
        return _Code(graph, self._clock)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> _Clock:
    """A clock of which calls of the embedded engine in another's place take `WITHOUT`."""
    made = _Clock()
    monkeypatch.setattr(assisted, "perf_counter", lambda: made.now)
    by_embedded = assisted.Assisted._by_embedded

    def clocked(self: assisted.Assisted, arguments: Sequence[Any]) -> list[Any]:
        made.now += WITHOUT
        return by_embedded(self, arguments)

    monkeypatch.setattr(assisted.Assisted, "_by_embedded", clocked)
    return made


def counting(clock: _Clock) -> tuple[Any, Any]:
    """A function of rows of any number that adds up what it has seen, and that sum."""
    x, total = K.placeholder((None, 2)), K.variable(0.0)
    added = K.update_add(total, K.sum(x))
    return Function([x], [x * 2.0], [added], engine=_Static(clock)), total


def rows(count: int) -> Array:
    """So many rows of ones."""
    return np.ones((count, 2), "float32")


def test_ever_new_sizes_are_compiled_for_no_more_than_a_few_times(clock: _Clock) -> None:
    f, total = counting(clock)
    for count in range(1, 41):
        assert np.array_equal(f([rows(count)])[0], 2 * rows(count))
    assert f.compilations == assisted.FEW
    assert K.get_value(total) == 2 * sum(range(1, 41))


def test_sizes_that_come_again_are_compiled_for_once_that_pays(clock: _Clock) -> None:
    f, total = counting(clock)
    for count in range(1, assisted.FEW + 1):
        f([rows(count)])
    counted = []
    for _ in range(6):
        f([rows(9)])
        counted.append(f.compilations - assisted.FEW)
    # Compiling takes 11 seconds with its call; a fourth call without code would end at 12.
    assert counted == [0, 0, 0, 1, 1, 1]
    f([rows(8)])
    assert f.compilations == assisted.FEW + 1  # other sizes have their own account
    assert K.get_value(total) == 2 * (sum(range(1, assisted.FEW + 1)) + 9 * 6 + 8)


def test_calls_that_take_longer_than_compiling_are_compiled_for(
    clock: _Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(globals(), "WITHOUT", 100.0)
    f, _ = counting(clock)
    for count in range(1, 11):
        f([rows(count)])
    assert f.compilations == 9  # one call has shown what they take


def test_sizes_that_numbers_say_are_sizes(clock: _Clock) -> None:
    n = K.placeholder((), dtype="int32")
    f = Function([n], [K.arange(n)], engine=_Static(clock))
    for count in (*range(1, 9), 3):
        assert np.array_equal(f([count])[0], np.arange(count))


def test_sizes_that_never_change_are_not_looked_at(clock: _Clock) -> None:
    code = assisted.compiled_for_any_size(Graph([], []), _Static(clock))
    assert isinstance(code, _Code)


def test_failures_name_their_node_and_lose_nothing(clock: _Clock) -> None:
    x, at = K.placeholder((None, 2)), K.placeholder((1,), dtype="int32")
    total = K.variable(0.0)
    picked = K.gather(x, at)
    f = Function([x, at], [picked], [K.update_add(total, K.sum(picked))], engine=_Static(clock))
    for count in range(1, 6):
        f([rows(count), [0]])
    with pytest.raises(EvaluationError, match="while computing gather"):
        f([rows(7), [8]])
    assert K.get_value(total) == 10
