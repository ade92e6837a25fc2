"""Sparse tensors of TensorFlow 1, fed and fetched, with sizes known only at run time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kameleon import backend as K
from kameleon.engines import Engine

tf: Any = K.tf
DENSE = np.array([[0, 5, 0, 1], [0, 0, 0, 0], [2, 0, 0, -3]], "float32")
AT = np.argwhere(DENSE)
VALUE = tf.SparseTensorValue(AT, DENSE[tuple(AT.T)], DENSE.shape)


def _run(fetches: Any, feeds: Any = None) -> Any:
    return tf.Session().run(fetches, feeds)


def _dense(value: Any) -> np.ndarray:
    found = np.zeros(value.dense_shape, value.values.dtype)
    found[tuple(np.transpose(value.indices))] = value.values
    return found


def test_it_is_fed_by_a_value_and_fetched_as_one(engine: Engine) -> None:
    x = tf.sparse_placeholder(tf.float32)
    assert isinstance(x, tf.SparseTensor)
    found = _run(x, {x: VALUE})
    np.testing.assert_array_equal(found.indices, AT)
    np.testing.assert_array_equal(_dense(found), DENSE)
    empty = _run(tf.sparse_tensor_to_dense(x), {x: tf.SparseTensorValue([], [], [2, 2])})
    np.testing.assert_array_equal(empty, np.zeros((2, 2)))


def test_what_is_made_of_one_of_an_unknown_shape(engine: Engine) -> None:
    x = tf.sparse_placeholder(tf.float32)
    y = tf.placeholder(tf.float32, [None, 2])
    other = np.arange(8.0, dtype="float32").reshape(4, 2)
    sparse, dense = _run(
        (
            [
                tf.sparse_transpose(x), tf.sparse_reshape(x, [-1, 2]), tf.sparse_add(x, x),
                tf.sparse_concat(0, [x, x]), tf.sparse_slice(x, [0, 1], [3, 3]),
                tf.sparse_retain(x, tf.greater(x.values, 0.0)),
                tf.sparse_fill_empty_rows(x, 9.0)[0],
            ],
            [
                tf.sparse_reduce_sum(x, 1), tf.sparse_reduce_max(x, 0),
                tf.sparse_tensor_dense_matmul(x, y), tf.sparse.to_dense(tf.sparse_softmax(x)),
            ],
        ),
        {x: VALUE, y: other},
    )  # fmt: skip
    filled = DENSE.copy()
    filled[1, 0] = 9
    wanted = [DENSE.T, DENSE.reshape(-1, 2), 2 * DENSE, np.concatenate([DENSE, DENSE]),
              DENSE[:, 1:], np.maximum(DENSE, 0), filled]  # fmt: skip
    for got, want in zip(sparse, wanted, strict=True):
        np.testing.assert_array_equal(_dense(got), want)
    held = DENSE != 0
    powers = np.where(held, np.exp(DENSE), 0)
    shares = powers / np.maximum(powers.sum(1, keepdims=True), 1e-30)
    values = [DENSE.sum(1), [2, 5, 0, 1], DENSE @ other, shares]
    for got, want in zip(dense, values, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5)


def test_gradients_go_to_the_values(engine: Engine) -> None:
    values = K.placeholder((None,))
    x = tf.SparseTensor(AT, values, DENSE.shape)
    loss = tf.reduce_sum(tf.square(tf.sparse_reduce_sum(x, 1)))
    slope = K.function([values], K.gradients(loss, [values]))([VALUE.values])[0]
    np.testing.assert_allclose(slope, 2 * DENSE.sum(1)[AT[:, 0]])


def test_what_is_no_sparse_tensor_is_refused() -> None:
    with pytest.raises(TypeError, match=r"expected a tf\.SparseTensor"):
        tf.sparse_reorder(K.ones((2, 2)))
    with pytest.raises(ValueError, match="two axes"):
        tf.SparseTensor([1, 2], [1.0, 2.0], [3])


@pytest.mark.parametrize(
    "other", [2.0, DENSE + 1, DENSE[:1] + 1, DENSE[0] + 1, DENSE[:, :1] + 1], ids=np.shape
)
def test_dense_operands_are_stretched_to_it(engine: Engine, other: Any) -> None:
    x = tf.sparse_placeholder(tf.float32)
    product, quotient = _run([x * other, x / other], {x: VALUE})
    np.testing.assert_allclose(_dense(product), DENSE * other, rtol=1e-6)
    np.testing.assert_allclose(_dense(quotient), DENSE / other, rtol=1e-6)
    with pytest.raises(TypeError, match="unsupported operand"):
        x * x


def test_dropout_of_one_whose_shape_is_fed(engine: Engine) -> None:
    """As networks of graphs have it: the number of elements comes as the shape of an array."""
    x, count = tf.sparse_placeholder(tf.float32), tf.placeholder(tf.int32)
    kept = tf.cast(tf.floor(0.5 + tf.random_uniform(count)), tf.bool)
    found = _run(tf.sparse_retain(x, kept) * (1.0 / 0.5), {x: VALUE, count: VALUE.values.shape})
    assert all(value == 2 * DENSE[tuple(at)] for at, value in zip(*found[:2], strict=True))
    zeros = _run([tf.zeros(count), tf.fill(count, 2.0)], {count: 3})
    assert [x.tolist() for x in zeros] == [[0.0] * 3, [2.0] * 3]
