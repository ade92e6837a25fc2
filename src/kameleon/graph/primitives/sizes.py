"""Sizes of axes: known ones are ints, unknown ones scalar nodes read as early as possible.

A `Size` is an int or an integer scalar node; `dims_of` gives those of all axes, and functions that
build nodes take a shape as a sequence of sizes. In a node, a shape attribute has None for each
unknown size, and the unknown sizes follow as operands, in order (`split`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar
from weakref import WeakValueDictionary

from ...errors import ShapeError
from ..ir.context import context
from ..ir.leaves import CONSTANT
from ..ir.node import Node, Primitive
from ..ir.types import INT32, Dim, Shape, TensorType
from .elementwise import add, cast, constant, floor_div, maximum, mul, sub
from .linalg import free_axes

T = TypeVar("T")
Size = int | Node
# Given a node and an axis: the size operand that the axis has its size from, or an operand and the
# axis of it that has the same size.
Origin = Callable[[Node, int], Node | tuple[Node, int] | None]
# After this many steps, the origin of a size is looked up instead of followed further.
NEAR = 16


def _infer_size(x: Node, *, axis: int) -> TensorType:
    return TensorType((), INT32)


_size = Primitive(
    "size",
    _infer_size,
    "the size of `axis`, an int32 scalar",
    title="Size",
    accuracy="moved",
    is_cheap=True,
)


def size_of(x: Node, axis: int) -> Size:
    """The size of an axis: an int where it is known, else an int32 node.

    A size is read as early in the graph as possible, so that sizes don't keep values alive, and by
    one node, unless control dependencies say when.
    """
    x, axis = _earliest(x, axis % len(x.shape))
    dim = x.shape[axis]
    if dim is not None:
        return dim
    origin = size_origin(x, axis)
    if isinstance(origin, Node):
        return cast(origin, INT32)
    if context.control:
        return _size(x, axis=axis)
    found = _sizes.get((x, axis))
    if found is None:
        found = _sizes[x, axis] = _size(x, axis=axis)
    return found


# By a tensor and an axis, where they begin.
_sizes: WeakValueDictionary[tuple[Node, int], Node] = WeakValueDictionary()


def are_one_size(a: Size, b: Size) -> bool:
    """Whether two sizes are provably equal."""
    if isinstance(a, int) or isinstance(b, int) or a is b:
        return a == b
    names = a.primitive.name, b.primitive.name
    return names == ("size", "size") and a.operands == b.operands and a.attrs == b.attrs


def roots_of(x: Node, axis: int | None = None) -> frozenset[object]:
    """What a size follows from: each size of which `x` has the one that isn't 1, if they differ.

    Axes with the same roots have the same size. Inside of a body whose parameters are still tied
    to what is given for them (`Node.given`), the roots are found around it.

    Args:
        x: a tensor; or a scalar that is a size, without `axis`.
        axis: the axis whose size is meant.
    """
    found: set[object] = set()
    pending: list[tuple[Node, int | None]] = [(x, axis)]
    while pending:
        node, at = pending.pop()
        if at is not None:
            node, at = _earliest(node, at % len(node.shape))
            origin = size_origin(node, at)
            if node.shape[at] is not None:
                found.add(node.shape[at])
            elif isinstance(origin, Node):
                pending.append((origin, None))
            elif node.given is not None:
                pending.append((node.given[0], at + node.given[1]))
            else:
                found.add((node, at))
        elif node.primitive.name == "size":
            pending.append((node.operands[0], node.attrs["axis"]))
        elif node.primitive.name == "common_size":
            pending += ((operand, None) for operand in node.operands)
        elif node.given is not None:
            pending.append((node.given[0], None))
        else:
            found.add(node)
    return frozenset(found)


def _earliest(x: Node, axis: int) -> tuple[Node, int]:
    """Where a chain of tensors that have one size in common begins.

    Along chains longer than `NEAR`, some tensors remember the beginning, so that chains aren't
    followed again and again.
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
    """The size operand that stands for the axis; for a broadcast, perhaps its operand's axis."""
    shape = x.attrs["shape"]
    if shape[axis] is None:
        return x.operands[len(x.operands) - sum(d is None for d in shape[axis:])]
    offset = len(shape) - len(x.operands[0].shape) if x.primitive.name == "broadcast_to" else None
    return None if offset is None or axis < offset else (x.operands[0], axis - offset)


