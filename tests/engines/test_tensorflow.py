"""What is special to the TensorFlow engine: tracing once, memory, cheap calls, kernels' limits."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from _support.common import build, engines_under_test, run_python

from kameleon import backend as K
from kameleon.engines._base import Engine
from kameleon.errors import KameleonError
from kameleon.graph.ir.leaves import input_node
from kameleon.graph.ir.node import REGISTRY, Node
from kameleon.graph.ir.program import Graph
from kameleon.graph.ir.types import TensorType, as_dtype
from kameleon.graph.passes.simplify import simplify
from kameleon.graph.primitives.elementwise import constant, exp
from kameleon.graph.primitives.filling import full_like
from kameleon.graph.primitives.indexing import argsort
from kameleon.graph.primitives.movement import (
    WHOLE,
    concatenate,
    reshape,
    slice_axis,
    transpose,
    unslice,
)
from kameleon.graph.primitives.pool import max_pool, unpool
from kameleon.graph.primitives.sizes import dims_of, size_of
from kameleon.graph.primitives.windows import Window
from kameleon.runtime import engines
from kameleon.testing.cases import CASES
from kameleon.testing.cases.case import Case, type_of

pytestmark = pytest.mark.skipif(
    "tensorflow" not in engines_under_test(), reason="TensorFlow isn't installed, or not asked for"
)
P = REGISTRY
Array = np.ndarray


@pytest.fixture
def tensorflow() -> Iterator[Engine]:
    """The engine, in force."""
    with engines.using("tensorflow") as engine:
        yield engine


def aligned(*shape: int, offset: int = 0, dtype: str = "float32") -> Array:
    """Ones at an address that is a multiple of 64, plus `offset` bytes."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    buffer = np.empty(size + 128, np.uint8)
    start = -buffer.ctypes.data % 64 + offset
    array = buffer[start : start + size].view(dtype).reshape(shape)
    array[...] = 1
    return array


def typed(*shape: int | None, dtype: str = "float32") -> Node:
    return input_node(TensorType(shape, as_dtype(dtype)))


def computed(engine: Engine, inputs: list[Node], outputs: list[Node], values: Any) -> list[Array]:
    """The outputs' values, as the runtime would have them computed."""
    executable = build(simplify(Graph(inputs, outputs), engine.native), engine)
    return [engine.to_numpy(y) for y in executable(values)]


# --- tracing --------------------------------------------------------------------------------------


def test_unknown_sizes_are_traced_once(tensorflow: Engine) -> None:
    x, w = K.placeholder((None, None, 3)), K.variable(np.ones((3, 2)))
    loss = K.mean(K.softmax(K.dot(x, w)))
    step = K.function([x], [loss], [K.update_sub(w, K.gradients(loss, [w])[0])])
    for shape in ((2, 5, 3), (1, 1, 3), (7, 2, 3)):
        assert step([np.ones(shape, "float32")])[0] == pytest.approx(0.5)
    assert step.compilations == 1


def test_no_xla_and_no_autograph_in_what_runs(tensorflow: Engine) -> None:
    x = K.placeholder((None,))
    source = K.function([x], [K.exp(x) + 1]).source
    assert "= Exp(" in source
    assert "Xla" not in source


def test_a_large_constant_is_no_part_of_the_graph(tensorflow: Engine) -> None:
    x = K.placeholder((300, 100))
    table = np.arange(30000, dtype="float32").reshape(300, 100)
    f = K.function([x], [x + K.constant(table)])
    np.testing.assert_array_equal(f([np.ones((300, 100), "float32")])[0], table + 1)
    assert "Const" not in f.source


# --- failures -------------------------------------------------------------------------------------


def test_a_failing_call_changes_nothing(tensorflow: Engine) -> None:
    v = K.variable([1.0, 2.0, 3.0])
    index = K.placeholder((None,), dtype="int32")
    f = K.function([index], [K.gather(v, index)], [K.update_add(v, K.ones((3,)))])
    np.testing.assert_array_equal(f([[2]])[0], [3])
    for bad in ([3], [-1]):
        with pytest.raises(KameleonError, match="out of range"):
            f([np.array(bad, "int32")])
    np.testing.assert_array_equal(K.get_value(v), [2, 3, 4])


