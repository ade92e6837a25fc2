"""Activation functions of networks."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..graph.ir.node import Node
from ..graph.primitives import elementwise as ew
from ..graph.primitives import special
from ..graph.primitives.filling import full_like, scaled
from ._tensors import (
    Tensor,
    TensorLike,
    as_float,
    as_number,
    as_tensor,
    axis_of,
    binary,
    broadcast_together,
)

__all__ = [
    "relu",
    "elu",
    "softmax",
    "softplus",
    "softsign",
    "sigmoid",
    "hard_sigmoid",
    "tanh",
]


def _parameter(value: Any) -> Any:
    """A parameter as a Python number, or as a tensor where it isn't a single number."""
    if value is None or isinstance(value, Node):
        return value
    return np.asarray(value).item() if np.size(value) == 1 else as_tensor(value, "a parameter")


def _is(value: Any, number: float) -> bool:
    """Whether a parameter is this number, and known to be when the graph is built."""
    return not isinstance(value, Node) and bool(value == number)


def relu(x: TensorLike, alpha: Any = 0.0, max_value: Any = None, threshold: Any = 0.0) -> Tensor:
    """The rectified linear unit: `max(x, 0)`, or a ramp with a leak, a ceiling and a threshold.

    The result is `max_value` where x >= max_value, x where threshold < x < max_value, and
    `alpha * (x - threshold)` elsewhere.

    Args:
        x: tensor of numbers.
        alpha: number (or tensor that broadcasts with `x`): the slope below the threshold.
        max_value: number or tensor: the ceiling; None: there is none. With a ceiling, values
            between a negative threshold and 0 count as 0.
        threshold: number or tensor.

    Returns:
        Tensor of the shape of `x`. The gradient at 0 is 0; where only `alpha` is given, `alpha`.
        At `max_value` it is 1, but 0 at a ceiling of 6 without a threshold (ReLU6).

    >>> from kameleon import backend as K
    >>> x = K.constant([-2., 0.5, 3.])
    >>> K.eval(K.relu(x))
    array([0. , 0.5, 3. ], dtype=float32)
    >>> K.eval(K.relu(x, alpha=0.5, max_value=2., threshold=1.))
    array([-1.5 , -0.25,  2.  ], dtype=float32)

    Source: Maas, Hannun and Ng, "Rectifier Nonlinearities", 2013 (the leak).
    """
    x = as_number(x, "relu")
    slope, ceiling, floor = _parameter(alpha), _parameter(max_value), _parameter(threshold)
    if ceiling is None and _is(floor, 0) and not (_is(slope, 0) or isinstance(slope, Node)):
        return _leaky(as_float(x, "relu"), slope)
    y = _positive_part(x) if _is(floor, 0) else _above(x, floor)
    if ceiling is not None:
        if isinstance(floor, Node) or floor < 0:
            y = binary(ew.maximum, y, 0, "relu")
        # At ties of a minimum the gradient goes to its first operand.
        flat = _is(ceiling, 6) and _is(floor, 0)
        first, second = (ceiling, y) if flat else (y, ceiling)
        y = binary(ew.minimum, first, second, "relu")
    if not _is(slope, 0):
        depth = _positive_part(binary(ew.sub, floor, x, "relu"))
        y = binary(ew.sub, y, binary(ew.mul, depth, slope, "relu"), "relu")
    return y


def _positive_part(x: Node) -> Node:
    return special.relu(x) if x.dtype.is_float else binary(ew.maximum, x, 0, "relu")


def _leaky(x: Node, slope: float) -> Node:
    """x times its slope, 1 or `slope`: the gradient is a product with the same slopes."""
    positive = ew.gt(x, full_like(x, 0))
    return ew.mul(x, ew.select(positive, full_like(x, 1), full_like(x, slope)))


def _above(x: Node, floor: Any) -> Node:
    """x above the threshold, 0 at the threshold and below; NaN stays."""
    below, y = broadcast_together((binary(ew.le, x, floor, "relu"), x), "relu")
    return ew.select(below, full_like(y, 0), y)


