"""Objects of a program's classes stand for tensors, in functions, operators and sessions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kameleon import backend as K
from kameleon.backend import _conversions
from kameleon.errors import DTypeError
from kameleon.tf1 import conversions
from kameleon.tf1.modules import module

tf: Any = module("tensorflow")


class Boxed:
    def __init__(self, value: Any) -> None:
        self.value = value


@pytest.fixture(autouse=True)
def _none_are_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_conversions, "_known", [])
    monkeypatch.setattr(conversions, "_of_sessions", [])


def _unboxed(x: Boxed, dtype: Any = None, name: Any = None, as_ref: bool = False) -> Any:
    return tf.constant(x.value, dtype)


def test_functions_take_converted_objects() -> None:
    with pytest.raises(DTypeError):
        tf.exp(Boxed([0.0]))
    tf.register_tensor_conversion_function(Boxed, _unboxed)
    assert K.eval(tf.exp(Boxed([0.0]))).tolist() == [1.0]
    assert K.eval(tf.stack([Boxed([1.0]), tf.constant([2.0])])).tolist() == [[1.0], [2.0]]
    assert K.eval(tf.constant([1.0]) + Boxed([2.0])).tolist() == [3.0]
    assert K.eval(tf.constant([1, 2]) * Boxed([2, 3])).tolist() == [2, 6]
    assert tf.convert_to_tensor(Boxed([1.0]), tf.float64).dtype == tf.float64
    assert K.eval(tf.Variable(Boxed([4.0]))).tolist() == [4.0]


def test_the_least_priority_is_asked_first_and_may_decline() -> None:
    asked = []

    def declines(x: Any, dtype: Any = None, name: Any = None, as_ref: bool = False) -> Any:
        asked.append(x.value)
        return NotImplemented

    tf.register_tensor_conversion_function(Boxed, _unboxed)
    tf.register_tensor_conversion_function(Boxed, declines, 10)
    assert K.eval(tf.identity(Boxed(3.0))) == 3.0
    assert asked == [3.0]


def test_numbers_keep_their_meaning_and_tensors_must_come_of_it() -> None:
    with pytest.raises(TypeError, match="Python numeric types"):
        tf.register_tensor_conversion_function(float, _unboxed)
    tf.register_tensor_conversion_function(Boxed, lambda x, **options: x.value)
    with pytest.raises(DTypeError, match="must give a tensor"):
        tf.identity(Boxed(1.0))


def test_sessions_fetch_and_feed_registered_objects() -> None:
    x, y = tf.placeholder(tf.float32, [2]), tf.placeholder(tf.float32, [2])
    pair = Boxed((x, y))
    session: Any = module("tensorflow.python.client.session")
    with tf.Session() as sess, pytest.raises(TypeError, match="invalid type"):
        sess.run(pair)
    session.register_session_run_conversion_functions(
        Boxed,
        lambda pair: (list(pair.value), lambda values: values[0] - values[1]),
        lambda pair, fed: zip(pair.value, fed, strict=True),
    )
    with pytest.raises(ValueError, match="already been registered"):
        session.register_session_run_conversion_functions(Boxed, lambda pair: ([], sum))
    with tf.Session() as sess:
        assert sess.run(pair, {pair: ([3.0, 4.0], [1.0, 1.0])}).tolist() == [2.0, 3.0]
        found = sess.run({"a": pair, "x": x}, {x: [1.0, 2.0], y: [0.0, 0.0]})
    assert np.array_equal(found["a"], found["x"])


def test_classes_take_over_the_operators_of_tensors() -> None:
    class Doubled:
        __div__ = tf.Tensor.__div__

    for name in tf.Tensor.OVERLOADABLE_OPERATORS:
        assert hasattr(tf.Tensor, name), name
    assert K.eval(tf.Tensor.__div__(tf.constant([7, -7]), 2)).tolist() == [3, -4]
    assert K.eval(tf.Tensor.__rdiv__(tf.constant([2.0]), 1.0)).tolist() == [0.5]
    assert Doubled.__div__ is tf.Tensor.__div__
