"""What goes wrong while a program runs: on every engine the same error, which names the line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from kameleon import backend as K
from kameleon.engines import Engine
from kameleon.errors import EngineError, EvaluationError, FeedError
from kameleon.runtime import compiler, function

X = np.arange(12.0, dtype="float32").reshape(4, 3)


def slope_by_labels(x: Any, i: Any) -> Any:
    """The loss itself isn't asked for: only its slope reads the labels."""
    return K.gradients(K.sum(K.sparse_categorical_crossentropy(i, K.softmax(x))), [x])[0]


def in_a_loop(x: Any, i: Any) -> Any:
    steps = K.expand_dims(K.expand_dims(K.cast(i, "float32"), -1), 0)

    def step(at: Any, states: Any) -> Any:
        row = K.gather(x, K.cast(at[:, 0], "int32")) + states[0]
        return row, [row]

    return K.rnn(step, steps, [K.constant(np.zeros((1, 3)))])[0]


# What is built over a table (None, 3) and indices (None,); right indices, wrong ones, the error.
PROGRAMS: dict[str, tuple[Callable[[Any, Any], Any], list[int], list[int], str]] = {
    "too large": (lambda x, i: K.gather(x, i), [0, 3], [0, 4], "index"),
    "negative": (lambda x, i: K.gather(x, i), [0, 3], [-1, 2], "index"),
    "slope": (
        lambda x, i: K.gradients(K.sum(K.square(K.gather(x, i))), [x])[0],
        [0, 3],
        [0, 9],
        "index",
    ),
    "labels": (slope_by_labels, [0, 2, 1, 0], [0, 3, 1, 0], "index|label"),
    "negative labels": (slope_by_labels, [0, 2, 1, 0], [0, -1, 1, 0], "index|label"),
    "loop": (in_a_loop, [0, 3, 1], [0, 4, 1], "index"),
    "branch": (
        lambda x, i: K.switch(K.sum(x) > 0.0, lambda: K.gather(x, i), lambda: K.gather(x, i - i)),
        [0, 3],
        [0, 4],
        "index",
    ),
    "sizes": (lambda x, i: K.cast(i, "float32") + x[:, 0], [0, 0, 0, 0], [0, 0], "sizes"),
    "product": (
        lambda x, i: K.dot(K.expand_dims(K.cast(i, "float32"), 0), x),
        [0, 0, 0, 0],
        [1, 1],
        "",
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_failing_call_names_the_line_and_changes_nothing(engine: Engine, name: str) -> None:
    build, right, wrong, what = PROGRAMS[name]
    x, i = K.placeholder((None, 3)), K.placeholder((None,), dtype="int32")
    counter = K.variable(0.0)
    run = K.function([x, i], [build(x, i)], [K.update_add(counter, 1.0)])
    run([X, np.array(right, "int32")])
    with pytest.raises(EvaluationError, match=what or None) as caught:
        run([X, np.array(wrong, "int32")])
    assert "test_failing_calls.py" in str(caught.value)
    assert float(K.get_value(counter)) == 1.0
    run([X, np.array(right, "int32")])
    assert float(K.get_value(counter)) == 2.0


# How often something is compiled and computed ---------------------------------------------------


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The graphs for which code is made, as they come."""
    graphs: list[Any] = []
    build = compiler.build

    def counted(graph: Any, engine: Engine) -> Any:
        graphs.append(graph)
        return build(graph, engine)

    monkeypatch.setattr(compiler, "build", counted)
    return graphs


def test_a_call_that_fails_again_compiles_nothing(engine: Engine, made: list[Any]) -> None:
    x, i = K.placeholder((None, 3)), K.placeholder((None,), dtype="int32")
    counter = K.variable(0.0)
    for updates in ([], [K.update_add(counter, 1.0)]):
        run = K.function([x, i], [K.gather(x, i) + 1.0], updates)
        for _ in range(5):
            with pytest.raises(EvaluationError):
                run([X, np.array([7], "int32")])
        assert len(made) == 2  # the call's, and what explains its failure
        made.clear()


def test_a_failure_is_explained_by_the_lines_of_the_function_that_failed(engine: Engine) -> None:
    """Functions of one structure share code, but not the lines that made them."""
    x, i = K.placeholder((None, 3)), K.placeholder((None,), dtype="int32")
    wrong = [X, np.array([7], "int32")]
    first = K.function([x, i], [K.gather(x, i)])
    second = K.function([x, i], [K.gather(x, i)])
    lines = []
    for run in (first, second, first, second):
        with pytest.raises(EvaluationError) as caught:
            run(wrong)
        lines.append(str(caught.value))
    assert lines[0] == lines[2] != lines[1] == lines[3]


# The short way ----------------------------------------------------------------------------------


class FlawError(Exception):
    """What no library raises."""


def shortened(engine: Engine, short: Callable[..., Any]) -> Any:
    """x + 1 on matrices, whose short way is exchanged."""
    x = K.placeholder((None, 2))
    run = function.Function([x], [x + 1.0])
    for _ in range(3):
        run([np.zeros((3, 2), "float32")])
    run._fast_paths[engine] = function.where_fit([x.type], short)
    return run


GIVEN = np.arange(6, dtype="float32").reshape(3, 2)
# Values that don't fit, by what the call does about it.
OTHERS: list[tuple[Any, type[Exception] | None]] = [
    ([GIVEN.astype("float64")], None),
    ([GIVEN.tolist()], None),
    ((GIVEN,), None),
    ([], FeedError),
    ([GIVEN, GIVEN], FeedError),
    ([GIVEN[0]], FeedError),
    ([np.zeros((3, 3), "float32")], FeedError),
]


@pytest.mark.parametrize("number", range(len(OTHERS)))
def test_what_does_not_fit_goes_the_usual_way(engine: Engine, number: int) -> None:
    given, error = OTHERS[number]
    run = shortened(engine, lambda x: [x + 1])
    if error is not None:
        with pytest.raises(error):
            run(given)
    else:
        np.testing.assert_array_equal(run(given)[0], GIVEN + 1)


def test_arrays_that_the_short_way_does_not_take_go_the_usual_way(engine: Engine) -> None:
    asked = []
    run = shortened(engine, asked.append)
    np.testing.assert_array_equal(run([GIVEN])[0], GIVEN + 1)
    assert len(asked) == 1


ODD: dict[str, Callable[[Any], Any]] = {
    "flipped": lambda x: np.flip(np.flip(x).copy()),
    "transposed": lambda x: x.T.copy().T,
    "with gaps": lambda x: np.repeat(x, 2, 1)[:, ::2],
    "read only": lambda x: np.frombuffer(x.tobytes(), x.dtype).reshape(x.shape),
    "not aligned": lambda x: (
        np.frombuffer(b"." + x.tobytes(), np.uint8)[1:].view(x.dtype).reshape(x.shape)
    ),
}


@pytest.mark.parametrize("name", ODD)
def test_arrays_may_lie_in_memory_as_they_like(engine: Engine, name: str) -> None:
    x = K.placeholder((None, 2))
    run = K.function([x], [K.exp(x) + 1.0])
    want = [np.exp(GIVEN) + 1.0]
    for _ in range(3):
        np.testing.assert_allclose(run([GIVEN]), want, rtol=1e-6)
        np.testing.assert_allclose(run([ODD[name](GIVEN)]), want, rtol=1e-6)


def raising(error: BaseException) -> Callable[..., Any]:
    def short(*_: Any) -> Any:
        raise error

    return short


@pytest.mark.parametrize("kind", [MemoryError, RecursionError, TimeoutError, UserWarning])
def test_what_tells_nothing_of_a_node_is_raised_as_it_is(
    engine: Engine, kind: type[Exception]
) -> None:
    with pytest.raises(kind) as caught:
        shortened(engine, raising(kind("so it was")))([GIVEN])
    assert type(caught.value) is kind


def test_a_failure_of_the_short_way_is_not_computed_again_on_the_engine(engine: Engine) -> None:
    run = shortened(engine, raising(FlawError("so it was")))
    run.call_on = None  # the usual way
    with pytest.raises(EngineError, match="FlawError: so it was") as caught:
        run([GIVEN])
    assert isinstance(caught.value.__cause__, FlawError)


def test_sizes_that_differ_on_the_short_way_are_explained(engine: Engine) -> None:
    x, y = K.placeholder((None,)), K.placeholder((None,))
    run = K.function([x, y], [x * 2.0 + y])
    three, four = np.ones(3, "float32"), np.ones(4, "float32")
    for _ in range(3):
        assert run([three, three])[0].tolist() == [3.0, 3.0, 3.0]
    for _ in range(2):
        with pytest.raises(EvaluationError, match=r"(?s)sizes.*made at.*test_failing_calls.py"):
            run([three, four])
    assert run([four, four])[0].tolist() == [3.0, 3.0, 3.0, 3.0]
