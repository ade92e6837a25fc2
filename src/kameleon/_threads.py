"""What differs where Python runs threads at the same time, without a global interpreter lock."""

from __future__ import annotations

import itertools
import sysconfig
from collections.abc import Callable

from ._locks import rlock

# Whether Python was built so.
FREE_THREADED = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))


def counter(start: int = 0) -> Callable[[], int]:
    """A function that gives the next number at each call, to each thread another one.

    >>> number = counter(1)
    >>> number(), number()
    (1, 2)
    """
    count = itertools.count(start).__next__
    if not FREE_THREADED:
        return count
    lock = rlock()

    def locked() -> int:
        with lock:
            return count()

    return locked
