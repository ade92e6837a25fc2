"""Operators of tensors: arithmetic, comparison, indexing; and what a tensor isn't."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .._utils.tracebacks import boundary, hide
from ..errors import ArgumentError, ShapeError
from ..graph.ir.node import Node
from ..graph.primitives import elementwise as ew
from ..graph.primitives.control import check
from ..graph.primitives.division import checked_power
from ..graph.primitives.indexing import from_front, gather, nonzero
from ..graph.primitives.linalg import contract
from ..graph.primitives.movement import WHOLE, Cut, reshape, reverse, slice_
from ..graph.primitives.sizes import Size, are_one_size, as_node, dims_of, size_of, sizes_product
from ..graph.primitives.stretching import stretched_together
from ._conversions import TENSORFLOW_1, TOGETHER
from ._slices import Parts, bounds, places
from ._tensors import as_float, as_tensor, binary, broadcast_together, promoted
from .sparse_tensor import SparseTensor


def divide(x: Any, y: Any) -> Node:
    """x / y; integers are divided as floats."""
    a, b = broadcast_together(promoted((x, y), "/"), "/")
    if not a.dtype.is_float:
        a, b = as_float(a, "/"), as_float(b, "/")
    return ew.div(a, b)


def matmul(x: Any, y: Any) -> Node:
    """x @ y as NumPy defines it: batches of products over leading axes, which broadcast."""
    a, b = promoted((x, y), "@")
    if min(a.type.rank, b.type.rank) < 1:
        raise ShapeError(f"@ needs tensors with axes, not shapes {a.shape} and {b.shape}")
    if a.type.rank < 2 or b.type.rank <= 2:
        return contract(a, b, ((a.type.rank - 1,), (max(0, b.type.rank - 2),)))
    a, b = stretched_together((a, b), "@", own=2)
    n = len(a.shape) - 2
    steps = tuple(range(n))
    return contract(a, b, ((n + 1,), (n,)), (steps, steps))


Operator = Callable[..., Node]


def _binary(function: Operator, symbol: str) -> tuple[Operator, Operator]:
    def forward(self: Node, other: Any) -> Node:
        return binary(function, self, other, symbol)

    def backward(self: Node, other: Any) -> Node:
        return binary(function, other, self, symbol)

    return _deferring(forward), _deferring(backward)


def _deferring(operator: Callable[[Node, Any], Node]) -> Callable[[Node, Any], Node]:
    """The operator, which leaves operands to their own operators that refuse NumPy's, as NumPy's
    arrays do.
    """

    @functools.wraps(operator)
    def apply(self: Node, other: Any) -> Node:
        if not isinstance(other, Node) and getattr(other, "__array_ufunc__", self) is None:
            return NotImplemented  # type: ignore[no-any-return]
        try:
            return operator(self, other)
        except Exception as error:
            hide(error)
            raise

    return apply


# The name of each operator without underscores, what it does to two nodes, and its symbol.
ARITHMETIC: dict[str, tuple[Operator, str]] = {
    "add": (ew.add, "+"),
    "sub": (ew.sub, "-"),
    "mul": (ew.mul, "*"),
    "floordiv": (ew.floor_div, "//"),
    "mod": (ew.mod, "%"),
    "pow": (checked_power, "**"),
    "and": (ew.bit_and, "&"),
    "or": (ew.bit_or, "|"),
    "xor": (ew.bit_xor, "^"),
}
COMPARISONS: dict[str, tuple[Operator, str]] = {
    "lt": (ew.lt, "<"),
    "le": (ew.le, "<="),
    "gt": (ew.gt, ">"),
    "ge": (ew.ge, ">="),
}


# Indexing ----------------------------------------------------------------------------------


class _Key(NamedTuple):
    """What an index does along one axis, in this order."""

    window: Cut = WHOLE
    places: Parts | None = None  # of a slice whose bounds are sizes
    flip: int = 0  # the step of a slice that goes backwards
    pick: Node | None = None


def getitem(x: Node, key: Any) -> Node:
    """x[key], with ints, slices, `...`, None, integer tensors (picked along their axis), and masks.

    Bounds of slices may be integer scalars, and are taken as NumPy takes ints. A list is an integer
    tensor, or a mask, as it is for NumPy.
    """
    given = [_as_key(item) for item in (key if isinstance(key, tuple) else (key,))]
    x, keys = _with_places(x, _expanded(x, given))
    axes: list[_Key] = []
    layout: list[int | None] = []
    for item in keys:
        if item is None:
            layout.append(1)
            continue
        found = _one_key(item, x, len(axes))
        axes.append(found)
        layout.append(None if isinstance(item, slice) or found.pick is not None else 0)
    y = slice_(x, [found.window for found in axes])
    for axis, found in enumerate(axes):
        if found.places is not None:
            y = gather(y, places(size_of(y, axis), found.places), axis)
    flips = {axis: found.flip for axis, found in enumerate(axes) if found.flip}
    if flips:
        y = _flipped(y, flips)
    if 0 in layout or 1 in layout:
        y = reshape(y, _laid_out(y, layout))
    return _picked(y, [(i, k.pick) for i, k in enumerate(axes) if k.pick is not None], layout)


def _laid_out(y: Node, layout: list[int | None]) -> list[Size]:
    """The sizes of `y` with new axes of size 1, and without the axes that ints have picked from."""
    dims = iter(dims_of(y))
    kept: list[Size] = []
    for mark in layout:
        if mark == 1:
            kept.append(1)
            continue
        dim = next(dims)
        if mark is None:
            kept.append(dim)
    return kept


def _as_key(item: Any) -> Any:
    """A list or an array as a tensor; any other key as it is."""
    is_array = isinstance(item, np.ndarray) and item.ndim > 0
    if not is_array and not isinstance(item, list):
        return item
    return as_tensor(item, "indexing", None if len(item) else np.asarray(item, int).dtype)


def _is_mask(item: Any) -> bool:
    return isinstance(item, Node) and item.dtype.is_bool


def _axes_of(item: Any) -> int:
    """How many axes a key is for."""
    if _is_mask(item):
        return len(item.shape)
    return int(item is not None and item is not Ellipsis)


def _with_places(x: Node, keys: list[Any]) -> tuple[Node, list[Any]]:
    """For each mask, the places where it holds, along the one axis that its axes become in `x`."""
    found, axis = list(keys), 0
    for i, mask in enumerate(keys):
        if _is_mask(mask):
            x, holding = _places_of(x, mask, axis)
            found[i] = _Key(pick=holding)
            axis += 1
        else:
            axis += _axes_of(mask)
    return x, found


def _places_of(x: Node, mask: Node, axis: int) -> tuple[Node, Node]:
    rank = len(mask.shape)
    sizes, wanted = dims_of(x), dims_of(mask)
    if not rank:
        raise ArgumentError(f"a mask has axes, of the sizes of the tensor's; not {mask!r}")
    for own, size in zip(sizes[axis : axis + rank], wanted, strict=True):
        if isinstance(own, int) and isinstance(size, int):
            if own != size:
                raise ShapeError(
                    f"a mask of shape {mask.shape} doesn't fit a tensor of shape {x.shape} at axis"
                    f" {axis}"
                )
        elif not are_one_size(own, size):
            fits = ew.eq(as_node(own), as_node(size))
            mask = check(mask, fits, message="a mask's sizes aren't those of the tensor it's for")
    if rank > 1:
        together = sizes_product(sizes[axis : axis + rank])
        x = reshape(x, [*sizes[:axis], together, *sizes[axis + rank :]])
        mask = reshape(mask, [sizes_product(wanted)])
    places = nonzero(mask)
    return x, reshape(places, dims_of(places)[:1])


def _expanded(x: Node, keys: Sequence[Any]) -> list[Any]:
    """The keys with `...` spelled out and whole slices for axes that have none."""
    if sum(k is Ellipsis for k in keys) > 1:
        raise ArgumentError("a tensor's index can have one '...' only")
    used = sum(_axes_of(k) for k in keys)
    rank = x.type.rank
    if used > rank:
        raise ShapeError(f"{used} indices for a tensor with {rank} axes (shape {x.shape})")
    fill = [slice(None)] * (rank - used)
    if not any(k is Ellipsis for k in keys):
        return [*keys, *fill]
    at = next(i for i, k in enumerate(keys) if k is Ellipsis)
    return [*keys[:at], *fill, *keys[at + 1 :]]


def _one_key(item: Any, x: Node, axis: int) -> _Key:
    """What `item` does along an axis of `x`."""
    dim = x.shape[axis]
    if isinstance(item, _Key):
        return item
    if isinstance(item, slice):
        return _window(bounds(item), dim)
    if isinstance(item, Node):
        if not item.dtype.is_integer:
            raise ArgumentError(f"a tensor is indexed by integers or bools, not by {item!r}")
        return _Key(pick=from_front(item, size_of(x, axis)))
    if isinstance(item, bool) or not hasattr(item, "__index__"):
        raise ArgumentError(
            "a tensor is indexed by ints, slices, '...', None, and tensors of integers or bools,"
            f" not by {item!r}"
        )
    at = int(item.__index__())
    if dim is not None and not -dim <= at < dim:
        raise IndexError(f"index {at} is out of range for an axis of size {dim}")
    return _Key((at, at + 1 if at != -1 else None, 1))


def _window(parts: Parts, dim: int | None) -> _Key:
    start, stop, step = parts
    if isinstance(start, Node) or isinstance(stop, Node) or isinstance(step, Node):
        return _Key(places=parts)
    step = 1 if step is None else step
    if step > 0:
        return _Key((start, stop, step))
    if dim is None:
        whole = start is None and stop is None
        return _Key(flip=step) if whole else _Key(places=parts)
    r = range(*slice(start, stop, step).indices(dim))
    if not len(r):
        return _Key((0, 0, 1))
    return _Key((r[-1], r[0] + 1, -step), flip=step)


def _flipped(y: Node, flips: dict[int, int]) -> Node:
    """`y` backwards along the axes in `flips`; where sizes are known, the step is done already."""
    y = reverse(y, axes=tuple(flips))
    windows = [
        (None, None, -flips[a]) if a in flips and y.shape[a] is None else WHOLE
        for a in range(y.type.rank)
    ]
    return slice_(y, windows)


def _picked(y: Node, picks: list[tuple[int, Node]], layout: list[Any]) -> Node:
    """`y` with the indices that tensors hold applied, from the last axis to the first."""
    places = [i for i, mark in enumerate(layout) if mark != 1]
    for axis, index in reversed(picks):
        place = places[axis]
        y = gather(y, index, sum(mark != 0 for mark in layout[:place]))
    return y


def length(x: Node) -> int:
    """The size of the first axis, which must be known."""
    if not x.shape:
        raise UnknownLengthError("a scalar tensor has no length")
    if x.shape[0] is None:
        raise UnknownLengthError(
            "the length of this tensor is known only at run time; see K.shape(x)[0]"
        )
    return x.shape[0]


class UnknownLengthError(TypeError, AttributeError):
    """A tensor has no `__len__`: it's a scalar, or its length is known only at run time."""


