"""Blocks in which a context variable has another value, entered and left by C alone.

A signal handler may raise between any two bytecodes. Where it raises at the first bytecode of an
`__exit__` written in Python, or of the `finally` in a generator, the variable would keep its inner
value. But where `__enter__` and `__exit__` are functions in C, no handler runs between `__enter__`
and the block, nor between the end of the block, in whatever way it's left, and `__exit__` (CPython
3.11 to 3.13). So both are composed of functions in C at the moment when `with` looks them up.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from functools import partial, wraps
from itertools import chain, compress, repeat
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from ..errors import ArgumentError
from .tracebacks import hide

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])


class _Special:
    """A special method that is made anew each time a scope's is looked up."""

    def __init__(self, make: Callable[[Any], Callable[..., Any]]):
        self._make = make

    def __get__(self, scope: Any, owner: type) -> Any:
        try:
            return self if scope is None else self._make(scope)
        except Exception as error:
            hide(error)
            raise

    def __call__(self, scope: Any, *exception: Any) -> Any:
        """Called as a function of the class, as `contextlib.ExitStack` does."""
        return self._make(scope)(*exception)


class Scope(Generic[T]):
    """A block inside of which a context variable has another value, in this thread (or task).

    A scope is entered once. As a decorator, it makes a new scope for each call of the function.
    """

    def __init__(self, variable: ContextVar[T], change: Callable[[T], T], gives: bool = False):
        """
        Args:
            variable: a context variable that has a default.
            change: gives the value inside from the value outside, when the block is entered.
            gives: whether `as` gives the value inside; else it gives None.
        """
        self._variable, self._change, self._gives = variable, change, gives
        self._before: list[T] = []

    def __call__(self, function: F) -> F:
        """The function, each call of which runs inside such a block."""

        @wraps(function)
        def call(*arguments: Any, **more: Any) -> Any:
            with Scope(self._variable, self._change, self._gives):
                return function(*arguments, **more)

        return call  # type: ignore[return-value]

    def _entering(self) -> Callable[[], Any]:
        """A function in C that sets the value."""
        if self._before:
            raise ArgumentError("a scope is entered once: make another one for another block")
        before = self._variable.get()
        value = self._change(before)
        # `append` gives None, which is false, and `set` a token, which is true: so `compress` runs
        # both, and then gives the value for `as`.
        append, put = self._before.append, self._variable.set
        steps = chain(map(append, (before,)), map(put, (value,)))
        return partial(next, compress(repeat(value if self._gives else None), steps))

    def _leaving(self) -> Callable[..., Any]:
        """A function in C that sets the former value, takes any arguments and gives False."""
        before = self._before[0] if self._before else self._variable.get()
        zeros = compress(repeat(0), map(self._variable.set, repeat(before)))
        # `max` calls its key for each argument; `next` takes that as its default and ignores it.
        return partial(max, False, key=partial(next, zeros))

    if TYPE_CHECKING:

        def __enter__(self) -> Any: ...
        def __exit__(self, *exception: object) -> None: ...

    else:
        __enter__, __exit__ = _Special(_entering), _Special(_leaving)
