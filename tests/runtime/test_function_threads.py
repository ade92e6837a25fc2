"""K.function: calls from several threads."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from _support.common import LARGE, side_by_side, value

from kameleon import backend as K

pytestmark = pytest.mark.usefixtures("engine")  # on each engine that is installed


def in_threads(count: int, work: Callable[[int], None]) -> None:
    """Run `work` in so many threads at once."""
    side_by_side([partial(work, i) for i in range(count)])


def test_concurrent_increments_are_not_lost() -> None:
    v, w = K.variable(np.zeros(LARGE)), K.variable(0.0)
    one = K.function([], [], updates=[K.update_add(v, 1.0), K.update_add(w, 1.0)])
    two = K.function([], [], updates=[(w, w + 1.0), (v, v + 1.0)])

    def work(number: int) -> None:
        for _ in range(50):
            (one, two)[number % 2]([])

    in_threads(4, work)
    assert value(w) == 200.0
    assert set(value(v)) == {200.0}


def test_readers_see_the_variables_of_one_moment() -> None:
    a, b = K.variable(np.zeros(LARGE)), K.variable(np.zeros(LARGE))
    write = K.function([], [], updates=[K.update_add(a, 1.0), K.update_add(b, 1.0)])
    read = K.function([], [K.max(K.abs(a - b)), K.max(a) - K.min(a)])

    def work(number: int) -> None:
        for _ in range(60):
            if number == 0:
                write([])
            elif number == 1:
                x, y = K.batch_get_value([a, b])
                np.testing.assert_array_equal(x, y)
            else:
                assert read([]) == [0.0, 0.0]

    in_threads(4, work)
    assert value(a)[0] == 60.0


def test_one_function_in_many_threads() -> None:
    x = K.placeholder((None,))
    y = K.sum(K.exp(K.tanh(x)) * x)
    # In threads another engine is in force: the one of the process.
    f = K.function([x], [y, *K.gradients(y, [x])], engine=K.backend())
    inputs = [np.full(LARGE + i, i / 8, "float32") for i in range(8)]
    expected = [[np.array(r) for r in f([given])] for given in inputs]

    def work(number: int) -> None:
        for turn in range(12):
            i = (number + turn) % 8
            for got, want in zip(f([inputs[i]]), expected[i], strict=True):
                np.testing.assert_array_equal(got, want)

    in_threads(4, work)


def test_random_numbers_of_threads_are_all_different() -> None:
    f = K.function([], [K.random_uniform((4,), seed=3)])
    drawn: list[tuple[float, ...]] = []
    in_threads(4, lambda _: drawn.extend(tuple(f([])[0].tolist()) for _ in range(50)))
    assert len(set(drawn)) == 200


def test_graphs_are_built_in_threads() -> None:
    """Names are unique, and what one thread sets for its own nodes reaches no other thread."""
    names: list[str] = []

    def work(number: int) -> None:
        with K.name_scope(f"thread{number}"):
            for i in range(30):
                v = K.variable(float(i), name="w")
                x = K.placeholder(())
                assert K.function([x], [v * x])([2.0]) == [2.0 * i]
                assert v.name.startswith(f"thread{number}/")
                names.append(v.name)

    in_threads(4, work)
    assert len(set(names)) == len(names)


def test_a_call_inside_of_a_call() -> None:
    """A custom array type that calls the same function while its value is converted."""
    v, x = K.variable(0.0), K.placeholder(())
    f = K.function([x], [v + x], updates=[K.update_add(v, 1.0)])

    class Nested:
        def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray[Any, Any]:
            return np.asarray(f([0.0])[0])

    assert f([Nested()]) == [1.0]
    assert value(v) == 2.0