def elu(x: TensorLike, alpha: Any = 1.0) -> Tensor:
    """The exponential linear unit: `x` above 0, else `alpha * (exp(x) - 1)`.

    Args:
        x: tensor; integers are taken as floats.
        alpha: number or tensor: the negated limit of the function far below 0.

    Returns:
        Float tensor of the shape of `x`. The gradient at 0 is `alpha`.

    >>> from kameleon import backend as K
    >>> K.eval(K.elu(K.constant([-100., 0., 2.]), alpha=0.5))
    array([-0.5,  0. ,  2. ], dtype=float32)

    Source: Clevert, Unterthiner and Hochreiter, "Exponential Linear Units", 2015.
    """
    x = as_float(x, "elu")
    y = special.elu(x)
    scale = _parameter(alpha)
    if _is(scale, 1):
        return y
    if isinstance(scale, Node):
        scale = ew.cast(scale, x.dtype)
    scaled = binary(ew.mul, y, scale, "elu")
    positive, y, scaled = broadcast_together((ew.gt(x, full_like(x, 0)), y, scaled), "elu")
    return ew.select(positive, y, scaled)


def softmax(x: TensorLike, axis: int = -1) -> Tensor:
    """The softmax along `axis`, `exp(x) / sum(exp(x))`, without overflow.

    Args:
        x: tensor with at least one axis; integers are taken as floats.
        axis: int; negative ones count from the end.

    Returns:
        Float tensor of the shape of `x`, positive, with sum 1 along `axis`.

    Raises:
        ShapeError: there is no such axis.

    >>> from kameleon import backend as K
    >>> K.eval(K.softmax(K.constant([[1000., 1000.], [0., 1000.]])))
    array([[0.5, 0.5],
           [0. , 1. ]], dtype=float32)
    """
    x = as_float(x, "softmax")
    return special.softmax(x, axis=axis_of(x, axis, "softmax"))


def softplus(x: TensorLike) -> Tensor:
    """The softplus of each element, `log(1 + exp(x))`, without overflow.

    Args:
        x: tensor; integers are taken as floats.

    Returns:
        Float tensor of the shape of `x`.

    >>> from kameleon import backend as K
    >>> K.eval(K.softplus(K.constant([-1000., 1000.])))
    array([   0., 1000.], dtype=float32)
    """
    return special.softplus(as_float(x, "softplus"))


def softsign(x: TensorLike) -> Tensor:
    """The softsign of each element, `x / (1 + abs(x))`.

    Args:
        x: tensor; integers are taken as floats.

    Returns:
        Float tensor of the shape of `x`, between -1 and 1.

    >>> from kameleon import backend as K
    >>> K.eval(K.softsign(K.constant([-1., 0., 3.])))
    array([-0.5 ,  0.  ,  0.75], dtype=float32)
    """
    x = as_float(x, "softsign")
    return ew.div(x, ew.add(ew.abs(x), full_like(x, 1)))


def sigmoid(x: TensorLike) -> Tensor:
    """The sigmoid of each element, `1 / (1 + exp(-x))`.

    Args:
        x: tensor; integers are taken as floats.

    Returns:
        Float tensor of the shape of `x`, between 0 and 1.

    >>> from kameleon import backend as K
    >>> K.eval(K.sigmoid(K.constant([-1000., 0., 1000.])))
    array([0. , 0.5, 1. ], dtype=float32)
    """
    return special.sigmoid(as_float(x, "sigmoid"))


def hard_sigmoid(x: TensorLike) -> Tensor:
    """The hard sigmoid, a cheap likeness of the sigmoid: `0.2 * x + 0.5`, within 0 and 1.

    Args:
        x: tensor; integers are taken as floats.

    Returns:
        Float tensor of the shape of `x`. At exactly -2.5 and 2.5 the gradient is 0.2.

    >>> from kameleon import backend as K
    >>> K.eval(K.hard_sigmoid(K.constant([-3., 0., 1., 3.])))
    array([0. , 0.5, 0.7, 1. ], dtype=float32)
    """
    x = as_float(x, "hard_sigmoid")
    line = ew.add(scaled(x, 0.2), full_like(x, 0.5))
    return ew.clip_by(line, full_like(line, 0), full_like(line, 1))


def tanh(x: TensorLike) -> Tensor:
    """The hyperbolic tangent of each element.

    Args:
        x: tensor; integers are taken as floats.

    Returns:
        Float tensor of the shape of `x`, between -1 and 1.

    >>> from kameleon import backend as K
    >>> K.eval(K.tanh(K.constant([-1000., 0., 1000.])))
    array([-1.,  0.,  1.], dtype=float32)
    """
    return ew.tanh(as_float(x, "tanh"))
