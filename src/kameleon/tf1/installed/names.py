"""Names of the installed TensorFlow, by TensorFlow 1's names for them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ...config import ENGINES, installed
from ...errors import MissingNameError
from ...ir.node import new_serial
from ..advice import hint
from ..calling import Signature, bound, order_of
from ..conventions import checked, named
from ..names import NAMES
from ..pending import applied
from ..public import endpoints, parameters_of, rows_of
from ..signatures import signed
from ..steps import function_at
from .table import FUNCTIONS, THINGS


def qualifies(name: str) -> bool:
    """Whether a name that there isn't over K is there where TensorFlow is installed.

    >>> qualifies("signal.rfft"), qualifies("train.shuffle_batch")
    (True, False)
    """
    return name in names()


@functools.cache
def names() -> frozenset[str]:
    """All names that qualify."""
    return frozenset(n for name in FUNCTIONS | THINGS for n in endpoints(name)) - NAMES.keys()


def found(name: str) -> Any:
    """What a name that qualifies stands for.

    Raises:
        MissingNameError: TensorFlow isn't installed; the message says what to do.
    """
    if not installed("tensorflow"):
        use = hint(name)
        raise MissingNameError(
            f"tf.{name} works where TensorFlow is installed ({ENGINES['tensorflow'].install}):"
            f" it's called there, on any engine{f'; without it, use {use}' if use else ''}"
        )
    first = endpoints(name)[0]
    things = [n for n in endpoints(name) if n in THINGS]
    return function_at(things[0]) if things else function(first)


@functools.cache
def function(name: str) -> Callable[..., Any]:
    """A function of TensorFlow's that takes K tensors, by the first of its names."""
    order, defaults = order_of(rows_of(name))
    signature = Signature(f"tf.{name}", order, defaults, frozenset(order))

    def call(*args: Any, **kwargs: Any) -> Any:
        given = bound(signature, args, kwargs)
        title, before = given.pop("name", None), new_serial()
        result = applied(name, (), given)
        return checked(result) if title is None else named(checked(result), str(title), before)

    call.__name__ = call.__qualname__ = name.rpartition(".")[2]
    call.__doc__ = f"TensorFlow's own tf.compat.v1.{name}, on K tensors."
    signed(call, functools.partial(parameters_of, name))
    return call
