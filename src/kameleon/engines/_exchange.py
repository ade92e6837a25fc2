"""Arrays that share their memory between libraries."""

from __future__ import annotations

from typing import Any

import numpy as np


def numpy_view(array: Any) -> Any:
    """A NumPy array over another library's array (DLPack); None, if its memory is elsewhere.

    A NumPy array is given back as it is.
    """
    if isinstance(array, np.ndarray):
        return array
    try:
        return np.from_dlpack(array)
    except (TypeError, ValueError, RuntimeError, BufferError, AttributeError):
        return None
