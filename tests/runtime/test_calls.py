"""Calls of one function again and again: the first ones, and the short way that later ones take."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from kameleon import backend as K
from kameleon.engines import Engine
from kameleon.errors import EvaluationError, FeedError
from kameleon.runtime.engines import load, runs_here

Array = np.ndarray[Any, Any]
CALLS = 4  # the first ones run line by line, or in Python; those behind them take the short way


def read_only(x: Array) -> Array:
    x = x.copy()
    x.flags.writeable = False
    return x


def unaligned(x: Array) -> Array:
    raw = np.zeros(x.nbytes + 1, "uint8")
    found = raw[1:].view(x.dtype).reshape(x.shape)
    found[...] = x
    return found


class Derived(np.ndarray):
    """A derived class, as libraries make them."""


# The same numbers, given in other ways.
GIVEN: dict[str, Callable[[Array], Any]] = {
    "array": lambda x: x,
    "read-only": read_only,
    "backwards": lambda x: x[::-1].copy()[::-1],
    "every other": lambda x: np.repeat(x, 2, axis=0)[::2],
    "columns first": np.asfortranarray,
    "unaligned": unaligned,
    "foreign byte order": lambda x: x.astype(x.dtype.newbyteorder()),
    "derived class": lambda x: x.view(Derived),
    "float64": lambda x: x.astype("float64"),
    "list": lambda x: x.tolist(),
}


@pytest.fixture(autouse=True)
def _compiled_early(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    if engine.name == "theano":  # at the second call, which takes a moment
        monkeypatch.setattr(engine, "compile_after", 1e-9)


@pytest.mark.parametrize("name", GIVEN)
def test_each_call_takes_what_the_first_one_takes(engine: Engine, name: str) -> None:
    x, y = K.placeholder((None, 3)), K.placeholder((None, 3))
    f = K.function([x, y], [x + y, x * 2.0])
    a = np.arange(12, dtype="float32").reshape(4, 3)
    plain, other = [a, a + 1], GIVEN[name](a)
    for values in [plain] * CALLS + [[other, a + 1], [a, other], plain]:
        total, twice = f(values)
        np.testing.assert_array_equal(total, np.asarray(values[0]) + np.asarray(values[1]))
        np.testing.assert_array_equal(twice, 2 * a)
        assert total.dtype == twice.dtype == np.float32


def test_results_are_the_callers_own(engine: Engine) -> None:
    x = K.placeholder((None,))
    f = K.function([x], [x * 1.0, x, x + 1.0, x + 1.0])
    a = np.arange(3, dtype="float32")
    kept = []
    for _ in range(CALLS):
        results = f([a])
        assert type(results) is list
        assert all(type(r) is np.ndarray and r.flags.writeable for r in results)
        kept += results
    for number, result in enumerate(kept):
        result += number  # reaches neither another result nor what was given
    np.testing.assert_array_equal(a, [0, 1, 2])
    for number, result in enumerate(kept):
        np.testing.assert_array_equal(result, a + (number % 4 > 1) + number)


def test_a_call_keeps_nothing_of_what_it_took_and_gave(engine: Engine) -> None:
    x = K.placeholder((None,))
    f = K.function([x], [x * 2.0])
    for _ in range(CALLS):
        given = np.ones(3, "float32")
        (found,) = f([given])
        kept = [weakref.ref(given), weakref.ref(found)]
        del given, found
        gc.collect()
        assert [k() for k in kept] == [None, None]


def test_scalars_stay_scalars(engine: Engine) -> None:
    x = K.placeholder((None,))
    f = K.function([x], [K.sum(x), x])
    for _ in range(CALLS):
        total, same = f([np.ones(3, "float32")])
        assert type(total) is np.float32
        assert total == 3.0
        assert same.shape == (3,)


def test_later_calls_refuse_what_the_first_one_refuses(engine: Engine) -> None:
    x, y = K.placeholder((None,)), K.placeholder((None,))
    f = K.function([x, y], [x + y])
    a = np.ones(3, "float32")
    for _ in range(CALLS):
        np.testing.assert_array_equal(f([a, a])[0], [2, 2, 2])
        with pytest.raises(FeedError, match="takes 2 values"):
            f([a])
        with pytest.raises(FeedError, match=r"shape \(None,\), the value given for it \(3, 1\)"):
            f([a, a[:, None]])
        with pytest.raises(EvaluationError, match=r"taken as equal(.|\n)*test_calls\.py"):
            f([a, a[:2]])


def test_known_sizes_are_asked_for_in_each_call(engine: Engine) -> None:
    x = K.placeholder((None, 2, None))
    f = K.function([x], [K.sum(x, axis=-1)])
    for _ in range(CALLS):
        assert f([np.ones((3, 2, 5), "float32")])[0].tolist() == [[5, 5]] * 3
        with pytest.raises(FeedError, match=r"has shape \(None, 2, None\)"):
            f([np.ones((3, 4, 5), "float32")])


def test_a_function_of_nothing(engine: Engine) -> None:
    f = K.function([], [K.constant([1.0, 2.0]) * 3.0])
    for _ in range(CALLS):
        assert f([])[0].tolist() == [3.0, 6.0]


@pytest.mark.parametrize("dtype", ["bool", "uint8", "uint16", "uint64", "int64", "float16"])
def test_all_sorts_of_numbers(engine: Engine, dtype: str) -> None:
    x = K.placeholder((None,), dtype=dtype)
    f = K.function([x], [K.reverse(x, 0)])
    a = np.array([0, 1, 1], dtype)
    for _ in range(CALLS):
        (found,) = f([a])
        np.testing.assert_array_equal(found, a[::-1])
        assert found.dtype == a.dtype


def test_each_call_runs_on_the_engine_in_force(engine: Engine) -> None:
    """The short way is the way of one engine."""
    x = K.placeholder((None,))
    f = K.function([x], [x * 2.0])
    a = np.ones(2, "float32")
    others = [n for n in ("numpy", "jax", "torch", "onnxruntime") if runs_here(n)]
    for _ in range(CALLS):
        f([a])
        for name in others:
            with K.using_engine(name):
                assert f([a])[0].tolist() == [2.0, 2.0]
    assert {e.name for e in f.compiled._fast_paths} >= {*others}
    assert all(e is load(e.name) for e in f.compiled._fast_paths)
