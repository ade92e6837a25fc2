"""Arguments that scopes set: `tf.contrib.framework.arg_scope`, also of `slim`."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from ...errors import ArgumentError

# By function, the arguments that the scopes in force set.
_arguments: ContextVar[dict[Any, dict[str, Any]]] = ContextVar("kameleon_arguments")


@contextmanager
def arg_scope(list_ops_or_scope: Any, **options: Any) -> Iterator[dict[Any, dict[str, Any]]]:
    """A block in which some functions have other defaults for some of their arguments."""
    outer = _arguments.get({})
    if isinstance(list_ops_or_scope, dict):
        inner = dict(list_ops_or_scope)
    else:
        inner = dict(outer)
        for function in list_ops_or_scope:
            key = getattr(function, "takes_scopes", None)
            if key is None:
                raise ArgumentError(f"arg_scope: {function} isn't made by add_arg_scope")
            inner[key] = {**outer.get(key, {}), **options}
    token = _arguments.set(inner)
    try:
        yield inner
    finally:
        _arguments.reset(token)


def add_arg_scope(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let `arg_scope` set arguments of a function."""

    key = str(function)  # a program's own function may bear the name of one here

    @functools.wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        return function(*args, **(_arguments.get({}).get(key, {}) | options))

    call.__dict__["takes_scopes"] = key
    return call


def has_arg_scope(func: Any) -> bool:
    """Whether `arg_scope` may set arguments of a function."""
    return hasattr(func, "takes_scopes")


def arg_scoped_arguments(func: Any) -> tuple[str, ...]:
    """The arguments of such a function that a scope may set."""
    parameters = inspect.signature(func).parameters.values()
    return tuple(p.name for p in parameters if p.default is not p.empty)


def current_arg_scope() -> dict[Any, dict[str, Any]]:
    """The arguments that the scopes in force set, by function."""
    return _arguments.get({})


NAMES: dict[str, Any] = {}
PLAIN: dict[str, Any] = {
    f"contrib.framework.{function.__name__}": function
    for function in (
        arg_scope, add_arg_scope, has_arg_scope, arg_scoped_arguments, current_arg_scope
    )
}  # fmt: skip
