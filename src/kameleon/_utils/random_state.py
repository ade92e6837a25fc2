"""The states of NumPy's and Python's global generators, as JSON has them."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import numpy as np


def generators() -> dict[str, Any]:
    """What the next numbers hang on.

    >>> import random
    >>> kept = generators()
    >>> number = random.random()
    >>> set_generators(kept)
    >>> random.random() == number
    True
    """
    name, keys, *rest = np.random.get_state(legacy=True)
    version, numbers, gauss = random.getstate()
    return {"numpy": [name, np.asarray(keys).tolist(), *rest], "python": [version, numbers, gauss]}


def set_generators(kept: Mapping[str, Any]) -> None:
    """Let both go on from where they were."""
    name, keys, *rest = kept["numpy"]
    np.random.set_state((name, np.array(keys, np.uint32), *rest))
    version, numbers, gauss = kept["python"]
    random.setstate((version, tuple(numbers), gauss))
