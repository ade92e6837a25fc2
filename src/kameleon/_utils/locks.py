"""Locks that a forked child finds free, whichever thread of its parent held them.

A child has only the thread that forked. A lock that another thread held would stay taken in the
child for ever, so all locks of Kameleon are made here, and those that are taken are freed in the
child. What a lock guards is consistent there, since state is committed at one moment.
"""

from __future__ import annotations

import itertools
import os
import threading
import weakref
from typing import Any

from .private import Private

_all: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()
_number = itertools.count()
_taken: list[Any] = []  # locks that the forking thread holds while it forks


def lock() -> Any:
    """A new `threading.Lock`."""
    return _noted(threading.Lock())


def rlock() -> Any:
    """A new `threading.RLock`."""
    return _noted(threading.RLock())


def condition() -> Any:
    """A new `threading.Condition`."""
    return threading.Condition(rlock())


def _noted(lock: Any) -> Any:
    _all[next(_number)] = lock
    return lock


def _locks() -> list[Any]:
    """All locks that are alive, in the order in which they were made."""
    found = [reference() for reference in _all.valuerefs()]
    return [each for each in found if each is not None]


def _is_freed() -> bool:
    tried: list[Any] = [threading.Lock(), threading.RLock()]
    for each in tried:
        holder = threading.Thread(target=each.acquire)
        holder.start()
        holder.join()
        each._at_fork_reinit()
    return all(each.acquire(blocking=False) for each in tried)


# The method that Python's own modules call to free their locks in a child.
REINIT = Private("Python", "`_at_fork_reinit` of locks", _is_freed)


def _before() -> None:
    """Without `REINIT`: take all locks, in the order of their making, so that no other thread
    holds one when the process forks.
    """
    if not REINIT.holds:
        for each in _locks():
            each.acquire()
            _taken.append(each)


def _behind() -> None:
    while _taken:
        _taken.pop().release()


def _in_child() -> None:
    """Free the locks that were taken, except those that this one remaining thread holds."""
    _behind()
    for each in _locks():
        if each.acquire(blocking=False):
            each.release()
        elif REINIT.holds:
            each._at_fork_reinit()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_behind, after_in_child=_in_child)
