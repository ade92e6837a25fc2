"""Tensors, gradients above all, scaled down to a norm."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..backend import surface as K
from ..backend._tensors import as_float
from ..errors import ArgumentError


def clip_by_norm(t: Any, clip_norm: Any, axes: Any = None, name: str | None = None) -> Any:
    """t * clip_norm / max(norm, clip_norm), the norm being over `axes`."""
    x = as_float(t, "tf.clip_by_norm")
    squares = K.sum(K.square(x), axis=axes, keepdims=True)
    positive = K.greater(squares, 0.0)
    # Where all is zero, the root of one keeps the gradient finite.
    root = K.sqrt(K.switch(positive, squares, K.ones_like(squares)))
    norm = K.switch(positive, root, squares)
    return x * clip_norm / K.maximum(norm, clip_norm)


def clip_by_average_norm(t: Any, clip_norm: Any, name: str | None = None) -> Any:
    """The norm divided by the number of elements is at most `clip_norm` then."""
    x = as_float(t, "tf.clip_by_average_norm")
    inverse = 1.0 / K.sqrt(K.sum(K.square(x)))
    count = K.cast(K.size(x), x.dtype)
    return x * clip_norm * K.minimum(inverse * count, 1.0 / clip_norm)


def _parts(t_list: Any, what: str) -> list[Any]:
    if isinstance(t_list, str) or not isinstance(t_list, Sequence):
        raise TypeError(f"{what}: t_list should be a sequence of tensors, not {t_list!r}")
    return [None if t is None else as_float(t, what) for t in t_list]


def global_norm(t_list: Any, name: str | None = None) -> Any:
    """The root of the sum of all squares; None in the list counts for nothing."""
    squares = [K.sum(K.square(t)) for t in _parts(t_list, "tf.global_norm") if t is not None]
    if not squares:
        raise ArgumentError("tf.global_norm: t_list holds no tensor")
    return K.sqrt(sum(squares[1:], squares[0]))


def clip_by_global_norm(
    t_list: Any, clip_norm: Any, use_norm: Any = None, name: str | None = None
) -> tuple[list[Any], Any]:
    """All tensors times one factor, which makes their common norm at most `clip_norm`.

    Where the norm isn't finite, they are all NaN.

    Returns:
        The list, and the norm from before.
    """
    parts = _parts(t_list, "tf.clip_by_global_norm")
    norm = global_norm(parts) if use_norm is None else as_float(use_norm, "use_norm")
    scale = clip_norm * K.minimum(1.0 / norm, 1.0 / as_float(clip_norm, "clip_norm"))
    scale = K.switch(K.less(K.abs(norm), np.inf), scale, K.ones_like(scale) * np.nan)
    return [None if t is None else t * K.cast(scale, t.dtype) for t in parts], norm


NAMES: dict[str, Any] = {
    function.__name__: function
    for function in (clip_by_norm, clip_by_average_norm, global_norm, clip_by_global_norm)
}
