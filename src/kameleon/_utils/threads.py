"""Threads: one for work that mustn't be interrupted, many where there's no interpreter lock."""

from __future__ import annotations

import _thread
import itertools
import sysconfig
from collections.abc import Callable
from contextvars import copy_context
from typing import TypeVar

from .locks import rlock

T = TypeVar("T")

# Whether Python was built without a global interpreter lock.
FREE_THREADED = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))


def counter(start: int = 0) -> Callable[[], int]:
    """A function that gives the next number at each call, and no number to two threads.

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


def uninterrupted(function: Callable[[], T]) -> T:
    """What a function gives, called in a thread of its own.

    Signal handlers run in the main thread alone. So what a library's Python code sets for a while
    in the new thread is set back whatever a handler raises: the new thread then still runs to its
    end. Python's own `threading` isn't used: its code may be interrupted, too.

    >>> uninterrupted(lambda: 1 + 1)
    2
    """
    results: list[T] = []
    errors: list[BaseException] = []
    ended = _thread.allocate_lock()
    ended.acquire()

    def work() -> None:
        try:
            results.append(function())
        except BaseException as error:
            errors.append(error)
        finally:
            ended.release()

    _thread.start_new_thread(copy_context().run, (work,))
    ended.acquire()
    if errors:
        raise errors.pop()
    return results.pop()
