"""Values of variables, read and set from outside of the graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import ArgumentError
from ..graph.ir.node import Print, Variable
from ..runtime import state
from ..runtime.feeds import value_for
from ._effects import shown
from ._older import older_names
from ._tensors import Array, Tensor, TensorLike, as_tensor, require_variable
from .sparse_tensor import SparseTensor

__all__ = ["get_value", "batch_get_value", "set_value", "batch_set_value", "print_tensor"]


def get_value(x: Any) -> Array:
    """The value of a variable (or of any tensor that needs no input).

    Args:
        x: a variable.

    Returns:
        A NumPy array that belongs to the caller (a scalar, where it has no axes).

    >>> from kameleon import backend as K
    >>> K.get_value(K.variable([1., 2.]))
    array([1., 2.], dtype=float32)
    """
    if isinstance(x, Variable):
        return _given(state.numpy_value(x))
    from .functions import evaluate

    if not isinstance(x, SparseTensor) and not hasattr(x, "eval"):
        raise ArgumentError(f"get_value needs a variable, not {x!r}")
    value: Array = evaluate(x)
    return value


def _given(value: Any) -> Array:
    """What a caller gets of an array: a scalar, where it has no axes."""
    found: Array = value if value.ndim else value[()]
    return found


@older_names(xs="ops")
def batch_get_value(ops: Sequence[Any]) -> list[Array]:
    """The values of several variables, all at one moment.

    Args:
        ops: variables.

    >>> from kameleon import backend as K
    >>> K.batch_get_value([K.variable(1.), K.variable([2.])])
    [np.float32(1.0), array([2.], dtype=float32)]
    """
    items = list(ops)
    if all(isinstance(x, Variable) for x in items):
        return [_given(value) for value in state.numpy_values(items)]
    return [get_value(x) for x in items]


def set_value(x: Tensor, value: Any) -> None:
    """Set a variable from outside of the graph.

    Args:
        x: a variable.
        value: an array of the shape of `x`; it's cast to the dtype of `x` and copied.

    Raises:
        FeedError: (a ValueError) the value has another shape, is no number, or one that the
            dtype doesn't hold; nothing has changed then.

    >>> from kameleon import backend as K
    >>> v = K.variable([1., 2.])
    >>> K.set_value(v, [3., 4.])
    >>> K.get_value(v)
    array([3., 4.], dtype=float32)
    """
    batch_set_value([(x, value)])


def batch_set_value(tuples: Sequence[tuple[Tensor, Any]]) -> None:
    """Set several variables at one moment; if one value can't be taken, none is changed.

    Args:
        tuples: pairs of a variable and its new value, as `set_value` takes it.

    >>> from kameleon import backend as K
    >>> v, w = K.variable(0.), K.variable(0.)
    >>> K.batch_set_value([(v, 1.), (w, 2.)])
    >>> float(K.get_value(v)), float(K.get_value(w))
    (1.0, 2.0)
    """
    variables = [(require_variable(x, "set_value"), value) for x, value in tuples]
    state.set_values(
        [(v, value_for(v, value, "set_value", truncate=True)) for v, value in variables]
    )


def print_tensor(x: TensorLike, message: str = "") -> Tensor:
    """A tensor equal to `x` that prints the message and the value whenever it's computed.

    Args:
        x: a tensor.
        message: what to print before the value (on standard output).

    Returns:
        The tensor to use instead of `x`; where that isn't computed, nothing is printed. In the
        functions of loops, each step prints.

    >>> from kameleon import backend as K
    >>> y = K.print_tensor(K.constant([1., 2.]), message='y is ')
    >>> K.eval(y)
    y is [1. 2.]
    array([1., 2.], dtype=float32)
    """
    return shown(as_tensor(x, "print_tensor"), Print, str(message))
