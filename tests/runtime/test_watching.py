"""`K.watch` and `K.print_tensor`: whatever is computed is shown, in loops and conditions, too."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _support.common import read_events

from kameleon import backend as K
from kameleon._utils import events
from kameleon.engines import Engine
from kameleon.runtime.inspection.watching import Statistics, statistics

NAN, INF = np.nan, np.inf


@pytest.fixture(autouse=True)
def _session() -> Iterator[None]:
    K.clear_session()
    yield
    K.clear_session()


@pytest.mark.parametrize(
    "value, want",
    [
        ([1.0, 3.0], (2.0, 1.0, 1.0, 3.0, 0.0, 0.0, 0.0)),
        ([0.0, 4.0, NAN, -INF], (2.0, 2.0, 0.0, 4.0, 0.25, 0.25, 0.25)),
        ([NAN, NAN], (NAN, NAN, NAN, NAN, 0.0, 1.0, 0.0)),
        ([], (NAN, NAN, NAN, NAN, 0.0, 0.0, 0.0)),
        (np.array(True), (1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0)),
        (np.full(4, 60000, "float16"), (60000.0, 0.0, 60000.0, 60000.0, 0.0, 0.0, 0.0)),
    ],
)
def test_statistics(value: Any, want: Any) -> None:
    np.testing.assert_array_equal(statistics(np.asarray(value)), Statistics(*want))


def test_what_is_watched_is_kept_step_by_step(engine: Engine) -> None:
    x, v = K.placeholder((None,)), K.variable(1.0)
    loss = K.sum(K.watch(x, "x") * v)
    slope = K.watch(K.gradients(loss, [v])[0], "slope")
    f = K.function([x], [loss], [K.update(v, v - 0.5 * slope)])
    for value in ([1.0, 2.0], [3.0]):
        f([value])
    found = K.watched().data
    assert found["x"]["mean"].tolist() == [1.5, 3.0]
    assert found["slope"]["largest"].tolist() == [3.0, 3.0]
    assert K.get_value(v) == -2.0


def step(row: Any, states: list[Any]) -> Any:
    state = K.print_tensor(K.watch(states[0] + row, "state"), "state is")
    return state, [state]


def test_steps_of_loops_are_shown(engine: Engine, capfd: pytest.CaptureFixture[str]) -> None:
    x, w = K.placeholder((1, None, 1)), K.variable(2.0)
    last, _, _ = K.rnn(step, x, [K.zeros((1, 1))])
    loss = K.sum(last) * w
    results = K.function([x], [loss, *K.gradients(loss, [x, w])])([[[[1.0], [2.0], [3.0]]]])
    assert [np.ravel(y).tolist() for y in results] == [[12.0], [2.0, 2.0, 2.0], [6.0]]
    lines = capfd.readouterr().out.splitlines()
    assert lines == ["state is [[1.]]", "state is [[3.]]", "state is [[6.]]"]
    assert K.watched().data["state"]["mean"].tolist() == [1.0, 3.0, 6.0]


def test_the_branch_that_is_taken_is_shown(
    engine: Engine, capfd: pytest.CaptureFixture[str]
) -> None:
    x = K.placeholder((1,))
    shown = {name: lambda name=name: K.print_tensor(K.watch(x, name), name) for name in "ab"}
    f = K.function([x], [K.switch(K.sum(x) > 0.0, shown["a"], shown["b"])])
    for value in (1.0, -1.0, 2.0):
        f([[value]])
    assert capfd.readouterr().out.splitlines() == ["a [1.]", "b [-1.]", "a [2.]"]
    assert K.watched().data["a"]["mean"].tolist() == [1.0, 2.0]


def test_a_call_that_fails_keeps_nothing() -> None:
    x = K.placeholder((1,))
    f = K.function([x], [K.log(K.watch(x, "x"))], check="nan")
    with pytest.raises(ValueError, match="output 0 has NaN"):
        f([[-1.0]])
    assert not K.watched().data


def test_a_function_that_was_pickled_is_watched() -> None:
    x = K.placeholder((1,))
    f = pickle.loads(pickle.dumps(K.function([x], [K.print_tensor(K.watch(x, "x"), "p")])))
    f([[4.0]])
    assert K.watched().data["x"]["mean"].tolist() == [4.0]


def test_an_empty_table_says_what_to_do() -> None:
    assert "K.watch(tensor, name)" in str(K.watched())
    K.eval(K.watch(K.constant([1.0, NAN]), "a<b"))
    assert "50.0%" in str(K.watched()) and "a&lt;b" in K.watched()._repr_html_()


@pytest.mark.skipif(not events.is_there(), reason="TensorBoard writes events")
def test_tensorboard_reads_what_was_watched(tmp_path: Path) -> None:
    for value in (1.0, 5.0):
        K.eval(K.watch(K.constant(value), "h"))
    K.watched().write(tmp_path)
    [path] = tmp_path.iterdir()
    found = {
        (value.tag, event.step): value.simple_value
        for event in read_events(path)
        for value in event.summary.value
    }
    assert found["h/mean", 0] == 1.0 and found["h/mean", 1] == 5.0
