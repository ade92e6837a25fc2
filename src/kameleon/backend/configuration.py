"""Chapter one of the documentation: the settings that all other functions read."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..config import (
    epsilon,
    floatx,
    image_data_format,
    image_dim_ordering,
    normalize_data_format,
    set_epsilon,
    set_floatx,
    set_image_data_format,
    set_image_dim_ordering,
)
from ..runtime.engines import current

__all__ = [
    "backend",
    "epsilon",
    "set_epsilon",
    "floatx",
    "set_floatx",
    "cast_to_floatx",
    "image_data_format",
    "set_image_data_format",
    "normalize_data_format",
    "image_dim_ordering",
    "set_image_dim_ordering",
]


def backend() -> str:
    """The name of the engine in force.

    Returns:
        A string such as 'numpy'.

    >>> from kameleon import backend as K
    >>> K.backend()
    'numpy'
    """
    return current().name


def cast_to_floatx(x: Any) -> np.ndarray:
    """Cast an array to the default float dtype.

    Args:
        x: a NumPy array, or anything that NumPy makes one of.

    Returns:
        A NumPy array of dtype `K.floatx()`.

    >>> import numpy as np
    >>> from kameleon import backend as K
    >>> K.cast_to_floatx(np.array([1.0, 2.0], dtype='float64')).dtype
    dtype('float32')
    """
    return np.asarray(x, dtype=floatx())
