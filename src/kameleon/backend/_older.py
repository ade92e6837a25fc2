"""Calls that older documentation describes and that can still be told apart."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def older_names(**names: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Let a function's arguments be given by older names, too: `older_names(X="x")`.

    The signature stays the documented one. An argument given by both names is a TypeError.

    >>> @older_names(X="x")
    ... def double(x):
    ...     return 2 * x
    >>> double(X=2)
    4
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> R:
            for older in names.keys() & kwargs.keys():
                if names[older] in kwargs:
                    raise TypeError(
                        f"{function.__name__} got {names[older]!r} and its older name {older!r}"
                    )
                kwargs[names[older]] = kwargs.pop(older)
            return function(*args, **kwargs)

        return call

    return decorate
