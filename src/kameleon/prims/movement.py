"""Primitives that move elements without changing them.

Sizes that are known only at run time are operands: a shape attribute has None for each of
them, and they follow in order as integer scalars. The functions here take *dims*: sequences of
ints and scalar nodes, as `dims_of` gives them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ..errors import DTypeError, ShapeError
from ..ir.node import Node
from ..ir.primitive import CONSTANT, ZERO, Primitive, jointly
from ..ir.types import (
    INT32,
    Dim,
    DType,
    Shape,
    TensorType,
    as_dtype,
    join_dims,
    join_shapes,
    show_shape,
)

Size = int | Node
# Origins of sizes are looked up, not followed, behind so many steps.
NEAR = 16


# Sizes -------------------------------------------------------------------------------------


def _infer_size(x: Node, axis: int) -> TensorType:
    return TensorType((), INT32)


_size = Primitive("size", _infer_size, ZERO, "the size of `axis`, an int32 scalar", title="Size")


def size_of(x: Node, axis: int) -> Size:
    """The size of an axis: an int where it is known, else a node.

    It's read as early in the graph as possible, so that sizes don't keep values alive.
    """
    x, axis = _earliest(x, axis % len(x.shape))
    dim = x.shape[axis]
    if dim is not None:
        return dim
    origin = size_origin(x, axis)
    return origin if isinstance(origin, Node) else _size(x, axis=axis)


def _earliest(x: Node, axis: int) -> tuple[Node, int]:
    """Where a chain of tensors that have one size in common begins.

    Along chains longer than `NEAR` some tensors remember it, so that they aren't followed again
    and again.
    """
    steps, marks = 0, []
    while x.shape[axis] is None:
        steps += 1
        if steps > NEAR:
            far = getattr(x, "earliest", None)  # makes no `__dict__`
            if far and axis in far:
                x, axis = far[axis]
            elif steps % NEAR == 0:
                marks.append((x, axis))
        origin = size_origin(x, axis)
        if not isinstance(origin, tuple):
            break
        x, axis = origin
    for node, at in marks:
        node.__dict__.setdefault("earliest", {})[at] = x, axis
    return x, axis


def size_origin(x: Node, axis: int) -> Node | tuple[Node, int] | None:
    """One step towards where the size of an axis comes from: see `SIZE_FROM`."""
    name = "elementwise" if x.primitive.elementwise else x.primitive.name
    step = SIZE_FROM.get(name)
    return step(x, axis) if step else None


def _elementwise_origin(x: Node, axis: int) -> tuple[Node, int]:
    return x.operands[-1], axis


def _shaped_origin(x: Node, axis: int) -> Node | tuple[Node, int] | None:
    """The size operand that stands for the axis; a broadcast's may be its operand's own."""
    shape = x.attrs["shape"]
    if shape[axis] is None:
        return x.operands[len(x.operands) - sum(d is None for d in shape[axis:])]
    offset = len(shape) - len(x.operands[0].shape) if x.primitive is _broadcast else None
    return None if offset is None or axis < offset else (x.operands[0], axis - offset)


def _sliced_origin(x: Node, axis: int) -> tuple[Node, int] | None:
    return (x.operands[0], axis) if x.attrs["windows"][axis] == WHOLE else None


def _padded_origin(x: Node, axis: int) -> tuple[Node, int] | None:
    return None if any(x.attrs["margins"][axis]) else (x.operands[0], axis)


def _joined_origin(x: Node, axis: int) -> tuple[Node, int] | None:
    return None if axis == x.attrs["axis"] else (x.operands[0], axis)


def _contracted_origin(x: Node, axis: int) -> tuple[Node, int]:
    (a, b), batch = x.operands, x.attrs["batch"]
    for operand, i in ((a, 0), (b, 1)):
        used = {*x.attrs["over"][i], *batch[i]}
        free = [j for j in range(len(operand.shape)) if j not in used]
        places = [*batch[0], *free] if i == 0 else free
        if axis < len(places):
            return operand, places[axis]
        axis -= len(places)
    raise IndexError(axis)


def _gathered_origin(x: Node, axis: int) -> tuple[Node, int]:
    source, index = x.operands
    at, rank = x.attrs["axis"], len(index.shape)
    if axis < at:
        return source, axis
    return (index, axis - at) if axis < at + rank else (source, axis - rank + 1)


def _dropped_origin(x: Node, axis: int) -> tuple[Node, int]:
    return x.operands[0], axis + (axis >= x.attrs["axis"])


def _reduced_origin(x: Node, axis: int) -> tuple[Node, int]:
    kept = [i for i in range(len(x.operands[0].shape)) if i not in x.attrs["axes"]]
    return x.operands[0], kept[axis]


def _item_origin(x: Node, axis: int) -> tuple[Node, int] | None:
    """Of a scan: a state has the initial state's sizes; an output is followed through the body."""
    scan, index = x.operands[0], x.attrs["index"]
    if scan.primitive.name != "scan":
        return None
    carry = scan.attrs["consts"] + scan.attrs["carry"]
    if index < scan.attrs["carry"]:
        return scan.operands[scan.attrs["consts"] + index], axis
    if axis == 0:
        return scan.operands[carry], 0
    body = scan.attrs["body"]
    node, at = body.outputs[index], axis - 1
    while node not in body.inputs:
        step = size_origin(node, at)
        if not isinstance(step, tuple):
            return None
        node, at = step
    place = body.inputs.index(node)
    return scan.operands[place], at + (place >= carry)


