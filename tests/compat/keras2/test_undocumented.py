"""Names that were never documented, and that programs of the day use: aliases, or advice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kameleon import backend as K
from kameleon.compat import undocumented
from kameleon.errors import ArgumentError, MissingNameError

T = K.T

X = np.array([[3.0, -1.0, 2.0], [0.0, 5.0, -4.0]], "float32")
Y = np.array([[1.0, 2.0, 0.5], [4.0, -2.0, 1.0]], "float32")
IMAGES = np.arange(2 * 4 * 4 * 1, dtype="float32").reshape(2, 4, 4, 1)


def _softmax(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


# name: (what a program says, what it gets)
CASES: dict[str, tuple[Callable[[Any, Any], Any], Any]] = {
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


@pytest.mark.parametrize("name", CASES)
def test_the_stand_ins_compute(name: str) -> None:
    say, expected = CASES[name]
    found = K.eval(say(K.variable(X), K.variable(Y)))
    assert found.shape == np.shape(expected)
    assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


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


@pytest.mark.parametrize("name", undocumented.INSTEAD)
def test_what_isnt_there_says_what_to_use(name: str) -> None:
    with pytest.raises(MissingNameError, match=rf"K\.{name} .*use \S") as caught:
        getattr(K, name)
    assert isinstance(caught.value, AttributeError)


@pytest.mark.parametrize(
    ("ask", "advice"),
    [
        (lambda: K.tf, r"K\.tf .*kameleon tensorflow install"),
        (lambda: K.theano.sandbox.cuda, r"theano\.sandbox\.cuda: .*use K functions"),
        (lambda: K.T.nlinalg, r"theano\.tensor\.nlinalg: .*numpy\.linalg"),
        (lambda: undocumented.look_up("ctc").ctc_loss, r"K\.ctc\.ctc_loss: .*K\.ctc_batch_cost"),
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


def test_nothing_shows() -> None:
    names: dict[str, Any] = {}
    exec("from kameleon.backend import *", names)
    hidden = {*undocumented.ALIASES, *undocumented.VALUES, *undocumented.INSTEAD}
    assert not hidden & {*names, *K.__all__}
    assert hidden & {*dir(K)} <= {"ctc"}  # a chapter has that name


def test_a_session_of_tensorflow_isnt_taken() -> None:
    session = type("Session", (), {"run": print, "__module__": "tensorflow.python.client"})()
    before = K.get_session()
    with pytest.warns(UserWarning, match="can't run Kameleon's tensors"):
        K.set_session(session)
    assert K.get_session() is before
