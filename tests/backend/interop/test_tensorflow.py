"""Compiled functions as modules of TensorFlow's: numbers, gradients, state, training."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _support.common import engines_under_test

if "tensorflow" not in engines_under_test():
    pytest.skip("needs the package tensorflow", allow_module_level=True)

import tensorflow as tf

from kameleon import backend as K
from kameleon.backend.interop.tensorflow import to_tensorflow
from kameleon.errors import ArgumentError, FeedError
from kameleon.graph.gradients import gradients
from kameleon.graph.ir.node import REGISTRY
from kameleon.graph.primitives.elementwise import constant
from kameleon.graph.primitives.reduce import reduce_sum
from kameleon.runtime.engines import embedded
from kameleon.runtime.function import Function
from kameleon.testing.cases.case import Case
from kameleon.testing.conformance import BY_PRIMITIVE, cases_of
from kameleon.testing.together import _assert_close, _loss

Array = np.ndarray[Any, Any]


def normal(*shape: int, seed: int = 0, dtype: str = "float32") -> Array:
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


# The conformance kit's cases -----------------------------------------------------------------

# With every change just these, by kind of check.
OFTEN = {
    "values": "contract softmax cond gather".split(),
    "gradient": "tanh contract softmax gather".split(),
}


def by_primitive(kind: str) -> list[Any]:
    """The primitives with cases of a kind; most of them for nightly runs."""
    nightly = pytest.mark.nightly
    return [
        name if name in OFTEN[kind] else pytest.param(name, marks=nightly)
        for name, cases in BY_PRIMITIVE.items()
        if cases_of(kind, cases, True)
    ]


@pytest.mark.parametrize("known", [True, False], ids=["static", "unknown"])
@pytest.mark.parametrize("primitive", by_primitive("values"))
def test_values_of_primitives(primitive: str, known: bool) -> None:
    cases = cases_of("values", BY_PRIMITIVE[primitive], known)
    uses = [(case, case.inputs(known)) for case in cases]
    inputs = [x for _, own in uses for x in own]
    outputs = [case.results(own) for case, own in uses]
    module = to_tensorflow(K.function(inputs, outputs))
    found = module([x for case in cases for x in case.operands])
    for case, values in zip(cases, found, strict=True):
        for value, expected in zip(values, case.expected(), strict=True):
            assert value.dtype.name == expected.dtype.name
            _assert_close(value.numpy(), expected, case.units)


@pytest.mark.parametrize("known", [True, False], ids=["static", "unknown"])
@pytest.mark.parametrize("primitive", by_primitive("gradient"))
def test_gradients_of_primitives(primitive: str, known: bool) -> None:
    for case in cases_of("gradient", BY_PRIMITIVE[primitive], known):
        loss, inputs = _loss(case, known)
        check_gradients(case, loss, inputs)


def check_gradients(case: Case, loss: Any, inputs: Sequence[Any]) -> None:
    """First and second gradients of a loss, by TensorFlow's tapes and by K's on NumPy."""
    wrt = [inputs[i] for i in case.wrt]
    weights = [normal(*np.shape(case.operands[i]), seed=i, dtype="float64") for i in case.wrt]
    first = gradients(loss, wrt)
    total = weighted([constant(w, "float64") for w in weights], first)
    second = gradients(total, wrt) if case.order > 1 else []
    wanted = [g for g in (*first, *second) if g is not None]
    expected = Function(list(inputs), wanted, engine=embedded())(list(case.operands))

    module = to_tensorflow(K.function(inputs, loss))
    tensors = [tf.constant(x) for x in case.operands]
    sources = [tensors[i] for i in case.wrt]
    with tf.GradientTape() as outer:
        outer.watch(sources)
        with tf.GradientTape() as inner:
            inner.watch(sources)
            value = module(tensors)
        slopes = inner.gradient(value, sources)
        pairs = zip(slopes, weights, strict=True)
        projected = sum(tf.reduce_sum(g * w) for g, w in pairs if g is not None)
    bends = outer.gradient(projected, sources) if case.order > 1 else []
    for own, theirs in zip((*first, *second), (*slopes, *bends), strict=True):
        if own is None:
            assert theirs is None or not np.any(theirs), case.id
            continue
        want = expected.pop(0)
        got = np.zeros_like(want) if theirs is None else tf.convert_to_tensor(theirs).numpy()
        scale = max(1.0, float(np.abs(want).max(initial=0)))
        np.testing.assert_allclose(got, want, 1e-9, 1e-10 * scale, err_msg=case.id)


def weighted(weights: Sequence[Any], parts: Sequence[Any]) -> Any:
    """The sum of all elements, with weights."""
    total = constant(0.0, "float64")
    for w, g in zip(weights, parts, strict=True):
        if g is not None:
            part = reduce_sum(REGISTRY["mul"](g, w), range(len(w.shape)))
            total = REGISTRY["add"](total, part)
    return total


# Whole programs ------------------------------------------------------------------------------


def network() -> dict[str, Any]:
    """A small network with dropout, a moving mean, and everything that's computed of it."""
    x, y = K.placeholder((None, 5), name="x"), K.placeholder((None, 3), name="y")
    w = K.variable(normal(5, 4, seed=1), name="w")
    v = K.variable(normal(4, 3, seed=2), name="dense/v")
    mean = K.variable(np.zeros(4, "float32"), name="mean")
    hidden = K.tanh(K.dot(x, w))
    used = K.in_train_phase(K.dropout(hidden, 0.5), hidden - 0.1 * mean)
    p = K.softmax(K.dot(used, v))
    loss = K.mean(K.categorical_crossentropy(y, p))
    updates = [(mean, 0.9 * mean + 0.1 * K.mean(hidden, axis=0))]
    inputs = [x, y, K.learning_phase()]
    function = K.function(inputs, {"loss": loss, "p": p}, updates)
    return {"inputs": inputs, "loss": loss, "w": w, "v": v, "mean": mean, "function": function}


