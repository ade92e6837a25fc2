"""TensorFlow 1's functions of shapes and order: reshaping, joining, cutting, padding, turning."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..backend import surface as K
from ..backend._tensors import as_tensor, axis_of, check_sizes, dims_from, promoted, size_or_node
from ..errors import ArgumentError, ShapeError
from ..ir.node import Node
from ..ir.types import DType, as_dtype, broadcast_shapes, join_shapes, normalize_axes
from ..prims.control import check
from ..prims.filling import full_like
from ..prims.movement import broadcast_like, concatenate, slice_axis
from ..prims.movement import broadcast_to as stretched
from ..prims.movement import pad as pad_constant
from ..prims.movement import reshape as reshaped
from ..prims.movement import transpose as transposed
from ..prims.sizes import Size, as_node, dims_of, size_of
from ..prims.stretching import stretch
from .calling import Leading, called
from .pending import applied, holds_words
from .static import static_value
from .tensors import shape_in

# Known numbers --------------------------------------------------------------------------------


def sizes_in(value: Any, what: str) -> list[Size]:
    """The elements of a list of ints and scalars, or of an integer vector; ints where known."""
    if isinstance(value, Node) and value.type.shape == (None,):
        found = static_value(value)
        value = value if found is None else found.tolist()
    return dims_from([value] if isinstance(value, int) else shape_in(value), what)


def ints_in(value: Any, what: str) -> list[int]:
    """The elements of what must be known when the graph is built."""
    found = sizes_in(value, what)
    if any(isinstance(size, Node) for size in found):
        raise ShapeError(f"{what}: {value!r} must be known when the graph is built")
    return [size for size in found if isinstance(size, int)]


def known(x: Any, axis: int, what: str) -> int:
    """A size that must be known when the graph is built."""
    size = K.int_shape(x)[axis]
    if size is None:
        raise ShapeError(
            f"{what}: axis {axis} of {x!r} must have a known size; K.reshape gives one"
        )
    return int(size)


# Shapes ---------------------------------------------------------------------------------------


def reshape(tensor: Any, shape: Any, what: str) -> Any:
    unknown = isinstance(shape, Node) and shape.type.shape == (None,)
    return K.reshape(as_tensor(tensor, what), sizes_in(shape, what) if unknown else shape)


def expand_dims(input: Any, axis: Any, what: str) -> Any:
    if axis is None:
        raise ArgumentError(f"{what}: give an axis")
    return K.expand_dims(as_tensor(input, what), int(ints_in(axis, what)[0]))


def squeeze(input: Any, axis: Any, what: str) -> Any:
    x = as_tensor(input, what)
    if axis is None or axis == []:
        axis = [i for i, size in enumerate(x.shape) if size == 1]
    for i in sorted(normalize_axes(what, axis, len(x.shape)), reverse=True):
        x = K.squeeze(x, i)
    return x


def shape(input: Any, out_type: Any, what: str) -> Any:
    parts = input.dense_shape if K.is_sparse(input) else K.shape(as_tensor(input, what))
    return K.cast(parts, out_type)


def shape_n(input: Any, out_type: Any, what: str) -> Any:
    return [shape(x, out_type, what) for x in input]


def rank(input: Any, what: str) -> Any:
    shape = input.shape if K.is_sparse(input) else as_tensor(input, what).shape
    return K.constant(len(shape), "int32")


def size(input: Any, out_type: Any, what: str) -> Any:
    return K.cast(K.size(as_tensor(input, what)), out_type)


def ensure_shape(x: Any, shape: Any, what: str) -> Any:
    """x, whose sizes must be those of `shape` where it has them."""
    x, wanted = as_tensor(x, what), tuple(shape)
    sizes = [None if s is None else int(s) for s in wanted]
    join_shapes(x.shape, tuple(sizes), what)
    for axis, size in enumerate(sizes):
        if size is not None and x.shape[axis] is None:
            same = K.equal(K.shape(x)[axis], size)
            x = check(x, same, message=f"{what}: axis {axis} doesn't have the size {size}")
    return K.reshape(x, [size_of(x, i) if s is None else s for i, s in enumerate(sizes)])


def broadcast_to(input: Any, shape: Any, what: str) -> Any:
    x, dims = as_tensor(input, what), sizes_in(shape, what)
    if all(isinstance(d, int) for d in dims):
        broadcast_shapes(what, x.shape, tuple(dims))  # type: ignore[arg-type]
    return stretch(x, dims)


def broadcast_dynamic_shape(shape_x: Any, shape_y: Any, what: str) -> Any:
    x, y = as_tensor(shape_x, what), as_tensor(shape_y, what)
    longest = max(known(x, 0, what), known(y, 0, what))
    a, b = (pad_constant(s, [(longest - known(s, 0, what), 0)], 1) for s in (x, y))
    return K.switch(K.equal(a, 1), b, a)


def _conjugated(a: Any, perm: Any, what: str) -> Any:
    x = as_tensor(a, what)
    return K.transpose(x) if perm is None else transposed(x, _permutation(perm, x, what))


def _permutation(perm: Any, x: Any, what: str) -> list[int]:
    axes = ints_in(perm, what)
    if sorted(axes) != list(range(len(x.shape))):
        raise ShapeError(f"{what}: perm {axes} doesn't name each axis of {x!r} once")
    return axes


def matrix_transpose(a: Any, what: str) -> Any:
    x = as_tensor(a, what)
    first = range(len(x.shape) - 2)
    if len(x.shape) < 2:
        raise ShapeError(f"{what}: a matrix was expected, not shape {x.shape}")
    return transposed(x, [*first, len(x.shape) - 1, len(x.shape) - 2])


# Joining and cutting --------------------------------------------------------------------------


def concat(values: Any, axis: Any, what: str) -> Any:
    if isinstance(values, int):  # before TensorFlow 1.0 the axis came first
        values, axis = axis, values
    items = list(values) if isinstance(values, (list, tuple)) else [values]
    of = next((x.dtype for x in items if isinstance(x, Node)), None)
    if of is not None:  # other parts become what the tensors are; a list of nothing says nothing
        items = [K.constant([], of) if _is_nothing(x) else x for x in items]
    tensors = promoted(items, what)
    if len(tensors) == 1:
        return K.identity(tensors[0])
    return K.concatenate(tensors, axis=axis_of(tensors[0], ints_in(axis, what)[0], what))


def _is_nothing(x: Any) -> bool:
    return isinstance(x, (list, tuple)) and not x


def stack(values: Any, axis: int, what: str) -> Any:
    if isinstance(values, Node):
        values = [values[i] for i in range(known(values, 0, what))]
    return K.stack(promoted(list(values), what), axis=axis)


def unstack(value: Any, num: Any, axis: int, what: str) -> Any:
    x = as_tensor(value, what)
    axis = axis_of(x, axis, what)
    count = known(x, axis, what) if num is None else int(num)
    return [K.squeeze(slice_axis(x, axis, i, i + 1), axis) for i in range(count)]


def split(value: Any, num_or_size_splits: Any, axis: Any, num: Any, what: str) -> Any:
    x = as_tensor(value, what)
    axis = axis_of(x, ints_in(axis, what)[0], what)
    parts = num_or_size_splits
    if not isinstance(parts, Node) and np.ndim(parts) == 0:
        return _equal_parts(x, int(parts), axis, what)
    if num is None and isinstance(parts, Node):
        num = known(parts, 0, what)
    sizes: list[Any] = sizes_in(parts, what)
    if -1 in sizes:
        rest = size_of(x, axis) - sum(s for s in sizes if s != -1)
        sizes = [rest if s == -1 else s for s in sizes]
    settled = isinstance(x.shape[axis], int) and all(isinstance(s, int) for s in sizes)
    if settled and sum(sizes) != x.shape[axis]:
        raise ShapeError(f"{what}: sizes {sizes} don't add up to axis {axis} of {x!r}")
    return _cut(x, axis, sizes)


def _equal_parts(x: Any, count: int, axis: int, what: str) -> list[Any]:
    whole = size_of(x, axis)
    if isinstance(whole, int) and whole % count:
        raise ShapeError(
            f"{what}: axis {axis} of shape {x.shape} doesn't fall into {count} equal parts"
        )
    return _cut(x, axis, [whole // count] * count)


def _cut(x: Any, axis: int, sizes: Sequence[Any]) -> list[Any]:
    edges: list[Any] = [0, *itertools.accumulate(sizes)]
    first = [slice(None)] * axis
    parts = [x[(*first, slice(a, b))] for a, b in itertools.pairwise(edges)]
    return [_sized(p, axis, s) for p, s in zip(parts, sizes, strict=True)]


def _sized(x: Any, axis: int, size: Any) -> Any:
    if x.shape[axis] is None and isinstance(size, int):
        return reshaped(x, [size if i == axis else d for i, d in enumerate(dims_of(x))])
    return x


def slice_(input_: Any, begin: Any, size: Any, what: str) -> Any:
    """`size` may hold -1: all that's left."""
    return K.slice(as_tensor(input_, what), begin, size)