def _scattered_origin(x: Node, axis: int) -> Node | tuple[Node, int]:
    g, index, *sizes = x.operands
    at = x.attrs["axis"]
    if axis == at:
        return sizes[0]
    return g, axis if axis < at else axis + len(index.shape) - 1


def _put_origin(x: Node, axis: int) -> Node | tuple[Node, int]:
    return x.operands[2] if axis == x.attrs["axis"] else (x.operands[0], axis)


# By primitive: where the size of an axis comes from; a size operand or an operand's axis.
SIZE_FROM: dict[str, Callable[[Node, int], Node | tuple[Node, int] | None]] = {
    "elementwise": _elementwise_origin,
    "identity": lambda x, axis: (x.operands[0], axis),
    "stop_gradient": lambda x, axis: (x.operands[0], axis),
    "with_gradient": lambda x, axis: (x.operands[0], axis),
    "broadcast_to": _shaped_origin,
    "reshape": _shaped_origin,
    "transpose": lambda x, axis: (x.operands[0], x.attrs["perm"][axis]),
    "reverse": lambda x, axis: (x.operands[0], axis),
    "cumsum": lambda x, axis: (x.operands[0], axis),
    "softmax": lambda x, axis: (x.operands[0], axis),
    "reduce_sum": _reduced_origin,
    "reduce_max": _reduced_origin,
    "reduce_min": _reduced_origin,
    "reduce_prod": _reduced_origin,
    "slice": _sliced_origin,
    "pad": _padded_origin,
    "concatenate": _joined_origin,
    "contract": _contracted_origin,
    "gather": _gathered_origin,
    "take_along": lambda x, axis: (x.operands[1], axis),
    "scatter_add": _scattered_origin,
    "put_along": _put_origin,
    "item": _item_origin,
    "iota": _shaped_origin,
    "sparse_to_dense": _shaped_origin,
    "unslice": _shaped_origin,
    **dict.fromkeys(
        ("log_softmax", "minus_one_hot", "cumprod"), lambda x, axis: (x.operands[0], axis)
    ),
    **dict.fromkeys(
        ("softmax_crossentropy", "sparse_softmax_crossentropy", "argmax", "argmin"),
        _dropped_origin,
    ),
    **dict.fromkeys(
        ("patches", "conv", "depthwise_conv", "sum_pool", "pool_pick"),
        lambda x, axis: (x.operands[0], 0) if axis == 0 else None,
    ),
}


def dims_of(x: Node) -> list[Size]:
    """The sizes of all axes of `x`."""
    return [size_of(x, i) if d is None else d for i, d in enumerate(x.shape)]


def split(dims: Sequence[Size]) -> tuple[Shape, list[Node]]:
    """Dims as a static shape and the operands that stand for its Nones."""
    shape: list[Dim] = []
    operands: list[Node] = []
    for dim in dims:
        if isinstance(dim, Node) and dim.primitive is CONSTANT:
            dim = int(dim.attrs["value"].array)
        if isinstance(dim, Node):
            if not dim.dtype.is_integer or dim.shape != ():
                raise ShapeError(f"a size must be an integer scalar, not {dim!r}")
            shape.append(None)
            operands.append(dim)
        else:
            shape.append(int(dim))
    return tuple(shape), operands


# Shape of the result given -----------------------------------------------------------------