def batch(size: int = 7) -> tuple[Array, Array]:
    labels = np.random.default_rng(3).integers(0, 3, size)
    return normal(size, 5, seed=4), np.eye(3, dtype="float32")[labels]


def test_state_goes_on_as_the_functions_own() -> None:
    net = network()
    function, module = net["function"], to_tensorflow(net["function"])
    x, y = batch()
    for phase in (0, 1, 1, 0, 1):
        want = function([x, y, phase])
        got = module(x, y, training=bool(phase))
        assert want.keys() == got.keys()
        for key in want:
            np.testing.assert_allclose(got[key].numpy(), want[key], rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(
            module.weights[str(net["mean"])], K.get_value(net["mean"]), rtol=1e-5
        )


@pytest.mark.parametrize("call", [
    lambda module, x, y: module(x, y, training=True),
    lambda module, x, y: module(x, y, training=tf.constant(True)),
    lambda module, x, y: module([x, y], training=True),
    lambda module, x, y: module(x, y, 1),
    lambda module, x, y: module([x, y, tf.constant(1)]),
    lambda module, x, y: tf.function(lambda *xy: module(*xy, training=True))(x, y),
    lambda module, x, y: tf.function(
        lambda *xy: module(*xy, training=True), jit_compile=True
    )(x, y),
])  # fmt: skip
def test_ways_to_call(call: Callable[..., Any]) -> None:
    net = network()
    module = to_tensorflow(net["function"])
    x, y = batch()
    want = net["function"]([x, y, 1])
    np.testing.assert_allclose(call(module, x, y)["p"], want["p"], rtol=1e-5, atol=1e-6)


def test_sizes_stay_open_in_one_trace() -> None:
    module = to_tensorflow(network()["function"])
    for size in (1, 4, 9):
        assert module(*batch(size))["p"].shape == (size, 3)
    assert module._traces.mode(False).experimental_get_tracing_count() == 1


def test_names_and_what_is_trained() -> None:
    net = network()
    module = to_tensorflow(net["function"])
    assert list(module.weights) == [v.name[:-2] for v in module.weights.values()]
    assert set(module.weights) == {str(net[x]) for x in ("w", "v", "mean")}
    trained = [v.name[:-2] for v in module.trainable_variables]
    assert sorted(trained) == sorted(str(net[x]) for x in ("w", "v"))
    assert len(module.non_trainable_variables) == 2  # the mean and a random key
    net["v"].trainable = False
    module = to_tensorflow(net["function"])
    assert [v.name[:-2] for v in module.trainable_variables] == [str(net["w"])]


def persistent(module: Any, x: Any, y: Any, wrt: list[Any]) -> list[Any]:
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        loss = module(x, y)["loss"]
    return [tape.gradient(loss, w) for w in wrt]


def jitted(module: Any, x: Any, y: Any, wrt: list[Any]) -> list[Any]:
    @tf.function(jit_compile=True)
    def slopes(x: Any, y: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = module(x, y)["loss"]
        return tape.gradient(loss, [*wrt[:-1], x])

    return list(slopes(x, y))


def by_jacobian(module: Any, x: Any, y: Any, wrt: list[Any]) -> list[Any]:
    with tf.GradientTape() as tape:
        tape.watch(x)
        loss = module(x, y)["loss"][None]
    return [g[0] for g in tape.jacobian(loss, wrt)]


@pytest.mark.parametrize("way", [persistent, jitted, by_jacobian])
def test_gradients_of_a_network(way: Callable[..., Any]) -> None:
    net = network()
    wrt = [net["w"], net["v"], net["inputs"][0]]
    x, y = batch()
    want = K.function(net["inputs"], K.gradients(net["loss"], wrt))([x, y, 0])
    module = to_tensorflow(net["function"])
    source = tf.constant(x)
    own = [module.weights[str(net["w"])], module.weights[str(net["v"])], source]
    for got, expected in zip(way(module, source, y, own), want, strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-6)


def test_forward_mode() -> None:
    x = K.placeholder((None, 3))
    module = to_tensorflow(K.function([x], K.tanh(x) * x))
    point, direction = tf.constant([[0.5, -1.0, 2.0]]), tf.constant([[1.0, 2.0, 3.0]])
    with tf.autodiff.ForwardAccumulator(point, direction) as forward:
        y = module(point)
    slope = np.tanh(point) + point / np.cosh(point) ** 2
    np.testing.assert_allclose(forward.jvp(y), slope * direction, rtol=1e-5)


def test_a_loop_in_a_loop_of_tensorflows() -> None:
    x, w = K.placeholder((None, 2)), K.variable([[0.5, 0.1], [0.2, 0.4]], name="w")
    module = to_tensorflow(K.function([x], K.tanh(K.dot(x, w))))

    @tf.function(autograph=False)
    def slopes(x: Any) -> Any:
        with tf.GradientTape() as tape:
            _, state = tf.while_loop(lambda i, _: i < 3, lambda i, x: (i + 1, module(x)), (0, x))
            loss = tf.reduce_sum(state)
        return tape.gradient(loss, module.weights[str(w)])

    state = x
    for _ in range(3):
        state = K.tanh(K.dot(state, w))
    want = K.function([x], K.gradients(K.sum(state), [w]))([np.ones((2, 2))])[0]
    np.testing.assert_allclose(slopes(tf.ones((2, 2))), want, rtol=1e-5)


def test_own_gradients_are_kept() -> None:
    x = K.placeholder((3,), dtype="float64")

    @K.custom_gradient
    def clipped(x: Any) -> Any:
        return K.square(x), lambda g: K.clip(g, -1, 1)

    module = to_tensorflow(K.function([x], K.sum(5 * clipped(x) * K.stop_gradient(x))))
    point = tf.constant([1.0, -2.0, 0.1], tf.float64)
    with tf.GradientTape() as tape:
        tape.watch(point)
        y = module(point)
    np.testing.assert_allclose(tape.gradient(y, point), [1.0, -1.0, 0.5])


def test_rows_that_are_gathered_from_an_output() -> None:
    x = K.placeholder((None, 2))
    module = to_tensorflow(K.function([x], K.square(x)))
    point = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        tape.watch(point)
        y = tf.reduce_sum(tf.gather(module(point), [1, 1]))
    np.testing.assert_allclose(tape.gradient(y, point), [[0, 0], [12, 16]])


# What trains and keeps -------------------------------------------------------------------------


def test_a_loop_of_training_and_a_checkpoint(tmp_path: Path) -> None:
    function = network()["function"]
    module = to_tensorflow(function)
    x, y = map(tf.constant, batch(32))

    @tf.function
    def step() -> Any:
        with tf.GradientTape() as tape:
            loss = module(x, y, training=True)["loss"]
        variables = module.trainable_variables
        for v, g in zip(variables, tape.gradient(loss, variables), strict=True):
            v.assign_sub(0.5 * g)
        return loss

    first = [float(step()) for _ in range(30)]
    assert np.mean(first[-5:]) < np.mean(first[:5])
    path = tf.train.Checkpoint(module).save(str(tmp_path / "kept"))
    after = [float(step()) for _ in range(3)]
    again = to_tensorflow(function)
    tf.train.Checkpoint(again).restore(path).assert_consumed()
    for name, v in again.weights.items():
        module.weights[name].assign(v)
    module.random_keys[0].assign(again.random_keys[0])
    np.testing.assert_allclose([float(step()) for _ in range(3)], after, rtol=1e-5)


def test_optimizers_of_tf_keras() -> None:
    optimizers = pytest.importorskip("tf_keras").optimizers
    module = to_tensorflow(network()["function"])
    x, y = map(tf.constant, batch(32))
    optimizer, losses = optimizers.Adam(0.05), []
    for _ in range(15):
        with tf.GradientTape() as tape:
            loss = module(x, y)["loss"]
        variables = module.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        losses.append(float(loss))
    assert losses[-1] < 0.8 * losses[0]


@pytest.mark.parametrize("make", [tf.distribute.get_strategy, tf.distribute.MirroredStrategy])
def test_strategies(make: Callable[[], Any]) -> None:
    net = network()
    strategy = make()
    with strategy.scope():
        module = to_tensorflow(net["function"])
    x, y = batch()

    @tf.function
    def run() -> Any:
        return strategy.run(lambda: module(x, y, training=True)["p"])

    want = net["function"]([x, y, 1])["p"]
    np.testing.assert_allclose(strategy.experimental_local_results(run())[0], want, rtol=1e-5)
    np.testing.assert_allclose(
        module.weights[str(net["mean"])], K.get_value(net["mean"]), rtol=1e-5
    )


# What is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((np.ones((2, 5)),), "2 values are given for 3: 'x"),
        ((np.ones((2, 4), "float32"), np.ones((2, 3), "float32")), "'x.*' has shape"),
        ((np.ones((2, 5), complex), np.ones((2, 3), "float32")), "input 'x"),
        ((tf.ones((2, 5), tf.float64), np.ones((2, 3), "float32")), "input 'x"),
    ],
)
def test_values_that_do_not_fit(given: Any, message: str) -> None:
    net = network()
    module = to_tensorflow(net["function"])
    with pytest.raises(FeedError, match=message):
        module(*given)
    assert not np.any(module.weights[str(net["mean"])])


def test_a_check_that_fails_leaves_variables_alone() -> None:
    x, n = K.placeholder((None,), dtype="int32"), K.variable(0.0, name="n")
    table = K.variable(np.arange(4.0))
    module = to_tensorflow(K.function([x], K.gather(table, x), [(n, n + 1.0)]))
    with pytest.raises(tf.errors.InvalidArgumentError):
        module(np.array([9], "int32"))
    assert float(module.weights[str(n)]) == 0.0


def test_other_things_than_functions() -> None:
    for wrong in (len, None, K.variable(1.0)):
        with pytest.raises(ArgumentError, match="to_tensorflow takes what K"):
            to_tensorflow(wrong)
    x = K.placeholder((2, 2), sparse=True)
    with pytest.raises(ArgumentError, match="is sparse"):
        to_tensorflow(K.function([x], K.to_dense(x)))


def test_a_gradient_that_does_not_exist() -> None:
    x = K.placeholder((3,))
    y = K.foldl(lambda a, b: a, K.cast(K.greater(x, 0), "float32"))
    module = to_tensorflow(K.function([x], y))
    point = tf.ones(3)
    with tf.GradientTape() as tape:
        tape.watch(point)
        found = module(point)
    assert tape.gradient(found, point) is None
