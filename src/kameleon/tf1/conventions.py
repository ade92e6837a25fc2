"""What all functions of TensorFlow 1 share: a result bears the name that the program gives it."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from ..backend import surface as K
from ..ir.context import context, unique_name
from ..ir.node import Node, Update, Variable, new_serial


def naming(function: Any) -> Any:
    """The function, with the argument `name` given to its result; all else as it is."""
    if not callable(function) or isinstance(function, type):
        return function

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        name = kwargs.get("name")
        if name is None:
            return function(*args, **kwargs)
        if not _takes_name(function):
            del kwargs["name"]
        before = new_serial()
        return named(function(*args, **kwargs), str(name), before)

    return call


@functools.cache
def _takes_name(function: Callable[..., Any]) -> bool:
    """Whether the function has a parameter `name`, or takes any."""
    found = inspect.signature(function).parameters.values()
    return any(p.name == "name" or p.kind is p.VAR_KEYWORD for p in found)


def named(result: Any, name: str, since: int) -> Any:
    """A tensor under a name, in the scope in force; nodes made before `since` keep theirs."""
    if isinstance(result, (Variable, Update)) or not isinstance(result, Node):
        return result
    if result.serial < since or result._name is not None or result.primitive.name == "item":
        return K.identity(result, name=name)
    result._name = unique_name(context.scope + name)
    return result