def strided_slice(
    input_: Any, begin: Any, end: Any, strides: Any, begin_mask: int, end_mask: int,
    ellipsis_mask: int, new_axis_mask: int, shrink_axis_mask: int, what: str,
) -> Any:  # fmt: skip
    """Slices, written as lists of begins, ends and steps, with bits for what isn't one."""
    begins, ends = sizes_in(begin, what), sizes_in(end, what)
    steps = [1] * len(begins) if strides is None else sizes_in(strides, what)

    def key(i: int) -> Any:
        bit = 1 << i
        if ellipsis_mask & bit:
            return Ellipsis
        if new_axis_mask & bit:
            return None
        if shrink_axis_mask & bit:
            return begins[i]
        first = None if begin_mask & bit else begins[i]
        return slice(first, None if end_mask & bit else ends[i], steps[i])

    return as_tensor(input_, what)[tuple(key(i) for i in range(len(begins)))]


# Padding --------------------------------------------------------------------------------------


def pad(tensor: Any, paddings: Any, mode: str, constant_values: Any, what: str) -> Any:
    x = as_tensor(tensor, what)
    margins = _margins(paddings, what)
    if len(margins) != len(x.shape):
        raise ShapeError(f"{what}: {len(margins)} pairs of paddings for {x!r}")
    if mode.upper() == "CONSTANT":
        plain = all(isinstance(n, int) for pair in margins for n in pair)
        if plain and not isinstance(constant_values, Node):
            return pad_constant(x, margins, constant_values)
        return _padded(x, margins, constant_values)
    if mode.upper() not in MIRRORS:
        raise ArgumentError(f"{what}: mode is {mode!r}; there are CONSTANT, {', '.join(MIRRORS)}")
    for axis, margin in enumerate(margins):
        x = _mirrored(x, axis, margin, MIRRORS[mode.upper()])
    return x


