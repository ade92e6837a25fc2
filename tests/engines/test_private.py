"""Private interfaces of libraries: tried out before use; without them all gives the same."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _support.common import engines_under_test

from kameleon import backend as K
from kameleon._utils import private as _private
from kameleon._utils.private import Private
from kameleon.compat.keras2 import shims
from kameleon.errors import EvaluationError
from kameleon.runtime import engines

DOCUMENTED = Path(__file__).parents[2] / "docs" / "engines.md"
# By engine, what its module of that name relies on.
USED: dict[str, list[tuple[str, str]]] = {
    "numpy": [("engines._kernels.memory", "COUNTS")],
    "torch": [("engines.torch.pool", "COUNTS"), ("engines.torch.products", "LINEAR")],
    "jax": [
        ("engines.jax.arrays", "MEMORY"),
        ("engines.jax.arrays", "SWITCH"),
        ("engines.jax.arrays", "TRACES"),
        ("engines.jax.processes", "CLIENT"),
    ],
    "tensorflow": [("engines.tensorflow.call", "BARE"), ("engines.tensorflow.arrays", "SHARING")],
    "theano": [
        ("engines.theano.thunk_runner", "THUNKS"),
        ("engines.theano.thunk_runner", "C_CODE"),
        ("engines._kernels.memory", "COUNTS"),
    ],
}
CASES = [
    (engine, module, name)
    for engine in engines_under_test()
    for module, name in USED.get(engine, [])
]


@pytest.fixture
def private(request: pytest.FixtureRequest) -> Iterator[Private]:
    """The private interface of a case, while its engine is in force."""
    engine, module, name = request.param
    with K.using_engine(engine):
        yield getattr(importlib.import_module(f"kameleon.{module}"), name)


def results() -> list[Any]:
    """What a program gives: small and large arrays, state, random numbers, and an error."""
    x, i = K.placeholder((None, 200)), K.placeholder((None,), dtype="int32")
    w = K.variable(np.linspace(-1, 1, 200 * 200).reshape(200, 200))
    hidden = K.tanh(K.dot(x, w) * 0.01 + K.sum(K.gather(x, i)) * 1e-3)
    slope = K.gradients(K.sum(hidden), [w])[0]
    run = K.function([x, i], [hidden, K.mean(hidden), x + 0.0], [K.update_sub(w, slope * 0.1)])
    array = np.linspace(0, 1, 150 * 200, dtype="float32").reshape(150, 200)
    found: list[Any] = []
    for turn in range(4):
        for rows in (150, 2, 150):
            values = run([array[:rows], np.array([0, 1], "int32")])
            found += [np.array(y) for y in values]
            for y in values[::2]:
                y[...] = 77.0 + turn  # they are the user's own
        with pytest.raises(EvaluationError):
            run([array, np.array([0, 150], "int32")])
    return [*found, K.get_value(w), *_of_many(130)]


def _of_many(count: int) -> list[Any]:
    """What functions of many values give: each of them has a name in code that is made."""
    inputs = [K.placeholder((None,)) for _ in range(count)]
    run = K.function(inputs, [x + i for i, x in enumerate(inputs)])
    arrays = [np.full(2, 2 * i, "float32") for i in range(count)]
    return [y for _ in range(3) for y in run(arrays)]


@pytest.mark.parametrize("private", CASES, indirect=True, ids="-".join)
def test_libraries_behave_as_known(private: Private) -> None:
    if private.name.startswith("C code") and not sys.modules["pytensor"].config.cxx:
        pytest.skip("there is no compiler")
    if "64-bit" in private.name and not hasattr(sys.modules["jax"], "enable_x64"):
        pytest.skip("JAX before 0.8 has no such switch")
    if "trace" in private.name and not hasattr(sys.modules["jax"], "enable_x64"):
        pytest.skip("JAX before 0.8 keeps them in other places")
    assert private.holds


@pytest.mark.parametrize("private", CASES, indirect=True, ids="-".join)
def test_the_public_way_gives_the_same(private: Private, monkeypatch: pytest.MonkeyPatch) -> None:
    engine: Any = engines.current()
    if engine.name == "theano":  # in C as soon as may be
        pooled = private.library == "Python"
        monkeypatch.setattr(engine, "compile_after", None if pooled else 0.0)
    wanted = results()
    K.clear_session()
    monkeypatch.setattr(private, "_holds", False)
    for found, want in zip(results(), wanted, strict=True):
        np.testing.assert_allclose(found, want, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("name", "module"), [("numpy", "engines._kernels.memory"), ("torch", "engines.torch.pool")]
)
def test_where_counts_do_not_tell_no_memory_is_used_again(
    name: str, module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name not in engines_under_test():
        pytest.skip("not installed")
    with K.using_engine(name):
        pool: Any = sys.modules[f"kameleon.{module}"]
        pool.POOL.clear()
        monkeypatch.setattr(pool.COUNTS, "_holds", False)
        results()
        assert pool.POOL.held == 0


def test_where_dictionaries_are_not_asked_builtins_are_copied(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shim = shims.Shim("some_module", "json", lambda json: {"tau_2": 12.6}, "to see it")
    source = "import json\ndef sizes(xs): return [len(x) for x in xs], json.tau_2, json.loads('3')"
    for holds in (True, False):
        monkeypatch.setattr(shims.LIVE, "_holds", holds)
        space: dict[str, Any] = {"__name__": "some_module"}
        space["__builtins__"] = shims.importing({"json": shim})
        exec(source, space)
        assert space["sizes"](["ab", ""]) == ([2, 0], 12.6, 3)


def test_what_cannot_be_tried_out_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_private, "ALL", [])
    tries = []

    def fails() -> bool:
        tries.append(1)
        raise AttributeError("gone")

    assert [Private("a", "b", check).holds for check in (lambda: True, lambda: False)] == [
        True,
        False,
    ]
    gone = Private("a library", "something", fails)
    assert not gone.holds
    assert not gone.holds
    assert len(tries) == 1
    assert repr(gone) == "<private interface of a library: something>"


def test_all_are_documented() -> None:
    for engine in engines_under_test():
        engines.load(engine)
    text = " ".join(DOCUMENTED.read_text(encoding="utf-8").split())
    for private in _private.ALL:
        assert f"| {private.library} | {private.name} |" in text, private
