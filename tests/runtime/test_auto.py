"""The engine `auto`: who is tried, who is trusted, who serves, and what is kept of it."""

from __future__ import annotations

import gc
import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _support.common import TESTS, run_python

import kameleon
from kameleon import backend as K
from kameleon.errors import ArgumentError
from kameleon.runtime import engines
from kameleon.runtime.auto import choice, memory, trial
from kameleon.runtime.auto.report import Report

ENGINES = {
    "fast": "fast", "wrong": "wrong_engine", "slow": "slow_engine", "hangs": "hanging",
    "crashes": "crashing", "fails_later": "failing_later",
}  # fmt: skip
PATIENCE = 90.0  # seconds until what is tried in another process must have come to an end
STEPS = 300


@pytest.fixture(autouse=True)
def made_engines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The engines of `made_engines`, as another package would announce them; calls are few."""
    site = tmp_path / "site"
    info = site / "made_engines-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: made-engines\nVersion: 1.0\n")
    lines = [f"{name} = made_engines:{where}" for name, where in ENGINES.items()]
    (info / "entry_points.txt").write_text("\n".join([f"[{engines.GROUP}]", *lines]) + "\n")
    monkeypatch.syspath_prepend(str(TESTS / "runtime" / "made_engines"))
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.setenv("KAMELEON_AUTO", str(tmp_path / "kept"))
    monkeypatch.setattr(choice, "TRIED_AFTER", 0.01)
    yield site
    for name in ENGINES:
        engines._loaded.pop(name, None)


def work(v: Any = None, x: Any = None) -> Any:
    """A tensor that takes the embedded engine some milliseconds."""
    start = K.constant(0.0) if v is None else K.sum(v)
    given = start if x is None else start + K.sum(x)
    return K.while_loop(
        lambda i, s: i < STEPS, lambda i, s: (i + 1, K.sin(s) + 1e-3), [K.constant(0), given]
    )[1]


def made(*candidates: str, updates: bool = False, v: Any = None) -> Any:
    v = K.variable([1.0, 2.0]) if v is None else v
    x = K.placeholder((2,))
    changes = [(v, v + 1.0)] if updates else []
    return K.function([x], [work(v, x)], changes, engine="auto", candidates=candidates)


def until(function: Any, holds: Callable[[Report], bool], *others: Any) -> Report:
    """Call functions until the report on the first one says so."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        for f in (function, *others):
            f([[0.5, 0.5]])
        report: Report = function.report()
        if holds(report):
            return report
    raise AssertionError(str(function.report()))


def settled(report: Report) -> bool:
    return report.state == choice.SETTLED


@pytest.mark.parametrize("candidates", [["numpy"], "numpy"])
def test_with_nothing_to_choose_from_the_first_call_decides(candidates: str | list[str]) -> None:
    x = K.placeholder((2,))
    f = K.function([x], [x + 1.0], engine="auto", candidates=candidates)
    f([[0.0, 1.0]])
    assert settled(f.report()) and f.report().reason == "no other engine is installed"


def test_the_fastest_that_agrees_takes_over_with_its_variables() -> None:
    v = K.variable([1.0, 2.0])
    f = made("fast", "wrong", "slow", "crashes", updates=True, v=v)
    calls = 0
    while not settled(f.report()):
        f([[0.5, 0.5]])
        calls += 1
    report = f.report()
    assert report.engine == "fast", str(report)
    found = {c.engine: c for c in report.candidates}
    assert not found["wrong"].agrees and found["slow"].agrees
    assert "status 9" in found["crashes"].failure
    (value,) = f([[0.5, 0.5]])
    np.testing.assert_array_equal(K.get_value(v), np.array([1.0, 2.0]) + calls + 1)
    assert v.cell.record[1].name == "fast"
    with K.using_engine("numpy"):
        w = K.variable(np.array([1.0, 2.0]) + calls)
        np.testing.assert_allclose(value, K.eval(work(w, K.constant([0.5, 0.5]))), rtol=1e-6)
    for word in ("fast", "differs", "serves", "status 9"):
        assert word in str(report) and word in report._repr_html_()
    assert json.dumps(report.data)


def test_what_hangs_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial, "SECONDS", 5.0)
    f = made("hangs", "fast")
    report = until(f, settled)
    (hanging,) = [c for c in report.candidates if c.engine == "hangs"]
    assert report.engine == "fast" and "longer than 5 seconds" in hanging.failure


def test_what_fails_in_this_process_is_a_note() -> None:
    f = made("fails_later")
    report = until(f, settled)
    assert report.engine == "numpy"
    assert any("not in this process" in c.failure for c in report.candidates)


