"""Names that are told apart."""

from __future__ import annotations

from collections.abc import Container
from itertools import count


def untaken(name: str, taken: Container[str]) -> str:
    """`name`, or with the first number behind it that nobody has taken.

    >>> untaken("w", {"w", "w_1"})
    'w_2'
    """
    return next(x for i in count() if (x := f"{name}_{i}" if i else name) not in taken)
