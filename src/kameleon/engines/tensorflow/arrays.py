"""NumPy arrays as tensors: with a copy, or without one where the memory is aligned."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from ..._utils.private import Private
from .call import place

# The class of tensors that hold values.
EAGER: Any = type(tf.constant(0))
# The sizes of an eager tensor, as a tuple. `shape` makes an object first, in some microseconds.
SHAPE: Callable[[Any], tuple[int, ...]] = getattr(EAGER, "_shape_tuple", lambda x: tuple(x.shape))
# TensorFlow takes memory as it is where it begins at a multiple of so many bytes.
ALIGNMENT = 64
# To copy a smaller array twice is quicker than to find an aligned place for it.
SMALL = 1 << 14


def eager(array: Any) -> Any:
    """A tensor that shares the memory of an aligned, contiguous array, else a copy.

    `tf.constant` always copies, since somebody might write to the array.
    """
    return EAGER(array, place(), None) if SHARING.holds else tf.constant(array)


def private(array: Any) -> Any:
    """A copy that nobody else holds, in memory that TensorFlow can take."""
    if array.nbytes < SMALL:
        return np.array(array, order="C")
    buffer = np.empty(array.nbytes + ALIGNMENT, np.uint8)
    start = -buffer.ctypes.data % ALIGNMENT
    copy = buffer[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


def as_tensor(value: Any) -> Any:
    """An argument as a tensor that lives as long as the call."""
    return eager(value) if isinstance(value, np.ndarray) else tf.convert_to_tensor(value)


def _shares_as_it_is() -> bool:
    """Whether tensors made directly have the values, shapes and dtypes of arrays of all kinds."""
    block = np.arange(48, dtype=np.float32).reshape(6, 8)
    kinds = [block.astype(d) for d in ("float64", "int32", "uint8", "bool", "float16")]
    lying = [block, block[::2, 1:], block.T, block[:0], block[1, 1:2].reshape(()), private(block)]
    made = [(x, EAGER(x, place(), None)) for x in (*lying, *kinds)]
    return all(
        isinstance(y, tf.Tensor)
        and (y.dtype.name, tuple(y.shape)) == (x.dtype.name, x.shape)
        and np.array_equal(y.numpy(), x)
        for x, y in made
    )


SHARING = Private("TensorFlow", "the constructor of eager tensors", _shares_as_it_is)
