"""Words about names that don't exist: what was meant, perhaps."""

from __future__ import annotations

import functools
import inspect
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from types import FunctionType
from typing import Any

UNEXPECTED = re.compile(r"(\w+)\(\) got an unexpected keyword argument '(\w+)'$")


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


def suggesting(members: Mapping[str, Any], module: str) -> dict[str, Any]:
    """A module's members; functions say what was meant by an unknown keyword, as Python does
    itself from 3.13 on.

    Args:
        members: by name.
        module: where they are found under these names, for pickles.
    """
    if sys.version_info >= (3, 13):
        return dict(members)
    return {
        name: _with_suggestions(member, module) if isinstance(member, FunctionType) else member
        for name, member in members.items()
    }


def _with_suggestions(function: FunctionType, module: str) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except TypeError as error:
            found = UNEXPECTED.match(str(error))
            if found is None or found[1] != function.__name__:
                raise
            known = inspect.signature(function).parameters
            raise TypeError(f"{error}{suggestion(found[2], known)}") from None

    call.__module__ = module
    return call
