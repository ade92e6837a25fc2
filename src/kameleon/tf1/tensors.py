"""Functions of TensorFlow 1 over K functions: conventions, shapes, choosing and making tensors.

The module `tensorflow` has the tables of the names by which programs call these functions.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..backend import surface as K
from ..backend._known import known_int
from ..backend._tensors import as_tensor, broadcast_together, floatx, size_or_node
from ..errors import ArgumentError, ShapeError
from ..ir.node import Node
from ..ir.types import DType, normalize_axes
from ..prims import elementwise as ew
from ..prims.indexing import argsort, falling, nonzero, take_along
from ..prims.indexing import top_k as largest
from ..prims.movement import broadcast_to, move_axis, slice_axis
from ..prims.sizes import dims_of
from .graph import remember
from .shapes import TensorShape
from .static import static_value

# Conventions --------------------------------------------------------------------------------


def unary(function: Callable[[Any], Any]) -> Callable[..., Any]:
    """`function(x)`, whatever the program calls `x`; the argument `name` has no effect."""

    def call(*x: Any, name: str | None = None, **named: Any) -> Any:
        given = (*x, *named.values())
        if len(given) != 1:
            raise TypeError(f"this function takes one tensor, but {len(given)} were given")
        return function(as_tensor(given[0], "K.tf"))

    return call


def extremum(function: Callable[..., Any], largest: bool) -> Callable[..., Any]:
    """K.max or K.min; where there is nothing, the least or the largest number, as TensorFlow's."""

    def call(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
        x = as_tensor(x, "tf.reduce_max" if largest else "tf.reduce_min")
        axes = range(len(x.shape)) if axis is None else normalize_axes("tf", axis, len(x.shape))
        number = extreme(x.dtype, not largest)
        for along in (a for a in axes if not x.shape[a]):  # only there it could be nothing
            sizes = [1 if i == along else size for i, size in enumerate(dims_of(x))]
            x = K.concatenate([x, broadcast_to(K.constant(number, x.dtype), sizes)], along)
        return function(x, axis=axis, keepdims=keepdims)

    return call


def extreme(dtype: DType, largest: bool) -> Any:
    """The largest or least number of a dtype."""
    if dtype.is_float:
        return np.inf if largest else -np.inf
    bounds = np.iinfo(str(dtype))
    return bounds.max if largest else bounds.min


largest_of, least_of = extremum(K.max, True), extremum(K.min, False)


def known_axes(axis: Any) -> Any:
    """Axes that are given as a tensor, in numbers, where they're known before the graph runs."""
    if not isinstance(axis, Node):
        return axis
    found = static_value(axis)
    return axis if found is None else found.tolist()


def reduction(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(
        input_tensor: Any,
        axis: Any = None,
        keepdims: bool | None = None,
        name: str | None = None,
        reduction_indices: Any = None,
        keep_dims: bool | None = None,
    ) -> Any:
        axis = known_axes(reduction_indices if axis is None else axis)
        return function(input_tensor, axis=axis, keepdims=bool(keepdims or keep_dims))

    return call


def index(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(
        input: Any, axis: int | None = None, name: str | None = None, dimension: int | None = None,
        output_type: Any = "int64",
    ) -> Any:  # fmt: skip
        axis = dimension if axis is None else axis
        return K.cast(function(input, axis=axis or 0), output_type)

    return call


def without_name(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*args: Any, name: str | None = None, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return call


# Shapes -------------------------------------------------------------------------------------


def drawn(function: Callable[..., Any]) -> Callable[..., Any]:
    """A K function of a shape, which may be a placeholder too."""
    named = without_name(function)

    @functools.wraps(function)
    def call(shape: Any, *args: Any, **kwargs: Any) -> Any:
        return named(shape_in(shape), *args, **kwargs)

    return call


def shape_in(value: Any) -> Any:
    """What stands for a shape. A placeholder without a shape is a scalar here, so it stands for a
    shape of one size, as an int does; a run may be fed that size in a list, too.
    """
    if isinstance(value, Node) and value.__dict__.get("without_shape"):
        value.__dict__["is_a_size"] = True
        return [value]
    return value


def known(x: Any, axis: int, what: str) -> int:
    size = K.int_shape(x)[axis]
    if size is None:
        raise ShapeError(
            f"{what}: axis {axis} of {x!r} must have a known size; K.reshape gives one"
        )
    return int(size)


# Choosing elements --------------------------------------------------------------------------


def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Any:
    """With three arguments a choice; with one the indices of the true elements, a row each."""
    if x is None and y is None:
        return nonzero(as_tensor(condition, "tf.where"))
    condition, x, y = (as_tensor(a, "tf.where") for a in (condition, x, y))
    return K.switch(condition, x, y)


def running(function: Callable[..., Any], start: int) -> Callable[..., Any]:
    """Running sums or products; `start` is what there is of nothing."""

    def call(x: Any, axis: int = 0, exclusive: bool = False, reverse: bool = False) -> Any:
        given = as_tensor(x, "tf.cumsum")
        (along,) = normalize_axes("tf.cumsum", axis, len(given.shape))
        turned = K.reverse(given, along) if reverse else given
        found = function(turned, along)
        if exclusive:
            first = slice_axis(K.zeros_like(turned) + start, along, None, 1)
            found = K.concatenate([K.cast(first, found.dtype), slice_axis(found, along, None, -1)],
                                  along)  # fmt: skip
        return K.reverse(found, along) if reverse else found

    return call


def gather(params: Any, indices: Any, axis: int | None = 0, batch_dims: int = 0) -> Any:
    params = as_tensor(params, "tf.gather")
    if batch_dims:
        raise ArgumentError("tf.gather: batch_dims isn't there; use tf.batch_gather")
    if isinstance(axis, Node):
        axis = known_int(axis)
        if axis is None:
            raise ArgumentError("tf.gather: the axis must be known when the graph is built")
    if not axis:
        return K.gather(params, indices)
    indices = as_tensor(indices, "tf.gather")
    (axis,) = normalize_axes("tf.gather", axis, len(params.shape))
    return params[(*[slice(None)] * axis, indices)]


def gather_nd(params: Any, indices: Any, name: str | None = None, batch_dims: int = 0) -> Any:
    """The elements, or slices, of `params` at the indices that the rows of `indices` hold. Where
    their length is known at run time only, they're taken to name whole elements.
    """
    if batch_dims:
        raise ArgumentError("tf.gather_nd: batch_dims isn't there; use K.map_fn, or K.gather")
    params, indices = as_tensor(params, "tf.gather_nd"), as_tensor(indices, "tf.gather_nd")
    indices = K.cast(indices, "int64")
    depth = indices.shape[-1]
    if depth is None:
        depth, rows = len(params.shape), K.shape(indices)
        indices = K.reshape(indices, [*(rows[i] for i in range(len(indices.shape) - 1)), depth])
    sizes = K.shape(params)
    flat: Any = indices[..., 0]
    for axis in range(1, depth):
        flat = flat * K.cast(sizes[axis], "int64") + indices[..., axis]
    rest = [sizes[axis] for axis in range(depth, len(params.shape))]
    rows = K.reshape(params, [-1, *rest])
    return K.gather(rows, flat)


def boolean_mask(tensor: Any, mask: Any, axis: int | None = None) -> Any:
    """The slices at which the mask is true; its axes are those of the tensor from `axis` on."""
    x, held = as_tensor(tensor, "tf.boolean_mask"), as_tensor(mask, "tf.boolean_mask")
    if not axis:
        return gather_nd(x, nonzero(held))
    (at,) = normalize_axes("tf.boolean_mask", axis, len(x.shape))
    sizes = dims_of(x)
    count = len(held.shape)
    flat = K.reshape(x, [*sizes[:at], -1, *sizes[at + count :]])
    places = nonzero(K.reshape(held, (-1,)))[:, 0]
    return flat[(*[slice(None)] * at, places)]


class TopK(NamedTuple):
    """The largest elements of each row, and where they are."""

    values: Any
    indices: Any


def top_k(input: Any, k: Any = 1, sorted: bool = True, name: str | None = None) -> TopK:
    """The `k` largest of each row, in order; `k` may be a tensor."""
    x, count = as_tensor(input, "tf.nn.top_k"), size_or_node(k, "tf.nn.top_k")
    if isinstance(count, int):
        values, indices = (_of_length(y, count) for y in largest(x, count))
    else:
        axis = len(x.shape) - 1
        indices = argsort(falling(x), axis=axis)[..., :count]
        values = take_along(x, indices, axis)
    return TopK(values, K.cast(indices, "int32"))


def _of_length(x: Any, size: int) -> Any:
    """With a last axis of a known size."""
    return x if x.shape[-1] is not None else K.reshape(x, [*dims_of(x)[:-1], size])


def one_hot(
    indices: Any, depth: int, on_value: Any = None, off_value: Any = None, axis: int | None = None,
    dtype: Any = None, name: str | None = None,
) -> Any:  # fmt: skip
    x = as_tensor(indices, "tf.one_hot")
    hot = K.one_hot(K.cast(x, "int32"), depth)
    values = [v for v in (on_value, off_value) if v is not None]
    kind = dtype or (as_tensor(values[0], "tf.one_hot").dtype if values else floatx())
    if values:
        ends = [1 if on_value is None else on_value, 0 if off_value is None else off_value]
        on, off = (as_tensor(v, "tf.one_hot", kind) for v in ends)
        flags = K.cast(hot, "bool")
        found = ew.select(*broadcast_together([flags, on, off], "tf.one_hot"))
    else:
        found = K.cast(hot, kind)
    rank = len(x.shape)
    return found if axis in (None, -1, rank) else move_axis(found, rank, axis)


# Making tensors -----------------------------------------------------------------------------


def placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> Any:
    """An input. Without a shape it's a scalar, as what such inputs stand for mostly is. One of
    strings takes the handle of an iterator, which is a number here.
    """
    of_strings = dtype == "string"
    dtype = "int64" if of_strings else dtype
    sizes = () if shape is None else tuple(TensorShape(shape).as_list())
    made = remember(K.placeholder(shape=sizes, dtype=dtype, name=name or "Placeholder"))
    made.without_shape, made.of_strings = shape is None, of_strings
    return made


def placeholder_with_default(input: Any, shape: Any, name: str | None = None) -> Any:
    """An input that has a value where none is fed."""
    value = constant(input) if not K.is_tensor(input) else input
    return remember(K.identity(value, name=name or "PlaceholderWithDefault"))


def set_random_seed(seed: int) -> None:
    """Make what's drawn from here on repeatable: the seed goes to NumPy's global generator, which
    gives each random tensor without a seed of its own one.
    """
    np.random.seed(seed % 2**32)


def constant(value: Any, dtype: Any = None, shape: Any = None, name: str | None = "Const") -> Any:
    if dtype is None and np.asarray(value).dtype.kind in "iu":
        dtype = "int32"
    return K.constant(value, dtype=dtype, shape=shape)
