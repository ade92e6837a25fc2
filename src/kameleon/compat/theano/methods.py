"""What tensors of Theano have beside those of K, for old code that imports Theano."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from ...backend import surface as K
from ...backend.operators import getitem
from ...errors import ArgumentError
from ...graph.ir.node import Node, Variable
from ...graph.primitives.elementwise import select
from ...graph.primitives.indexing import gather, scatter_add
from ..legacy.importers import is_old
from . import tensors as T

# --- indexing -----------------------------------------------------------------------------------


def _is_array(key: Any) -> bool:
    if isinstance(key, Node | np.ndarray):
        return key.ndim > 0
    return isinstance(key, list)


def pointwise(x: Node, key: tuple[Any, ...]) -> Node:
    """`x[i, j]`: with an array of places for each of the first axes, the elements at these."""
    count = len(key)
    if not all(_is_array(k) or isinstance(k, int | Node) for k in key):
        raise ArgumentError("a tensor is indexed by arrays for its first axes, or by slices")
    sizes = T.sizes(x)
    flat: Any = 0
    for index, n in zip(key, sizes, strict=False):
        places = K.cast(T.tensor(index), "int64")
        flat = flat * n + T.switch(places < 0, places + n, places)
    return gather(K.reshape(x, (-1, *sizes[count:])), flat, 0)


def taken(x: Node, key: Any) -> Node:
    """`x[key]`, as NumPy has it."""
    several = isinstance(key, tuple) and sum(map(_is_array, key)) > 1
    if isinstance(key, Node | np.ndarray) and str(key.dtype) == "bool":
        key, several = T.nonzero(key), True
    if isinstance(key, tuple) and len(key) == 1 and not several:
        key = key[0]
    return pointwise(x, key) if several else getitem(x, key)


def _getitem(self: Node, key: Any) -> Node:
    if not is_old(sys._getframe(1).f_globals):
        return getitem(self, key)
    found = taken(self, key)
    vars(found)["_taken"] = (self, key)
    return found


def _placed(x: Any, y: Any, name: str) -> tuple[Node, Any, Node, Node, bool]:
    """The tensor that x is a part of, its size, the places of the part, y for each of these, and
    whether a place may come twice."""
    if "_taken" not in vars(x):
        raise ArgumentError(f"theano.tensor.{name} takes a part of a tensor: x[…]")
    base, key = vars(x)["_taken"]
    total = math.prod(T.sizes(base))
    numbers = K.reshape(T.arange(total), T.sizes(base))
    places = K.reshape(taken(numbers, key), (-1,))
    values = K.cast(K.zeros_like(x) + T.tensor(y), base.dtype)
    twice = any(map(_is_array, key if isinstance(key, tuple) else (key,)))
    return base, total, places, K.reshape(values, (-1,)), twice


def inc_subtensor(x: Any, y: Any, **options: Any) -> Node:
    """The whole tensor, with `y` added to the part `x`."""
    base, total, places, values, _ = _placed(x, y, "inc_subtensor")
    return base + K.reshape(scatter_add(values, places, total, 0), T.sizes(base))


def set_subtensor(x: Any, y: Any, **options: Any) -> Node:
    """The whole tensor, with `y` in the place of the part `x`."""
    base, total, places, values, twice = _placed(x, y, "set_subtensor")
    if twice:  # of values for one place, the last counts
        n = T.arange(T.size(places, 0))
        same = K.equal(K.expand_dims(places, 1), K.expand_dims(places, 0))
        later = same & (K.expand_dims(n, 0) > K.expand_dims(n, 1))
        values = T.switch(K.any(later, axis=1), K.zeros_like(values), values)
    put = scatter_add(values, places, total, 0)
    held = scatter_add(K.ones_like(values), places, total, 0)
    flat = K.reshape(base, (-1,))
    put, held = K.reshape(put, T.sizes(flat)), K.reshape(held, T.sizes(flat))
    return K.reshape(select(K.greater(held, 0), put, flat), T.sizes(base))


# --- methods ------------------------------------------------------------------------------------


def _evaluate(self: Node, inputs_to_values: Any = None) -> Any:
    given = dict(inputs_to_values or {})
    return K.function(list(given), [self])(list(given.values()))[0]


def _method(name: str) -> Callable[..., Any]:
    function = T.NAMES[name]
    return lambda self, *args, **options: function(self, *args, **options)


METHODS = (
    "sum mean max min prod any all std var argmax argmin dot dimshuffle flatten norm nonzero clip"
    " take repeat cumsum zeros_like ones_like fill squeeze transpose"
).split()
OF_TENSORS: dict[str, Any] = {
    **{name: _method(name) for name in METHODS},
    "reshape": lambda self, *shape, ndim=None: T.reshape(
        self, shape[0] if len(shape) == 1 else shape
    ),
    "astype": T.cast,
    "copy": lambda self, name=None: K.identity(self),
    "eval": _evaluate,
    "T": property(lambda self: T.transpose(self)),
    "tag": property(lambda self: vars(self).setdefault("_tag", SimpleNamespace())),
    "broadcastable": property(lambda self: tuple(n == 1 for n in self.type.shape)),
    "__getitem__": _getitem,
}
OF_VARIABLES: dict[str, Any] = {
    "get_value": lambda self, borrow=False, return_internal_type=False: K.get_value(self),
    "set_value": lambda self, new_value, borrow=False: K.set_value(self, new_value),
}


def _shape(self: Node) -> Any:
    asks_for_theanos = is_old(sys._getframe(1).f_globals)
    return T.sizes(self) if asks_for_theanos else self.type.shape


def install() -> None:
    """Give tensors what those of Theano have."""
    for kind, table in ((Node, OF_TENSORS), (Variable, OF_VARIABLES)):
        for name, value in table.items():
            setattr(kind, name, value)
    Node.shape = property(_shape)  # type: ignore[assignment,method-assign]
