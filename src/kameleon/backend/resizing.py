"""Resizing, repeating and padding tensors, and counting."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np

from ..config import normalize_data_format
from ..errors import ArgumentError, ShapeError, UnsupportedError
from ..graph.ir.node import Node
from ..graph.ir.types import INT32, DType, as_dtype, show_shape
from ..graph.primitives import elementwise as ew
from ..graph.primitives.indexing import one_hot as one_hot_primitive
from ..graph.primitives.movement import broadcast_to, iota, pad
from ..graph.primitives.movement import expand_dims as insert_axis
from ._literals import DataFormat, Interpolation
from ._older import older_names
from ._repeat import interpolated, repeated, tiled
from ._tensors import (
    Tensor,
    TensorLike,
    as_float,
    as_tensor,
    axis_of,
    check_sizes,
    dims_from,
    floatx,
    promoted,
    size_or_node,
)

__all__ = [
    "resize_images",
    "resize_volumes",
    "repeat_elements",
    "repeat",
    "arange",
    "tile",
    "temporal_padding",
    "spatial_2d_padding",
    "spatial_3d_padding",
    "one_hot",
]


# Repeating --------------------------------------------------------------------------------


def _factors(values: Sequence[Any], names: Sequence[str], what: str) -> list[int]:
    """Positive ints, as factors of a size."""
    factors = []
    for value, name in zip(values, names, strict=True):
        number = value.item() if isinstance(value, np.ndarray) and not value.ndim else value
        if not isinstance(number, Real) or number % 1 or number < 1:
            raise ArgumentError(f"{what}: {name} is {value!r}; expected a positive integer")
        factors.append(int(float(number)))
    return factors


def _resized(
    what: str, x: Node, factors: Sequence[int], data_format: str | None, smooth: bool
) -> Node:
    layout = normalize_data_format(data_format, what)
    if len(x.shape) != len(factors) + 2:
        raise ShapeError(
            f"{what}: a tensor with {len(factors) + 2} axes was expected, got shape"
            f" {show_shape(x.shape)}"
        )
    first = 2 if layout == "channels_first" else 1
    for number, factor in reversed(list(enumerate(factors))):
        axis = first + number
        x = interpolated(x, axis, factor) if smooth else repeated(x, axis, factor, whole=False)
    return x


def resize_images(
    x: TensorLike,
    height_factor: int,
    width_factor: int,
    data_format: DataFormat | None,
    interpolation: Interpolation = "nearest",
) -> Tensor:
    """Images enlarged by whole factors.

    Args:
        x: tensor (batch, rows, columns, channels), or (batch, channels, rows, columns) with
            channels first.
        height_factor, width_factor: positive integers.
        data_format: 'channels_last' or 'channels_first'.
        interpolation: 'nearest' repeats each pixel; 'bilinear' puts pixel i of an axis at
            i * factor and mixes linearly in between (and makes floats of integers).

    Returns:
        Tensor in the layout of `x`.

    Raises:
        ArgumentError: an unknown layout or interpolation; a factor that's no positive integer.

    >>> from kameleon import backend as K
    >>> x = K.reshape(K.constant([1., 3.]), (1, 1, 2, 1))
    >>> K.flatten(K.resize_images(x, 1, 2, 'channels_last')).eval()
    array([1., 1., 3., 3.], dtype=float32)
    >>> K.flatten(K.resize_images(x, 1, 2, 'channels_last', 'bilinear')).eval()
    array([1., 2., 3., 3.], dtype=float32)
    """
    what = "resize_images"
    if interpolation not in ("nearest", "bilinear"):
        raise ArgumentError(
            f"{what}: interpolation is {interpolation!r}; expected 'nearest' or 'bilinear'"
        )
    names = ("height_factor", "width_factor")
    factors = _factors((height_factor, width_factor), names, what)
    smooth = interpolation == "bilinear"
    node = as_float(x, what) if smooth else as_tensor(x, what)
    return _resized(what, node, factors, data_format, smooth)


@older_names(X="x")
def resize_volumes(
    x: TensorLike,
    depth_factor: int,
    height_factor: int,
    width_factor: int,
    data_format: DataFormat | None,
) -> Tensor:
    """Volumes enlarged by whole factors: each cell is repeated.

    Args:
        x: tensor (batch, depth, rows, columns, channels), or with channels first; also called
            `X`.
        depth_factor, height_factor, width_factor: positive integers.
        data_format: 'channels_last' or 'channels_first'.

    Returns:
        Tensor in the layout of `x`.

    Raises:
        ArgumentError: an unknown layout; a factor that's no positive integer.

    >>> from kameleon import backend as K
    >>> K.int_shape(K.resize_volumes(K.zeros((1, 2, 2, 2, 3)), 1, 2, 3, 'channels_last'))
    (1, 2, 4, 6, 3)
    """
    what = "resize_volumes"
    names = ("depth_factor", "height_factor", "width_factor")
    factors = _factors((depth_factor, height_factor, width_factor), names, what)
    return _resized(what, as_tensor(x, what), factors, data_format, smooth=False)


def repeat_elements(x: TensorLike, rep: int, axis: int) -> Tensor:
    """Each element of an axis repeated.

    Args:
        x: a tensor.
        rep: how often.
        axis: the axis; negative ones count from the end.

    Returns:
        Tensor whose size along `axis` is `rep` times that of `x`.

    Raises:
        ShapeError: there is no such axis; `rep` is negative.

    >>> from kameleon import backend as K
    >>> K.eval(K.repeat_elements(K.constant([1., 2.]), 2, axis=0))
    array([1., 1., 2., 2.], dtype=float32)

    Source: `numpy.repeat`.
    """
    x = as_tensor(x, "repeat_elements")
    (count,) = check_sizes([size_or_node(rep, "repeat_elements")], "repeat_elements")
    made = repeated(x, axis_of(x, axis, "repeat_elements"), count, whole=False)
    if hasattr(x, "_keras_shape"):  # layers of Keras 2 read it
        made._keras_shape = made.type.shape
    return made


def repeat(x: TensorLike, n: int) -> Tensor:
    """Each sample of a matrix repeated along a new axis in the middle.

    Args:
        x: tensor (samples, dim).
        n: how often.

    Returns:
        Tensor (samples, n, dim).

    Raises:
        ShapeError: `x` doesn't have two axes.

    >>> from kameleon import backend as K
    >>> K.int_shape(K.repeat(K.zeros((2, 3)), 4))
    (2, 4, 3)
    """
    x = as_tensor(x, "repeat")
    if len(x.shape) != 2:
        raise ShapeError(
            f"repeat: a matrix (samples, dim) was expected, got shape {show_shape(x.shape)};"
            " K.repeat_elements and K.tile take any rank"
        )
    (count,) = check_sizes([size_or_node(n, "repeat")], "repeat")
    return repeated(insert_axis(x, 1), 1, count, whole=True)


def tile(x: TensorLike, n: Any) -> Tensor:
    """Tile `x`: repeat it as a whole along its axes.

    Args:
        x: a tensor.
        n: how often along each axis: ints and scalar tensors, or a 1-D integer tensor. Where
            there are fewer counts than axes, they are for the last axes; a single int is for the
            last axis.

    Returns:
        Tensor whose sizes are those of `x` times `n`.

    Raises:
        UnsupportedError: (a NotImplementedError) `n` has more elements than `x` has axes.
        ShapeError: a negative count.

    >>> from kameleon import backend as K
    >>> K.eval(K.tile(K.constant([[1., 2.]]), (2, 2)))
    array([[1., 2., 1., 2.],
           [1., 2., 1., 2.]], dtype=float32)
    """
    x = as_tensor(x, "tile")
    scalar = isinstance(n, Node) and n.shape == ()
    counts = check_sizes(dims_from([n] if scalar else n, "tile"), "tile")
    missing = len(x.shape) - len(counts)
    if missing < 0:
        raise UnsupportedError(
            f"tile: n has {len(counts)} elements for a tensor with {len(x.shape)} axes; expected"
            " at most one for each axis; K.expand_dims adds axes"
        )
    return tiled(x, [*[1] * missing, *counts])


# Sequences --------------------------------------------------------------------------------


def arange(start: Any, stop: Any = None, step: Any = 1, dtype: Any = "int32") -> Tensor:
    """The numbers `start`, `start + step` … before `stop`.

    Args:
        start: the first number; without `stop`, this is where to stop, and 0 the first number.
        stop: where to stop, exclusive.
        step: the difference of neighbours, not 0.
        dtype: element type. With the default, bounds that aren't int32 keep their own dtype:
            floats make floats.

    Returns:
        Tensor (n,); empty where stop doesn't lie beyond start.

    Raises:
        ArgumentError: `step` is 0.

    >>> from kameleon import backend as K
    >>> K.eval(K.arange(2, 9, 3))
    array([2, 5, 8], dtype=int32)

    Source: `numpy.arange`.
    """
    first, last = (0, start) if stop is None else (start, stop)
    kind = as_dtype(dtype)
    if not any(isinstance(bound, Node) for bound in (first, last, step)):
        return _known_range(first, last, step, kind)
    bounds = promoted((first, last, step), "arange")
    return ew.cast(_open_range(*bounds), bounds[0].dtype if kind == INT32 else kind)


def _known_range(first: Any, last: Any, step: Any, dtype: DType) -> Node:
    if step == 0:
        raise ArgumentError("arange: step is 0; the numbers would never reach stop")
    numbers = np.arange(first, last, step)
    floats = numbers.dtype.kind == "f" and dtype == INT32
    return ew.constant(numbers, floatx() if floats else dtype)


def _open_range(first: Node, last: Node, step: Node) -> Node:
    """A range with bounds known only at run time: max(0, ceil((last - first) / step)) numbers."""
    if any(b.shape != () for b in (first, last, step)):
        raise ShapeError("arange: start, stop and step must be scalars")
    back = ew.sub(first, last)
    if first.dtype.is_float:
        count = ew.neg(ew.floor(ew.div(back, step)))
    else:
        count = ew.neg(ew.floor_div(back, step))
    size = ew.maximum(ew.cast(count, INT32), ew.constant(0, INT32))
    numbers = iota([size], 0, first.dtype)
    stretched = [broadcast_to(b, [size]) for b in (first, step)]
    return ew.add(stretched[0], ew.mul(numbers, stretched[1]))


def one_hot(indices: TensorLike, num_classes: int) -> Tensor:
    """One-hot encoding: 1 at each index along a new last axis, 0 elsewhere.

    Args:
        indices: integer tensor of any shape.
        num_classes: the size of the new axis.

    Returns:
        Float tensor of the shape of `indices`, then `num_classes`; where an index is out of
        range, all are 0.

    Raises:
        DTypeError: `indices` aren't integers.

    >>> from kameleon import backend as K
    >>> K.eval(K.one_hot([0, 2], 3))
    array([[1., 0., 0.],
           [0., 0., 1.]], dtype=float32)
    """
    index = as_tensor(indices, "one_hot")
    (classes,) = check_sizes([size_or_node(num_classes, "one_hot")], "one_hot")
    return one_hot_primitive(index, classes, floatx())


# Padding ----------------------------------------------------------------------------------


def _padded(what: str, x: TensorLike, padding: Any, data_format: str | None, rank: int) -> Node:
    """`x` with zeros around its spatial axes."""
    node, layout = as_tensor(x, what), normalize_data_format(data_format, what)
    try:
        margins = [(int(a), int(b)) for a, b in padding]
    except (TypeError, ValueError):
        margins = []
    if len(margins) != rank or any(min(m) < 0 for m in margins):
        raise ArgumentError(
            f"{what}: padding is {padding!r}; expected (before, after) for each of {rank} axes,"
            " none of them negative"
        )
    if len(node.shape) != rank + 2:
        raise ShapeError(
            f"{what}: a tensor with {rank + 2} axes was expected, got {show_shape(node.shape)}"
        )
    none = (0, 0)
    if layout == "channels_first":
        return pad(node, [none, none, *margins])
    return pad(node, [none, *margins, none])


def temporal_padding(x: TensorLike, padding: Any = (1, 1)) -> Tensor:
    """Temporal padding: zeros before and after the middle axis of `x`.

    Args:
        x: tensor (batch, steps, channels).
        padding: how many zeros before and after.

    Returns:
        Tensor (batch, more steps, channels).

    Raises:
        ArgumentError: a padding that isn't a pair of ints.

    >>> from kameleon import backend as K
    >>> K.int_shape(K.temporal_padding(K.zeros((2, 3, 4)), (0, 2)))
    (2, 5, 4)
    """
    return _padded("temporal_padding", x, (padding,), "channels_last", 1)


def spatial_2d_padding(
    x: TensorLike, padding: Any = ((1, 1), (1, 1)), data_format: DataFormat | None = None
) -> Tensor:
    """Spatial padding: zeros around the two spatial axes of `x`.

    Args:
        x: tensor (batch, rows, columns, channels), or with channels first.
        padding: how many zeros before and after, for each spatial axis.
        data_format: 'channels_last' or 'channels_first'; the default one, if None.

    Returns:
        Tensor in the layout of `x`.

    Raises:
        ArgumentError: an unknown layout; a padding that isn't two pairs of ints.

    >>> from kameleon import backend as K
    >>> K.int_shape(K.spatial_2d_padding(K.zeros((1, 2, 3, 1)), ((1, 1), (0, 2))))
    (1, 4, 5, 1)
    """
    return _padded("spatial_2d_padding", x, padding, data_format, 2)


def spatial_3d_padding(
    x: TensorLike, padding: Any = ((1, 1), (1, 1), (1, 1)), data_format: DataFormat | None = None
) -> Tensor:
    """Spatial padding: zeros around the three spatial axes of `x`.

    Args:
        x: tensor (batch, *space, channels), or (batch, channels, *space) with channels first.
        padding: how many zeros before and after, for each spatial axis.
        data_format: 'channels_last' or 'channels_first'; the default one, if None.

    Returns:
        Tensor in the layout of `x`.

    Raises:
        ArgumentError: an unknown layout; a padding that isn't three pairs of ints.

    >>> from kameleon import backend as K
    >>> K.int_shape(K.spatial_3d_padding(K.zeros((1, 2, 2, 2, 1))))
    (1, 4, 4, 4, 1)
    """
    return _padded("spatial_3d_padding", x, padding, data_format, 3)
