"""Functions as they were: what they did, and the arguments that they took."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from types import MethodType
from typing import Any

from ..._utils.around import Around, Function, around
from .stand_in import warn_old

__all__ = ["Around", "Function", "around", "bound", "positional", "renamed"]


def bound(old: Function) -> Callable[[Any], Any]:
    """A decorator of an old function or method whose first argument is the library, or the object.

    For a class, of which a method is asked as well, it's the function itself.

    >>> bound(lambda x, power: x**power)(3)(2)
    9
    """
    return lambda x: old if isinstance(x, type) else MethodType(old, x)


def positional(function: Function) -> Function:
    """The function, which takes by position what must be named today, in the same order.

    >>> positional(lambda a, *, b=0, c=0: (a, b, c))(1, 2, c=3)
    (1, 2, 3)
    """
    kinds = inspect.Parameter
    parameters = inspect.signature(function).parameters.values()
    free = [p.name for p in parameters if p.kind is kinds.POSITIONAL_OR_KEYWORD]
    named = [p.name for p in parameters if p.kind is kinds.KEYWORD_ONLY]

    @wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        more = dict(zip(named, args[len(free) :], strict=False))
        return function(*args[: len(free)], **more, **options)

    return call


def renamed(said: str = "", /, **names: str | None) -> Around:
    """Gives, for a function, one that takes arguments by their old names, too.

    Args:
        said: the function's name, for a warning at the line that uses an old one.
        names: by old name, today's; None where the argument said nothing, and is left out.

    >>> renamed(sparse="sparse_output", loop=None)(dict)(sparse=True, loop=1)
    {'sparse_output': True}
    """

    @around
    def call(function: Function, /, *args: Any, **options: Any) -> Any:
        for old in names.keys() & options.keys():
            value, today = options.pop(old), names[old]
            if today is not None:
                options[today] = value
            if said:
                warn_old(f"{said}({old}=…)", f"{said}({today}=…)" if today else "without it")
        return function(*args, **options)

    return call
