"""Primitives that move elements without changing them.

Shapes are given as `dims`: sequences of sizes (see `sizes`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from ...errors import DTypeError, ShapeError
from ..ir.kinds import Kind, is_int, is_shape
from ..ir.node import Node, Primitive
from ..ir.types import (
    INT32,
    Dim,
    DType,
    Shape,
    TensorType,
    as_dtype,
    join_shapes,
    show_shape,
)
from .sizes import Size, at_least, dims_of, quotient, size_of, sizes_product, split

# Shape of the result given -----------------------------------------------------------------


def _product(dims: Iterable[int]) -> int:
    return int(np.prod([*dims], dtype=np.int64))


def _elements(shape: Shape) -> Dim:
    known = [d for d in shape if d is not None]
    return _product(known) if len(known) == len(shape) else None


def _infer_reshape(x: Node, *sizes: Node, shape: Shape) -> TensorType:
    known = _elements(x.shape)
    fixed = [d for d in shape if d is not None and d != -1]
    product = _product(fixed)
    open_dims = len(shape) - len(fixed)
    rest = None if known is None else known % product if open_dims and product else known - product
    if rest:
        shown = tuple("?" if d is None else d for d in shape)
        raise ShapeError(
            f"reshape: {show_shape(x.shape)} has {known} elements, which don't fit {shown}"
        )
    if -1 in shape and open_dims == 1:
        inferred = None if known is None or not product else known // product
        shape = tuple(inferred if d == -1 else d for d in shape)
    return TensorType(tuple(None if d == -1 else d for d in shape), x.dtype)


_reshape = Primitive(
    "reshape",
    _infer_reshape,
    "the same elements in row-major order in another shape; one -1 is inferred",
    kinds={
        "shape": Kind(
            "a tuple of sizes, of which one may be -1",
            lambda v, use: is_shape(v, low=-1) and v.count(-1) <= 1,
        )
    },
    accuracy="moved",
    moves=slice(1),
    is_cheap=True,
    may_alias=True,
)


def computed_sizes(node: Node) -> list[Node]:
    """The sizes of a reshape or a broadcast that aren't read off a tensor, so that one might be
    negative; all of them beside one that is inferred, which isn't told where they are 0.
    """
    is_inferred = -1 in node.attrs["shape"]
    return [size for size in node.operands[1:] if is_inferred or size.primitive.name != "size"]


def reshape(x: Node, dims: Sequence[Size]) -> Node:
    """`x` in the shape `dims`, where one size may be -1."""
    if 0 in dims and -1 in dims:  # those that are 0 don't count
        total, rest = (
            sizes_product([at_least(1, d) for d in given if d != -1])
            for given in (dims_of(x), dims)
        )
        dims = [quotient(total, rest) if d == -1 else d for d in dims]
    shape, sizes = split(dims)
    if shape == x.shape and not sizes:
        return x
    if -1 in shape and not sizes and None not in x.shape:
        shape = _infer_reshape(x, shape=shape).shape
    return _reshape(x, *sizes, shape=shape)


def infer_broadcast(x: Node, *sizes: Node, shape: Shape) -> TensorType:
    """The type of `x` stretched to `shape`."""
    offset = len(shape) - len(x.shape)
    for axis, dim in enumerate(x.shape):
        want = shape[axis + offset] if offset >= 0 else 0
        if offset < 0 or (dim != 1 and dim is not None and want is not None and dim != want):
            raise ShapeError(
                f"broadcast: shape {show_shape(x.shape)} doesn't stretch to {show_shape(shape)}"
            )
    inner = [
        d if s is None and d is not None and d != 1 else s
        for d, s in zip(x.shape, shape[offset:], strict=True)
    ]
    return TensorType((*shape[:offset], *inner), x.dtype)


_broadcast = Primitive(
    "broadcast_to",
    infer_broadcast,
    "x stretched along new leading axes and along its axes of static size 1",
    accuracy="moved",
    moves=slice(1),
    is_cheap=True,
    may_alias=True,
)


def broadcast_to(x: Node, dims: Sequence[Size]) -> Node:
    """`x` stretched to `dims`, aligned at the right."""
    shape, sizes = split(dims)
    if not sizes and shape == x.shape:
        return x
    return _broadcast(x, *sizes, shape=shape)


def kept_axes(node: Node) -> Iterator[tuple[int, int, Size]]:
    """The axes that a broadcast keeps: of its operand, of itself, and the size asked for.

    An operand's axis of unknown size is among them: its size is taken as equal to that asked for.
    """
    x, *sizes = node.operands
    asked = iter(sizes)
    dims = [next(asked) if d is None else d for d in node.attrs["shape"]]
    offset = len(dims) - len(x.shape)
    for i, d in enumerate(x.shape):
        if d != 1 or dims[i + offset] == 1:
            yield i, i + offset, dims[i + offset]


def keeps_shape(node: Node) -> bool:
    """Whether a broadcast stretches nothing, and only says that sizes are equal."""
    return len(list(kept_axes(node))) == len(node.shape)


def broadcast_like(x: Node, shape: Shape, others: Sequence[Node]) -> Node:
    """`x` stretched to `shape`, whose unknown sizes are those of `others` (aligned right).

    An axis of `x` whose size is unknown is never stretched: that size is taken as equal.
    """
    if x.shape == shape:
        return x
    offset = len(shape) - len(x.shape)
    dims: list[Size] = []
    for axis, dim in enumerate(shape):
        own = x.shape[axis - offset] if axis >= offset else 1
        if own != 1:
            dims.append(size_of(x, axis - offset) if dim is None else dim)
        elif dim is None:
            dims.append(_unknown_size(axis - len(shape), others))
        else:
            dims.append(dim)
    if (
        all((own is None) or own == dim for own, dim in zip(x.shape, shape[offset:], strict=True))
        and not offset
    ):
        return x
    return broadcast_to(x, dims)


def _unknown_size(axis: int, others: Sequence[Node]) -> Size:
    for other in others:
        if len(other.shape) >= -axis and other.shape[axis] is None:
            return size_of(other, len(other.shape) + axis)
    raise ShapeError("broadcast: no operand has the size that is unknown")


def _infer_iota(*sizes: Node, shape: Shape, axis: int, dtype: DType) -> TensorType:
    return TensorType(shape, dtype)


_iota = Primitive(
    "iota",
    _infer_iota,
    "the index along `axis`",
    title="Range",
    kinds={
        "axis": Kind(
            "an axis of the shape", lambda v, use: is_int(v, 0, len(use.attrs.get("shape", ())))
        )
    },
    accuracy="moved",
)


def iota(dims: Sequence[Size], axis: int = 0, dtype: Any = INT32) -> Node:
    """A tensor of shape `dims` that holds each element's index along `axis`."""
    shape, sizes = split(dims)
    return _iota(*sizes, shape=shape, axis=axis, dtype=as_dtype(dtype))


