"""Every example of the published documentation, one test each, named after the function.

The documents write `keras` where this says `kameleon`, and show tensors in the words of one
engine. The number in a tensor's name counts within a session; all else is exact.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from kameleon import backend as K
from kameleon.compat.keras2.own_layers import Dense, Input

VALUES = np.array([[1, 2], [3, 4]])


def assert_shows(value: Any, expected: Any, dtype: str = "float32") -> None:
    """`value` is a NumPy array with the contents and dtype that the document prints."""
    assert isinstance(value, np.ndarray)
    assert value.dtype == dtype
    np.testing.assert_array_equal(value, np.array(expected, dtype))


def assert_repr(tensor: Any, operation: str, shape: tuple[int, ...], dtype: str) -> None:
    """The repr of `tensor` is the documented one, up to the running number."""
    rest = re.escape(f":0' shape={shape} dtype={dtype}>")
    assert re.fullmatch(rf"<kameleon\.Tensor '{operation}(_\d+)?{rest}", repr(tensor))


# --- introduction -------------------------------------------------------------------------------


def test_introduction_placeholders() -> None:
    assert K.int_shape(K.placeholder(shape=(2, 4, 5))) == (2, 4, 5)
    assert K.int_shape(K.placeholder(shape=(None, 4, 5))) == (None, 4, 5)
    assert K.int_shape(K.placeholder(ndim=3)) == (None, None, None)


def test_introduction_variables() -> None:
    val = np.random.random((3, 4, 5))
    var = K.variable(value=val)
    np.testing.assert_array_equal(K.eval(var), val.astype("float32"))
    assert_shows(K.eval(K.zeros(shape=(3, 4, 5))), np.zeros((3, 4, 5)))
    assert_shows(K.eval(K.ones(shape=(3, 4, 5))), np.ones((3, 4, 5)))


def test_introduction_arithmetic() -> None:
    b = K.random_uniform_variable(shape=(3, 4), low=0, high=1)
    c = K.random_normal_variable(shape=(3, 4), mean=0, scale=1)
    d = K.random_normal_variable(shape=(3, 4), mean=0, scale=1)
    nb, nc, nd = K.batch_get_value([b, c, d])
    a = b + c * K.abs(d)
    na = nb + nc * np.abs(nd)
    np.testing.assert_allclose(K.eval(a), na, rtol=1e-6)
    c = K.dot(a, K.transpose(b))
    np.testing.assert_allclose(K.eval(c), na @ nb.T, rtol=1e-5)
    a = K.sum(b, axis=1)
    np.testing.assert_allclose(K.eval(a), nb.sum(1), rtol=1e-6)
    a = K.softmax(b)
    np.testing.assert_allclose(K.eval(a).sum(1), 1.0, rtol=1e-6)
    a = K.concatenate([b, c], axis=-1)
    np.testing.assert_allclose(K.eval(a), np.concatenate([nb, na @ nb.T], -1), rtol=1e-5)


# --- configuration ------------------------------------------------------------------------------


def test_epsilon() -> None:
    assert repr(K.epsilon()) == "1e-07"


def test_set_epsilon() -> None:
    assert K.epsilon() == 1e-07
    K.set_epsilon(1e-05)
    assert K.epsilon() == 1e-05


def test_floatx() -> None:
    assert K.floatx() == "float32"


def test_set_floatx() -> None:
    assert K.floatx() == "float32"
    K.set_floatx("float16")
    assert K.floatx() == "float16"


def test_cast_to_floatx() -> None:
    assert K.floatx() == "float32"
    arr = np.array([1.0, 2.0], dtype="float64")
    new_arr = K.cast_to_floatx(arr)
    assert_shows(new_arr, [1.0, 2.0])
    assert arr.dtype == "float64"


def test_image_data_format() -> None:
    K.set_image_data_format("channels_first")
    assert K.image_data_format() == "channels_first"


def test_set_image_data_format() -> None:
    K.set_image_data_format("channels_first")
    assert K.image_data_format() == "channels_first"
    K.set_image_data_format("channels_last")
    assert K.image_data_format() == "channels_last"


def test_backend() -> None:
    from kameleon.config import ENGINES

    assert K.backend() in ENGINES


# --- tensors and variables ----------------------------------------------------------------------


def test_is_sparse(capsys: pytest.CaptureFixture[str]) -> None:
    print(K.is_sparse(K.placeholder((2, 2), sparse=False)))
    print(K.is_sparse(K.placeholder((2, 2), sparse=True)))
    assert capsys.readouterr().out == "False\nTrue\n"


def test_to_dense(capsys: pytest.CaptureFixture[str]) -> None:
    b = K.placeholder((2, 2), sparse=True)
    print(K.is_sparse(b))
    print(K.is_sparse(K.to_dense(b)))
    assert capsys.readouterr().out == "True\nFalse\n"


def test_variable(capsys: pytest.CaptureFixture[str]) -> None:
    kvar = K.variable(value=VALUES, dtype="float64", name="example_var")
    assert K.dtype(kvar) == "float64"
    print(kvar)
    assert capsys.readouterr().out == "example_var\n"
    assert_shows(K.eval(kvar), [[1.0, 2.0], [3.0, 4.0]], "float64")


def test_is_keras_tensor() -> None:
    np_var = np.array([1, 2])
    with pytest.raises(ValueError, match="is_keras_tensor"):
        K.is_keras_tensor(np_var)
    assert K.is_keras_tensor(K.variable(np_var)) is False
    assert K.is_keras_tensor(K.placeholder(shape=(2, 4, 5))) is False
    keras_input = Input([10])
    assert K.is_keras_tensor(keras_input) is True
    keras_layer_output = Dense(10)(keras_input)
    assert K.is_keras_tensor(keras_layer_output) is True


def test_placeholder() -> None:
    input_ph = K.placeholder(shape=(2, 4, 5))
    assert input_ph._keras_shape == (2, 4, 5)
    assert_repr(input_ph, "Placeholder", (2, 4, 5), "float32")


def test_shape() -> None:
    tf_session = K.get_session()
    kvar = K.variable(value=VALUES)
    inputs = K.placeholder(shape=(2, 4, 5))
    assert_repr(K.shape(kvar), "Shape", (2,), "int32")
    assert_repr(K.shape(inputs), "Shape", (3,), "int32")
    assert_shows(K.shape(kvar).eval(session=tf_session), [2, 2], "int32")
    assert_shows(K.shape(inputs).eval(session=tf_session), [2, 4, 5], "int32")


def test_int_shape() -> None:
    assert K.int_shape(K.placeholder(shape=(2, 4, 5))) == (2, 4, 5)
    assert K.int_shape(K.variable(value=VALUES)) == (2, 2)


def test_ndim() -> None:
    assert K.ndim(K.placeholder(shape=(2, 4, 5))) == 3
    assert K.ndim(K.variable(value=VALUES)) == 2


def test_dtype() -> None:
    assert K.dtype(K.placeholder(shape=(2, 4, 5))) == "float32"
    assert K.dtype(K.placeholder(shape=(2, 4, 5), dtype="float32")) == "float32"
    assert K.dtype(K.placeholder(shape=(2, 4, 5), dtype="float64")) == "float64"
    # The documents show 'float32_ref' here: an artefact of one engine.
    assert K.dtype(K.variable(VALUES)) == "float32"
    assert K.dtype(K.variable(VALUES, dtype="float32")) == "float32"


def test_eval() -> None:
    kvar = K.variable(VALUES, dtype="float32")
    assert_shows(K.eval(kvar), [[1.0, 2.0], [3.0, 4.0]])
    assert_shows(kvar.eval(), [[1.0, 2.0], [3.0, 4.0]])


def test_zeros() -> None:
    assert_shows(K.eval(K.zeros((3, 4))), [[0.0] * 4] * 3)


def test_ones() -> None:
    assert_shows(K.eval(K.ones((3, 4))), [[1.0] * 4] * 3)


def test_eye() -> None:
    assert_shows(K.eval(K.eye(3)), [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])


def test_zeros_like() -> None:
    kvar = K.variable(np.random.random((2, 3)))
    assert_shows(K.eval(K.zeros_like(kvar)), [[0.0] * 3] * 2)


def test_ones_like() -> None:
    kvar = K.variable(np.random.random((2, 3)))
    assert_shows(K.eval(K.ones_like(kvar)), [[1.0] * 3] * 2)


def test_random_uniform_variable() -> None:
    kvar = K.random_uniform_variable((2, 3), 0, 1)
    assert repr(kvar).startswith("<kameleon.Variable ")
    value = K.eval(kvar)
    assert value.shape == (2, 3)
    assert value.dtype == "float32"
    assert (value >= 0).all()
    assert (value < 1).all()
    assert len(np.unique(value)) == 6


def test_random_normal_variable() -> None:
    kvar = K.random_normal_variable((2, 3), 0, 1)
    assert repr(kvar).startswith("<kameleon.Variable ")
    value = K.eval(kvar)
    assert value.shape == (2, 3)
    assert value.dtype == "float32"
    assert np.abs(value).max() < 6
    assert len(np.unique(value)) == 6


def test_count_params() -> None:
    kvar = K.zeros((2, 3))
    assert K.count_params(kvar) == 6
    assert_shows(K.eval(kvar), [[0.0] * 3] * 2)


def test_cast() -> None:
    tensor = K.placeholder((2, 3), dtype="float32")
    assert_repr(tensor, "Placeholder", (2, 3), "float32")
    assert_repr(K.cast(tensor, dtype="float16"), "Cast", (2, 3), "float16")
    assert_repr(tensor, "Placeholder", (2, 3), "float32")
    tensor = K.cast(tensor, dtype="float16")
    assert_repr(tensor, "Cast", (2, 3), "float16")


# --- linear algebra -----------------------------------------------------------------------------


def test_dot_of_matrices() -> None:
    xy = K.dot(K.placeholder(shape=(2, 3)), K.placeholder(shape=(3, 4)))
    assert_repr(xy, "MatMul", (2, 4), "float32")


def test_dot_of_a_batch() -> None:
    xy = K.dot(K.placeholder(shape=(32, 28, 3)), K.placeholder(shape=(3, 4)))
    assert_repr(xy, "MatMul", (32, 28, 4), "float32")


def test_dot_over_the_axis_before_the_last() -> None:
    x = K.random_uniform_variable(shape=(2, 3), low=0, high=1)
    xy = K.dot(x, K.ones((4, 3, 5)))
    assert K.int_shape(xy) == (2, 4, 5)


def test_batch_dot_is_a_diagonal() -> None:
    x, y = K.variable([[1, 2], [3, 4]]), K.variable([[5, 6], [7, 8]])
    assert_shows(K.eval(K.batch_dot(x, y, axes=1)), [[17], [53]])


def test_batch_dot_infers_the_shape() -> None:
    xy = K.batch_dot(K.placeholder((100, 20)), K.placeholder((100, 30, 20)), axes=(1, 2))
    assert K.int_shape(xy) == (100, 30)


def test_batch_dot() -> None:
    x_batch = K.ones(shape=(32, 20, 1))
    y_batch = K.ones(shape=(32, 30, 20))
    xy_batch_dot = K.batch_dot(x_batch, y_batch, axes=(1, 2))
    assert K.int_shape(xy_batch_dot) == (32, 1, 30)
    assert_shows(K.eval(xy_batch_dot), np.full((32, 1, 30), 20.0))


def test_transpose_of_a_variable() -> None:
    var = K.variable([[1, 2, 3], [4, 5, 6]])
    assert_shows(K.eval(var), [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    assert_shows(K.eval(K.transpose(var)), [[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]])


def test_transpose_of_a_placeholder() -> None:
    inputs = K.placeholder((2, 3))
    assert_repr(inputs, "Placeholder", (2, 3), "float32")
    assert_repr(K.transpose(inputs), "transpose", (3, 2), "float32")


# --- examples in words --------------------------------------------------------------------------


def test_repeat_elements() -> None:
    x = K.placeholder((2, 3, 4))
    assert K.int_shape(K.repeat_elements(x, 5, axis=1)) == (2, 15, 4)


def test_repeat() -> None:
    assert K.int_shape(K.repeat(K.placeholder((None, 3)), 2)) == (None, 2, 3)


def test_slice() -> None:
    array = np.arange(24.0).reshape(2, 3, 4)
    start, size = (0, 1, 2), (2, 2, 1)
    got = K.eval(K.slice(K.constant(array), start, size))
    assert_shows(got, array[0:2, 1:3, 2:3])


def test_print_tensor(capfd: pytest.CaptureFixture[str]) -> None:
    x = K.constant([1.5, 2.5])
    x = K.print_tensor(x, message="x is: ")
    assert "x is: " not in "".join(capfd.readouterr()), "printed before it was evaluated"
    assert_shows(K.eval(x), [1.5, 2.5])
    printed = "".join(capfd.readouterr())
    assert re.search(r"x is: .*1\.5.*2\.5", printed)


@pytest.mark.parametrize("fold", ["foldl", "foldr"])
def test_fold_with_the_documented_lambda(fold: str) -> None:
    total = getattr(K, fold)(lambda acc, x: acc + x, K.constant([1.0, 2.0, 4.0]))
    assert K.eval(total) == 7.0
