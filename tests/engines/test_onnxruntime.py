"""What is special to ONNX Runtime: sizes and indices it doesn't look at, kernels that it lacks."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from _support.common import SOURCE, engines_under_test

if "onnxruntime" not in engines_under_test():
    pytest.skip("needs the package onnxruntime", allow_module_level=True)

import onnxruntime

from kameleon import backend as K
from kameleon.engines import Engine
from kameleon.engines.onnxruntime.dtypes import CARRIERS
from kameleon.engines.onnxruntime.engine import providers
from kameleon.engines.onnxruntime.model import LARGE
from kameleon.errors import EvaluationError, KameleonError
from kameleon.graph.ir.leaves import input_node
from kameleon.graph.ir.node import REGISTRY, Node
from kameleon.graph.ir.program import Graph
from kameleon.graph.ir.types import TensorType, as_dtype
from kameleon.graph.primitives.elementwise import add, cast, constant
from kameleon.graph.primitives.indexing import gather, put_along, scatter_add, take_along
from kameleon.graph.primitives.linalg import contract
from kameleon.graph.primitives.movement import broadcast_to, pad, reverse, unslice
from kameleon.graph.primitives.reduce import reduce_max, reduce_min, reduce_prod, reduce_sum
from kameleon.runtime import engines
from kameleon.runtime.compiler import compiled

Array = np.ndarray[Any, Any]


@pytest.fixture
def ort() -> Iterator[Engine]:
    with engines.using("onnxruntime") as found:
        yield found


def unknown(dtype: str, rank: int) -> Node:
    """An input with sizes that are known only at run time."""
    return input_node(TensorType((None,) * rank, as_dtype(dtype)))


def computed(engine: Engine, build: Callable[..., Node], *arrays: Array) -> Array:
    """What the engine makes of arrays whose sizes it doesn't know beforehand."""
    inputs = [unknown(a.dtype.name, a.ndim) for a in arrays]
    return compiled(Graph(inputs, [build(*inputs)]), engine)(arrays)[0]


# Sizes and indices -----------------------------------------------------------------------------

X = np.arange(6.0).reshape(2, 3)
FAULTS: dict[str, tuple[Callable[..., Node], tuple[Array, ...]]] = {
    "negative index": (lambda x, i: gather(x, i, 0), (X, np.array([-1]))),
    "negative int8 index": (lambda x, i: gather(x, i, 0), (X, np.array([-1], "int8"))),
    "huge uint64 index": (lambda x, i: gather(x, i, 0), (X, np.array([2**64 - 1], "uint64"))),
    "negative along": (lambda x, i: take_along(x, i, 1), (X, np.array([[0], [-1]]))),
    "lines": (lambda x, i: take_along(x, i, 1), (X, np.array([[0]]))),
    "negative place": (lambda g, i: scatter_add(g, i, 4, 0), (X, np.array([0, -2], "int32"))),
    "place out of range": (lambda g, i: scatter_add(g, i, 4, 0), (X, np.array([0, 4]))),
    "negative place along": (lambda g, i: put_along(g, i, 3, 1), (X, np.array([[0, 1, -1]] * 2))),
    "a size of 1": (add, (X, X[:1])),
    "a size of 1 inside": (
        lambda x, y: add(REGISTRY["exp"](gather(x, constant([0]), 0)), y),
        (X, X),
    ),
    "batches": (lambda x, y: contract(x, y, ((1,), (1,)), ((0,), (0,))), (X, X[:1])),
    "two sums at once": (lambda x, y: contract(x, y, ((0, 1), (0, 1))), (X, X.reshape(3, 2))),
}


@pytest.mark.parametrize("name", FAULTS)
def test_what_onnx_takes_silently_is_an_error(ort: Engine, name: str) -> None:
    build, arrays = FAULTS[name]
    with pytest.raises(Exception, match=r"out of|differ|range|indic"):
        computed(ort, build, *arrays)