def test_sizes_taken_as_equal_are_checked(tensorflow: Engine) -> None:
    x, y = K.placeholder((None,)), K.placeholder((None,))
    f = K.function([x, y], [x + y])
    np.testing.assert_array_equal(f([np.ones(2), np.ones(2)])[0], [2, 2])
    with pytest.raises(KameleonError):
        f([np.ones(2, "float32"), np.ones(3, "float32")])


def test_integers_divided_by_zero_don_t_fail_the_call(tensorflow: Engine) -> None:
    x, y = typed(None, dtype="int32"), typed(None, dtype="int32")
    values = np.array([7, -7, 5], "int32"), np.array([2, 2, 0], "int32")
    quotient, rest = computed(tensorflow, [x, y], [P["floor_div"](x, y), P["mod"](x, y)], values)
    assert quotient.tolist() == [3, -4, 0]
    assert rest.tolist() == [1, 1, 0]


# --- memory ---------------------------------------------------------------------------------------

PASSED_ON: dict[str, Callable[[Node], Node]] = {
    "itself": lambda x: x,
    "identity": P["identity"],
    "reshape": lambda x: reshape(x, (6, 4)),
    "transpose": lambda x: transpose(reshape(x, (1, 24)), (1, 0)),
    "slice": lambda x: slice_axis(x, 0, 0, 4),
    "concatenate": lambda x: concatenate([x, slice_axis(x, 0, 0, 0)], 0),
    "x + 0": lambda x: P["add"](x, full_like(x, 0)),
    "x * 1": lambda x: P["mul"](x, full_like(x, 1)),
    "x / 1": lambda x: P["div"](x, full_like(x, 1)),
    "x ** 1": lambda x: P["pow"](x, constant(np.ones((4, 6)), "float32")),
}


# These are given shapes, so x must have one.
SHAPED = ("reshape", "transpose")


@pytest.mark.parametrize(
    ("name", "rows"),
    [(name, rows) for name in PASSED_ON for rows in (4, None) if rows or name not in SHAPED],
)
def test_outputs_share_no_memory_with_what_is_fed(
    tensorflow: Engine, name: str, rows: int | None
) -> None:
    x = typed(rows, 6)
    given = aligned(4, 6)
    executable = build(Graph([x], [PASSED_ON[name](x)]), tensorflow)
    (y,) = executable([given])
    given[...] = 5
    np.testing.assert_array_equal(tensorflow.to_numpy(y), np.ones(y.shape))


def test_tensors_are_made_without_sharing(tensorflow: Engine) -> None:
    for array in (aligned(3), aligned(100, 100), aligned(100, 100).T, aligned(4, offset=4)):
        tensor = tensorflow.from_numpy(array)
        array[...] = 2
        back = tensorflow.to_numpy(tensor)
        np.testing.assert_array_equal(back, np.ones(array.shape))
        back[...] = 3  # writable, and no view
        np.testing.assert_array_equal(tensorflow.to_numpy(tensor, copy=False), 1)


def test_aligned_memory_is_adopted(tensorflow: Engine) -> None:
    array = aligned(8, 4)
    assert np.shares_memory(memoryview(tensorflow.adopt(array)), array)
    other = aligned(8, 4, offset=4)  # TensorFlow can't take it: it's copied
    np.testing.assert_array_equal(tensorflow.to_numpy(tensorflow.adopt(other)), other)
    assert tensorflow.adopt(array.T) is None
    assert tensorflow.adopt("text") is None


def test_tensors_and_tensorflow_s_own_variables_are_fed(tensorflow: Engine) -> None:
    tf: Any = pytest.importorskip("tensorflow")
    x = K.placeholder((None,))
    f = K.function([x], [x * 2])
    for value in (tf.constant([1.0, 2.0]), tf.Variable([1.0, 2.0]), tf.constant([1.0, 2.0])[:2]):
        assert tensorflow.type_of(value) == TensorType((2,), as_dtype("float32"))
        np.testing.assert_array_equal(f([value])[0], [2, 4])
    assert tensorflow.type_of(np.ones(3)) is None
    assert tensorflow.type_of(tf.constant(["text"])) is None


def test_results_may_be_written_to(tensorflow: Engine) -> None:
    v = K.variable(np.zeros((2, 2)))
    (result,) = K.function([], [v])([])
    result[...] = 7
    np.testing.assert_array_equal(K.get_value(v), 0)


