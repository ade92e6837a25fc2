"""Arrays as users of each library make them, to be fed to functions of any engine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def _torch(array: Array) -> Any:
    import torch

    return torch.tensor(array)


def _jax(array: Array) -> Any:
    import jax.numpy as jnp

    from kameleon.engines.jax.arrays import X64

    with X64(True):
        return jnp.asarray(array)


def _tensorflow(array: Array) -> Any:
    import tensorflow as tf

    return tf.constant(array)


def _onnxruntime(array: Array) -> Any:
    import onnxruntime

    return onnxruntime.OrtValue.ortvalue_from_numpy(array.copy())


# By name of an engine. PyTensor and NumPy hold their values in NumPy's arrays.
MAKERS: dict[str, Callable[[Array], Any]] = {
    "numpy": np.array,
    "theano": np.array,
    "torch": _torch,
    "jax": _jax,
    "tensorflow": _tensorflow,
    "onnxruntime": _onnxruntime,
}


def _fill_torch(array: Any, number: float) -> None:
    array.fill_(number)


def _fill_onnxruntime(array: Any, number: float) -> None:
    array.update_inplace(np.full(array.shape(), number, array.numpy().dtype))


# By name of an engine, how to write to its arrays; those that aren't here can't be written to.
FILLERS: dict[str, Callable[[Any, float], None]] = {
    "numpy": lambda array, number: array.fill(number),
    "theano": lambda array, number: array.fill(number),
    "torch": _fill_torch,
    "onnxruntime": _fill_onnxruntime,
}