def test_a_failed_call_changes_nothing_and_names_the_line(ort: Engine, capfd: Any) -> None:
    v = K.variable([1.0, 2.0])
    index = K.placeholder((None,), dtype="int32")
    f = K.function([index], [K.gather(v, index)], [K.update_add(v, K.ones((2,)))])
    with pytest.raises(EvaluationError, match=r"index -1 is out of range(.|\n)*test_onnxruntime"):
        f([np.array([-1], "int32")])
    np.testing.assert_array_equal(K.get_value(v), [1, 2])
    np.testing.assert_array_equal(f([np.array([1], "int32")])[0], [2])
    np.testing.assert_array_equal(K.get_value(v), [2, 3])
    assert "onnxruntime" not in capfd.readouterr().err, "nothing is logged"


def test_other_sizes_need_no_other_code(ort: Engine) -> None:
    x = K.placeholder((None, None, 3))
    y = K.sum(K.relu(K.conv1d(x, K.ones((2, 3, 4)), padding="same")), axis=1)
    f = K.function([x], [y, K.gradients(y, x)[0]])
    for shape in ((1, 5, 3), (4, 2, 3), (2, 9, 3)):
        values, slopes = f([np.ones(shape, "float32")])
        assert (values.shape, slopes.shape) == ((shape[0], 4), shape)
    assert f.compiled.compilations == 1


@pytest.mark.parametrize("kind", ["conv2d", "depthwise_conv2d"])
def test_a_bias_is_added_by_the_convolution(ort: Engine, kind: str) -> None:
    x, kernel = K.placeholder((None, 3, 4, 3)), np.arange(36.0).reshape(2, 2, 3, 3)
    bias = K.variable([1.0, -2.0, 30.0, *[0.5] * 6][: 3 if kind == "conv2d" else 9])
    y = getattr(K, kind)(x, K.constant(kernel))
    f, twice = K.function([x], [K.bias_add(y, bias)]), K.function([x], [y, K.bias_add(y, bias)])
    given = np.random.default_rng(0).normal(size=(2, 3, 4, 3)).astype("float32")
    plain, found = twice([given])
    np.testing.assert_array_equal(found, plain + K.get_value(bias))
    np.testing.assert_allclose(f([given])[0], found, rtol=1e-5, atol=1e-4)
    assert "Add" in twice.source
    assert "Add" not in f.source


# Kernels ---------------------------------------------------------------------------------------


def numbers(dtype: str) -> Array:
    """Numbers of a dtype, its least and its greatest among them."""
    if dtype == "bool":
        return np.array([[True, False, True], [False, False, True]])
    limits = np.finfo(dtype) if np.dtype(dtype).kind == "f" else np.iinfo(dtype)
    return np.array([[limits.min, 3, limits.max], [limits.max - 1, 5, limits.min + 1]], dtype)


def turned(x: Node, *axes: int) -> Node:
    """Turned round along some axes."""
    return reverse(x, axes=axes)


ROW = {"axis": 1}
OVER_ROWS: dict[str, Callable[[Node], Node]] = {
    **{
        name: lambda x, name=name: REGISTRY[name](x, turned(x, 0, 1))  # type: ignore[misc]
        for name in ("lt", "le", "gt", "ge", "maximum", "minimum")
    },
    **{
        name: lambda x, name=name: REGISTRY[name](x, **ROW)  # type: ignore[misc]
        for name in ("argmax", "argmin", "argsort", "cumsum", "cumprod")
    },
    **{
        name: lambda x, name=name: REGISTRY[name](x, axes=(1,))  # type: ignore[misc]
        for name in ("reduce_max", "reduce_min", "reduce_sum", "reduce_prod")
    },
    "neg": lambda x: REGISTRY["neg"](x),
    "select": lambda x: REGISTRY["select"](REGISTRY["eq"](x, turned(x, 0)), x, turned(x, 1)),
    "pad": lambda x: pad(x, [(1, 0), (0, 2)], 1),
    "unslice": lambda x: unslice(x, [4, 7], [(1, 3, 1), (0, 5, 2)]),
    "contract": lambda x: contract(x, turned(x, 1), ((1,), (1,))),
}


