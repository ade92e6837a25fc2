"""NumPy's floating-point warnings, turned off during a call, and on again whatever is raised.

`np.errstate` is left by Python code, which an exception from a signal handler may keep from
running; the setting that is used here instead is undone in C.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import Context
from typing import Any

import numpy as np

Call = Callable[..., Any]


def quiet(function: Call) -> Call:
    """The function (of arguments by position), with NumPy's warnings turned off in its calls."""
    return _in_context(function) if _IS_IN_CONTEXT else _set_back(function)


def _in_context(function: Call) -> Call:
    """From NumPy 2 on the setting is part of a context; the context of a call is thrown away."""
    copy = _QUIET.copy
    return lambda *arguments: copy().run(function, *arguments)


def _set_back(function: Call) -> Call:
    """Until NumPy 1.26 the setting is one of the thread's.

    From the end of the block to the call of `put`, which is in C, no signal handler runs.
    """
    get, put = np.geterrobj, np.seterrobj  # type: ignore[attr-defined]

    def call(*arguments: Any) -> Any:
        before = get()
        try:
            put([before[0], 0, before[2]])
            return function(*arguments)
        finally:
            put(before)

    return call


_QUIET = Context()
_IS_IN_CONTEXT = not hasattr(np, "geterrobj")
if _IS_IN_CONTEXT:
    _QUIET.run(lambda: np.seterr(all="ignore"))