# --- calls ----------------------------------------------------------------------------------------


def test_the_public_way_to_call_does_the_same(
    tensorflow: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kameleon.engines.tensorflow import engine as module

    monkeypatch.setattr(module, "lean_call", lambda function: None)
    x, table = typed(None, 100), constant(np.ones((300, 100), "float32"))
    outputs = [P["exp"](x), P["contract"](x, table, over=((1,), (1,)), batch=((), ()))]
    values = computed(tensorflow, [x], outputs, [np.zeros((2, 100), "float32")])
    np.testing.assert_array_equal(values[0], np.ones((2, 100)))
    np.testing.assert_array_equal(values[1], np.zeros((2, 300)))


def test_calls_from_several_threads(tensorflow: Engine) -> None:
    x, count = K.placeholder((None,)), K.variable(0.0)
    f = K.function([x], [K.sum(x)], [K.update_add(count, 1.0)])
    found: list[float] = []

    def work(n: int) -> None:
        with engines.using("tensorflow"):
            found.extend(float(f([np.full(n, 1, "float32")])[0]) for _ in range(20))

    threads = [threading.Thread(target=work, args=(n,)) for n in (1, 2, 3, 4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == sorted([1.0, 2.0, 3.0, 4.0] * 20)
    assert K.get_value(count) == 80


def test_devices_end_with_the_cpu(tensorflow: Engine) -> None:
    *gpus, last = tensorflow.devices()
    assert last == "cpu"
    assert all(name.startswith("gpu") for name in gpus)


def test_no_setting_is_changed(tmp_path: Any) -> None:
    code = """
import tensorflow as tf
def settings():
    return (
        tf.executing_eagerly(), tf.config.functions_run_eagerly(), tf.config.optimizer.get_jit(),
        tf.config.threading.get_intra_op_parallelism_threads(),
        tf.config.threading.get_inter_op_parallelism_threads(),
        tf.config.optimizer.get_experimental_options(), tf.get_logger().level,
        [
            tf.config.experimental.get_memory_growth(d)
            for d in tf.config.list_physical_devices("GPU")
        ],
        tf.config.get_soft_device_placement(), tf.config.experimental.get_synchronous_execution(),
    )
before = settings()
import numpy as np
from kameleon import backend as K
v = K.variable(np.ones(3))
assert K.function([], [K.sum(v)], [K.update_add(v, v)])([])[0] == 3
assert K.get_value(v).tolist() == [2, 2, 2]
assert settings() == before, (settings(), before)
"""
    ran = run_python(code, tmp_path, {"KERAS_BACKEND": "tensorflow", "TF_CPP_MIN_LOG_LEVEL": "3"})
    assert ran.returncode == 0, ran.stderr


# --- what the library's kernels do otherwise ------------------------------------------------------

TILES = Window((2, 2), (2, 2), ((0, 0), (0, 0)), (1, 1))
OVERLAPPING = Window((3, 2), (1, 2), ((1, 1), (0, 1)), (1, 1))
NAN, INF = float("nan"), float("inf")
SPECIAL = {
    "a NaN": [[1, NAN, 3, 2], [1, 1, NAN, NAN], [0, 0, 5, 5], [0, 0, 5, 6]],
    "the least numbers": [[-INF, -INF, 3, 2], [-INF, -INF, 2, 3], [-3.4e38] * 4, [-INF] * 4],
    "nothing special": [[1, 1, 3, 2], [1, 1, 2, 3], [0, 0, 5, 5], [0, 0, 5, 6]],
}


@pytest.mark.parametrize("window", [TILES, OVERLAPPING], ids=["tiles", "overlapping"])
@pytest.mark.parametrize("content", SPECIAL)
def test_maxima_and_their_gradient_are_exact(
    tensorflow: Engine, content: str, window: Window
) -> None:
    values = np.array(SPECIAL[content], "float32").reshape(1, 4, 4, 1)
    x = typed(None, None, None, 1)
    y, index = max_pool(x, window=window).results
    spread = unpool(full_like(y, 1), index, dims_of(x)[1:-1], window)
    for outputs in ([y, index], [y, spread], [y]):
        found = computed(tensorflow, [x], outputs, [values])
        expected = computed(engines.embedded(), [x], outputs, [values])
        for got, want in zip(found, expected, strict=True):
            np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_order_of_special_numbers(tensorflow: Engine, dtype: str) -> None:
    values = np.array([NAN, 0.0, INF, -0.0, -INF, NAN, -1, 0.0, INF, -NAN], dtype)
    x = typed(None, dtype=dtype)
    (order,) = computed(tensorflow, [x], [argsort(x, axis=0)], [values])
    assert order.tolist() == [4, 6, 1, 3, 7, 2, 8, 0, 5, 9]


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "uint8", "uint64"])
def test_squares_of_differences_of_integers(tensorflow: Engine, dtype: str) -> None:
    x, y = (K.placeholder((3,), dtype=dtype) for _ in range(2))
    for square in (K.square, lambda d: d * d):
        found = K.function([x, y], [square(x - y)], engine="tensorflow")([[3, 5, 2], [1, 4, 2]])
        assert found[0].tolist() == [4, 1, 0]


def test_no_negative_of_unsigned_integers_by_subtraction(tensorflow: Engine) -> None:
    """TensorFlow's optimiser turns `0 - x` into a negation that it has no kernel for."""
    x = typed(None, dtype="uint8")
    found = computed(tensorflow, [x], [P["sub"](full_like(x, 0), x)], [np.array([1, 0], "uint8")])
    assert found[0].tolist() == [255, 0]


@pytest.mark.parametrize("extremum", ["reduce_max", "reduce_min"])
def test_negated_numbers_are_doubled_beside_their_extremum(
    tensorflow: Engine, extremum: str
) -> None:
    """TensorFlow's optimiser puts the extremum of y = -x in the place of y itself in y + y."""
    x, values = typed(None, None), np.array([[1.0, -2.0], [3.0, 5.0]], "float32")
    y = P["neg"](x)
    graph = Graph([x], [P["add"](y, y), P[extremum](y, axes=(1,))])
    doubled, _ = build(graph, tensorflow)([values])
    np.testing.assert_array_equal(tensorflow.to_numpy(doubled), -2 * values)


@pytest.mark.parametrize("order", ["lt", "le", "gt", "ge"])
def test_what_isn_t_less_needn_t_be_greater(tensorflow: Engine, order: str) -> None:
    """TensorFlow's optimiser turns an order around that is negated: NaN is in none."""
    a, b = typed(None), typed(None)
    values = [np.array([NAN, 1, 2, NAN, 3], "float32"), np.array([1, NAN, 1, NAN, 3], "float32")]
    outputs = [P["logical_not"](P[order](a, b))]
    found = computed(tensorflow, [a, b], outputs, values)
    expected = computed(engines.embedded(), [a, b], outputs, values)
    np.testing.assert_array_equal(found[0], expected[0])


BIASED = """
import numpy as np
from kameleon import backend as K
x, k, b = K.placeholder((None, 7, 6, 3)), K.variable(np.ones((3, 3, 3, 2))), K.zeros((6,))
for padding, dilation in [("same", (1, 1)), ("same", (2, 1)), ("valid", (1, 1))]:
    y = K.bias_add(K.depthwise_conv2d(x, k, padding=padding, dilation_rate=dilation), b)
    found = [
        K.function([x], [K.relu(y)], engine=name)([np.ones((2, 7, 6, 3))])[0]
        for name in ("tensorflow", "numpy")
    ]
    np.testing.assert_array_equal(*found)
print("done")
"""


def test_a_depthwise_convolution_may_be_fused_with_its_bias(tmp_path: Any) -> None:
    ran = run_python(BIASED, tmp_path, {"KERAS_BACKEND": "numpy"})
    assert ran.stdout == "done\n", ran.stderr


# --- sizes ----------------------------------------------------------------------------------------


def misfits(case: Case, sizes: list[tuple[int, int]]) -> Iterator[list[Array]]:
    """Operands of which one has another size along one of these axes."""
    for place, axis in sizes:
        for size in (0, 1, 7):
            values = list(case.operands)
            if values[place].size and values[place].shape[axis] != size:
                values[place] = np.take(values[place], np.zeros(size, int), axis)
                yield values


@pytest.mark.nightly
@pytest.mark.parametrize("primitive", sorted({c.primitive for c in CASES if len(c.operands) > 1}))
def test_kernels_tell_the_optimiser_nothing_wrong(tensorflow: Engine, primitive: str) -> None:
    """An operation that takes operands of other sizes mustn't say that they are equal."""
    for case in [c for c in CASES if c.primitive == primitive and len(c.operands) > 1]:
        for known in range(-1, len(case.operands)):
            inputs = [
                input_node(type_of(x, i == known or i in case.rigid))
                for i, x in enumerate(case.operands)
            ]
            sizes = [
                (i, j) for i, x in enumerate(inputs) for j, d in enumerate(x.shape) if d is None
            ]
            outputs = [*case.results(inputs), *(P["size"](inputs[i], axis=j) for i, j in sizes)]
            executable = build(simplify(Graph(inputs, outputs), tensorflow.native), tensorflow)
            for values in misfits(case, sizes):
                try:
                    found = executable(values)[len(outputs) - len(sizes) :]
                except Exception:
                    continue  # it was seen
                assert [int(n) for n in found] == [values[i].shape[j] for i, j in sizes], case.id


def test_products_over_nothing_may_be_added_to() -> None:
    """oneDNN ended the process where the two were fused, and the size wasn't known before."""
    x, y, b = K.placeholder((None, None)), K.placeholder((None, 2)), K.variable([1.0, 2.0])
    f = K.function([x, y], [K.tanh(K.dot(x, y) + b)], engine="tensorflow")
    for rows in (1, 3, 1):
        feeds = [np.ones((rows, 0), "float32"), np.ones((0, 2), "float32")]
        np.testing.assert_allclose(f(feeds)[0], np.tanh([[1.0, 2.0]] * rows), rtol=1e-6)


@pytest.mark.parametrize("cut", [0, 1], ids=["fed", "cut off"])
@pytest.mark.parametrize("padding", ["valid", "same"])
def test_maxima_of_nothing_have_gradients(padding: str, cut: int) -> None:
    """oneDNN ended the process where a batch was empty, or had no channels."""
    x = K.placeholder((None, 4, 4, None))
    y = K.pool2d(x[cut:], (2, 2), strides=(2, 2), padding=padding, pool_mode="max")
    f = K.function([x], [y, *K.gradients(K.sum(y), [x])], engine="tensorflow")
    for samples, channels in ((2, 3), (0, 3), (2, 0), (2, 3)):
        value = np.arange((samples + cut) * 16 * channels, dtype="float32")
        pooled, slope = f([value.reshape(samples + cut, 4, 4, channels)])
        assert pooled.shape == (samples, 2, 2, channels)
        assert slope.sum() == pooled.size


def test_maxima_over_a_space_of_nothing_have_gradients(tensorflow: Engine) -> None:
    """Also where margins make room for places as soon as there's something to see."""
    x = typed(None, None, 2)
    for size, pads in ((1, (0, 0)), (2, (0, 1)), (2, (0, 0))):
        window = Window((size,), (1,), (pads,), (1,))
        pooled, index = max_pool(x, window=window).results
        slope = unpool(exp(pooled), index, dims_of(x)[1:-1], window)
        for space in (0, 3):
            value = np.ones((2, space, 2), "float32")
            found = computed(tensorflow, [x], [slope], [value])[0]
            places = max(0, space + sum(pads) - size + 1)
            np.testing.assert_allclose(found.sum(), 4 * places * np.e, rtol=1e-6)


def test_slices_are_put_back_by_padding(tensorflow: Engine) -> None:
    """Where they have no steps: `StridedSliceGrad` takes more than ten times as long."""
    g = typed(None, 3)
    for cut, padded in (((1, 4, 1), True), ((0, 5, 2), False)):
        back = unslice(g, [size_of(g, 0), 5], [WHOLE, cut])
        executable = build(simplify(Graph([g], [back]), tensorflow.native), tensorflow)
        assert ("StridedSliceGrad" not in executable.source) == padded
        value = np.arange(6, dtype="float32").reshape(2, 3)
        want = np.zeros((2, 5), "float32")
        want[:, slice(*cut)] = value
        found = executable([tensorflow.from_numpy(value)])[0]
        np.testing.assert_array_equal(tensorflow.to_numpy(found), want)
