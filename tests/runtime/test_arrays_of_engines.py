"""Arrays go from any library to any engine, and back to the user, who owns what comes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from _support.common import engines_under_test
from _support.own_arrays import (
    FILLERS,
    MAKERS,
    assert_same,
    belongs_to,
    each_pair,
    values_of,
)

from kameleon import backend as K
from kameleon.errors import DTypeError, FeedError
from kameleon.runtime import engines, feeds

NAMES = engines_under_test()

Array = np.ndarray[Any, Any]

# What is fed -----------------------------------------------------------------------------------


@each_pair
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "bool"])
def test_arrays_of_any_library_may_be_fed(first: str, second: str, dtype: str) -> None:
    """`first` runs the function, the value comes from the library of `second`."""
    given = values_of(dtype).reshape(12, 5)
    x = K.placeholder((None, 5), dtype=dtype)
    f = K.function([x], [K.identity(x), K.shape(x)], engine=first)
    for make in (MAKERS.get(second, np.array), engines.load(second).from_numpy):
        value, size = f([make(given)])
        assert_same(value, given)
        assert size.tolist() == [12, 5]
    with pytest.raises(FeedError, match="has shape"):
        f([MAKERS.get(second, np.array)(given.T)])


LAYOUTS: dict[str, Callable[[Array], Array]] = {
    "reversed": lambda a: a[::-1],
    "every other": lambda a: np.repeat(a, 2, axis=1)[:, ::2],
    "columns first": np.asfortranarray,
    "transposed": lambda a: np.ascontiguousarray(a.T).T,
    "stretched": lambda a: np.broadcast_to(a[:1], a.shape),
    "bytes swapped": lambda a: a.astype(a.dtype.newbyteorder()),
    "not aligned": lambda a: np.frombuffer(b"x" + a.tobytes(), a.dtype, offset=1).reshape(a.shape),
    "empty": lambda a: a[:0],
    "a subclass": lambda a: a.view(np.recarray),
    "masked": lambda a: np.ma.masked_array(a),
    "in lists": lambda a: a.tolist(),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("writable", [True, False])
def test_arrays_of_any_layout_may_be_fed(engine_name: str, layout: str, writable: bool) -> None:
    x, v = K.placeholder((None, 4)), K.variable(np.zeros((6, 4)))
    f = K.function([x], [x, K.identity(x), x * 2.0, K.sum(x)], engine=engine_name)
    put = K.function([x], [], [K.update(v, x)], engine=engine_name)
    given: Any = LAYOUTS[layout](np.arange(24, dtype="float32").reshape(6, 4))
    if isinstance(given, np.ndarray):
        given.flags.writeable = given.flags.writeable and writable
    expected = np.array(given, "float32")
    same, copy, twice, total = f([given])
    for found, want in ((same, expected), (copy, expected), (twice, 2 * expected)):
        assert_same(found, want)
    assert total == expected.sum()
    same[...] = 99.0
    assert_same(np.array(given, "float32"), expected)
    if len(expected) == 6:
        put([given])
        K.function([], [], [K.update_add(v, 1.0)], engine=engine_name)([])
        assert_same(K.get_value(v), expected + 1)
        assert_same(np.array(given, "float32"), expected)


@pytest.mark.parametrize("name", ["longlong", "ulonglong", "long", "ulong", "intc", "uintc"])
def test_integers_by_other_names_of_c_may_be_fed(engine_name: str, name: str) -> None:
    given = np.arange(6).astype(name)
    x, v = (K.placeholder((None,), dtype=given.dtype), K.variable(np.zeros(6), dtype=given.dtype))
    f = K.function([x], [K.identity(x), x + x], [K.update(v, x)], engine=engine_name)
    expected = given.astype(given.dtype.name)
    for found, want in zip(f([given]), (expected, 2 * expected), strict=True):
        assert_same(found, want)
    assert_same(K.get_value(v), expected)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_parameters_of_a_torch_module_may_be_fed(dtype: str, monkeypatch: Any) -> None:
    torch = pytest.importorskip("torch", reason="they are PyTorch's")
    given = torch.nn.Parameter(torch.tensor([1.0, 2.0], dtype=getattr(torch, dtype)))
    x = K.placeholder((2,))
    for name in NAMES:
        f = K.function([x], [x * 2.0, K.ones((2,)) * 2.0 * given], engine=name)
        for found in f([given]):
            assert_same(found, np.array([2.0, 4.0], "float32"))
        with torch.no_grad():  # else what it gives would have forgotten the parameter
            K.function([x], [x * 2.0], engine=name, as_numpy=False)([given])
        monkeypatch.setattr(feeds, "loaded", list)  # its own engine isn't needed
    assert given.requires_grad and given.grad is None


def test_sparse_matrices_are_refused_where_arrays_are_expected() -> None:
    matrix = pytest.importorskip("scipy.sparse").csr_matrix(np.eye(2))
    x, v = K.placeholder((2, 2)), K.variable(np.eye(2))
    for call in (lambda: K.function([x], [x])([matrix]), lambda: K.set_value(v, matrix)):
        with pytest.raises(FeedError, match="sparse=True"):
            call()
    with pytest.raises(DTypeError, match="toarray"):
        K.dot(x, matrix)


@each_pair
def test_what_an_engine_gives_may_be_fed_again(first: str, second: str) -> None:
    x = K.placeholder((None,))
    once = K.function([x], [x * 2.0, K.sum(x)], as_numpy=False, engine=first)
    again = K.function([x, y := K.placeholder(())], [x + y], as_numpy=False, engine=second)
    doubled, total = once([[1.0, 2.0, 3.0]])
    assert first in belongs_to(doubled) and first in belongs_to(total)
    (found,) = again([doubled, total])
    (found,) = again([found, total])
    assert second in belongs_to(found)
    assert_same(K.function([x], [x])([found])[0], np.array([14.0, 16.0, 18.0], "float32"))
    v = K.variable([0.0, 0.0, 0.0])
    K.function([x], [], [K.update(v, x)], engine=first)([found])
    assert_same(K.get_value(v), np.array([14.0, 16.0, 18.0], "float32"))


@each_pair
def test_variables_share_no_memory_with_what_was_fed(first: str, second: str) -> None:
    fill = FILLERS.get(second)
    given = MAKERS.get(second, np.array)(np.full(500, 3.0, "float32"))
    x, v = K.placeholder((500,)), K.variable(np.zeros(500))
    f = K.function([x], [x, K.identity(x)], [K.update(v, x)], engine=first, as_numpy=False)
    held = f([given])
    if fill is not None:
        fill(given, 7.0)
    assert set(K.get_value(v)) == {3.0}
    for found in held:
        assert set(K.function([x], [x + 0.0])([found])[0]) == {3.0}
    # Nor does an update of the variable write to what was fed.
    for _ in range(3):
        K.function([], [], [K.update_add(v, 1.0)], engine=first)([])
    seen = K.function([x], [x + 0.0])([given])[0]
    assert set(seen) == {3.0 if fill is None else 7.0}
    assert set(K.get_value(v)) == {6.0}


@each_pair
def test_values_may_be_set_to_arrays_of_any_library(first: str, second: str) -> None:
    given = values_of("float32")
    make = MAKERS.get(second, np.array)
    v = K.variable(np.zeros(60))
    with K.using_engine(first):
        K.function([], [], [K.update_add(v, 1.0)])([])
        array = make(given)
        K.set_value(v, array)
        assert_same(K.get_value(v), given)
        if second in FILLERS:
            FILLERS[second](array, 1.0)
        assert_same(K.get_value(v), given)
        w = K.variable(make(given))
        assert_same(K.eval(w), given)


# What is given ----------------------------------------------------------------------------------


def test_outputs_belong_to_the_caller(engine_name: str) -> None:
    x, v = K.placeholder((3, 4)), K.variable(np.full((3, 4), 2.0))
    constant = K.constant(np.full((3, 4), 5.0))
    y = x * 2.0
    outputs = [x, x, K.identity(x), y, y, v, K.identity(v), constant, constant]
    outputs += [K.reshape(x, (4, 3)), K.transpose(v), x[1:], K.permute_dimensions(y, (1, 0))]
    f = K.function([x], outputs, [K.update(v, K.identity(v))], engine=engine_name)
    given = np.ones((3, 4), "float32")
    expected = [np.array(a) for a in f([given])]
    for i, found in enumerate(first := f([given])):
        assert type(found) is np.ndarray
        assert found.flags.writeable, f"output {i}"
        found[...] = 100.0 + i
    for i, found in enumerate(first):
        assert set(found.ravel()) == {100.0 + i}, f"output {i} shares memory with another one"
    assert set(given.ravel()) == {1.0}
    assert set(K.get_value(v).ravel()) == {2.0}
    for found, want in zip(f([given]), expected, strict=True):
        assert_same(found, want)


def test_scalars_come_as_numpys(engine_name: str) -> None:
    v = K.variable(2.0)
    f = K.function([], [v + 1.0, K.constant(3, dtype="int32"), v > 1.0], engine=engine_name)
    number, integer, truth = f([])
    assert (type(number), type(integer), type(truth)) == (np.float32, np.int32, np.bool_)
    assert (number, integer, truth) == (3.0, 3, True)


def test_values_that_are_read_belong_to_the_caller(engine_name: str) -> None:
    v = K.variable([1.0, 2.0])
    with K.using_engine(engine_name):
        for _ in range(2):
            K.function([], [], [K.update(v, v + 0.0)])([])
            for found in (K.get_value(v), K.batch_get_value([v])[0], K.eval(v), K.eval(v + 0.0)):
                assert found.flags.writeable
                found[:] = 9.0
            assert_same(K.get_value(v), np.array([1.0, 2.0], "float32"))
            assert_same(K.eval(v + 0.0), np.array([1.0, 2.0], "float32"))


def test_printed_values_are_numpys(engine_name: str, capfd: pytest.CaptureFixture[str]) -> None:
    x = K.placeholder((2,))
    f = K.function([x], [K.print_tensor(x, "x is ") * 2.0], engine=engine_name)
    assert_same(f([[1.0, 2.0]])[0], np.array([2.0, 4.0], "float32"))
    assert "x is [1. 2.]\n" in capfd.readouterr().out
