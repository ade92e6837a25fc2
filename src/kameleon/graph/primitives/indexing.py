"""Primitives that pick or place elements by index, and primitives that order elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...errors import DTypeError, ShapeError
from ..ir.kinds import Kind, is_int
from ..ir.leaves import CONSTANT
from ..ir.node import Node, Primitive
from ..ir.types import INT32, INT64, DType, TensorType, as_dtype, join_shapes, promote
from .constants import known_array
from .control import check
from .elementwise import (
    add,
    bit_not,
    cast,
    constant,
    eq,
    ge,
    logical_and,
    lt,
    mul,
    neg,
    select,
)
from .filling import full_like
from .movement import broadcast_to, concatenate, iota, reshape, slice_axis
from .sizes import Size, as_node, dims_of, size_of, split, stated_dims


def _check_index(what: str, index: Node) -> None:
    if not index.dtype.is_integer:
        raise DTypeError(f"{what}: indices must be integers, not {index.dtype}; K.cast them")


# What indices mustn't reach: a size, or one for each column of indices.
Bound = Size | tuple[Size, ...]


def within(index: Node, bound: Bound, what: str) -> Node:
    """Indices in [0, bound); an error, which names what they're for, where one isn't."""
    if _lies_within(index, bound):
        return index
    return check(index, _inside(index, bound), message=f"{what}: an index is out of range")


def _lies_within(index: Node, bound: Bound) -> bool:
    """Whether indices are known, and in range."""
    array = known_array(index)
    if array is None or not isinstance(bound, int):
        return False
    return not array.size or bool(array.min() >= 0 and array.max() < bound)


def _inside(index: Node, bound: Bound) -> Node:
    """For each index, whether it lies in [0, bound)."""
    if index.dtype != INT32:
        index = cast(index, INT64)
    top = broadcast_to(_as_limit(bound, index), dims_of(index))
    return logical_and(ge(index, full_like(index, 0)), lt(index, top))


def _as_limit(bound: Bound, like: Node) -> Node:
    """A bound as a number; or as a vector, of one for each column."""
    if isinstance(bound, tuple):
        return concatenate([reshape(_as_limit(size, like), [1]) for size in bound], 0)
    return constant(bound, like.dtype) if isinstance(bound, int) else cast(bound, like.dtype)


def picked_from(node: Node) -> Size:
    """The size that indices into the first operand mustn't reach."""
    return size_of(node.operands[0], node.attrs["axis"])


def _put_to(node: Node) -> Size:
    """The size that indices into the result mustn't reach."""
    return stated_dims(node)[0]


def _infer_gather(x: Node, index: Node, *, axis: int) -> TensorType:
    _check_index("gather", index)
    return TensorType((*x.shape[:axis], *index.shape, *x.shape[axis + 1 :]), x.dtype)


_gather = Primitive(
    "gather",
    _infer_gather,
    "x[..., index, ...] along `axis`; an index outside of [0, size) is an error",
    title="GatherV2",
    index=1,
    bound=picked_from,
    accuracy="moved",
    moves=slice(1),
    may_alias=True,
)


def gather(x: Node, index: Node, axis: int) -> Node:
    """The slices of `x` at `index` (of any shape) along `axis`."""
    return _gather(x, index, axis=axis)


def _infer_scatter_add(g: Node, index: Node, *sizes: Node, size: int | None, axis: int) -> Any:
    _check_index("scatter_add", index)
    rank = len(index.shape)
    join_shapes(g.shape[axis : axis + rank], index.shape, "scatter_add")
    return TensorType((*g.shape[:axis], size, *g.shape[axis + rank :]), g.dtype)


_scatter_add = Primitive(
    "scatter_add",
    _infer_scatter_add,
    "zeros with `size` along `axis`, to which g's slices are added at `index`: adjoint of gather",
    kinds={
        "axis": Kind(
            "where the axes of the index begin",
            lambda v, use: is_int(v, 0, use.rank - len(use.operands[1].shape) + 1),
        )
    },
    index=1,
    bound=_put_to,
    may_alias=True,
)


def scatter_add(g: Node, index: Node, size: Size, axis: int) -> Node:
    """Zeros with `size` along `axis`, the slices of `g` added at `index`."""
    (known,), sizes = split([size])
    return _scatter_add(g, index, *sizes, size=known, axis=axis)


def _infer_take_along(x: Node, index: Node, *, axis: int) -> TensorType:
    _check_index("take_along", index)
    if len(index.shape) != len(x.shape):
        raise ShapeError(f"take_along: {index.shape} and {x.shape} differ in rank")
    lines = (*x.shape[:axis], index.shape[axis], *x.shape[axis + 1 :])
    return TensorType(join_shapes(lines, index.shape, "take_along"), x.dtype)


_take_along = Primitive(
    "take_along",
    _infer_take_along,
    "x[..., index[..., i, ...], ...]: one index for each line along `axis`",
    expand=lambda x, index, axis: _take_along_flat(x, index, axis),
    index=1,
    bound=picked_from,
    accuracy="moved",
    moves=slice(1),
)


def take_along(x: Node, index: Node, axis: int) -> Node:
    """Elements of `x` at `index` along `axis`; other axes run in step."""
    return _take_along(x, index, axis=axis)