class Length:
    """`__len__` of tensors: `hasattr` finds it where the length is known. Programs tell a list of
    tensors from one tensor by that.
    """

    @boundary
    def __get__(self, x: Node | None, kind: type) -> Any:
        if x is None:
            return length
        size = length(x)
        return lambda: size


def iterate(x: Node) -> Any:
    """The slices along the first axis, whose size must be known."""
    return (getitem(x, i) for i in range(length(x)))


# Values ------------------------------------------------------------------------------------


def refuse_array(self: Node, dtype: Any = None, copy: Any = None) -> Any:
    """A tensor has no numbers before it's evaluated."""
    tensorflow = sys.modules.get("tensorflow")
    extended = tensorflow is None or hasattr(tensorflow, "_kameleon_dispatcher")
    more = "" if extended else "; TensorFlow's functions take it after kameleon.extend_tensorflow()"
    more += f"; {TOGETHER}" if TENSORFLOW_1 in sys.modules else ""
    raise TypeError(_without_values(self) + more)


def refuse_number(self: Node, *digits: Any) -> Any:
    """`float(x)`, `int(x)`, `round(x)`, `math.sqrt(x)`, `'%.2f' % x`: a tensor is no number yet."""
    raise TypeError(_without_values(self))


def formatted(self: Node, spec: str) -> str:
    """`f'{x}'`; a tensor isn't written as a number is."""
    return refuse_number(self) if spec else str(self)


