"""How functions of TensorFlow 1 are called: by its parameters, their order and their defaults.

A function here takes the parameters that mean something to it, by TensorFlow's names (all, where it
takes `**given`), and perhaps `what`, its own name for messages; `called` binds a call's arguments
to those recorded of TensorFlow's function (`public`), and fills in its defaults.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ..errors import ArgumentError
from ..ir.node import new_serial
from .conventions import checked, named
from .pending import is_foreign, redirected
from .public import parameters_of, rows_of
from .signatures import Rows, signed, value_of

# Older names of parameters, where a function of TensorFlow's has both.
OLDER = {
    "keep_dims": "keepdims",
    "reduction_indices": "axis",
    "reduction_axes": "axis",
    "dimension": "axis",
    "dim": "axis",
    "squeeze_dims": "axis",
    "concat_dim": "axis",
    "split_dim": "axis",
    "seq_dim": "seq_axis",
    "batch_dim": "batch_axis",
    "box_ind": "box_indices",
    "filters": "filter",
    "sizes": "ksizes",
    "input": "value",
}

# Parameters without a meaning here, with the reason.
UNUSED = {
    "name": "results are named by `conventions`",
    "parallel_iterations": "engines run loops as they can",
    "swap_memory": "engines place memory as they can",
    "back_prop": "gradients are made where they are asked for",
    "validate_indices": "indices are always checked",
    "validate_shape": "shapes are always checked",
    "use_cudnn_on_gpu": "engines choose their kernels",
    "optimize": "the graph is optimized anyway",
    "_sentinel": "it only kept arguments from being given by position",
    "a_is_sparse": "matrices are dense",
    "b_is_sparse": "matrices are dense",
    "stable": "sorting is always stable",
    "partition_strategy": "parameters lie in one piece",
    "sorted": "results are always sorted",
    "shift": "means are subtracted before squares are taken",
    "shape_invariants": "sizes are inferred",
}


class Leading(NamedTuple):
    """A function that takes the first parameters, whatever their names, and `what`."""

    parameters: int
    function: Callable[..., Any]

    def run(self, what: str, **given: Any) -> Any:
        """The result, for arguments in TensorFlow's order."""
        return self.function(*given.values(), what)


Function = Callable[..., Any] | Leading


class Signature(NamedTuple):
    """The parameters of a function of TensorFlow's, and which of them the one here takes."""

    what: str
    order: tuple[str, ...]
    defaults: dict[str, Any]
    taken: frozenset[str]


def signature_of(name: str, function: Function) -> Signature:
    """TensorFlow's parameters of the function of that name."""
    order, defaults = order_of(rows_of(name))
    if isinstance(function, Leading):
        taken = frozenset([*order[: function.parameters], "what"])
    else:
        own = inspect.signature(function).parameters.values()
        takes_all = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in own)
        taken = frozenset(order if takes_all else (p.name for p in own))
    return Signature(f"tf.{name}", order, defaults, taken)


def order_of(rows: Rows) -> tuple[tuple[str, ...], dict[str, Any]]:
    """The names of recorded parameters, in order, and the defaults that there are."""
    return tuple(p[0] for p in rows), {p[0]: value_of(p[1]) for p in rows if len(p) == 2}


def called(table: Mapping[str, Function]) -> dict[str, Callable[..., Any]]:
    """Functions by TensorFlow's names, each to be called as TensorFlow's."""
    return {name: _calling(name, function) for name, function in table.items()}


def _calling(name: str, function: Function) -> Callable[..., Any]:
    run = function.run if isinstance(function, Leading) else function

    @functools.cache
    def signature() -> Signature:
        return signature_of(name, function)

    def call(*args: Any, **kwargs: Any) -> Any:
        if is_foreign((*args, *kwargs.values())):
            return redirected(name, args, kwargs)
        given = bound(signature(), args, kwargs)
        title = given.get("name")
        before = new_serial()
        result = checked(run(**taken(signature(), given)))
        return result if title is None else named(result, str(title), before)

    call.__name__ = call.__qualname__ = name.rpartition(".")[2]
    call.__doc__ = run.__doc__
    signed(call, functools.partial(parameters_of, name))
    return call


def bound(signature: Signature, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a call by their names, older names replaced by newer ones.

    Raises:
        TypeError: as Python does, where a call doesn't fit the parameters.
        ArgumentError: a value is given by an older name and by the newer one.
    """
    what, order, defaults, _ = signature
    if len(args) > len(order):
        raise TypeError(f"{what}() takes {len(order)} arguments, but {len(args)} were given")
    given = dict(zip(order, args, strict=False))
    for name, value in kwargs.items():
        if name not in order:
            raise TypeError(f"{what}() got an unexpected keyword argument {name!r}")
        if name in given:
            raise TypeError(f"{what}() got multiple values for argument {name!r}")
        given[name] = value
    for name in [n for n in given if OLDER.get(n) in order and n not in signature.taken]:
        newer, value = OLDER[name], given.pop(name)
        if _is_default(value, defaults.get(name)):
            continue
        if not _is_default(given.get(newer), defaults.get(newer)):
            raise ArgumentError(f"{what}: {name!r} is an older name of {newer!r}; give one of them")
        given[newer] = value
    missing = [name for name in order if name not in given and name not in defaults]
    if missing:
        raise TypeError(f"{what}() misses the argument {missing[0]!r}")
    return given


def taken(signature: Signature, given: Mapping[str, Any]) -> dict[str, Any]:
    """What the function here takes: the given arguments, and TensorFlow's defaults of the others.

    Raises:
        ArgumentError: an argument is given that has no meaning here.
    """
    what, order, defaults, names = signature
    for name, value in given.items():
        if name not in names and name not in UNUSED and not _is_default(value, defaults.get(name)):
            raise ArgumentError(f"{what}: the argument {name}={value!r} isn't there")
    found = {name: given.get(name, defaults.get(name)) for name in order if name in names}
    return {**found, "what": what} if "what" in names else found


def _is_default(value: Any, default: Any) -> bool:
    return value is default or (isinstance(value, (bool, int, float, str)) and value == default)
