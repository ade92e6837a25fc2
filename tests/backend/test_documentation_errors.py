"""The errors that the documentation promises, and what their messages have to say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from kameleon import backend as K

Shape = tuple[int, ...]
# Every function with a data format: the shapes of its tensors, then its other arguments.
SHAPED: dict[str, tuple[tuple[Shape, ...], tuple[Any, ...]]] = {
    "resize_images": (((1, 4, 4, 2),), (2, 2)),
    "resize_volumes": (((1, 4, 4, 4, 2),), (2, 2, 2)),
    "spatial_2d_padding": (((1, 4, 4, 2),), ()),
    "spatial_3d_padding": (((1, 4, 4, 4, 2),), ()),
    "conv1d": (((1, 4, 2), (3, 2, 5)), ()),
    "conv2d": (((1, 4, 4, 2), (3, 3, 2, 5)), ()),
    "conv2d_transpose": (((1, 4, 4, 2), (3, 3, 5, 2)), ((1, 6, 6, 5),)),
    "separable_conv1d": (((1, 4, 2), (3, 2, 1), (1, 2, 5)), ()),
    "separable_conv2d": (((1, 4, 4, 2), (3, 3, 2, 1), (1, 1, 2, 5)), ()),
    "depthwise_conv2d": (((1, 4, 4, 2), (3, 3, 2, 1)), ()),
    "conv3d": (((1, 4, 4, 4, 2), (3, 3, 3, 2, 5)), ()),
    "conv3d_transpose": (((1, 4, 4, 4, 2), (3, 3, 3, 5, 2)), ((1, 6, 6, 6, 5),)),
    "pool2d": (((1, 4, 4, 2),), ((2, 2),)),
    "pool3d": (((1, 4, 4, 4, 2),), ((2, 2, 2),)),
    "bias_add": (((1, 4, 4, 2), (2,)), ()),
    "local_conv1d": (((1, 4, 2), (3, 4, 5)), ((2,), (1,))),
    "local_conv2d": (((1, 3, 3, 2), (4, 8, 5)), ((2, 2), (1, 1), (2, 2))),
}


def call(name: str, data_format: str) -> Any:
    """Call the function on placeholders of the shapes above."""
    shapes, rest = SHAPED[name]
    return getattr(K, name)(*map(K.placeholder, shapes), *rest, data_format=data_format)


@pytest.mark.parametrize("name", SHAPED)
def test_unknown_data_format(name: str) -> None:
    with pytest.raises(ValueError) as caught:
        call(name, "middle")
    for word in (name, "data_format", "middle", "channels_last", "channels_first"):
        assert word in str(caught.value)


@pytest.mark.parametrize("name", SHAPED)
def test_known_data_format(name: str) -> None:
    assert K.is_tensor(call(name, "channels_last"))


def _rnn(shape: tuple[int | None, ...], **options: Any) -> Any:
    states = options.pop("states", [K.placeholder((2, 3))])
    return K.rnn(lambda x, s: (x, s), K.placeholder(shape), states, **options)


def _batch_dot(x: tuple[int, ...], y: tuple[int, ...], axes: Any) -> Any:
    return K.batch_dot(K.placeholder(x), K.placeholder(y), axes)


# What is called, and the words that the message must have.
PROMISED: dict[str, tuple[Callable[[], Any], tuple[str, ...]]] = {
    "set_learning_phase: neither 0 nor 1": (
        lambda: K.set_learning_phase(2),
        ("set_learning_phase", "2"),
    ),
    "set_image_dim_ordering: neither tf nor th": (
        lambda: K.set_image_dim_ordering("cntk"),
        ("set_image_dim_ordering", "cntk"),
    ),
    "is_keras_tensor: not symbolic": (
        lambda: K.is_keras_tensor(np.array([1, 2])),
        ("is_keras_tensor",),
    ),
    "placeholder: neither shape nor ndim": (
        lambda: K.placeholder(),
        ("placeholder", "shape", "ndim"),
    ),
    "function: unknown keyword": (
        lambda: K.function([], [K.constant(1.0)], banana=1),
        ("function", "banana"),
    ),
    "rnn: less than 3 dimensions": (
        lambda: _rnn((2, 3)),
        ("rnn", "(2, 3)"),
    ),
    "rnn: unroll over unknown time": (
        lambda: _rnn((2, None, 3), unroll=True),
        ("rnn", "unroll"),
    ),
    "rnn: mask without states": (
        lambda: K.rnn(
            lambda x, s: (x, []), K.placeholder((2, 4, 3)), [], mask=K.placeholder((2, 4))
        ),
        ("rnn", "mask", "states"),
    ),
    "switch: condition of higher rank": (
        lambda: K.switch(K.placeholder((2, 3), dtype="bool"), K.ones((2,)), K.zeros((2,))),
        ("switch", "condition"),
    ),
    "categorical_crossentropy: no such axis": (
        lambda: K.categorical_crossentropy(K.ones((2, 3)), K.ones((2, 3)), axis=2),
        ("categorical_crossentropy", "axis", "2"),
    ),
    "sparse_categorical_crossentropy: no such axis": (
        lambda: K.sparse_categorical_crossentropy(
            K.placeholder((2,), dtype="int32"), K.ones((2, 3)), axis=2
        ),
        ("sparse_categorical_crossentropy", "axis", "2"),
    ),
    "pool2d: unknown mode": (
        lambda: K.pool2d(K.placeholder((1, 4, 4, 2)), (2, 2), pool_mode="median"),
        ("pool2d", "pool_mode", "median", "max", "avg"),
    ),
    "pool3d: unknown mode": (
        lambda: K.pool3d(K.placeholder((1, 4, 4, 4, 2)), (2, 2, 2), pool_mode="median"),
        ("pool3d", "pool_mode", "median", "max", "avg"),
    ),
    "bias_add: wrong rank of bias": (
        lambda: K.bias_add(K.placeholder((1, 4, 4, 2)), K.placeholder((4, 2))),
        ("bias_add", "bias", "(4, 2)"),
    ),
    "batch_dot: rank below 2": (
        lambda: _batch_dot((3,), (3, 2), None),
        ("batch_dot", "(3,)"),
    ),
    "batch_dot: several axes": (
        lambda: _batch_dot((3, 2, 4), (3, 2, 4), ((1, 2), (1, 2))),
        ("batch_dot", "axes"),
    ),
    "batch_dot: axis of the batch": (
        lambda: _batch_dot((3, 2), (3, 2), 0),
        ("batch_dot", "axes", "0"),
    ),
    "batch_dot: different batches": (
        lambda: _batch_dot((3, 2), (4, 2), 1),
        ("batch_dot", "(3, 2)", "(4, 2)"),
    ),
    "batch_dot: different sizes": (
        lambda: _batch_dot((3, 2), (3, 5), 1),
        ("batch_dot", "(3, 2)", "(3, 5)"),
    ),
    "rnn: mask of a wrong shape": (
        lambda: _rnn((2, 4, 3), mask=K.placeholder((2, 5))),
        ("rnn", "mask", "(2, 5)"),
    ),
    "set_floatx: no float type": (
        lambda: K.set_floatx("int32"),
        ("set_floatx", "int32"),
    ),
    "set_image_data_format: unknown": (
        lambda: K.set_image_data_format("middle"),
        ("set_image_data_format", "middle"),
    ),
}


@pytest.mark.parametrize("broken, words", PROMISED.values(), ids=list(PROMISED))
def test_promised_error(broken: Callable[[], Any], words: tuple[str, ...]) -> None:
    with pytest.raises(ValueError) as caught:
        broken()
    for word in words:
        assert word in str(caught.value)
