"""NumPy's floating-point warnings, turned off during a call, and on again whatever is raised.

`np.errstate` is left by Python code, which an exception from a signal handler may keep from
running. The setting is part of a context; that of a call is thrown away.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import Context
from typing import Any

import numpy as np

Call = Callable[..., Any]

_QUIET = Context()
_QUIET.run(lambda: np.seterr(all="ignore"))


def quiet(function: Call) -> Call:
    """The function (of arguments by position), with NumPy's warnings turned off in its calls."""
    copy = _QUIET.copy
    return lambda *arguments: copy().run(function, *arguments)
