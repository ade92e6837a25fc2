"""Functions that act on each element, and comparisons. Operands broadcast."""

from __future__ import annotations

from ..graph.primitives import elementwise as ew
from ..graph.primitives.control import identity
from ..graph.primitives.division import checked_power
from ..graph.primitives.filling import full_like
from ._tensors import Tensor, TensorLike, as_float, as_number, binary

__all__ = [
    "square",
    "abs",
    "sqrt",
    "exp",
    "log",
    "round",
    "sign",
    "pow",
    "clip",
    "equal",
    "not_equal",
    "greater",
    "greater_equal",
    "less",
    "less_equal",
    "maximum",
    "minimum",
    "sin",
    "cos",
]


# One operand -------------------------------------------------------------------------------


def square(x: TensorLike) -> Tensor:
    """The square of each element.

    Args:
        x: tensor of numbers.

    Returns:
        Tensor of the shape and dtype of `x`.

    >>> from kameleon import backend as K
    >>> K.eval(K.square(K.constant([-3., 2.])))
    array([9., 4.], dtype=float32)
    """
    return ew.square(as_number(x, "square"))


def abs(x: TensorLike) -> Tensor:
    """The absolute value of each element; its gradient at 0 is 0.

    Args:
        x: tensor of numbers.

    Returns:
        Tensor of the shape and dtype of `x`.

    >>> from kameleon import backend as K
    >>> K.eval(K.abs(K.constant([-3., 2.])))
    array([3., 2.], dtype=float32)
    """
    return ew.abs(as_number(x, "abs"))


def sqrt(x: TensorLike) -> Tensor:
    """The square root of each element, 0 for negative ones.

    Args:
        x: tensor; integers are taken as floats.

    Returns:
        Float tensor of the shape of `x`. Its gradient is infinite at 0, and 0 below.

    >>> from kameleon import backend as K
    >>> K.eval(K.sqrt(K.constant([4., -1.])))
    array([2., 0.], dtype=float32)
    """
    x = as_float(x, "sqrt")
    return ew.sqrt(ew.maximum(x, full_like(x, 0)))


def exp(x: TensorLike) -> Tensor:
    """The exponential of each element; infinite where that overflows.

    Args:
        x: tensor; integers are taken as floats.

    Returns:
        Float tensor of the shape of `x`.

    >>> from kameleon import backend as K
    >>> K.eval(K.exp(K.constant([0., float('-inf')])))
    array([1., 0.], dtype=float32)
    """
    return ew.exp(as_float(x, "exp"))


def log(x: TensorLike) -> Tensor:
    """The natural logarithm of each element: -inf at 0, NaN below.

    Args:
        x: tensor; integers are taken as floats.

    Returns:
        Float tensor of the shape of `x`.

    >>> from kameleon import backend as K
    >>> K.eval(K.log(K.constant([1., 0.])))
    array([  0., -inf], dtype=float32)
    """
    return ew.log(as_float(x, "log"))


def round(x: TensorLike) -> Tensor:
    """The nearest whole number; halves go to the even one. Its gradient is 0.

    Args:
        x: tensor of numbers.

    Returns:
        Tensor of the shape and dtype of `x`.

    >>> from kameleon import backend as K
    >>> K.eval(K.round(K.constant([0.5, 1.5, -2.6])))
    array([ 0.,  2., -3.], dtype=float32)
    """
    x = as_number(x, "round")
    return ew.round(x) if x.dtype.is_float else identity(x)


def sign(x: TensorLike) -> Tensor:
    """The sign of each element: -1, 0 or 1 as it is negative, zero or positive. Its gradient is 0.

    Args:
        x: tensor of numbers.

    Returns:
        Tensor of the shape and dtype of `x`.

    >>> from kameleon import backend as K
    >>> K.eval(K.sign(K.constant([-3., 0., 2.])))
    array([-1.,  0.,  1.], dtype=float32)
    """
    return ew.sign(as_number(x, "sign"))


def pow(x: TensorLike, a: TensorLike) -> Tensor:
    """The power of each element of `x` to the exponent `a`.

    Args:
        x: tensor of numbers.
        a: number or tensor: the exponent. Integers to a negative power are an error at run time.

    Returns:
        Tensor of the common shape.

    Raises:
        ShapeError: the shapes don't broadcast.

    >>> from kameleon import backend as K
    >>> K.eval(K.pow(K.constant([2., 3.]), 3))
    array([ 8., 27.], dtype=float32)
    """
    return binary(checked_power, x, a, "pow")


def clip(x: TensorLike, min_value: TensorLike, max_value: TensorLike) -> Tensor:
    """Each element, but at least `min_value` and at most `max_value`.

    Args:
        x: tensor of numbers.
        min_value: number or tensor; None where there is no lower bound.
        max_value: number or tensor; None where there is no upper bound. A number below
            `min_value` is taken as `min_value`.

    Returns:
        Tensor of the common shape. At exactly a bound the gradient goes to `x`.

    Raises:
        ShapeError: the shapes don't broadcast.

    >>> from kameleon import backend as K
    >>> K.eval(K.clip(K.constant([-3., 0.5, 2.]), 0., 1.))
    array([0. , 0.5, 1. ], dtype=float32)
    """
    x = as_number(x, "clip")
    numbers = (int, float)
    if isinstance(min_value, numbers) and isinstance(max_value, numbers) and max_value < min_value:
        max_value = min_value
    y = x
    if min_value is not None:
        y = binary(ew.maximum, y, min_value, "clip")
    if max_value is not None:
        y = binary(ew.minimum, y, max_value, "clip")
    return identity(x) if y is x else y


