"""Graphs, variables and functions belong to no engine: all of them go along when it's changed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _support.common import engines_under_test, side_by_side
from _support.own_arrays import assert_same, belongs_to, each_pair, values_of

from kameleon import backend as K
from kameleon import config, load, set_engine
from kameleon.config import ENGINES, settings
from kameleon.engines import Engine
from kameleon.errors import EngineNotFoundError, EvaluationError, FeedError
from kameleon.runtime import engines, state

NAMES = engines_under_test()
FLOATS = ("float16", "float32", "float64")
OTHERS = ("bool", "int8", "int32", "int64", "uint8", "uint32", "uint64")

Array = np.ndarray[Any, Any]


@pytest.fixture(autouse=True)
def _numpy_again() -> Iterator[None]:
    """Whatever a test sets, the next one starts on NumPy."""
    before = settings.backend
    yield
    engines.use("numpy")
    settings.backend = before


# Choosing -------------------------------------------------------------------------------------


def test_a_function_runs_on_the_engine_in_force_at_the_call(engine_name: str) -> None:
    x = K.placeholder((None,))
    f = K.function([x], [x * 2.0], as_numpy=False)
    f([[1.0]])
    K.set_engine(engine_name)
    assert K.backend() == engine_name
    (found,) = f([[1.0, 2.0]])
    assert engine_name in belongs_to(found)
    K.set_engine("numpy")
    assert isinstance(f([[1.0]])[0], np.ndarray)


def test_a_block_ends_with_the_engine_from_before(engine_name: str) -> None:
    K.set_engine(NAMES[-1])
    with K.using_engine(engine_name):
        assert K.backend() == engine_name
        for inner in NAMES:
            with K.using_engine(inner):
                assert K.backend() == inner
            assert K.backend() == engine_name
    with pytest.raises(RuntimeError, match="on purpose"), K.using_engine(engine_name):
        raise RuntimeError("on purpose")
    assert K.backend() == NAMES[-1]


@each_pair
def test_functions_made_for_an_engine_stay_there(first: str, second: str) -> None:
    x, v = K.placeholder((2,)), K.variable([1.0, 2.0])
    f = K.function([x], [x + v], [K.update_add(v, 1.0)], engine=first, as_numpy=False)
    with K.using_engine(second):
        (found,) = f([[1.0, 1.0]])
        assert first in belongs_to(found)
        assert_same(K.get_value(v), np.array([2.0, 3.0], "float32"))


def test_a_choice_made_in_a_block_counts_after_it() -> None:
    with K.using_engine("numpy"):
        K.set_engine(NAMES[-1])
        assert K.backend() == "numpy"
    assert K.backend() == NAMES[-1]


def test_a_choice_is_for_all_threads() -> None:
    seen: list[str] = []
    side_by_side([lambda: K.set_engine(NAMES[-1])])
    side_by_side([lambda: seen.append(K.backend())])
    assert [*seen, K.backend()] == [NAMES[-1]] * 2


@pytest.mark.parametrize(
    "alias", [*NAMES, *(a for a, name in config.ALIASES.items() if name in NAMES)]
)
def test_other_names_choose_the_same_engine(alias: str) -> None:
    name = engines.canonical(alias)
    with K.using_engine(alias):
        assert K.backend() == name
    set_engine(alias)
    assert K.backend() == name
    assert engines.load(alias) is engines.load(name)


@pytest.mark.parametrize(
    "choose", [K.set_engine, set_engine, lambda n: K.function([], [], engine=n)]
)
def test_an_unknown_engine_is_an_error_and_changes_nothing(choose: Callable[[str], Any]) -> None:
    with pytest.raises(EngineNotFoundError, match=r"no engine 'tortch'.*numpy, .*torch"):
        choose("tortch")
    assert K.backend() == "numpy"
    with pytest.raises(EngineNotFoundError, match="'tortch'"), K.using_engine("tortch"):
        pytest.fail("the block was entered")


@pytest.mark.parametrize("name", [name for name in engines.MODULES if name != "numpy"])
def test_an_engine_without_its_library_names_the_line_that_installs_it(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engines, "installed", lambda name: False)
    monkeypatch.delitem(engines._loaded, name, raising=False)
    for choose in (K.set_engine, lambda n: K.function([], [], engine=n)):
        with pytest.raises(EngineNotFoundError) as caught:
            choose(name)
        assert str(caught.value).endswith(ENGINES[name].install)
    assert K.backend() == "numpy"


def test_tasks_have_an_engine_of_their_own() -> None:
    async def work(name: str) -> list[str]:
        seen = []
        with K.using_engine(name):
            for _ in range(3):
                await asyncio.sleep(0)
                seen.append(K.backend())
        return seen

    async def all_of_them() -> list[list[str]]:
        return await asyncio.gather(*map(work, NAMES))

    assert asyncio.run(all_of_them()) == [[name] * 3 for name in NAMES]


# Values ---------------------------------------------------------------------------------------


@each_pair
@pytest.mark.parametrize("dtype", [*FLOATS, *OTHERS])
def test_values_survive_moves(first: str, second: str, dtype: str) -> None:
    start = values_of(dtype)
    v, w = K.variable(start, dtype=dtype), K.variable(np.zeros_like(start), dtype=dtype)
    copy = K.function([], [], [K.update(w, K.identity(v))])
    swap = K.function([], [K.identity(w)], [K.update(v, w), K.update(w, v)])
    with K.using_engine(first):
        copy([])
        assert_same(K.get_value(w), start)
    with K.using_engine(second):
        assert_same(swap([])[0], start)
        K.set_value(v, start[::-1].copy())
    with K.using_engine(first):
        assert_same(swap([])[0], start)
    with K.using_engine(second):
        assert_same(K.get_value(w), start[::-1])
        for found in K.batch_get_value([v, v]):
            assert_same(found, start)


@each_pair
@pytest.mark.parametrize("dtype", FLOATS)
def test_updates_on_one_engine_are_seen_on_another(first: str, second: str, dtype: str) -> None:
    v = K.variable([1.0, -2.0, 0.5], dtype=dtype)
    expected = np.array([1.0, -2.0, 0.5], dtype)
    f = K.function([], [v * 2.0], [K.update(v, v * 2.0 + 1.0)])
    for name in (first, second, second, first, first, second):
        with K.using_engine(name):
            assert_same(f([])[0], expected * 2)
            expected = expected * 2 + 1
            assert_same(K.get_value(v), expected)
            assert_same(K.eval(v), expected)
            assert_same(K.eval(v + 1.0), expected + 1)


@each_pair
def test_what_one_engine_gave_is_not_written_to_by_another(first: str, second: str) -> None:
    """Memory may be shared between engines; new values never go where somebody still looks."""
    v = K.variable(np.zeros(5000))
    read = K.function([], [K.identity(v), v], as_numpy=False, engine=first)
    add = K.function([], [], [K.update_add(v, 1.0)], engine=second)
    back = K.function([], [], [K.update_add(v, 1.0)], engine=first)
    held = []
    for _ in range(3):
        add([])
        held.append(read([]))
        add([])
        back([])
        held.append([K.get_value(v)])
    convert = K.function([x := K.placeholder((5000,))], [x + 0.0])
    found = [[convert([x])[0][[0, -1]].tolist() for x in pair] for pair in held]
    assert found == [[[n, n]] * k for n, k in zip((1, 3, 4, 6, 7, 9), (2, 1) * 3, strict=True)]


@each_pair
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_running_call_keeps_its_arguments(first: str, second: str, dtype: str) -> None:
    """Updates on `second` while a call on `first` still works on the values it has read."""
    v = K.variable(np.full(50_000, 0.0), dtype=dtype)
    engine = engines.load(first)
    add = K.function([], [], [K.update_add(v, 1.0)], engine=second)
    read = []
    for _ in range(4):
        add([])
        read.append(state.on(v.cell.record, engine, v))
        add([])
    for number, value in enumerate(read):
        found = engine.to_numpy(value)
        assert found.dtype == dtype
        assert set(found) == {2.0 * number + 1}


@each_pair
def test_a_saved_function_goes_on_elsewhere(first: str, second: str, tmp_path: Path) -> None:
    x, v = K.placeholder((None,)), K.variable([1.0, 2.0])
    y = K.dropout(x, 0.5, seed=3) + K.sum(v)
    f = K.function([x], [y], [K.update_add(v, 0.5)])
    given = [np.ones(30, "float32")]
    with K.using_engine(first):
        f(given)
        f.save(tmp_path / "f.safetensors")
        want = [f(given)[0], f(given)[0]]
    with K.using_engine(second):
        g = load(tmp_path / "f.safetensors")
        for expected in want:
            assert_same(g(given)[0], expected)


def test_random_numbers_go_on_where_another_engine_stopped() -> None:
    def drawn(names: list[str]) -> list[list[float]]:
        f = K.function([], [K.random_uniform((5,), seed=4)])
        found = []
        for name in names:
            with K.using_engine(name):
                found.append(f([])[0].tolist())
        return found

    assert drawn([*NAMES, *NAMES]) == drawn(["numpy"] * (2 * len(NAMES)))


def test_a_training_goes_from_engine_to_engine() -> None:
    def losses(names: list[str]) -> list[float]:
        rng = np.random.default_rng(0)
        x, y = K.placeholder((None, 4), dtype="float64"), K.placeholder((None, 1), dtype="float64")
        w = K.variable(rng.normal(size=(4, 8)), dtype="float64")
        u = K.variable(rng.normal(size=(8, 1)), dtype="float64")
        loss = K.mean(K.square(K.dot(K.tanh(K.dot(x, w)), u) - y))
        steps = zip([w, u], K.gradients(loss, [w, u]), strict=True)
        train = K.function([x, y], [loss], [K.update_sub(v, 0.1 * g) for v, g in steps])
        found = []
        for name in names:
            given = rng.normal(size=(16, 4))
            with K.using_engine(name):
                found.append(float(train([given, given[:, :1]])[0]))
        return found

    names = NAMES * 3
    np.testing.assert_allclose(losses(names), losses(["numpy"] * len(names)), rtol=1e-12)


def test_the_session_can_be_cleared_in_between(engine_name: str) -> None:
    v = K.variable([1.0, 2.0])
    f = K.function([], [v * 3.0], [K.update_add(v, 1.0)])
    with K.using_engine(engine_name):
        f([])
        K.clear_session()
        assert_same(f([])[0], np.array([6.0, 9.0], "float32"))
        K.clear_session()
        assert_same(K.get_value(v), np.array([3.0, 4.0], "float32"))
        assert_same(K.eval(v * 2.0), np.array([6.0, 8.0], "float32"))


# Failures -------------------------------------------------------------------------------------


@pytest.mark.parametrize("fault", ["index", "sizes", "shape fed"])
def test_a_call_that_fails_changes_nothing(engine_name: str, fault: str) -> None:
    v, w = K.variable([1.0, 2.0, 3.0]), K.variable(0.0)
    i, x, y = K.placeholder((None,), dtype="int32"), K.placeholder((None,)), K.placeholder((None,))
    drawn = K.random_uniform((2,), seed=1)
    outputs = [K.gather(v, i), x + y, drawn]
    f = K.function([i, x, y], outputs, [K.update_add(v, 1.0), K.update_add(w, K.sum(drawn))])
    good = [[0, 2], [1.0], [2.0]]
    bad = {
        "index": [[0, 3], [1.0], [2.0]],
        "sizes": [[0], [1.0, 2.0], [1.0, 2.0, 3.0]],
        "shape fed": [[0], [[1.0]], [2.0]],
    }[fault]
    with K.using_engine(engine_name):
        expected = f(good)[2]
        before = [np.array(a) for a in K.batch_get_value([v, w])]
        for _ in range(2):
            with pytest.raises(FeedError if fault == "shape fed" else EvaluationError):
                f(bad)
            for found, want in zip(K.batch_get_value([v, w]), before, strict=True):
                np.testing.assert_array_equal(found, want)
        again = f(good)
        assert_same(again[0], np.array([2.0, 4.0], "float32"))
        # What the failing calls would have drawn comes now.
        g = K.function([], [K.random_uniform((2,), seed=1)], engine="numpy")
        np.testing.assert_array_equal(g([])[0], expected)
        np.testing.assert_array_equal(g([])[0], again[2])


def test_a_failure_names_the_line_that_made_the_node(engine_name: str) -> None:
    i = K.placeholder((None,), dtype="int32")
    table = K.variable(np.zeros((3, 2)))
    found = K.gather(table, i)
    f = K.function([i], [found], engine=engine_name)
    f([[0, 1, 2]])
    with pytest.raises(EvaluationError, match=r"(?s)while computing .*test_switching.py\", line"):
        f([[7]])


# Threads --------------------------------------------------------------------------------------


def on(name: str, work: Callable[[Engine], None]) -> Callable[[], None]:
    """A thread's work on an engine."""

    def run() -> None:
        with K.using_engine(name):
            work(engines.load(name))

    return run


