"""SavedModels: what TensorFlow serves and trains of them, and what's refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _support.common import engines_under_test

if "tensorflow" not in engines_under_test():
    pytest.skip("needs the package tensorflow", allow_module_level=True)

import tensorflow as tf

from kameleon import backend as K
from kameleon.backend.export import savedmodel
from kameleon.backend.interop.pure import Stateless
from kameleon.errors import UnsupportedError

Array = np.ndarray[Any, Any]


def written(function: Any, folder: Path) -> str:
    path = str(folder / "model")
    savedmodel.write(Stateless(function, "export"), path)
    return path


def reloaded(path: str) -> Any:
    """What the verification of exports calls."""
    space: dict[str, Any] = {}
    exec(savedmodel.RELOAD, space)
    return space["load"](path)


def normal(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def training() -> tuple[Any, Any]:
    """A step of training with dropout, and the weights."""
    x, y = K.placeholder((None, 5), name="x"), K.placeholder((None, 3), name="labels/y")
    w = K.variable(normal(5, 3), name="w")
    hidden = K.in_train_phase(K.dropout(x, 0.3), x)
    p = K.softmax(K.dot(hidden, w), axis=-1)
    loss = K.mean(K.categorical_crossentropy(y, p))
    updates = [(w, w - 0.5 * K.gradients(loss, [w])[0])]
    inputs = [x, y, K.learning_phase()]
    return K.function(inputs, {"loss": loss, "parts": [p]}, updates), w


def test_signatures_serve_and_train(tmp_path: Path) -> None:
    function, w = training()
    model = tf.saved_model.load(written(function, tmp_path))
    serve, train = (model.signatures[name] for name in ("serving_default", "train"))
    for size in (4, 7):
        x, y = normal(size, 5, seed=size), np.eye(3, dtype="float32")[np.arange(size) % 3]
        given = {"x": tf.constant(x), "labels_y": tf.constant(y)}
        before = K.get_value(w)
        K.set_value(w, before)
        want = function([x, y, 1])
        got = train(**given)
        np.testing.assert_allclose(got["loss"], want["loss"], rtol=1e-5)
        np.testing.assert_allclose(got["parts"], want["parts"][0], rtol=1e-5)
        np.testing.assert_allclose(model.updated[0], K.get_value(w), rtol=1e-5)
        serve(**given)
        np.testing.assert_allclose(model.updated[0], K.get_value(w), rtol=1e-5)
        model.random_keys[0].assign_sub(tf.constant([0, 1], tf.uint32))  # serving has drawn, too
    assert list(serve.structured_outputs["parts"].shape) == [None, 3]


def test_no_train_signature_without_updates(tmp_path: Path) -> None:
    x = K.placeholder((None, 2), name="x")
    model = tf.saved_model.load(written(K.function([x], [K.tanh(x)]), tmp_path))
    assert list(model.signatures) == ["serving_default"]
    assert list(model.signatures["serving_default"].structured_outputs) == ["output_0"]


def test_names_that_tensorflow_would_take_for_one(tmp_path: Path) -> None:
    x, y = K.placeholder((2,), name="a/x"), K.placeholder((2,), name="a_x")
    K.function([x, y], {"z": x - y}).export(tmp_path / "model.savedmodel")
    serve = tf.saved_model.load(str(tmp_path / "model.savedmodel")).signatures["serving_default"]
    assert serve(a_x=tf.ones(2), a_x_1=tf.zeros(2))["z"].numpy().tolist() == [1.0, 1.0]


def test_gradients_of_a_loaded_model(tmp_path: Path) -> None:
    x, w = K.placeholder((None, 2)), K.variable(normal(2, 2), name="w")
    loss = K.sum(K.square(K.tanh(K.dot(x, w))))
    model = tf.saved_model.load(written(K.function([x], [loss]), tmp_path))
    point, (weight,) = normal(3, 2, seed=1), model.weights.values()
    with tf.GradientTape() as tape:
        value = model.step(tf.constant(point))[0]
    want = K.function([x], K.gradients(loss, [w]))([point])[0]
    np.testing.assert_allclose(tape.gradient(value, weight), want, rtol=1e-5)


def test_functions_of_pythons_are_refused(tmp_path: Path) -> None:
    x = K.placeholder((1, None, 4), name="x")
    lengths = K.placeholder((1,), dtype="int32")
    function = K.function([x, lengths], K.ctc_decode(x, lengths)[0])
    with pytest.raises(UnsupportedError, match=r"ctc_greedy.*\n.*test_savedmodel"):
        written(function, tmp_path)
