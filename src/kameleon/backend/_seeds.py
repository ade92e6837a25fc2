"""What is drawn from NumPy's global generator, where nobody gives a seed.

The original draws from that generator equally often, and from equally many numbers. So whatever a
program itself draws from it is the same as on the original, and so is the order of samples in
training.
"""

from __future__ import annotations

import numpy as np

FOR_TENSORS = 10**7
FOR_VARIABLES = 10**9
FOR_NAMES = 10**4


def draw(count: int) -> int:
    """One of `count` numbers from 0 on, by NumPy's global generator."""
    return int(np.random.randint(count))
