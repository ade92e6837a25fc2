"""Different elements, sets, assertions, and sizes that are known only at run time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kameleon import backend as K
from kameleon.engines import Engine
from kameleon.errors import KameleonError

tf: Any = K.tf
A = [[5, 1, 5, 3, 7], [2, 2, 2, 9, 0]]
B = [[7, 3, 3, 4], [0, 8, 8, 2]]


def value(x: Any, feeds: Any = None) -> Any:
    return tf.Session().run(x, feeds)


def test_different_elements_in_order_of_appearance(engine: Engine) -> None:
    x = tf.placeholder(tf.float32, [None])
    for given in ([4.0, 1.0, 4.0, 9.0, 1.0, 4.0], [2.0], []):
        found, index, counts = value(tf.unique_with_counts(x), {x: given})
        assert found.tolist() == list(dict.fromkeys(given))
        assert_array_equal(found[index], given)
        assert counts.tolist() == [given.count(number) for number in found]
        assert index.dtype == "int32"
    with pytest.raises(ValueError, match="must be a vector"):
        tf.unique([[1, 2]])


def test_sets_are_the_rows(engine: Engine) -> None:
    dense = tf.sparse_tensor_to_dense
    assert value(dense(tf.sets.set_intersection(A, B))).tolist() == [[3, 7], [0, 2]]
    assert value(dense(tf.sets.set_difference(A, B))).tolist() == [[1, 5], [9, 0]]
    assert value(dense(tf.sets.set_difference(A, B, aminusb=False))).tolist() == [[4], [8]]
    assert value(dense(tf.sets.set_union(A, B))).tolist() == [[1, 3, 4, 5, 7], [0, 2, 8, 9, 0]]
    assert value(tf.sets.set_size(tf.sets.set_intersection(A, B))).tolist() == [2, 2]
    assert value(tf.sets.set_size(A)).tolist() == [4, 3]
    found = value(tf.sets.set_intersection([[1, 2]], [[3, 4]]))
    assert found.indices.shape == (0, 2)
    assert found.dense_shape.tolist() == [1, 0]


def test_what_comes_after_an_assertion_fails(engine: Engine) -> None:
    x = tf.placeholder(tf.float32, [None])
    for made in (
        tf.Assert(tf.greater(x, 0.0), [x]),
        tf.assert_positive(x),
        tf.assert_less(0.0, x),
        tf.debugging.assert_greater_equal(x, 1e-3, message="too small:"),
    ):
        with tf.control_dependencies([made]):
            y = tf.identity(x) * 2.0
        assert value(y, {x: [1.0, 2.0]}).tolist() == [2.0, 4.0]
        assert value(made, {x: [1.0]}) is None
        for fetched in (y, made):
            with pytest.raises(KameleonError, match=r"assertion failed|did not hold"):
                value(fetched, {x: [1.0, -1.0]})


def test_as_many_of_the_largest_as_a_tensor_says(engine: Engine) -> None:
    x, k = tf.placeholder(tf.float32, [None]), tf.placeholder(tf.int32, [])
    found, index = tf.nn.top_k(x, k)
    slopes = tf.gradients(found**2, x)[0]
    got = value([found, index, slopes], {x: [1.0, 5.0, 3.0, 5.0], k: 2})
    assert [a.tolist() for a in got] == [[5.0, 5.0], [1, 3], [0.0, 10.0, 0.0, 10.0]]
    whole = value(tf.nn.top_k(x, tf.shape(x)[0]), {x: [3.0, 1.0, 2.0]})
    assert whole.indices.tolist() == [0, 2, 1]


def test_extrema_of_nothing_are_the_first_and_last_numbers(engine: Engine) -> None:
    x = tf.placeholder(tf.float32, [2, None])
    got = value([tf.reduce_max(x, axis=1), tf.reduce_min(x)], {x: np.zeros((2, 0))})
    assert got[0].tolist() == [-np.inf, -np.inf]
    assert got[1] == np.inf
    whole = tf.placeholder(tf.int32, [None])
    assert value(tf.reduce_max(whole), {whole: []}) == np.iinfo("int32").min
    assert value(tf.reduce_max(x, axis=[1]), {x: [[1.0], [-2.0]]}).tolist() == [1.0, -2.0]
    slopes = tf.gradients(tf.reduce_max(x, 1), x)[0]
    assert value(slopes, {x: [[1.0, 3.0], [2.0, 2.0]]}).tolist() == [[0.0, 1.0], [0.5, 0.5]]


def test_convolutions_over_as_many_axes_as_the_kernel_has(engine: Engine) -> None:
    draw = np.random.RandomState(0)
    line, kernel = draw.rand(2, 7, 3).astype("float32"), draw.rand(2, 3, 4).astype("float32")
    expected = sum(line[:, 2 * i : 5 + 2 * i] @ kernel[i] for i in range(2))
    made = tf.nn.convolution(tf.constant(line), kernel, "VALID", dilation_rate=[2])
    assert_allclose(value(made), expected, rtol=1e-5)
    made = tf.nn.conv1d(tf.constant(line), tf.constant(kernel), stride=2, padding="VALID")
    expected = sum(line[:, i : i + 6 : 2][:, :3] @ kernel[i] for i in range(2))
    assert_allclose(value(made), expected, rtol=1e-5)
    field = draw.rand(1, 4, 4, 3).astype("float32")
    made = tf.nn.convolution(tf.constant(field), kernel[None], padding="SAME")
    assert value(made).shape == (1, 4, 4, 4)
    with pytest.raises(ValueError, match="1, 2 or 3 axes"):
        tf.nn.convolution(tf.constant(line), tf.constant(line[0]), "VALID")