# Permutations ------------------------------------------------------------------------------


def _infer_transpose(x: Node, *, perm: tuple[int, ...]) -> TensorType:
    if sorted(perm) != list(range(len(x.shape))):
        raise ShapeError(
            f"transpose: {perm} isn't a permutation of the axes of shape {show_shape(x.shape)}"
        )
    return TensorType(tuple(x.shape[p] for p in perm), x.dtype)


_transpose = Primitive(
    "transpose",
    _infer_transpose,
    "axis i of the result is axis perm[i] of x",
    title="transpose",
    accuracy="moved",
    moves=slice(1),
    is_cheap=True,
    may_alias=True,
)


def transpose(x: Node, perm: Sequence[int]) -> Node:
    """`x` with its axes in another order."""
    perm = tuple(perm)
    return x if perm == tuple(range(len(x.shape))) else _transpose(x, perm=perm)


def inverse(perm: Sequence[int]) -> tuple[int, ...]:
    """The permutation that undoes `perm`."""
    return tuple(int(i) for i in np.argsort(np.asarray(perm, dtype=np.int64)))


reverse: Primitive = Primitive(
    "reverse",
    lambda x, *, axes: x.type,
    "x with the order along `axes` reversed",
    title="ReverseV2",
    accuracy="moved",
    moves=slice(1),
    may_alias=True,
)


# Parts -------------------------------------------------------------------------------------

Cut = tuple[int | None, int | None, int]  # start, stop, step > 0, as in Python


def _sliced_dim(dim: Dim, window: Cut) -> Dim:
    return None if dim is None else len(range(*slice(*window).indices(dim)))


def _infer_slice(x: Node, *, windows: tuple[Cut, ...]) -> TensorType:
    dims = tuple(_sliced_dim(d, w) for d, w in zip(x.shape, windows, strict=True))
    return TensorType(dims, x.dtype)


_slice = Primitive(
    "slice",
    _infer_slice,
    "x[start:stop:step] along each axis, as Python slices (step > 0)",
    title="strided_slice",
    accuracy="moved",
    moves=slice(1),
    is_cheap=True,
    may_alias=True,
)
WHOLE: Cut = (None, None, 1)


def slice_(x: Node, windows: Sequence[Cut]) -> Node:
    """`x[start:stop:step]` along each axis."""
    windows = tuple(_plain(w, d) for w, d in zip(windows, x.shape, strict=True))
    return x if all(w == WHOLE for w in windows) else _slice(x, windows=windows)