def _margins(paddings: Any, what: str) -> list[Any]:
    if not isinstance(paddings, Node):
        return [tuple(size_or_node(n, what) for n in pair) for pair in paddings]
    rows = known(paddings, 0, what)
    return [tuple(sizes_in(paddings[i], what)) for i in range(rows)]


def _padded(x: Any, margins: Sequence[Any], value: Any) -> Any:
    for axis, pair in enumerate(margins):
        parts = [_band(x, axis, size, value) for size in pair]
        x = concatenate([parts[0], x, parts[1]], axis)
    return x


def _band(x: Any, axis: int, size: Any, value: Any) -> Any:
    dims = [size if i == axis else d for i, d in enumerate(dims_of(x))]
    return stretched(K.cast(as_tensor(value, "tf.pad"), x.dtype), dims)


# By mode of `pad`, how many elements at each end aren't repeated.
MIRRORS = {"REFLECT": 1, "SYMMETRIC": 0}


def _mirrored(x: Any, axis: int, margin: tuple[Any, Any], skip: int) -> Any:
    """With what lies at both ends of an axis once more, in reverse order."""
    size, (before, after) = x.shape[axis], margin
    least = max(margin) + skip if all(isinstance(n, int) for n in margin) else 0
    words = f"tf.pad: margins {margin} are too large for axis {axis}"
    if size is not None and size < least:
        raise ShapeError(f"{words} of {x!r}")
    if size is None:
        x = check(x, K.greater_equal(K.shape(x)[axis], least), message=words)
    whole, first = size_of(x, axis), [slice(None)] * axis
    parts = [x]
    if not (isinstance(before, int) and before == 0):
        start = x[(*first, slice(skip, before + skip))]
        parts.insert(0, _sized(K.reverse(start, axis), axis, before))
    if not (isinstance(after, int) and after == 0):
        end = x[(*first, slice(whole - after - skip, whole - skip))]
        parts.append(_sized(K.reverse(end, axis), axis, after))
    return K.concatenate(parts, axis=axis)


# Order ----------------------------------------------------------------------------------------


def reverse(tensor: Any, axis: Any, what: str) -> Any:
    x = as_tensor(tensor, what)
    return K.reverse(x, list(normalize_axes(what, ints_in(axis, what), len(x.shape))))


