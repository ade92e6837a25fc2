"""Objects of a program's own classes where TensorFlow 1 takes tensors: functions and sessions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from ..backend import _conversions
from ..errors import ArgumentError


def register_tensor_conversion_function(
    base_type: type | tuple[type, ...], conversion_func: Callable[..., Any], priority: int = 100
) -> None:
    """Let objects of a class stand for tensors.

    Args:
        base_type: the class, or several.
        conversion_func: called with an object, `dtype`, `name` and `as_ref`; gives a tensor, or
            NotImplemented, whereupon the next conversion is asked.
        priority: those with less are asked first.

    Raises:
        TypeError: the class is one of Python's or NumPy's numbers.
    """
    kinds = base_type if isinstance(base_type, tuple) else (base_type,)
    if not kinds or not all(isinstance(kind, type) for kind in kinds):
        raise TypeError("base_type must be a type or a tuple of types.")
    if not callable(conversion_func):
        raise TypeError("conversion_func must be callable.")
    if any(issubclass(kind, (int, float, complex, np.generic, np.ndarray)) for kind in kinds):
        raise TypeError(
            "Cannot register conversions for Python numeric types and NumPy scalars and arrays."
        )
    _conversions.register(
        _conversions.Conversion(
            priority,
            kinds,
            lambda x, dtype: conversion_func(x, dtype=dtype, name=None, as_ref=False),
        )
    )


# In sessions -----------------------------------------------------------------------------------


class OfSessions(NamedTuple):
    """What sessions do with objects of a class.

    Attributes:
        fetch: of an object, the tensors to compute, and what makes its value of theirs.
        feed: of an object and what's fed for it, pairs of tensors and arrays.
    """

    kind: type
    fetch: Callable[[Any], tuple[Iterable[Any], Callable[[list[Any]], Any]]]
    feed: Callable[[Any, Any], Iterable[tuple[Any, Any]]] | None


_of_sessions: list[OfSessions] = []


def register_session_run_conversion_functions(
    tensor_type: type, fetch_function: Any, feed_function: Any = None,
    feed_function_for_partial_run: Any = None,
) -> None:  # fmt: skip
    """Let `session.run` compute, and be fed, objects of a class.

    Args:
        tensor_type: the class.
        fetch_function: of an object, a list of tensors and a function that makes the object's value
            of theirs.
        feed_function: of an object and its value, pairs of tensors and their values.

    Raises:
        ArgumentError: (a ValueError) there's one already, for the class or one that is derived
            of it.
    """
    if any(issubclass(known.kind, tensor_type) for known in _of_sessions):
        raise ArgumentError(f"{tensor_type} has already been registered so ignore it.")
    _of_sessions[:] = [OfSessions(tensor_type, fetch_function, feed_function), *_of_sessions]


def conversion_of(x: Any) -> OfSessions | None:
    """What's registered for an object."""
    return next((known for known in _of_sessions if isinstance(x, known.kind)), None)


NAMES: dict[str, Any] = {}
PLAIN: dict[str, Any] = {
    "register_tensor_conversion_function": register_tensor_conversion_function,
    "python.client.session.register_session_run_conversion_functions": (
        register_session_run_conversion_functions
    ),
}