def _without_values(x: Node) -> str:
    return f"{x!r} is symbolic and has no values yet: K.eval(x), or make it an output of K.function"


def evaluated(self: Node | SparseTensor, session: Any = None, feed_dict: Any = None) -> Any:
    """The value of this tensor: `K.eval(x)`, with values for placeholders in `feed_dict`."""
    from .functions import evaluate

    return evaluate(self, feed_dict)


def install() -> None:
    """Give nodes their operators; errors of theirs show no frames of this package."""
    methods: dict[str, Any] = {
        "__truediv__": _deferring(divide),
        "__matmul__": _deferring(matmul),
        "__len__": Length(),
    }
    for name, (function, symbol) in ARITHMETIC.items():
        methods[f"__{name}__"], methods[f"__r{name}__"] = _binary(function, symbol)
    for name, (function, symbol) in COMPARISONS.items():
        methods[f"__{name}__"], _ = _binary(function, symbol)
    others: dict[str, Callable[..., Any]] = {
        "__rtruediv__": lambda self, other: divide(other, self),
        "__rmatmul__": lambda self, other: matmul(other, self),
        "__neg__": lambda self: ew.neg(self),
        "__pos__": lambda self: self,
        "__abs__": lambda self: ew.abs(self),
        "__invert__": lambda self: (ew.logical_not if self.dtype.is_bool else ew.bit_not)(self),
        "__getitem__": getitem,
        "__iter__": iterate,
        "__bool__": Node.__bool__,
        "__reduce_ex__": Node.__reduce_ex__,
        "__array__": refuse_array,
        **dict.fromkeys(("__float__", "__int__", "__complex__", "__round__"), refuse_number),
        "__format__": formatted,
        "eval": evaluated,
    }
    methods |= {name: boundary(method) for name, method in others.items()}
    for name, method in methods.items():
        setattr(Node, name, method)
    SparseTensor.eval = methods["eval"]  # type: ignore[method-assign]