def _keep_first(rule: Callable[[Any, Node], Node]) -> jointly:
    """A pullback (cotangent, result) for a primitive whose other operands are sizes."""
    return jointly(lambda y, gs, needed: [rule(gs[0], y), *[None] * (len(needed) - 1)])


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
    if -1 in shape and not product:
        raise ShapeError(
            f"reshape: no size follows for the -1 in {show_shape(shape)}, beside a size of 0"
        )
    if known is not None and (product != known if not open_dims else product and known % product):
        shown = tuple("?" if d is None else d for d in shape)
        raise ShapeError(
            f"reshape: {show_shape(x.shape)} has {known} elements, which don't fit {shown}"
        )
    if -1 in shape and open_dims == 1:
        inferred = None if known is None else known // product
        shape = tuple(inferred if d == -1 else d for d in shape)
    return TensorType(tuple(None if d == -1 else d for d in shape), x.dtype)


_reshape = Primitive(
    "reshape",
    _infer_reshape,
    _keep_first(lambda g, y: reshape(g, dims_of(y.operands[0]))),
    "the same elements in row-major order in another shape; one -1 is inferred",
)


def reshape(x: Node, dims: Sequence[Size]) -> Node:
    """`x` in the shape `dims`; one of them may be -1."""
    shape, sizes = split(dims)
    if shape == x.shape and not sizes:
        return x
    if -1 in shape and not sizes and None not in x.shape:
        shape = _infer_reshape(x, shape=shape).shape
    return _reshape(x, *sizes, shape=shape)


def _infer_broadcast(x: Node, *sizes: Node, shape: Shape) -> TensorType:
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


def _broadcast_back(g: Node, x: Node) -> Node:
    """The sum of `g` over the axes that stretched `x`."""
    from .reduce import reduce_sum

    offset = len(g.shape) - len(x.shape)
    stretched = [i + offset for i, d in enumerate(x.shape) if d == 1 and g.shape[i + offset] != 1]
    axes = (*range(offset), *stretched)
    return reshape(reduce_sum(g, axes), dims_of(x)) if axes else g


_broadcast = Primitive(
    "broadcast_to",
    _infer_broadcast,
    _keep_first(lambda g, y: _broadcast_back(g, y.operands[0])),
    "x stretched along new leading axes and along its axes of static size 1",
)


def broadcast_to(x: Node, dims: Sequence[Size]) -> Node:
    """`x` stretched to `dims`, aligned at the right."""
    shape, sizes = split(dims)
    if not sizes and shape == x.shape:
        return x
    return _broadcast(x, *sizes, shape=shape)


def broadcast_like(x: Node, shape: Shape, others: Sequence[Node]) -> Node:
    """`x` stretched to `shape`, whose unknown sizes are those of `others` (aligned right).

    An axis of `x` whose size is unknown is never stretched: it's taken as equal.
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


_iota = Primitive("iota", _infer_iota, ZERO, "the index along `axis`", title="Range")


def iota(dims: Sequence[Size], axis: int = 0, dtype: Any = INT32) -> Node:
    """A tensor of shape `dims` that holds each element's index along `axis`."""
    shape, sizes = split(dims)
    return _iota(*sizes, shape=shape, axis=axis, dtype=as_dtype(dtype))


# Permutations ------------------------------------------------------------------------------


def _infer_transpose(x: Node, perm: tuple[int, ...]) -> TensorType:
    if sorted(perm) != list(range(len(x.shape))):
        raise ShapeError(
            f"transpose: {perm} isn't a permutation of the axes of shape {show_shape(x.shape)}"
        )
    return TensorType(tuple(x.shape[p] for p in perm), x.dtype)


_transpose = Primitive(
    "transpose",
    _infer_transpose,
    [lambda g, y, x, perm: transpose(g, inverse(perm))],
    "axis i of the result is axis perm[i] of x",
    title="transpose",
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
    lambda x, axes: x.type,
    [lambda g, y, x, axes: reverse(g, axes=axes)],
    "x with the order along `axes` reversed",
    title="ReverseV2",
)


# Parts -------------------------------------------------------------------------------------

Window = tuple[int | None, int | None, int]  # start, stop, step > 0, as in Python


def _sliced_dim(dim: Dim, window: Window) -> Dim:
    start, stop, step = window
    if dim is not None:
        return len(range(*slice(start, stop, step).indices(dim)))
    if (start or 0) == 0 and stop is None and step == 1:
        return None
    return None