@each_pair
def test_engines_in_threads_share_variables(first: str, second: str) -> None:
    a, b = K.variable(np.zeros(1000)), K.variable(np.zeros(1000))
    add = K.function([], [], [K.update_add(a, 1.0), K.update_add(b, 1.0)])
    read = K.function([], [K.max(K.abs(a - b)), K.max(a) - K.min(a)])
    for name in (first, second):
        with K.using_engine(name):
            add([])
            read([])

    def write(engine: Engine) -> None:
        for _ in range(30):
            add([])

    def look(engine: Engine) -> None:
        for _ in range(30):
            assert read([]) == [0.0, 0.0]
            x, y = K.batch_get_value([a, b])
            np.testing.assert_array_equal(x, y)

    side_by_side([on(first, write), on(second, write), on(first, look), on(second, look)])
    for found in K.batch_get_value([a, b]):
        assert set(found) == {62.0}


def test_each_thread_has_its_own_engine() -> None:
    f = K.function([x := K.placeholder((3,))], [K.exp(x)], as_numpy=False)
    f([np.zeros(3)])

    def work(engine: Engine) -> None:
        for _ in range(20):
            assert K.backend() == engine.name
            (found,) = f([np.zeros(3, "float32")])
            assert engine.type_of(found) is not None
            assert engine.to_numpy(found).tolist() == [1.0, 1.0, 1.0]

    side_by_side([on(name, work) for name in NAMES * 2])
    # A block is for the thread that entered it.
    with K.using_engine(NAMES[-1]):
        seen: list[str] = []
        side_by_side([lambda: seen.append(K.backend())])
    assert seen == ["numpy"]


def test_failures_in_threads_lose_no_update() -> None:
    v, i = K.variable([0.0, 0.0]), K.placeholder((), dtype="int32")
    f = K.function([i], [K.gather(v, i)], [K.update_add(v, 1.0)])

    def work(engine: Engine) -> None:
        for turn in range(20):
            if turn % 2:
                with pytest.raises(EvaluationError):
                    f([5])
            else:
                f([1])

    works = NAMES if len(NAMES) > 1 else NAMES * 3
    side_by_side([on(name, work) for name in works])
    assert K.get_value(v).tolist() == [10.0 * len(works)] * 2
