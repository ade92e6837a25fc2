"""Python's garbage collector, paused while a large graph is built."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

# From so many nodes or lines on.
LARGE = 2000


def uncollected(size: int, call: Callable[[], T]) -> T:
    """The result of a call that makes about `size` nodes, none of which is garbage yet.

    To look through all of them again and again for garbage takes longer than to make them.
    """
    if size <= LARGE or not gc.isenabled():
        return call()
    try:
        gc.disable()
        return call()
    finally:  # no signal handler runs between here and the call
        gc.enable()