def _plain(window: Cut, dim: Dim) -> Cut:
    """The same window, in one normal form where the size of the axis is known."""
    if dim is None:
        start, stop, step = window
        return (start or None, stop, step)
    r = range(*slice(*window).indices(dim))
    if len(r) == dim and window[2] == 1:
        return WHOLE
    return (r.start, max(r.stop, r.start), r.step)


def slice_axis(x: Node, axis: int, start: int | None, stop: int | None, step: int = 1) -> Node:
    """`x[start:stop:step]` along one axis."""
    assert step > 0, "`reverse` turns axes around"
    windows: list[Cut] = [WHOLE] * len(x.shape)
    windows[axis] = (start, stop, step)
    return slice_(x, windows)


def plain_cut(x: Node) -> tuple[Node, int] | None:
    """For a plain slice along one axis: the tensor that is cut, and the axis."""
    if x.primitive.name != "slice":
        return None
    axes = [i for i, w in enumerate(x.attrs["windows"]) if w != WHOLE]
    if len(axes) != 1:
        return None
    start, stop, step = x.attrs["windows"][axes[0]]
    plain = step == 1 and start is not None and stop is not None and 0 <= start < stop
    return (x.operands[0], axes[0]) if plain else None


def _infer_unslice(g: Node, *sizes: Node, shape: Shape, windows: tuple[Cut, ...]) -> TensorType:
    want = tuple(_sliced_dim(d, w) for d, w in zip(shape, windows, strict=True))
    join_shapes(g.shape, want, "unslice")
    return TensorType(shape, g.dtype)


_unslice = Primitive(
    "unslice",
    _infer_unslice,
    "zeros of `shape` with g written to the given slice: the adjoint of `slice`",
    accuracy="moved",
    may_alias=True,
)


def unslice(g: Node, dims: Sequence[Size], windows: Sequence[Cut]) -> Node:
    """Zeros of shape `dims`, with `g` in the slice `windows`."""
    shape, sizes = split(dims)
    return _unslice(g, *sizes, shape=shape, windows=tuple(windows))


Margins = tuple[tuple[int, int], ...]


def _infer_pad(x: Node, *, margins: Margins, value: float) -> TensorType:
    if any(low < 0 or high < 0 for low, high in margins):
        raise ShapeError(f"pad: margins must not be negative, got {margins}")
    dims = tuple(
        None if d is None else d + low + high
        for d, (low, high) in zip(x.shape, margins, strict=True)
    )
    return TensorType(dims, x.dtype)


_pad = Primitive(
    "pad",
    _infer_pad,
    "x with `value` around it: margins (before, after) for each axis",
    accuracy="moved",
    moves=slice(1),
    may_alias=True,
)


def pad(x: Node, margins: Sequence[tuple[int, int]], value: float = 0) -> Node:
    """`x` with margins (before, after) of `value` along each axis."""
    margins = tuple((int(a), int(b)) for a, b in margins)
    return x if not any(map(any, margins)) else _pad(x, margins=margins, value=value)


def _infer_concatenate(*operands: Node, axis: int) -> TensorType:
    dtypes = {x.dtype for x in operands}
    if len(dtypes) > 1:
        raise DTypeError(f"concatenate: dtypes {sorted(dtypes)} differ; K.cast them to one")
    shapes = [(*x.shape[:axis], None, *x.shape[axis + 1 :]) for x in operands]
    joined = shapes[0]
    for shape in shapes[1:]:
        if len(shape) != len(joined):
            shown = ", ".join(show_shape(x.shape) for x in operands)
            raise ShapeError(f"concatenate: shapes {shown} differ in their number of axes")
        joined = join_shapes(joined, shape, f"concatenate along axis {axis}")
    dims = [x.shape[axis] for x in operands]
    total = None if None in dims else sum(d for d in dims if d is not None)
    return TensorType((*joined[:axis], total, *joined[axis + 1 :]), operands[0].dtype)


_concatenate = Primitive(
    "concatenate",
    _infer_concatenate,
    "the operands joined along `axis`",
    title="concat",
    accuracy="moved",
    moves=slice(None),
    may_alias=True,
)


def concatenate(operands: Sequence[Node], axis: int) -> Node:
    """The operands joined along `axis` (counted from the front)."""
    return operands[0] if len(operands) == 1 else _concatenate(*operands, axis=axis)


def expand_dims(x: Node, axis: int) -> Node:
    """`x` with a new axis of size 1 at `axis`."""
    dims = dims_of(x)
    return reshape(x, [*dims[:axis], 1, *dims[axis:]])


def stack(operands: Sequence[Node], axis: int) -> Node:
    """The operands joined along a new axis."""
    return concatenate([expand_dims(x, axis) for x in operands], axis)


def move_axis(x: Node, source: int, destination: int) -> Node:
    """`x` with one axis moved, the others in order."""
    order = [i for i in range(len(x.shape)) if i != source]
    order.insert(destination, source)
    return transpose(x, order)
