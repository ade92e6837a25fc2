"""Exceptions of users' functions, which are raised as they are, whatever ran the functions.

A library that calls back to Python from compiled code hands on the text of an exception at best.
So the exception is kept here, under a number that the text holds.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from ..._utils.threads import counter

# At most so many exceptions wait to be fetched; the oldest is forgotten first.
KEPT = 64
_kept: OrderedDict[int, Exception] = OrderedDict()
_next_number = counter(1)
_NUMBER = re.compile(r"kameleon function failure (\d+)")
# Where an exception of a user's function says that it's one.
_MARK = "_of_kameleon_call"


class CallbackError(Exception):
    """Stands for an exception of a user's function on its way through a library."""


def marked(error: Exception, note: str = "") -> Exception:
    """An exception of a user's function, which says so, with a note on where that was."""
    if note and not hasattr(error, _MARK):
        error.add_note(f"  {note}")
    with suppress(AttributeError):  # of an exception that takes no attributes
        setattr(error, _MARK, True)
    return error


def kept(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function for callbacks: its exceptions are kept while the library unwinds."""

    def called(*arrays: Any) -> Any:
        try:
            return function(*arrays)
        except Exception as error:
            number = _next_number()
            _kept[number] = error
            while len(_kept) > KEPT:
                _kept.popitem(last=False)
            text = f"kameleon function failure {number}: {type(error).__name__}: {error}"
            raise CallbackError(text) from error

    return called


def own_failure(error: BaseException) -> Exception | None:
    """The exception of a user's function that has led to `error`; None if there's none."""
    found: BaseException | None = error
    seen: set[int] = set()
    while found is not None and id(found) not in seen:
        seen.add(id(found))
        if isinstance(found, Exception) and hasattr(found, _MARK):
            return found
        found = found.__cause__ or found.__context__
    numbers = _NUMBER.findall(str(error))
    return _kept.pop(int(numbers[-1]), None) if numbers else None