def roll(input: Any, shift: Any, axis: Any, what: str) -> Any:
    """The elements moved along axes, those that leave at one end coming in at the other."""
    x = as_tensor(input, what)
    shifts, axes = sizes_in(shift, what), ints_in(axis, what)
    for by, along in zip(shifts, axes, strict=True):
        i = axis_of(x, along, what)
        count = size_of(x, i)
        at: Any = count - by % count
        first = [slice(None)] * i
        turned = K.concatenate([x[(*first, slice(at, None))], x[(*first, slice(0, at))]], axis=i)
        x = reshaped(turned, dims_of(x))
    return x


def tile(input: Any, multiples: Any, what: str) -> Any:
    x, counts = as_tensor(input, what), sizes_in(multiples, what)
    if len(counts) != len(x.shape):
        raise ShapeError(f"{what}: {len(counts)} multiples for {x!r}")
    return K.tile(x, counts)


def repeat(input: Any, repeats: Any, axis: Any, what: str) -> Any:
    """Each slice as often as `repeats` says, one number for all or one for each."""
    x = as_tensor(input, what)
    x, axis = (K.reshape(x, (-1,)), 0) if axis is None else (x, axis_of(x, axis, what))
    if isinstance(repeats, int):
        return K.repeat_elements(x, repeats, axis)
    counts = K.cast(as_tensor(repeats, what), "int32")
    count = size_of(x, axis)
    counts = stretched(K.reshape(counts, (-1,)), [count]) if counts.shape in ((), (1,)) else counts
    ends = K.cumsum(counts)
    places = K.arange(K.sum(counts))
    index = K.sum(K.cast(K.greater_equal(K.expand_dims(places, 1), ends), "int32"), axis=1)
    return x[(*[slice(None)] * axis, index)]


def identity_n(input: Any, what: str) -> Any:
    return [K.identity(as_tensor(x, what)) for x in input]


def required_space_to_batch_paddings(
    input_shape: Any, block_shape: Any, base_paddings: Any, what: str
) -> Any:
    """The paddings that make sizes multiples of the block's, and the crops that take them off."""
    sizes, blocks = ints_in(input_shape, what), ints_in(block_shape, what)
    base = [(0, 0)] * len(blocks) if base_paddings is None else base_paddings
    pads = np.array(base).reshape(-1, 2)
    extra = -(np.array(sizes) + pads.sum(1)) % np.array(blocks)
    paddings = np.stack([pads[:, 0], pads[:, 1] + extra], 1)
    crops = np.stack([np.zeros_like(extra), extra], 1)
    return K.constant(paddings, "int32"), K.constant(crops, "int32")


# Making tensors -------------------------------------------------------------------------------


def constant(value: Any, dtype: Any, shape: Any, name: str | None = None) -> Any:
    if holds_words(value):
        return applied("constant", (value,), {"dtype": dtype, "shape": shape})
    if dtype is None and not isinstance(value, (np.ndarray, np.generic)):
        kind = np.asarray(value).dtype.kind
        dtype = "int32" if kind in "iu" else "bool" if kind == "b" else None
    elif dtype is None:
        dtype = value.dtype
    return K.constant(value, dtype=dtype, shape=shape)


def convert_to_tensor(
    value: Any, dtype: Any, preferred_dtype: Any, dtype_hint: Any, what: str
) -> Any:
    hint = dtype_hint if preferred_dtype is None else preferred_dtype
    if dtype is None and hint is not None and not isinstance(value, Node):
        dtype = hint if _is_of(value, as_dtype(hint)) else None
    return as_tensor(value, what, dtype)


# By kind of a dtype, the kinds of numbers that Python's values may be to become it unasked.
_TAKEN = {"bool": "b", "signed": "biu", "unsigned": "biu", "float": "bfiu"}


def _is_of(value: Any, dtype: DType) -> bool:
    """Whether a value may have a dtype that is only preferred: arrays may, and tensors in lists
    keep theirs.
    """
    if isinstance(value, (np.ndarray, np.generic)):
        return True
    if isinstance(value, (list, tuple)) and any(isinstance(x, Node) for x in value):
        return False
    try:
        return np.asarray(value).dtype.kind in _TAKEN[dtype.kind]
    except (ValueError, TypeError):
        return False


def fill(dims: Any, value: Any, what: str) -> Any:
    return stretched(as_tensor(value, what), sizes_in(dims, what))


