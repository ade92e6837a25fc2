"""Blocks in which a context variable has another value, entered and left by C alone.

A signal handler may raise between any two bytecodes: also at the first one of an `__exit__` that's
written in Python, or of the `finally` in a generator, and what they should set back stays set. But
where `__enter__` and `__exit__` are functions in C, no handler comes between the former and the
block, nor between the end of the block, in whatever way it's left, and the latter (CPython 3.11 to
3.13). So these are composed of functions in C, when `with` looks them up.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from functools import partial, wraps
from itertools import chain, compress, repeat
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from .errors import ArgumentError

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])


class _Special:
    """A special method that is made anew for each scope whose it is."""

    def __init__(self, make: Callable[[Any], Callable[..., Any]]):
        self._make = make

    def __get__(self, scope: Any, owner: type) -> Any:
        return self if scope is None else self._make(scope)

    def __call__(self, scope: Any, *exception: Any) -> Any:
        """Called as a function of the class, as `contextlib.ExitStack` does."""
        return self._make(scope)(*exception)


class Scope(Generic[T]):
    """A block inside of which a context variable has another value, in this thread (or task).

    It's entered once. As a decorator it's made anew for each call of the function.
    """

    def __init__(self, variable: ContextVar[T], change: Callable[[T], T], gives: bool = False):
        """
        Args:
            variable: which has a default.
            change: the value inside, from that outside; it's called when the block is entered.
            gives: whether `as` gives the value inside, or None.
        """
        self._variable, self._change, self._gives = variable, change, gives
        self._before: list[T] = []

    def __call__(self, function: F) -> F:
        """A function whose calls are such blocks."""

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
        # `append` gives None, `set` a token, which is true: behind both, `compress` gives what
        # `as` takes.
        append, put = self._before.append, self._variable.set
        steps = chain(map(append, (before,)), map(put, (value,)))
        return partial(next, compress(repeat(value if self._gives else None), steps))

    def _leaving(self) -> Callable[..., Any]:
        """A function in C that sets the former value, whatever it's given; it gives False."""
        before = self._before[0] if self._before else self._variable.get()
        zeros = compress(repeat(0), map(self._variable.set, repeat(before)))
        # `max` calls its key for each argument, which is `next`'s second one and has no effect.
        return partial(max, False, key=partial(next, zeros))

    if TYPE_CHECKING:

        def __enter__(self) -> Any: ...
        def __exit__(self, *exception: object) -> None: ...

    else:
        __enter__, __exit__ = _Special(_entering), _Special(_leaving)
