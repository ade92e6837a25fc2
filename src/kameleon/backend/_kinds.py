"""What kinds of arguments K's functions take, said where another kind made one of them fail.

K's parameters mean the same wherever they occur. A call that doesn't fail isn't looked at.
"""

from __future__ import annotations

import inspect
import reprlib
import sys
from collections.abc import Callable, Container, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..errors import KindError
from ..graph.ir.node import Node

Holds = Callable[[Any], object]


class Kind(NamedTuple):
    """A kind of arguments: what it's called, and whether a value is of it. (`None` is an argument
    left out, where it's the default.)
    """

    words: str
    holds: Holds


def _is_integer(x: Any) -> bool:
    """Of 64 bits; an array of one, or a tensor, stands for an integer."""
    if isinstance(x, Node):
        return x.dtype.is_integer
    try:
        return bool(abs(x.__index__()) < 1 << 63)
    except (AttributeError, TypeError):
        return False


def _is_count(x: Any) -> bool:
    return _is_integer(x) and not isinstance(x, bool) and x >= 0


def _is_number(x: Any) -> bool:
    return isinstance(x, Node) or (np.ndim(x) == 0 and np.asarray(x).dtype.kind in "biuf")


def _are(holds: Callable[[Any], bool], sizes: Container[int] = range(sys.maxsize)) -> Holds:
    """Whether these are several of a kind, and so many."""

    def several(x: Any) -> bool:
        found = isinstance(x, Sequence | np.ndarray) and not isinstance(x, str | bytes)
        return found and len(x) in sizes and all(map(holds, x))

    return several


NAME = Kind("a string", lambda x: isinstance(x, str))
FLAG = Kind("True or False", lambda x: isinstance(x, Node) or np.ndim(x) == 0)
INTEGER = Kind("an integer", _is_integer)
NUMBER = Kind("a number", _is_number)
BOUND = Kind(
    "a finite number", lambda x: isinstance(x, Node) or (_is_number(x) and abs(x) < 1 << 63)
)
AXES = Kind("an integer, or several", lambda x: _is_integer(x) or _are(_is_integer)(x))
SHAPE = Kind("a shape: integers, one for each axis", lambda x: isinstance(x, Node) or AXES.holds(x))
DTYPE = Kind("the name of a dtype", lambda x: isinstance(x, str | type | np.dtype))
TENSORS = Kind("a list of tensors", lambda x: isinstance(x, list | tuple | Mapping))
UPDATES = Kind("a list of tensors, or of pairs of a variable and its new value", TENSORS.holds)
PAIRS = Kind("a list of pairs of a variable and its value", _are(lambda x: len(x) == 2))

# By names of parameters. Where one function means something else by a name, it's with its own.
KINDS: dict[str, Kind] = {
    **dict.fromkeys(("name", "prefix", "padding", "pool_mode", "interpolation", "engine"), NAME),
    **dict.fromkeys(
        "keepdims from_logits go_backwards unroll greedy merge_repeated sparse as_numpy".split(),
        FLAG,
    ),
    **dict.fromkeys(
        "k limit ndim num_classes rep depth_factor height_factor width_factor".split(),
        INTEGER,
    ),
    "maximum_iterations": INTEGER,
    **dict.fromkeys(
        "alpha epsilon high low maxval mean minval momentum scale stddev".split(), NUMBER
    ),
    **dict.fromkeys(("start", "stop", "step"), BOUND),
    **dict.fromkeys("axes axis dilation_rate kernel_size n output_shape pool_size".split(), AXES),
    **dict.fromkeys(("reduction_axes", "strides"), AXES),
    "shape": SHAPE,
    "dtype": DTYPE,
    **dict.fromkeys(("body", "cond", "fn", "step_function"), Kind("a function", callable)),
    **dict.fromkeys("constants fetches initial_states inputs ops stack.x tensors".split(), TENSORS),
    "updates": UPDATES,
    "tuples": PAIRS,
    "feed_dict": Kind("a dict", lambda x: isinstance(x, Mapping)),
    "pattern": Kind("the numbers of all axes", _are(_is_integer)),
    "distribution": Kind(
        "a distribution, of `kameleon.distributed`", lambda x: hasattr(x, "devices")
    ),
    "cast_to_floatx.x": Kind(
        "an array of numbers, or a tensor", lambda x: np.asarray(x).dtype.kind in "biuf"
    ),
    "dtype.x": Kind("a tensor", lambda x: hasattr(x, "dtype")),
    "eye.size": Kind(
        "a number of rows, or of rows and columns",
        lambda x: _are(_is_count, (2,))(x) or _is_count(x),
    ),
    "loop_vars": Kind("a list of tensors, not an empty one", lambda x: TENSORS.holds(x) and len(x)),
    "map_fn.dtype": Kind("the name of a dtype, or of one for each tensor", DTYPE.holds),
    "placeholder.shape": Kind(
        "a shape: an integer or None for each axis", _are(lambda x: x is None or _is_integer(x))
    ),
    "set_learning_phase.value": Kind("0 or 1", FLAG.holds),
}


def misfit(function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """An error about the first argument that isn't of its parameter's kind; none, if all are.

    >>> from kameleon import backend as K
    >>> K.arange("3")
    Traceback (most recent call last):
        ...
    kameleon.errors.KindError: arange: start must be a finite number, not '3' (a str)
    """
    what, signature = function.__name__, inspect.signature(function)
    try:
        given = signature.bind(*args, **kwargs).arguments
    except TypeError:
        return None
    for name, value in given.items():
        kind = KINDS.get(f"{what}.{name}", KINDS.get(name))
        left_out = value is None and signature.parameters[name].default is None
        if kind is not None and not left_out and not _holds(kind, value):
            shown = "None" if value is None else f"{reprlib.repr(value)} (a {type(value).__name__})"
            return KindError(f"{what}: {name} must be {kind.words}, not {shown}")
    return None


def _holds(kind: Kind, value: Any) -> bool:
    try:
        return bool(kind.holds(value))
    except Exception:  # a value that can't even be asked
        return False