def filled(value: float) -> Any:
    """A function that makes tensors of one number."""
    return lambda shape, dtype, what: stretched(
        K.constant(value, dtype), check_sizes(sizes_in(shape, what), what)
    )


def filled_like(value: float) -> Any:
    def call(tensor: Any, dtype: Any, what: str) -> Any:
        x = as_tensor(tensor, what)
        return K.stop_gradient(full_like(x if dtype is None else K.cast(x, dtype), value))

    return call


def range_(start: Any, limit: Any, delta: Any, dtype: Any, what: str) -> Any:
    if limit is None:
        start, limit = 0, start
    if any(isinstance(v, Node) for v in (start, limit, delta)):
        y = K.arange(start, limit, delta)
        return y if dtype is None else K.cast(y, dtype)
    values = np.arange(start, limit, delta)
    return constant(values.tolist(), dtype, None) if values.size else K.constant(values, dtype)


def eye(num_rows: Any, num_columns: Any, batch_shape: Any, dtype: Any, what: str) -> Any:
    rows = size_or_node(num_rows, what)
    columns = rows if num_columns is None else size_or_node(num_columns, what)
    unit = unit_matrix(rows, columns, dtype)
    if batch_shape is None:
        return unit
    return stretched(unit, [*sizes_in(batch_shape, what), rows, columns])


def unit_matrix(rows: Size, columns: Size, dtype: Any) -> Any:
    """1 on the diagonal, 0 elsewhere."""
    down, across = K.arange(as_node(rows)), K.arange(as_node(columns))
    down, across = reshaped(down, [rows, 1]), reshaped(across, [1, columns])
    return K.cast(K.equal(down, across), dtype)


def linspace(start: Any, stop: Any, num: Any, what: str) -> Any:
    first, last = promoted((start, stop), what)
    count = ints_in(num, what)[0]
    if count == 1:
        return K.reshape(first, (1,))
    return first + K.constant(np.arange(count), first.dtype) * ((last - first) / (count - 1))


def meshgrid(*args: Any, indexing: str = "xy", name: str | None = None) -> list[Any]:
    """For each vector, its values along an axis of their own; the first two swapped for 'xy'."""
    if indexing not in ("xy", "ij"):
        raise ArgumentError(f"tf.meshgrid: indexing is {indexing!r}; there are 'xy' and 'ij'")
    xs = [K.reshape(x if K.is_tensor(x) else constant(x, None, None), (-1,)) for x in args]
    axes = list(range(len(xs)))
    if indexing == "xy" and len(xs) > 1:
        axes[:2] = [1, 0]
    lying = [
        K.reshape(x, [size_of(x, 0) if i == own else 1 for i in range(len(xs))])
        for own, x in zip(axes, xs, strict=True)
    ]
    shape = broadcast_shapes("tf.meshgrid", *(x.shape for x in lying))
    return [broadcast_like(x, shape, lying) for x in lying]


NAMES: dict[str, Any] = {"meshgrid": meshgrid}
PLAIN = called({
    "reshape": reshape, "expand_dims": expand_dims, "squeeze": squeeze, "shape": shape,
    "shape_n": shape_n, "rank": rank, "size": size, "ensure_shape": ensure_shape,
    "broadcast_to": broadcast_to, "broadcast_dynamic_shape": broadcast_dynamic_shape,
    "transpose": _conjugated, "matrix_transpose": matrix_transpose,
    "linalg.adjoint": Leading(1, matrix_transpose),
    "concat": concat, "stack": stack, "parallel_stack": lambda values, what: stack(values, 0, what),
    "unstack": unstack, "split": split, "slice": slice_, "strided_slice": strided_slice,
    "pad": pad, "reverse": reverse, "roll": roll, "tile": tile, "repeat": repeat,
    "identity": Leading(1, lambda x, what: K.identity(as_tensor(x, what))),
    "guarantee_const": Leading(1, lambda x, what: K.identity(as_tensor(x, what))),
    "identity_n": identity_n,
    "stop_gradient": Leading(1, lambda x, what: K.stop_gradient(as_tensor(x, what))),
    "required_space_to_batch_paddings": required_space_to_batch_paddings,
    "constant": constant, "convert_to_tensor": convert_to_tensor, "fill": fill,
    "zeros": filled(0), "ones": filled(1), "zeros_like": filled_like(0),
    "ones_like": filled_like(1), "range": range_, "eye": eye, "linspace": linspace,
})  # fmt: skip
