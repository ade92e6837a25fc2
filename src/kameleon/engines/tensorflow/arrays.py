"""NumPy arrays as tensors: with a copy, or without one where the memory is aligned."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from .call import place

# The class of tensors that hold values.
EAGER: Any = type(tf.constant(0))
# TensorFlow takes memory as it is where it begins at a multiple of so many bytes.
ALIGNMENT = 64
# Smaller arrays are copied twice more quickly than an aligned place is found for them.
SMALL = 1 << 14


def eager(array: Any) -> Any:
    """A tensor that shares the memory of an aligned, contiguous array, else a copy.

    `tf.constant` always copies, since somebody might write to the array.
    """
    return EAGER(array, place(), None)


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