def test_a_function_is_not_tried_before_its_calls_have_taken_a_while(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(choice, "EVERY", 0.0)
    monkeypatch.setattr(choice, "TRIED_AFTER", 60.0)
    f = K.function([], [K.constant(1.0)], engine="auto", candidates=["fast"])
    f([]), f([])
    assert (f.report().state, f.report().candidates) == (choice.WAITING, ())
    monkeypatch.setattr(choice, "TRIED_AFTER", 0.0)
    f([])
    assert f.report().state is not choice.WAITING


def test_without_other_engines_it_costs_nothing() -> None:
    f = made("numpy")
    assert "no other engine" in until(f, settled).reason
    f([[0.0, 0.0]])


def test_what_cannot_be_sent_stays() -> None:
    x = K.placeholder((2,))
    y = kameleon.call(lambda a: a + 1, [x], like=x)
    f = K.function([x], [y, work()], engine="auto", candidates=["fast"])
    assert "can't be tried" in until(f, settled).reason


def test_it_is_remembered_and_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    until(made("fast"), settled)
    assert memory.count() == 1

    def tries(*given: Any) -> None:
        raise AssertionError("it's tried again")

    monkeypatch.setattr(choice, "Trial", tries)
    again = made("fast")
    again([[0.5, 0.5]])
    assert again.report().candidates
    assert until(again, settled).engine == "fast"
    assert memory.clear() == 1 and memory.count() == 0


@pytest.mark.parametrize("text", ["", "{", "[]", '{"format": 1}', '{"format": 1, "candidates": 3}'])
def test_what_is_kept_may_be_damaged(text: str) -> None:
    until(made("fast"), settled)
    (file,) = Path(memory.folder()).iterdir()
    file.write_text(text)
    assert until(made("fast"), settled).engine == "fast"


def test_at_most_so_many_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "MOST", 2)
    found = [trial.Candidate("fast", 1.0, 2.0, agrees=True, difference=0.0)]
    for size in range(1, 5):
        x = K.placeholder((size,))
        function = K.function([x], [x * 2.0]).compiled
        memory.keep(function, [np.zeros(size, "float32")], found)
    assert memory.count() == 2


def test_functions_that_share_a_variable_are_served_by_one_engine() -> None:
    v = K.variable([1.0, 2.0])
    f, g = made("fast", updates=True, v=v), made("fast", v=v)
    until(f, settled, g)
    assert until(g, settled, f).engine == f.report().engine == "fast"


def test_several_threads_call() -> None:
    v = K.variable([0.0, 0.0])
    f = made("fast", "wrong", updates=True, v=v)
    failures: list[BaseException] = []
    counts = [0, 0, 0]

    def calls(number: int) -> None:
        try:
            while not settled(f.report()):
                f([[0.5, 0.5]])
                counts[number] += 1
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=calls, args=(i,)) for i in range(3)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(PATIENCE)
    assert not failures
    np.testing.assert_array_equal(K.get_value(v), np.full(2, sum(counts)))


def test_a_trial_ends_with_the_function() -> None:
    f = made("hangs")
    report = until(f, lambda r: r.state == choice.TRYING)
    assert report.engine == "numpy"
    tried = engines_of(f)._trial
    process, folder = tried._process, Path(tried._folder)
    del f, tried
    gc.collect()
    assert process.returncode is not None and not folder.exists()


def engines_of(function: Any) -> Any:
    """What the engine knows of a function."""
    return function.compiled._engine.choice(function.compiled)


BEGINS = """
import os, sys
from kameleon import backend as K
from kameleon.runtime.auto import choice
choice.TRIED_AFTER = 0.0
x = K.placeholder((2,))
f = K.function([x], [x * 2.0], engine='auto', candidates=['hangs'])
tried = lambda: f.compiled._engine.choice(f.compiled)._trial
while f.report().state != 'being tried':
    f([[1.0, 2.0]])
parents = tried()
"""
FORKS = """
child = os.fork()
if not child:
    status = 1
    try:
        f([[0.5, 0.5]])  # it may try for itself
        status = 2 if tried() is parents else 0
    finally:
        os._exit(status)
assert os.waitpid(child, 0)[1] == 0
assert tried() is parents and parents._process.poll() is None
"""


def ends(code: str, tmp_path: Path) -> None:
    """Run a program in which engines are tried when it ends; nothing is left of that."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    began = time.monotonic()
    paths = os.pathsep.join(filter(None, sys.path))
    done = run_python(code, tmp_path, {"PYTHONPATH": paths, "TMPDIR": str(scratch)})
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr
    while list(scratch.iterdir()):  # what a killed process leaves is removed by its own
        assert time.monotonic() - began < 60
        time.sleep(0.1)


def test_the_interpreter_ends_while_engines_are_tried(tmp_path: Path) -> None:
    ends(BEGINS, tmp_path)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_child_does_not_wait_for_what_its_parent_tries(tmp_path: Path) -> None:
    ends(BEGINS + FORKS, tmp_path)


def test_the_engine_is_chosen_by_call_and_by_name(tmp_path: Path) -> None:
    with K.using_engine("auto"):
        assert K.backend() == "auto"
        x = K.placeholder((2,))
        f = K.function([x], [x + 1.0])
        np.testing.assert_array_equal(f([[1.0, 2.0]])[0], [2.0, 3.0])
        assert f.report().engine == "numpy"
        assert float(K.eval(K.sum(K.ones((2,))))) == 2.0
    code = "from kameleon import backend as K; print(K.backend(), K.eval(K.ones((1,))))"
    done = run_python(code, tmp_path, {"KERAS_BACKEND": "auto"})
    assert done.stdout.split() == ["auto", "[1.]"], done.stderr


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"engine": "auto", "candidates": ["fastt"]}, "there is no engine 'fastt'"),
        ({"engine": "auto", "candidates": ["auto"]}, "there is no engine 'auto'"),
        ({"engine": "auto", "candidates": "fastt"}, "there is no engine 'fastt'"),
        ({"engine": "auto", "candidates": 3}, "names of engines were expected, not 3"),
        ({"engine": "numpy", "candidates": ["fast"]}, "engine='auto' chooses among"),
        ({"candidates": ["fast"]}, "engine='auto' chooses among"),
    ],
)
def test_candidates_that_make_no_sense(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ArgumentError, match=words):
        K.function([], [K.constant(1.0)], **options)
