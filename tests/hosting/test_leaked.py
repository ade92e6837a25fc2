"""Names that were never documented, and that programs of the day use: aliases, or advice."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kameleon import backend as K
from kameleon import leaked
from kameleon.errors import ArgumentError, MissingNameError, ShapeError

tf, T = leaked.tf, leaked.T

X = np.array([[3.0, -1.0, 2.0], [0.0, 5.0, -4.0]], "float32")
Y = np.array([[1.0, 2.0, 0.5], [4.0, -2.0, 1.0]], "float32")
IMAGES = np.arange(2 * 4 * 4 * 1, dtype="float32").reshape(2, 4, 4, 1)
KERNEL = np.ones((2, 2, 1, 3), "float32")


def _softmax(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def _conv(x: np.ndarray, step: int) -> np.ndarray:
    """The sums of 2 × 2 windows, three times."""
    sums = x[:, :-1, :-1] + x[:, 1:, :-1] + x[:, :-1, 1:] + x[:, 1:, 1:]
    return np.repeat(sums[:, ::step, ::step], 3, -1)


# name: (what a program says, what it gets)
CASES: dict[str, tuple[Callable[[Any, Any], Any], Any]] = {
    "reduce_sum": (lambda x, y: tf.reduce_sum(x, 1), X.sum(1)),
    "reduction_indices": (lambda x, y: tf.reduce_sum(x, reduction_indices=0), X.sum(0)),
    "reduce_mean": (lambda x, y: tf.reduce_mean(x), X.mean()),
    "keep_dims": (lambda x, y: tf.reduce_max(x, 1, keep_dims=True), X.max(1, keepdims=True)),
    "argmax": (lambda x, y: tf.argmax(x), X.argmax(0)),
    "argmax along": (lambda x, y: tf.argmax(x, 1), X.argmax(1)),
    "arithmetic": (
        lambda x, y: tf.subtract(tf.multiply(x, y), tf.divide(x, tf.add(y, 7.0))),
        X * Y - X / (Y + 7),
    ),
    "div of ints": (lambda x, y: tf.truediv(7, 2), 3.5),
    "exp": (lambda x, y: tf.exp(tf.negative(x)), np.exp(-X)),
    "abs": (lambda x, y: tf.math.abs(x), np.abs(X)),
    "floor": (lambda x, y: tf.floor(y), np.floor(Y)),
    "rsqrt": (lambda x, y: tf.rsqrt(tf.square(x) + 1.0), 1 / np.sqrt(X * X + 1)),
    "logic": (lambda x, y: tf.logical_and(tf.less(x, y), tf.not_equal(x, 0.0)), (X < Y) & (X != 0)),
    "where": (lambda x, y: tf.where(K.greater(x, 0.0), x, y), np.where(X > 0, X, Y)),
    "where of one": (lambda x, y: tf.where(K.greater(x, 0.0)), np.argwhere(X > 0)),
    "boolean_mask": (lambda x, y: tf.boolean_mask(x, K.greater(x, 0.0)), X[X > 0]),
    "rows by mask": (lambda x, y: tf.boolean_mask(x, K.constant([False, True], "bool")), X[1:]),
    "gather_nd": (lambda x, y: tf.gather_nd(x, [[0, 2], [1, 1]]), X[[0, 1], [2, 1]]),
    "gather_nd of rows": (lambda x, y: tf.gather_nd(x, [[1], [0], [1]]), X[[1, 0, 1]]),
    "gather": (lambda x, y: tf.gather(x, [1, 0]), X[[1, 0]]),
    "gather along": (lambda x, y: tf.gather(x, [2, 0], axis=1), X[:, [2, 0]]),
    "embedding_lookup": (lambda x, y: tf.nn.embedding_lookup(x, [1, 1]), X[[1, 1]]),
    "log1p": (lambda x, y: 1e10 * tf.log1p(1e-10 * tf.exp(x)), np.exp(X)),
    "expm1": (lambda x, y: 1e10 * tf.expm1(1e-10 * x), X),
    "slice": (lambda x, y: tf.slice(x, [0, 1], [-1, 2]), X[:, 1:3]),
    "split": (lambda x, y: tf.split(x, 3, axis=1)[2], X[:, 2:]),
    "split by sizes": (lambda x, y: tf.split(x, [1, -1], 1)[1], X[:, 1:]),
    "unstack": (lambda x, y: tf.unstack(x)[1], X[1]),
    "concat": (lambda x, y: tf.concat([x, y], 0), np.concatenate([X, Y])),
    "concat of old": (lambda x, y: tf.concat(1, [x, y]), np.concatenate([X, Y], 1)),
    "stack": (lambda x, y: tf.stack([x, y]), np.stack([X, Y])),
    "tile": (lambda x, y: tf.tile(x, [1, 2]), np.tile(X, [1, 2])),
    "pad": (lambda x, y: tf.pad(x, [[1, 0], [0, 2]]), np.pad(X, [[1, 0], [0, 2]])),
    "expand_dims": (lambda x, y: tf.expand_dims(x, dim=1), X[:, None]),
    "squeeze": (lambda x, y: tf.squeeze(tf.expand_dims(x, 1)), X),
    "transpose": (lambda x, y: tf.transpose(x, perm=[1, 0]), X.T),
    "reverse": (lambda x, y: tf.reverse(x, [1]), X[:, ::-1]),
    "reshape": (lambda x, y: tf.reshape(x, [tf.shape(x)[1], -1]), X.reshape(3, 2)),
    "matmul": (lambda x, y: tf.matmul(x, y, transpose_b=True), X @ Y.T),
    "one_hot": (lambda x, y: tf.one_hot([1, 0], 3, 1.0, 0.0), np.eye(3)[[1, 0]]),
    "one_hot between": (lambda x, y: tf.one_hot([1], 2, 5.0, -1.0), [[-1.0, 5.0]]),
    "fill": (lambda x, y: tf.fill(tf.shape(x), 2.0), np.full((2, 3), 2.0)),
    "zeros": (lambda x, y: tf.zeros([2, 2], tf.int32), np.zeros((2, 2))),
    "ones_like": (lambda x, y: tf.ones_like(x), np.ones((2, 3))),
    "range": (lambda x, y: tf.range(1, 7, 2), [1, 3, 5]),
    "cast": (lambda x, y: tf.cast(y, dtype=tf.int32), Y.astype("int32")),
    "to_float": (lambda x, y: tf.to_float(tf.constant([1, 2])), [1.0, 2.0]),
    "clip_by_value": (lambda x, y: tf.clip_by_value(x, -1.0, 1.0), X.clip(-1, 1)),
    "cumsum": (lambda x, y: tf.cumsum(x, axis=1, name="c"), X.cumsum(1)),
    "count_nonzero": (lambda x, y: tf.count_nonzero(x, 1), [3, 2]),
    "norm": (lambda x, y: tf.norm(x, axis=1, ord=np.inf), np.abs(X).max(1)),
    "length": (lambda x, y: tf.norm(x, axis=1), np.linalg.norm(X, axis=1)),
    "top_k": (lambda x, y: tf.nn.top_k(x, 2).values, np.sort(X)[:, :0:-1]),
    "where top_k is": (lambda x, y: tf.nn.top_k(x, k=1, sorted=False)[1], [[0], [1]]),
    "softmax": (lambda x, y: tf.nn.softmax(x), _softmax(X)),
    "softmax along": (lambda x, y: tf.nn.softmax(x, dim=0), _softmax(X.T).T),
    "log_softmax": (lambda x, y: tf.nn.log_softmax(x), np.log(_softmax(X))),
    "l2_normalize": (
        lambda x, y: tf.nn.l2_normalize(x, 1, 1e-10),
        X / np.linalg.norm(X, axis=1, keepdims=True),
    ),
    "moments": (lambda x, y: tf.nn.moments(x, [0])[1], X.var(0)),
    "leaky_relu": (lambda x, y: tf.nn.leaky_relu(x), np.where(X > 0, X, X * 0.2)),
    "sigmoid loss": (
        lambda x, y: tf.nn.sigmoid_cross_entropy_with_logits(labels=K.ones((2, 3)), logits=x),
        np.log1p(np.exp(-X)),
    ),
    "softmax loss": (
        lambda x, y: tf.nn.softmax_cross_entropy_with_logits(labels=K.ones((2, 3)), logits=x),
        -np.log(_softmax(X)).sum(-1),
    ),
    "softmax loss along another axis": (
        lambda x, y: tf.nn.softmax_cross_entropy_with_logits(
            labels=K.ones((2, 3)), logits=x, dim=0
        ),
        -np.log(_softmax(X.T)).sum(-1),
    ),
    "sparse loss": (
        lambda x, y: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[0, 2], logits=x),
        -np.log(_softmax(X))[[0, 1], [0, 2]],
    ),
    "conv2d": (lambda x, y: tf.nn.conv2d(IMAGES, KERNEL, [1, 1, 1, 1], "VALID"), _conv(IMAGES, 1)),
    "conv2d in steps": (
        lambda x, y: tf.nn.conv2d(IMAGES, KERNEL, strides=[1, 2, 2, 1], padding="VALID"),
        _conv(IMAGES, 2),
    ),
    "max_pool": (
        lambda x, y: tf.nn.max_pool(IMAGES, [1, 2, 2, 1], [1, 2, 2, 1], "SAME"),
        IMAGES[:, 1::2, 1::2],
    ),
    "resize": (
        lambda x, y: tf.image.resize_nearest_neighbor(IMAGES, [8, 8]),
        IMAGES.repeat(2, 1).repeat(2, 2),
    ),
    "cond": (lambda x, y: tf.cond(K.sum(x) > 0.0, lambda: x, lambda: y), X),
    "while_loop": (
        lambda x, y: K.control_flow_ops.while_loop(
            lambda i, z: i < 3, lambda i, z: [i + 1, z * 2.0], [tf.constant(0), x]
        )[1],
        X * 8,
    ),
    "while_loop of one": (
        lambda x, y: tf.while_loop(lambda i: i < 9, lambda i: i * 2, [tf.constant(1)]),
        16,
    ),
    "map_fn": (lambda x, y: tf.map_fn(lambda row: row * 2.0, x, dtype=tf.float32), X * 2),
    "gradients": (lambda x, y: tf.gradients(K.sum(x * y), [x])[0], Y),
    "stop_gradient": (lambda x, y: tf.stop_gradient(x), X),
    "placed": (lambda x, y: _placed(x), X + 1),
    "compat": (lambda x, y: tf.compat.v1.squared_difference(x, y), (X - Y) ** 2),
    "T.dot": (lambda x, y: T.dot(x, K.transpose(y)), X @ Y.T),
    "T.sqr": (lambda x, y: T.sum(T.sqr(x), axis=1), (X * X).sum(1)),
    "T.switch": (lambda x, y: T.switch(T.gt(x, 0.0), x, y), np.where(X > 0, X, Y)),
    "T.nnet": (lambda x, y: K.theano.tensor.nnet.softmax(x), _softmax(X)),
    "images with their channels last": (
        lambda x, y: K._preprocess_conv2d_input(K.constant(IMAGES.T), "channels_first")[0],
        IMAGES.T.transpose(0, 2, 3, 1),
    ),
    "images with their channels first": (
        lambda x, y: K._postprocess_conv2d_output(K.constant(IMAGES), "channels_first"),
        IMAGES.transpose(0, 3, 1, 2),
    ),
    "_to_tensor": (lambda x, y: K._to_tensor(1e-7, "float32"), np.float32(1e-7)),
    "lesser": (lambda x, y: K.lesser(x, y), X < Y),
    "_regular_normalize_batch_in_training": (
        lambda x, y: K._regular_normalize_batch_in_training(x, None, None, [0])[1], X.mean(0)
    ),
}  # fmt: skip


def _placed(x: Any) -> Any:
    with tf.device("/cpu:0"), tf.name_scope("part"):
        return x + 1.0


@pytest.mark.parametrize("name", CASES)
def test_the_stand_ins_compute(name: str) -> None:
    say, expected = CASES[name]
    found = K.eval(say(K.variable(X), K.variable(Y)))
    assert found.shape == np.shape(expected)
    assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_sizes_that_are_known_at_run_time_alone() -> None:
    x = K.placeholder((None, None))
    f = K.function(
        [x], [tf.boolean_mask(x, x > 0.0), tf.gather_nd(x, [[0, 1]]), tf.fill(tf.shape(x), 1.0)]
    )
    kept, picked, ones = f([X])
    assert_array_equal(kept, X[X > 0])
    assert_array_equal(picked, X[[0], [1]])
    assert_array_equal(ones, np.ones((2, 3)))


def test_updates() -> None:
    v = K.variable(1.0)
    session = tf.Session(config=tf.ConfigProto(gpu_options=tf.GPUOptions(allow_growth=True)))
    session.run(tf.global_variables_initializer())
    session.run(tf.assign_add(v, 2.0))
    assert K.get_value(v) == 3.0
    session.run(K.moving_averages.assign_moving_average(v, 5.0, 0.5))
    assert K.get_value(v) == 5.0  # corrected for the first value, by default


def test_options_of_sessions_are_taken() -> None:
    config = K.tf.ConfigProto(intra_op_parallelism_threads=1)
    config.gpu_options.allow_growth = True
    config.gpu_options.per_process_gpu_memory_fraction = 0.5
    K.set_session(K.tf.Session(config=config))
    with K.get_session() as session:
        assert session.run(K.constant(2.0) * 3.0) == 6.0


def test_values_follow_the_settings() -> None:
    K.set_floatx("float64")
    K.set_image_dim_ordering("th")
    assert (K._FLOATX, K._IMAGE_DATA_FORMAT, K._IMAGE_DIM_ORDERING) == (
        "float64", "channels_first", "th",
    )  # fmt: skip
    assert (K._EPSILON, K._BACKEND, K.common.floatx()) == (1e-7, "numpy", "float64")
    K.set_learning_phase(1)
    assert K._LEARNING_PHASE == 1
    assert K._get_available_gpus() == K.tensorflow_backend._get_available_gpus() == []


def test_layouts_have_the_names_of_tensorflow() -> None:
    x = K.constant(IMAGES)
    assert K._preprocess_conv2d_input(x, "channels_last") == (x, "NHWC")
    assert K._preprocess_conv2d_input(x, "channels_first", True)[1] == "NHWC"
    assert K._postprocess_conv3d_output(x, "channels_last") is x
    assert [K._preprocess_padding(name) for name in ("same", "valid")] == ["SAME", "VALID"]
    with pytest.raises(ArgumentError, match="padding is 'full'; expected 'same' or 'valid'"):
        K._preprocess_padding("full")


def test_pythons_own_functions() -> None:
    assert K.py_all([True, 1]) is True
    assert K.py_sum([1, 2]) == 3
    assert K.py_slice(1, 2) == slice(1, 2)
    assert K.np is np


@pytest.mark.parametrize("name", leaked.INSTEAD)
def test_what_isnt_there_says_what_to_use(name: str) -> None:
    with pytest.raises(MissingNameError, match=rf"K\.{name} .*use \S") as caught:
        getattr(K, name)
    assert isinstance(caught.value, AttributeError)


@pytest.mark.parametrize(
    ("ask", "advice"),
    [
        (lambda: K.tf.saved_model.load, r"tf\.saved_model\.load .*.*model\.save"),
        (lambda: K.tf.unheard_of, r"tf\.unheard_of .*.*use K functions"),
        (lambda: K.theano.sandbox.cuda, r"theano\.sandbox\.cuda: .*use K functions"),
        (lambda: K.T.nlinalg, r"theano\.tensor\.nlinalg: .*numpy\.linalg"),
        (lambda: leaked.look_up("ctc").ctc_loss, r"K\.ctc\.ctc_loss: .*K\.ctc_batch_cost"),
        (lambda: K.control_flow_ops.unheard_of, r"control_flow_ops\.unheard_of isn't there"),
    ],
)
def test_libraries_advise(ask: Callable[[], Any], advice: str) -> None:
    with pytest.raises(MissingNameError, match=advice):
        ask()


def test_other_names_arent_there() -> None:
    with pytest.raises(
        AttributeError, match=r"^module 'kameleon.backend' has no attribute 'abcd'$"
    ):
        _ = K.abcd
    assert not hasattr(K, "_no_such_private_name")
    assert not hasattr(K.tf, "no_such_function")


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda x: tf.split(x, 2, axis=1), ShapeError, "equal parts"),
        (lambda x: tf.pad(x, [[1, 1], [1, 1]], "EDGE"), ArgumentError, "mode is 'EDGE'"),
        (lambda x: tf.pad(x, [[2, 0], [0, 0]], "REFLECT"), ShapeError, "too large"),
        (lambda x: tf.slice(x, [-1, 0], [1, 1]), ShapeError, "start -1 and size 1"),
        (lambda x: tf.slice(x, [0, 1], [1, 5]), ShapeError, "start 1 and size 5"),
        (lambda x: tf.norm(x, ord="nuc"), ArgumentError, "ord is 'nuc'"),
        (lambda x: tf.image.resize_images(IMAGES, [6, 6], 9), ArgumentError, "method is 9"),
        (lambda x: tf.einsum("ii->i", x), ArgumentError, "each of them once"),
        (lambda x: tf.einsum("i->i", x), ShapeError, "1 letters"),
        (lambda x: tf.depth_to_space(IMAGES, 2, data_format="CN"), ArgumentError, "'NHWC'"),
    ],
)
def test_what_doesnt_map_is_an_error(call: Callable[[Any], Any], error: Any, says: str) -> None:
    with pytest.raises(error, match=says):
        call(K.variable(X))


def test_nothing_shows() -> None:
    names: dict[str, Any] = {}
    exec("from kameleon.backend import *", names)
    undocumented = {*leaked.ALIASES, *leaked.VALUES, *leaked.INSTEAD}
    assert not undocumented & {*names, *K.__all__}
    assert undocumented & {*dir(K)} <= {"ctc"}  # a chapter has that name


def test_a_part_is_no_trap_for_tools() -> None:
    assert repr(K.tf.nn) == "<module 'tensorflow.nn' over kameleon.backend>"
    assert "softmax" in dir(K.tf.nn)
    assert inspect.getdoc(K.tf)
    assert not hasattr(K.tf, "__wrapped__")


def test_a_session_of_tensorflow_isnt_taken() -> None:
    session = type("Session", (), {"run": print, "__module__": "tensorflow.python.client"})()
    before = K.get_session()
    with pytest.warns(UserWarning, match="can't run Kameleon's tensors"):
        K.set_session(session)
    assert K.get_session() is before
