"""Words about names that don't exist: what was meant, perhaps."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterable
from typing import Any

UNEXPECTED = re.compile(r"([\w.]+)\(\) got an unexpected keyword argument '(\w+)'$")


def suggestion(name: str, among: Iterable[str]) -> str:
    """What to add to a message about a name that isn't there; empty, where none is like it.

    >>> suggestion("functon", ["relu", "function"])
    "; did you mean 'function'?"
    >>> suggestion("quux", ["relu", "function"])
    ''
    """
    from difflib import get_close_matches  # late: it's needed where something is wrong

    found = get_close_matches(name, among, n=1)
    return f"; did you mean {found[0]!r}?" if found else ""


def suggest(error: Exception, function: Callable[..., Any]) -> None:
    """Let the error about an unknown argument of `function` say what was meant, as Python does
    itself from 3.13 on.
    """
    if sys.version_info >= (3, 13) or not isinstance(error, TypeError):
        return
    found = UNEXPECTED.match(str(error))
    if found is not None and found[1] == function.__qualname__:
        known = inspect.signature(function).parameters
        error.args = (f"{error}{suggestion(found[2], known)}",)