@pytest.mark.parametrize("name", CARRIERS)
def test_dtypes_without_kernels_are_carried(ort: Engine, name: str) -> None:
    for dtype in CARRIERS[name]:
        x = numbers(dtype)
        got = computed(ort, OVER_ROWS[name], x)
        want = computed(engines.embedded(), OVER_ROWS[name], x)
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got, want)


def test_what_is_carried_wraps_between_two_sums(ort: Engine) -> None:
    x = np.array([[100, 100, 100]], "int8")
    twice = computed(ort, lambda x: OVER_ROWS["cumsum"](OVER_ROWS["cumsum"](x)), x)
    np.testing.assert_array_equal(twice, [[100, 44, 88]])
    largest = computed(ort, lambda x: OVER_ROWS["reduce_max"](OVER_ROWS["cumsum"](x)), x)
    np.testing.assert_array_equal(largest, [100])


BIG = np.array([[2**62, 2**62 + 1, 2**62], [-(2**62), 7, 2**32 - 2]])
EXACT: dict[str, tuple[Callable[[Node], Node], Callable[[Array], Any]]] = {
    "sum": (lambda x: reduce_sum(x, (1,)), lambda x: x.sum(1)),
    "sum of all": (lambda x: reduce_sum(x, (0, 1)), lambda x: x.sum()),
    "product": (lambda x: reduce_prod(x, (0,)), lambda x: x.prod(0)),
    "maximum": (lambda x: reduce_max(x, (1,)), lambda x: x.max(1)),
    "minimum": (lambda x: reduce_min(x, (0, 1)), lambda x: x.min()),
    "sign": (lambda x: REGISTRY["sign"](x), np.sign),
    "larger one": (
        lambda x: REGISTRY["maximum"](x, REGISTRY["neg"](x)),
        lambda x: np.maximum(x, -x),
    ),
    "unsigned": (
        lambda x: reduce_max(cast(x, "uint64"), (1,)),
        lambda x: x.astype("uint64").max(1),
    ),
}


