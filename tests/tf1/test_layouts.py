"""TensorFlow 1's layouts: with channels first everything is as with channels last, turned."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kameleon import backend as K
from kameleon.engines import Engine

tf: Any = K.tf
BATCHES = {3: (2, 7, 4), 4: (2, 6, 5, 4), 5: (1, 4, 5, 6, 4)}
LETTERS = {3: ("NWC", "NCW"), 4: ("NHWC", "NCHW"), 5: ("NDHWC", "NCDHW")}


def _first(shape: Any) -> list[int]:
    """Sizes, or axes, with the last of them second."""
    return [shape[0], shape[-1], *shape[1:-1]]


def _kernel(*shape: int) -> Any:
    return K.constant(np.random.RandomState(1).randn(*shape))


def _strided(rank: int, letters: str, step: int) -> list[int]:
    inner = [step] * (rank - 2)
    return [1, 1, *inner] if letters.startswith("NC") else [1, *inner, 1]


def _shaped(letters: str, *shape: int) -> list[int]:
    return _first(shape) if letters.startswith("NC") else list(shape)


CASES: dict[str, tuple[int, Any]] = {
    "conv1d": (3, lambda x, d: tf.nn.conv1d(x, _kernel(3, 4, 2), 2, "SAME", data_format=d)),
    "conv2d": (4, lambda x, d: tf.nn.conv2d(
        x, _kernel(3, 2, 4, 2), _strided(4, d, 2), "VALID", data_format=d)),
    "holes": (4, lambda x, d: tf.nn.conv2d(
        x, _kernel(2, 2, 4, 2), 1, "SAME", data_format=d, dilations=_strided(4, d, 2))),
    "margins": (4, lambda x, d: tf.nn.conv2d(
        x, _kernel(2, 2, 4, 2), 1, data_format=d,
        padding=[[0, 0], [0, 0], [1, 0], [2, 1]] if d == "NCHW" else
        [[0, 0], [1, 0], [2, 1], [0, 0]])),
    "conv3d": (5, lambda x, d: tf.nn.conv3d(
        x, _kernel(2, 2, 2, 4, 3), _strided(5, d, 1), "SAME", data_format=d)),
    "conv2d_transpose": (4, lambda x, d: tf.nn.conv2d_transpose(
        x, _kernel(3, 2, 2, 4), _shaped(d, 2, 12, 10, 2), _strided(4, d, 2), data_format=d)),
    "conv1d_transpose": (3, lambda x, d: tf.nn.conv1d_transpose(
        x, _kernel(3, 2, 4), _shaped(d, 2, 14, 2), 2, data_format=d)),
    "conv3d_transpose": (5, lambda x, d: tf.nn.conv3d_transpose(
        x, _kernel(2, 2, 2, 3, 4), _shaped(d, 1, 8, 10, 12, 3), 2, data_format=d)),
    "depthwise": (4, lambda x, d: tf.nn.depthwise_conv2d(
        x, _kernel(3, 2, 4, 2), _strided(4, d, 2), "SAME", data_format=d)),
    "separable": (4, lambda x, d: tf.nn.separable_conv2d(
        x, _kernel(3, 2, 4, 1), _kernel(1, 1, 4, 3), [1] * 4, "VALID", data_format=d)),
    "max_pool": (4, lambda x, d: tf.nn.max_pool(
        x, _strided(4, d, 2), _strided(4, d, 2), "SAME", data_format=d)),
    "avg_pool": (4, lambda x, d: tf.nn.avg_pool(x, 3, 1, "SAME", data_format=d)),
    "avg_pool1d": (3, lambda x, d: tf.nn.avg_pool1d(x, 2, 2, "SAME", data_format=d)),
    "max_pool3d": (5, lambda x, d: tf.nn.max_pool3d(x, 2, 2, "VALID", data_format=d)),
    "pool": (4, lambda x, d: tf.nn.pool(
        x, [2, 3], "AVG", "VALID", dilation_rate=[2, 1], data_format=d)),
    "space_to_depth": (4, lambda x, d: tf.nn.space_to_depth(x[:, :4, :4, :4], 2, data_format=d)),
    "depth_to_space": (4, lambda x, d: tf.depth_to_space(x, 2, data_format=d)),
    "fused": (4, lambda x, d: tf.nn.fused_batch_norm(
        x, _kernel(4), _kernel(4), data_format=d)[0]),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_channels_first_is_channels_last_turned(case: str) -> None:
    rank, function = CASES[case]
    values = np.random.RandomState(0).randn(*BATCHES[rank]).astype("float32")
    last, first = LETTERS[rank]
    axes = _first(range(rank))
    with K.using_engine("numpy"):
        wanted = K.eval(function(K.constant(values), last))
        found = K.eval(function(K.constant(np.transpose(values, axes)), first))
    np.testing.assert_allclose(found, np.transpose(wanted, axes), rtol=1e-5, atol=1e-6)


def test_places_of_the_largest_elements_where_sizes_are_unknown(engine: Engine) -> None:
    values = np.random.RandomState(0).randn(2, 5, 7, 3).astype("float32")
    x = K.placeholder((None, None, None, None))
    known = tf.nn.max_pool_with_argmax(K.constant(values), [1, 3, 2, 1], [1, 2, 2, 1], "SAME")
    found = tf.nn.max_pool_with_argmax(x, [1, 3, 2, 1], [1, 2, 2, 1], "SAME")
    results = K.function([x], [*known, *found])([values])
    for got, wanted in zip(results[2:], results[:2], strict=True):
        np.testing.assert_array_equal(got, wanted)
    picked = values.reshape(2, -1)[0][results[1][0].ravel()]
    np.testing.assert_array_equal(picked, results[0][0].ravel())


def test_blocks_of_unknown_sizes(engine: Engine) -> None:
    values = np.arange(2 * 4 * 6 * 4, dtype="float32").reshape(2, 4, 6, 4)
    x = K.placeholder((None, None, None, 4))
    deep = tf.space_to_depth(x, 2)
    batch = tf.space_to_batch(x, [[0, 0], [2, 0]], 2)
    both = [tf.depth_to_space(deep, 2), tf.batch_to_space(batch, [[0, 0], [2, 0]], 2)]
    for found in K.function([x], both)([values]):
        np.testing.assert_array_equal(found, values)


def test_a_pool_with_holes_and_padding_is_refused() -> None:
    with pytest.raises(ValueError, match=r"'VALID'"):
        tf.nn.pool(K.ones((1, 6, 6, 1)), [2, 2], "MAX", "SAME", dilation_rate=2)


def test_a_layout_of_another_rank_is_refused() -> None:
    with pytest.raises(ValueError, match=r"'NWC' and 'NCW'"):
        tf.nn.max_pool1d(K.ones((1, 6, 1)), 2, 2, "SAME", data_format="NHWC")
