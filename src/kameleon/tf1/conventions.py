"""What all functions of TensorFlow 1 share: a result bears the name that the program gives it."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from contextvars import ContextVar
from typing import Any

from .._scopes import Scope
from ..backend import surface as K
from ..ir.context import context, unique_name
from ..ir.node import Node, Update, Variable, new_serial
from ..prims.control import check
from ..runtime.workspace import workspace
from .pending import is_foreign, redirected
from .public import parameters_of, public
from .signatures import signed

# What must hold for the results of functions that are called inside of a block.
_checks: ContextVar[tuple[tuple[Any, str], ...]] = ContextVar("kameleon_checks", default=())


def checking(checks: Sequence[tuple[Any, str]]) -> Scope[tuple[tuple[Any, str], ...]]:
    """A block: results of functions called inside are errors where a check doesn't hold."""
    return Scope(_checks, lambda outer: (*outer, *checks))


def unchecked() -> Scope[tuple[tuple[Any, str], ...]]:
    """A block in which the checks of the blocks around aren't in force."""
    return Scope(_checks, lambda outer: ())


def checks_in_force() -> tuple[tuple[Any, str], ...]:
    """The checks of the blocks around: pairs of a bool tensor and a message."""
    return _checks.get()


def checked(result: Any) -> Any:
    """A result of a function, which is an error where a check in force doesn't hold."""
    for holds, message in _checks.get() if isinstance(result, Node) else ():
        result = check(result, holds, message=message)
    return result


def naming(function: Any, known_as: str) -> Any:
    """The function, with the argument `name` given to its result; all else as it is.

    Args:
        function: what a program calls.
        known_as: its dotted name; the last part becomes `__name__`, by which Keras saves the
            functions of layers.
    """
    if not callable(function) or isinstance(function, type):
        return function

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if is_foreign((*args, *kwargs.values())):
            return redirected(known_as, args, kwargs)
        name = kwargs.get("name")
        if name is None:
            return checked(function(*args, **kwargs))
        if not _takes_name(function):
            del kwargs["name"]
        before = new_serial()
        return named(checked(function(*args, **kwargs)), str(name), before)

    call.__name__ = call.__qualname__ = known_as.rpartition(".")[2]
    signed(call, functools.partial(_parameters, known_as, function))
    return call


def _parameters(known_as: str, function: Callable[..., Any]) -> Iterable[inspect.Parameter]:
    """TensorFlow's parameters of a public function; of another one, its own."""
    if known_as in public().first:
        return parameters_of(known_as)
    return inspect.signature(function).parameters.values()


@functools.cache
def _takes_name(function: Callable[..., Any]) -> bool:
    """Whether the function has a parameter `name`, or takes any."""
    found = inspect.signature(function).parameters.values()
    return any(p.name == "name" or p.kind is p.VAR_KEYWORD for p in found)


def named(result: Any, name: str, since: int) -> Any:
    """A tensor under a name, in the scope in force; nodes made before `since` keep theirs."""
    if isinstance(result, (Variable, Update)) or not isinstance(result, Node):
        return result
    if result.serial < since or result.primitive.name == "item":
        return named(K.identity(result), name, since)
    result._name = unique_name(context.scope + name)
    graph = context.graph or workspace.graph
    if graph is not None:
        graph.named[result._name] = result
    return result