@pytest.mark.parametrize("name", EXACT)
def test_large_integers_are_exact(ort: Engine, name: str) -> None:
    build, expected = EXACT[name]
    with np.errstate(all="ignore"):
        want = expected(BIG)
    np.testing.assert_array_equal(computed(ort, build, BIG), want)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_a_nan_wins_wherever_it_is(ort: Engine, dtype: str) -> None:
    count = 37
    for place in (0, 1, count // 2, count - 1):
        x = np.arange(count).astype(dtype)
        x[place] = np.nan
        assert np.isnan(computed(ort, lambda x: reduce_max(x, (0,)), x))
        assert np.isnan(computed(ort, lambda x: reduce_min(x, (0,)), x))
        assert computed(ort, lambda x: REGISTRY["argmax"](x, axis=0), x) == place


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint16", "uint64"])
def test_divisions_that_end_a_process_elsewhere(ort: Engine, dtype: str) -> None:
    least = np.iinfo(dtype).min
    minus = np.array(-1).astype(dtype)
    a, b = np.array([least, 7, least], dtype), np.array([minus, 0, 3], dtype)
    with np.errstate(all="ignore"):
        quotient, rest = a // b, a % b
    np.testing.assert_array_equal(computed(ort, REGISTRY["floor_div"], a, b), quotient)
    np.testing.assert_array_equal(computed(ort, REGISTRY["mod"], a, b), rest)


def test_declined_primitives_are_done_in_between(ort: Engine) -> None:
    y = K.placeholder((None, None, 3))
    lengths = K.placeholder((None,), dtype="int32")
    scores = K.softmax(y)
    decoded, _ = K.ctc_decode(scores, lengths)
    f = K.function([y, lengths], [decoded[0] + 1, scores])
    given = np.array([[[5, 0, 0], [0, 0, 5], [0, 5, 0]]], "float32")
    labels, _ = f([given, np.array([3], "int32")])
    np.testing.assert_array_equal(labels, [[1, 2]])


# Arrays ----------------------------------------------------------------------------------------


def test_arrays_are_taken_without_a_copy(ort: Engine) -> None:
    x = np.ones(3, "float32")
    assert ort.adopt(x) is x
    assert ort.type_of(x) == TensorType((3,), as_dtype("float32"))
    assert ort.type_of(np.ones(3, "complex64")) is None
    assert ort.to_numpy(x, copy=False) is x
    assert not np.shares_memory(ort.to_numpy(x), x)


def test_ort_values_may_be_fed(ort: Engine) -> None:
    x, y = K.placeholder((None,)), K.placeholder((None,))
    f = K.function([x, y], [x + y])
    value = onnxruntime.OrtValue.ortvalue_from_numpy(np.ones(3, "float32"))
    assert ort.type_of(value) == TensorType((3,), as_dtype("float32"))
    np.testing.assert_array_equal(f([value, value])[0], [2, 2, 2])
    with pytest.raises(KameleonError):
        f([value, np.ones(2, "float32")])


def test_ort_values_may_be_fed_beside_large_constants(ort: Engine) -> None:
    x, y = K.placeholder((None,)), K.placeholder((None,))
    large = np.ones(LARGE, "float32")
    f = K.function([x, y], [x + y, K.constant(large) * x[0]])
    value = onnxruntime.OrtValue.ortvalue_from_numpy(np.full(3, 2, "float32"))
    total, scaled = f([value, value])
    np.testing.assert_array_equal(total, [4, 4, 4])
    np.testing.assert_array_equal(scaled, 2 * large)


def test_outputs_are_fresh(ort: Engine) -> None:
    x, one = unknown("float32", 1), constant(np.ones(3, "float32"))
    run = ort.compile(Graph([x], [x, x, one, one]))
    given = np.zeros(3, "float32")
    for _ in range(2):
        results = run([given])
        for number, result in enumerate(results):
            np.testing.assert_array_equal(result, 0 if number < 2 else 1)
            result[:] = 5
    np.testing.assert_array_equal(given, 0)


def test_large_constants_are_not_in_the_model(ort: Engine) -> None:
    large = np.arange(LARGE // 8 + 1, dtype="float64")
    x = unknown("float64", 0)
    run = ort.compile(Graph([x], [reduce_sum(add(constant(large), constant(large)), (0,)), x]))
    assert len(run._model.SerializeToString()) < 2000  # type: ignore[attr-defined]
    assert run([np.array(1.0)])[0] == 2 * large.sum()


def test_threads_share_a_function(ort: Engine) -> None:
    x = K.placeholder((None,))
    f = K.function([x], [K.sum(x * x)])
    found: dict[int, float] = {}

    def work(number: int) -> None:
        with engines.using("onnxruntime"):
            values = [f([np.full(50, number, "float32")])[0] for _ in range(50)]
        found[number] = max(values) if max(values) == min(values) else -1

    threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert found == {n: 50.0 * n * n for n in range(6)}


# Devices and settings --------------------------------------------------------------------------


def test_devices_follow_the_providers(ort: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    there = ["CUDAExecutionProvider", "CPUExecutionProvider", "AzureExecutionProvider"]
    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: there)
    assert providers() == there[:2]
    assert list(ort.devices()) == ["gpu", "cpu"]
    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: there[1:])
    assert list(ort.devices()) == ["cpu"]


THREADS = """
import onnxruntime
from kameleon.engines.onnxruntime.engine import _options
print(_options(1, True).intra_op_num_threads, onnxruntime.SessionOptions().intra_op_num_threads)
"""


@pytest.mark.parametrize(("setting", "shown"), [("1", "1 0"), ("", "0 0")])
def test_the_environment_says_how_many_threads(setting: str, shown: str) -> None:
    environment = {**os.environ, "PYTHONPATH": str(SOURCE), "OMP_NUM_THREADS": setting}
    done = subprocess.run(
        [sys.executable, "-c", THREADS], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == shown


def test_nothing_comes_of_stretching_to_no_elements(ort: Engine) -> None:
    x = input_node(TensorType((1, 3), as_dtype("float64")))
    empty = broadcast_to(REGISTRY["exp"](x), [0, 3])
    run = ort.compile(Graph([x], [empty, reduce_sum(empty, (0,))]))
    values, total = run([np.ones((1, 3))])
    assert values.shape == (0, 3)
    np.testing.assert_array_equal(total, [0, 0, 0])