def _sliced_origin(x: Node, axis: int) -> tuple[Node, int] | None:
    return (x.operands[0], axis) if x.attrs["windows"][axis] == (None, None, 1) else None


def _padded_origin(x: Node, axis: int) -> tuple[Node, int] | None:
    return None if any(x.attrs["margins"][axis]) else (x.operands[0], axis)


def _joined_origin(x: Node, axis: int) -> tuple[Node, int] | None:
    return None if axis == x.attrs["axis"] else (x.operands[0], axis)


def _contracted_origin(x: Node, axis: int) -> tuple[Node, int]:
    (a, b), batch = x.operands, x.attrs["batch"]
    for operand, i in ((a, 0), (b, 1)):
        free = free_axes(len(operand.shape), x.attrs["over"][i], batch[i])
        places = (*batch[0], *free) if i == 0 else free
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


def _windowed_origin(channels: tuple[int, int] | None = None) -> Origin:
    """The samples are those of what the window moves over; the channels are those of an operand, as
    (its number, its axis), or come from several.
    """

    def origin(x: Node, axis: int) -> tuple[Node, int] | None:
        if axis == 0:
            return x.operands[0], 0
        if channels is None or axis != len(x.shape) - 1:
            return None
        operand = x.operands[channels[0]]
        return operand, len(operand.shape) + channels[1]

    return origin


def _kernel_origin(x: Node, axis: int) -> tuple[Node, int] | None:
    """Of (*window, in, out): the channels of what the window moves over, and of the cotangent."""
    from_last = len(x.shape) - 1 - axis
    if from_last > 1 or (from_last == 0 and x.primitive.name == "depthwise_kernel"):
        return None
    seen = x.operands[0 if from_last else 1]
    return seen, len(seen.shape) - 1


def _item_origin(x: Node, axis: int) -> tuple[Node, int] | None:
    """Of pooling: samples and channels. Of a call: what its function declares. Of a scan: a state
    has the sizes of its initial value; an output is followed through the body."""
    scan, index = x.operands[0], x.attrs["index"]
    if scan.primitive.name == "max_pool":
        return (scan.operands[0], axis) if axis in (0, len(x.shape) - 1) else None
    if scan.primitive.name == "call":
        place = scan.attrs["callee"].origin(index, axis)
        return None if place is None else (scan.operands[place[0]], place[1])
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


def _one_hot_origin(x: Node, axis: int) -> Node | tuple[Node, int]:
    index, *sizes = x.operands
    return (index, axis) if axis < len(index.shape) else sizes[0]