def _flat_index(index: Node, axis: int, size: Size, beside: Sequence[Size], what: str) -> Node:
    """Where indexed elements lie in the row-major order of a tensor with `size` along `axis`, and
    the sizes `beside` along the others: an index that is out of range would lead to another line.
    """
    dims = [size_of(index, i) if i == axis else d for i, d in enumerate(beside)]
    flat = broadcast_to(constant(0, INT64), dims)
    for i, dim in enumerate(beside):
        here = iota(dims, i, INT64) if i != axis else cast(within(index, size, what), INT64)
        scale = cast(_as_scalar(size if i == axis else dim), INT64)
        flat = add(mul(flat, broadcast_to(scale, dims)), here)
    return flat


def _as_scalar(size: Size) -> Node:
    return size if isinstance(size, Node) else constant(size, INT64)


def _take_along_flat(x: Node, index: Node, axis: int) -> Node:
    flat = _flat_index(index, axis, size_of(x, axis), dims_of(x), "take_along")
    return gather(reshape(x, [-1]), flat, 0)


def _infer_put_along(g: Node, index: Node, *sizes: Node, size: int | None, axis: int) -> Any:
    _check_index("put_along", index)
    join_shapes(g.shape, index.shape, "put_along")
    return TensorType((*g.shape[:axis], size, *g.shape[axis + 1 :]), g.dtype)


def _put_along_flat(g: Node, index: Node, *sizes: Node, size: int | None, axis: int) -> Node:
    width: Size = sizes[0] if size is None else size
    dims = [width if i == axis else d for i, d in enumerate(dims_of(g))]
    total = constant(1, INT64)
    for dim in dims:
        total = mul(total, cast(_as_scalar(dim), INT64))
    flat = reshape(_flat_index(index, axis, width, dims_of(g), "put_along"), [-1])
    return reshape(scatter_add(reshape(g, [-1]), flat, total, 0), dims)


_put_along = Primitive(
    "put_along",
    _infer_put_along,
    "zeros with `size` along `axis`, g added at `index`: the adjoint of take_along",
    expand=_put_along_flat,
    index=1,
    bound=_put_to,
)


def put_along(g: Node, index: Node, size: Size, axis: int) -> Node:
    """Zeros with `size` along `axis`, the elements of `g` added at `index`."""
    (known,), sizes = split([size])
    return _put_along(g, index, *sizes, size=known, axis=axis)


def _infer_one_hot(index: Node, *sizes: Node, size: int | None, dtype: DType) -> TensorType:
    _check_index("one_hot", index)
    if index.dtype.itemsize < INT32.itemsize:
        raise DTypeError(f"one_hot: {index.dtype} can't count to every class; K.cast the indices")
    return TensorType((*index.shape, size), dtype)


def _compared(index: Node, *sizes: Node, size: int | None, dtype: DType) -> Node:
    classes: Size = sizes[0] if size is None else size
    dims = [*dims_of(index), classes]
    positions = broadcast_to(iota([classes], 0, index.dtype), dims)
    stretched = broadcast_to(reshape(index, [*dims_of(index), 1]), dims)
    return cast(eq(stretched, positions), dtype)


_one_hot = Primitive(
    "one_hot",
    _infer_one_hot,
    "1 at each index along a new last axis of `size`, else 0; zeros alone where it's out of range",
    expand=_compared,
    title="OneHot",
    index=0,
)


def one_hot(index: Node, classes: Size, dtype: DType) -> Node:
    """1 at each index along a new last axis, else 0; nothing but 0 for indices out of range."""
    _check_index("one_hot", index)
    if index.dtype.itemsize < INT32.itemsize:
        index = cast(index, INT32)
    (known,), sizes = split([classes])
    return _one_hot(index, *sizes, size=known, dtype=as_dtype(dtype))


# Order -------------------------------------------------------------------------------------

argsort = Primitive(
    "argsort",
    lambda x, *, axis: TensorType(x.shape, INT64),
    "indices (int64) that sort x along `axis`, ascending and stable; NaN last",
    accuracy="exact",
)


def _infer_nonzero(x: Node) -> TensorType:
    return TensorType((None, len(x.shape)), INT64)


nonzero = Primitive(
    "nonzero",
    _infer_nonzero,
    "the indices of the elements that aren't zero, a row each, in row-major order",
    accuracy="exact",
)


def falling(x: Node) -> Node:
    """Elements in the reverse order of those of `x`: integers by bits, which don't overflow."""
    return bit_not(x) if x.dtype.is_integer else neg(x)


def span(x: Node, axis: int, start: Size, count: Size) -> Node:
    """So many elements of `x` along an axis, from one on; there must be as many."""
    if isinstance(start, int) and isinstance(count, int) and x.shape[axis] is not None:
        return slice_axis(x, axis, start, start + count)
    return gather(x, places_of(start, count), axis)


def from_front(index: Node, size: Size) -> Node:
    """Indices of which negative ones count from the end, as those that count from the front."""
    is_known = index.primitive is CONSTANT
    if index.dtype.kind == "unsigned" or (is_known and (index.attrs["value"].array >= 0).all()):
        return index
    index = cast(index, promote(index.dtype, INT32))  # which holds sizes
    end = broadcast_to(cast(as_node(size), index.dtype), dims_of(index))
    return select(lt(index, full_like(index, 0)), add(index, end), index)


def places_of(start: Size, count: Size) -> Node:
    """So many numbers, from one on."""
    if count == 1:
        return reshape(as_node(start), [1])
    counted = iota([count])
    return counted if start == 0 else add(counted, broadcast_to(as_node(start), [count]))


def top_k(x: Node, k: Size) -> tuple[Node, Node]:
    """The `k` largest elements along the last axis, in order (ties: first), and where they are."""
    axis = len(x.shape) - 1
    index = span(argsort(falling(x), axis=axis), axis, 0, k)
    return take_along(x, index, axis), index