# Comparisons -------------------------------------------------------------------------------


def equal(x: TensorLike, y: TensorLike) -> Tensor:
    """Whether x == y, element by element. NaN equals nothing.

    Args:
        x: number or tensor.
        y: number or tensor.

    Returns:
        Bool tensor of the common shape.

    Raises:
        ShapeError: the shapes don't broadcast.

    >>> from kameleon import backend as K
    >>> K.eval(K.equal(K.constant([1., 2.]), 2.))
    array([False,  True])
    """
    return binary(ew.eq, x, y, "equal")


def not_equal(x: TensorLike, y: TensorLike) -> Tensor:
    """Whether x != y, element by element.

    Args:
        x: number or tensor.
        y: number or tensor.

    Returns:
        Bool tensor of the common shape.

    Raises:
        ShapeError: the shapes don't broadcast.

    >>> from kameleon import backend as K
    >>> K.eval(K.not_equal(K.constant([1., 2.]), 2.))
    array([ True, False])
    """
    return binary(ew.ne, x, y, "not_equal")


def greater(x: TensorLike, y: TensorLike) -> Tensor:
    """Whether x > y, element by element.

    Args:
        x: number or tensor.
        y: number or tensor.

    Returns:
        Bool tensor of the common shape.

    Raises:
        ShapeError: the shapes don't broadcast.

    >>> from kameleon import backend as K
    >>> K.eval(K.greater(K.constant([1., 2., 3.]), 2.))
    array([False, False,  True])
    """
    return binary(ew.gt, x, y, "greater")


def greater_equal(x: TensorLike, y: TensorLike) -> Tensor:
    """Whether x >= y, element by element.

    Args:
        x: number or tensor.
        y: number or tensor.

    Returns:
        Bool tensor of the common shape.

    Raises:
        ShapeError: the shapes don't broadcast.

    >>> from kameleon import backend as K
    >>> K.eval(K.greater_equal(K.constant([1., 2., 3.]), 2.))
    array([False,  True,  True])
    """
    return binary(ew.ge, x, y, "greater_equal")


def less(x: TensorLike, y: TensorLike) -> Tensor:
    """Whether x < y, element by element.

    Args:
        x: number or tensor.
        y: number or tensor.

    Returns:
        Bool tensor of the common shape.

    Raises:
        ShapeError: the shapes don't broadcast.

    >>> from kameleon import backend as K
    >>> K.eval(K.less(K.constant([1., 2., 3.]), 2.))
    array([ True, False, False])
    """
    return binary(ew.lt, x, y, "less")


def less_equal(x: TensorLike, y: TensorLike) -> Tensor:
    """Whether x <= y, element by element.

    Args:
        x: number or tensor.
        y: number or tensor.

    Returns:
        Bool tensor of the common shape.

    Raises:
        ShapeError: the shapes don't broadcast.

    >>> from kameleon import backend as K
    >>> K.eval(K.less_equal(K.constant([1., 2., 3.]), 2.))
    array([ True,  True, False])
    """
    return binary(ew.le, x, y, "less_equal")


# Two operands ------------------------------------------------------------------------------


def maximum(x: TensorLike, y: TensorLike) -> Tensor:
    """The larger of `x` and `y`, element by element; NaN where either is.

    Args:
        x: number or tensor.
        y: number or tensor.

    Returns:
        Tensor of the common shape. Where both are equal, the gradient goes to `x`.

    Raises:
        ShapeError: the shapes don't broadcast.

    >>> from kameleon import backend as K
    >>> K.eval(K.maximum(K.constant([1., 5.]), K.constant([3., 2.])))
    array([3., 5.], dtype=float32)
    """
    return binary(ew.maximum, x, y, "maximum")


def minimum(x: TensorLike, y: TensorLike) -> Tensor:
    """The smaller of `x` and `y`, element by element; NaN where either is.

    Args:
        x: number or tensor.
        y: number or tensor.

    Returns:
        Tensor of the common shape. Where both are equal, the gradient goes to `x`.

    Raises:
        ShapeError: the shapes don't broadcast.

    >>> from kameleon import backend as K
    >>> K.eval(K.minimum(K.constant([1., 5.]), K.constant([3., 2.])))
    array([1., 2.], dtype=float32)
    """
    return binary(ew.minimum, x, y, "minimum")


def sin(x: TensorLike) -> Tensor:
    """The sine of each element, in radians.

    Args:
        x: tensor; integers are taken as floats.

    Returns:
        Float tensor of the shape of `x`.

    >>> from kameleon import backend as K
    >>> K.eval(K.round(K.sin(K.constant([0., 1.57, 4.71]))))
    array([ 0.,  1., -1.], dtype=float32)
    """
    return ew.sin(as_float(x, "sin"))


def cos(x: TensorLike) -> Tensor:
    """The cosine of each element, in radians.

    Args:
        x: tensor; integers are taken as floats.

    Returns:
        Float tensor of the shape of `x`.

    >>> from kameleon import backend as K
    >>> K.eval(K.round(K.cos(K.constant([0., 3.14, 6.28]))))
    array([ 1., -1.,  1.], dtype=float32)
    """
    return ew.cos(as_float(x, "cos"))
