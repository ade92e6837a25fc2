"""Functions that stand in the place of others, and call them."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

Function = Callable[..., Any]
Around = Callable[[Function], Function]  # gives, for a function, what stands in its place


def around(outer: Function) -> Around:
    """A decorator of a function whose first argument is the one in whose place it stands.

    >>> rounded = around(lambda inner, x: round(inner(x)))
    >>> rounded(abs)(-1.6)
    2
    """

    def give(inner: Function) -> Function:
        updated = () if isinstance(inner, type) else ("__dict__",)

        @wraps(inner, updated=updated)
        def call(*args: Any, **options: Any) -> Any:
            return outer(inner, *args, **options)

        return call

    return give