def _infer_slice(x: Node, windows: tuple[Window, ...]) -> TensorType:
    dims = tuple(_sliced_dim(d, w) for d, w in zip(x.shape, windows, strict=True))
    return TensorType(dims, x.dtype)


_slice = Primitive(
    "slice",
    _infer_slice,
    [lambda g, y, x, windows: unslice(g, dims_of(x), windows)],
    "x[start:stop:step] along each axis, as Python slices (step > 0)",
    title="strided_slice",
)
WHOLE: Window = (None, None, 1)


def slice_(x: Node, windows: Sequence[Window]) -> Node:
    """`x[start:stop:step]` along each axis."""
    windows = tuple(_plain(w, d) for w, d in zip(windows, x.shape, strict=True))
    return x if all(w == WHOLE for w in windows) else _slice(x, windows=windows)


def _plain(window: Window, dim: Dim) -> Window:
    """The same window, written one way where the size is known."""
    if dim is None:
        start, stop, step = window
        return (start or None, stop, step)
    r = range(*slice(*window).indices(dim))
    if len(r) == dim and window[2] == 1:
        return WHOLE
    return (r.start, max(r.stop, r.start), r.step)


def slice_axis(x: Node, axis: int, start: int | None, stop: int | None, step: int = 1) -> Node:
    """`x[start:stop:step]` along one axis."""
    windows: list[Window] = [WHOLE] * len(x.shape)
    windows[axis] = (start, stop, step)
    return slice_(x, windows)


def _infer_unslice(g: Node, *sizes: Node, shape: Shape, windows: tuple[Window, ...]) -> TensorType:
    want = tuple(_sliced_dim(d, w) for d, w in zip(shape, windows, strict=True))
    join_shapes(g.shape, want, "unslice")
    return TensorType(shape, g.dtype)


_unslice = Primitive(
    "unslice",
    _infer_unslice,
    _keep_first(lambda g, y: slice_(g, y.attrs["windows"])),
    "zeros of `shape` with g written to the given slice: the adjoint of `slice`",
)


def unslice(g: Node, dims: Sequence[Size], windows: Sequence[Window]) -> Node:
    """Zeros of shape `dims`, with `g` in the slice `windows`."""
    shape, sizes = split(dims)
    return _unslice(g, *sizes, shape=shape, windows=tuple(windows))


Margins = tuple[tuple[int, int], ...]


def _infer_pad(x: Node, margins: Margins, value: float) -> TensorType:
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
    [
        lambda g, y, x, margins, value: slice_(
            g, [(low or None, -high or None, 1) for low, high in margins]
        )
    ],
    "x with `value` around it: margins (before, after) for each axis",
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
    dims = [d for x in operands if (d := x.shape[axis]) is not None]
    total = sum(dims) if len(dims) == len(operands) else None
    return TensorType((*joined[:axis], total, *joined[axis + 1 :]), operands[0].dtype)


def _concatenate_back(
    y: Node, gs: tuple[Node | None, ...], needed: tuple[bool, ...]
) -> list[Node | None]:
    axis, g = y.attrs["axis"], gs[0]
    assert g is not None
    dims = [d for x in y.operands if (d := x.shape[axis]) is not None]
    if len(dims) == len(y.operands):
        stops = np.cumsum(dims, dtype=np.int64).tolist()
        return [
            slice_axis(g, axis, stop - dim, stop) if want else None
            for stop, dim, want in zip(stops, dims, needed, strict=True)
        ]
    return _split_unknown(y, g, axis)


def _split_unknown(y: Node, g: Node, axis: int) -> list[Node | None]:
    from .elementwise import add
    from .indexing import gather

    parts: list[Node | None] = []
    offset: Node | None = None
    for x in y.operands:
        size = as_node(size_of(x, axis))
        index = iota([size], 0)
        if offset is not None:
            index = add(index, broadcast_to(offset, [size]))
        parts.append(gather(g, index, axis))
        offset = size if offset is None else add(offset, size)
    return parts


def as_node(size: Size) -> Node:
    """A size as an int32 scalar node."""
    from .elementwise import constant

    return size if isinstance(size, Node) else constant(size, INT32)


_concatenate = Primitive(
    "concatenate",
    _infer_concatenate,
    jointly(_concatenate_back),
    "the operands joined along `axis`",
    title="concat",
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


def joined(a: Shape, b: Shape) -> Shape:
    """Sizes known from either shape (of equal rank, taken as equal)."""
    return tuple(join_dims(x, y) for x, y in zip(a, b, strict=True))