# By primitive: where the size of an axis comes from; a size operand or an operand's axis.
SIZE_FROM: dict[str, Origin] = {
    "elementwise": _elementwise_origin,
    "identity": lambda x, axis: (x.operands[0], axis),
    "stop_gradient": lambda x, axis: (x.operands[0], axis),
    "with_gradient": lambda x, axis: (x.operands[0], axis),
    "check": lambda x, axis: (x.operands[0], axis),
    **dict.fromkeys(("broadcast_to", "stretch", "sum_to"), _shaped_origin),
    "reshape": _shaped_origin,
    "random_bits": _shaped_origin,
    "transpose": lambda x, axis: (x.operands[0], x.attrs["perm"][axis]),
    "reverse": lambda x, axis: (x.operands[0], axis),
    "cumsum": lambda x, axis: (x.operands[0], axis),
    "softmax": lambda x, axis: (x.operands[0], axis),
    **dict.fromkeys(
        ("reduce_sum", "reduce_max", "reduce_min", "reduce_prod", "reduce_any", "reduce_all"),
        _reduced_origin,
    ),
    "slice": _sliced_origin,
    "pad": _padded_origin,
    "concatenate": _joined_origin,
    "contract": _contracted_origin,
    "gather": _gathered_origin,
    "take_along": lambda x, axis: (x.operands[1], axis),
    "scatter_add": _scattered_origin,
    "put_along": _put_origin,
    "one_hot": _one_hot_origin,
    "item": _item_origin,
    "iota": _shaped_origin,
    "sparse_to_dense": _shaped_origin,
    "unslice": _shaped_origin,
    **dict.fromkeys(
        (
            *("log_softmax", "minus_one_hot", "cumprod", "product_of_others", "cumprod_slope"),
            *("linear_scan", "argsort"),
        ),
        lambda x, axis: (x.operands[0], axis),
    ),
    **dict.fromkeys(
        ("softmax_crossentropy", "sparse_softmax_crossentropy", "argmax", "argmin"),
        _dropped_origin,
    ),
    "conv": _windowed_origin((1, -1)),
    "conv_kernel": _kernel_origin,
    "depthwise_kernel": _kernel_origin,
    **dict.fromkeys(("conv_input", "depthwise_input"), _windowed_origin((1, -2))),
    **dict.fromkeys(("patches", "fold", "depthwise_conv"), _windowed_origin()),
    **dict.fromkeys(("sum_pool", "sum_unpool", "pool_pick", "unpool"), _windowed_origin((0, -1))),
}


def dims_of(x: Node) -> list[Size]:
    """The sizes of all axes of `x`."""
    return [size_of(x, i) if d is None else d for i, d in enumerate(x.shape)]


def split(dims: Sequence[Size]) -> tuple[Shape, list[Node]]:
    """Sizes as a static shape and the operands that stand for its Nones."""
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


def merged(shape: Shape, sizes: Iterable[T]) -> list[int | T]:
    """The sizes that were `split`: those of a shape, with `sizes` for its Nones, in order."""
    rest = iter(sizes)
    return [next(rest) if d is None else d for d in shape]


# Attributes that are sizes, or one.
STATED = ("shape", "space", "size", "rows")


def stated_dims(node: Node) -> list[Size]:
    """The sizes that an attribute says; those that it leaves open are the node's last operands."""
    value = next(node.attrs[name] for name in STATED if name in node.attrs)
    shape = value if isinstance(value, tuple) else (value,)
    return merged(shape, node.operands[len(node.operands) - shape.count(None) :])


def as_node(size: Size) -> Node:
    """A size as an int32 scalar node."""
    return size if isinstance(size, Node) else constant(size, INT32)


def plus(size: Size, other: Size) -> Size:
    """The sum of two sizes."""
    if isinstance(size, int):
        return size + other if isinstance(other, int) else plus(other, size)
    if isinstance(other, int):
        return add(size, constant(other, size.dtype)) if other else size
    return add(size, other)


def minus(size: Size, other: Size) -> Size:
    """A size less another one."""
    if isinstance(size, int) and isinstance(other, int):
        return size - other
    if other == 0 or are_one_size(size, other):
        return size if other == 0 else 0
    return sub(as_node(size), as_node(other))


def at_least(least: int, size: Size) -> Size:
    """A size, or a number that it's less than."""
    if isinstance(size, int):
        return max(least, size)
    return maximum(size, constant(least, size.dtype))


def quotient(size: Size, number: Size) -> Size:
    """A size divided by another one, rounded down."""
    if isinstance(size, int) and isinstance(number, int):
        return size // max(number, 1)
    return size if number == 1 else floor_div(as_node(size), as_node(number))


def sizes_product(dims: Sequence[Size]) -> Size:
    """The product of sizes: an int where all are known, else a scalar of the first one's dtype."""
    known = 1
    unknown: list[Node] = []
    for dim in dims:
        if isinstance(dim, Node):
            unknown.append(dim)
        else:
            known *= dim
    if not unknown:
        return known
    total = unknown[0]
    for factor in unknown[1:]:
        total = mul(total, cast(factor, total.dtype))
    return total if known == 1 else mul(total, cast(as_node(known), total.dtype))
