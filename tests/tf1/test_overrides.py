"""Programs that look through the graph and put gradients of their own into TensorFlow's registry,
as those that explain networks do.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kameleon import backend as K
from kameleon.engines import Engine
from kameleon.tf1.modules import module

tf: Any = K.tf
REGISTRY: Any = module("tensorflow.python.framework.ops")._gradient_registry._registry


@contextmanager
def gradient_for(kinds: str, function: Callable[..., Any]) -> Iterator[dict[str, Any]]:
    """A block in which the registry holds this gradient for some types; gives those before."""
    before = {kind: REGISTRY[kind]["type"] for kind in kinds.split()}
    for kind in before:
        REGISTRY[kind]["type"] = function
    try:
        yield before
    finally:
        for kind, given in before.items():
            REGISTRY[kind]["type"] = given


def test_the_registry_holds_types_and_registered_names() -> None:
    assert "Relu" in REGISTRY and "MaxPool" in REGISTRY and "Conv2D" in REGISTRY
    assert "NoSuchType" not in REGISTRY and REGISTRY.get("NoSuchType") is None
    with pytest.raises(KeyError):
        REGISTRY["NoSuchType"]


def test_the_registry_says_where_a_gradient_is_written_and_keeps_what_is_put_there() -> None:
    file, line, *_ = REGISTRY["Relu"]["location"]
    assert file.endswith(".py") and line > 0
    REGISTRY["NoSuchType"] = {"type": None, "location": REGISTRY["Relu"]["location"]}
    try:
        assert "NoSuchType" in REGISTRY
    finally:
        del REGISTRY["NoSuchType"]


def test_what_the_registry_holds_is_the_gradient(engine: Engine) -> None:
    x, w, g = K.placeholder((None, 3)), K.variable(np.ones((3, 2))), K.placeholder((None, 2))
    y = tf.matmul(x, w)
    by_x, by_w = REGISTRY["MatMul"]["type"](y.op, g)
    square = K.square(x)
    alone = REGISTRY["Square"]["type"](square.op, x)  # one input: one gradient, and no list
    f = K.function([x, g], [by_x, by_w, alone, *tf.gradients(y, [x, w], g)], engine=engine.name)
    rng = np.random.default_rng(1)
    values = f([rng.normal(size=(4, 3)), rng.normal(size=(4, 2))])
    assert_allclose(values[0], values[3], 1e-5)
    assert_allclose(values[1], values[4], 1e-5)
    assert values[2].shape == (4, 3)


@pytest.mark.parametrize("kind", ["Relu", "MaxPool", "Mul"])
def test_a_gradient_that_is_put_there_holds(kind: str, engine: Engine) -> None:
    x = K.placeholder((None, 4, 4, 1))
    y = {
        "Relu": lambda: K.relu(x - 0.5),
        "MaxPool": lambda: K.pool2d(x, (2, 2), pool_mode="max"),
        "Mul": lambda: x * K.sum(x, axis=1, keepdims=True),  # which broadcasts
    }[kind]()
    seen: list[Any] = []

    def tripled(operation: Any, cotangent: Any) -> Any:
        seen.append(operation)
        return given[kind](operation, 3.0 * cotangent)

    with gradient_for(kind, tripled) as given:
        [changed] = tf.gradients(K.tanh(y), [x])
    [plain] = tf.gradients(K.tanh(y), [x])
    assert [operation.type for operation in seen] == [kind]
    f = K.function([x], [changed, plain], engine=engine.name)
    changed_value, value = f([np.random.default_rng(2).uniform(size=(2, 4, 4, 1))])
    assert_allclose(changed_value, 3 * value, 1e-5)


def test_operations_take_what_broadcasts_as_it_was_before() -> None:
    x, b = K.placeholder((None, 3)), K.variable(np.ones(3))
    y = x + b
    assert y.op.inputs[0] is x and y.op.inputs[1] is b
    assert (x / b).op.type == "RealDiv" and K.relu(x).op.type == "Relu"
    assert (x * 1.0).op.inputs[1].op.type == "Const"


def test_consumers_are_found_and_not_kept() -> None:
    x = K.placeholder((None, 3))
    y, z = K.exp(x), K.pool2d(K.reshape(x, (-1, 3, 1, 1)), (1, 1), pool_mode="max")
    assert y.op in x.consumers() and len(x.consumers()) == 2
    assert z.op in z.op.inputs[0].consumers()
    del y
    gc.collect()
    assert len(x.consumers()) == 1


# By name, layers of a network: each a function of the one before.
NETWORKS: dict[str, Callable[[Any], Any]] = {
    "relu": lambda x: K.relu(K.dot(x, _weights(4, 5)) - 0.1),
    "tanh": lambda x: K.tanh(K.dot(x, _weights(4, 5))),
    "dropout": lambda x: K.in_train_phase(K.dropout(K.relu(x - 0.2), 0.5), K.relu(x - 0.2)),
    "normalized": lambda x: K.in_train_phase(
        (x - K.mean(x, 0)) / (K.std(x, 0) + 1.0), (K.sigmoid(x) - 0.1) / 0.7
    ),
}


def _weights(*shape: int) -> Any:
    return K.variable(np.random.default_rng(0).normal(size=shape))


@pytest.mark.parametrize("name", NETWORKS)
def test_contributions_add_up_to_the_difference(name: str, engine: Engine) -> None:
    """The rescale rule: differences from a reference are shared out among the inputs.

    Shrikumar et al., Learning important features through propagating activation differences, 2017.
    """
    x = K.placeholder((None, 4))  # samples in the first half, references in the second
    y = K.sum(NETWORKS[name](x), -1)

    def rescaled(operation: Any, cotangent: Any) -> Any:
        (before,), after = operation.inputs, operation.outputs[0]
        (a, b), (c, d) = tf.split(before, 2), tf.split(after, 2)
        away = a - b
        slope = tf.tile((c - d) / tf.where(tf.abs(away) < 1e-6, tf.ones_like(away), away), [2, 1])
        plain = given[operation.type](operation, cotangent)
        return tf.where(tf.tile(tf.abs(away), [2, 1]) < 1e-6, plain, cotangent * slope)

    with gradient_for("Relu Tanh Sigmoid", rescaled) as given:
        [slopes] = tf.gradients(y, [x])
    f = K.function([x], [slopes, y], engine=engine.name)
    data = np.random.default_rng(3).uniform(size=(6, 4)).astype("float32")
    found, values = f([data])
    away = data[:3] - data[3:]
    assert_allclose((found[:3] * away).sum(1), values[:3] - values[3:], 1e-4, 1e-5)


def test_elements_at_indices_of_unknown_length(engine: Engine) -> None:
    x = K.placeholder((None, 3))
    at = K.placeholder((None, None), dtype="int32")
    picked = tf.gather_nd(x, at)
    f = K.function([x, at], [picked, *tf.gradients(picked, [x])], engine=engine.name)
    values = np.arange(6.0).reshape(2, 3)
    found, slope = f([values, [[0, 2], [1, 0], [0, 2]]])
    assert found.tolist() == [2, 3, 2] and slope.tolist() == [[0, 0, 2], [1, 0, 0]]
    with pytest.raises(ValueError):
        f([values, [[0], [1], [0]]])
