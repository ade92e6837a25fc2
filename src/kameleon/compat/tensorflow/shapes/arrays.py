"""Shapes of what makes, cuts, joins and rearranges arrays."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np

from ..dtypes import held, name_of
from ..graph import Operation, Shape
from ..graph import shape_of as shape_of_message
from .known import UNSEEN, shape_value, sizes_at, slices_of, value_at
from .notation import table
from .rules import (
    UNKNOWN,
    ShapeMismatchError,
    at_least,
    axis_of,
    divided,
    exactly,
    is_channels_last,
    merged,
    product,
    rank_of,
    register,
    same,
    shape_of,
    unknown,
    with_axis,
    with_rank,
)

table(
    """
    RandomUniform RandomStandardNormal TruncatedNormal RandomUniformInt NonDeterministicInts
        ParameterizedTruncatedNormal : =(*s) -> (*s)
    StatefulUniform StatefulUniformInt StatefulUniformFullInt StatefulStandardNormalV2
        StatefulTruncatedNormal StatefulRandomBinomial : ? ? =(*s) -> (*s)
    StatelessRandomUniform StatelessRandomNormal StatelessTruncatedNormal : =(*s) (2) -> (*s)
    StatelessRandomUniformInt : =(*s) (2) () () -> (*s)
    RandomGamma RandomPoisson RandomPoissonV2 : =(*s) (*x) -> (*s,*x)
    Multinomial StatelessMultinomial : (b,?) =n -> (b,n)
    Shape : x -> (#x)
    BroadcastGradientArgs : (?) (?) -> (?) (?)
    Placeholder PlaceholderWithDefault VariableV2 Variable TemporaryVariable AccumulateNV2
        : -> @shape
    SpaceToDepth : ~(b,h,w,c) -> ~(b,h/@block_size,w/@block_size,c*@block_size*@block_size)
    """
)


register("Const", lambda node, given: shape_of_message(node.attribute("value").tensor_shape))


@shape_of("Fill")
def _fill(operation: Operation, given: list[Shape]) -> Shape:
    with_rank(given[1], 0)
    value = value_at(operation, 0)
    if value is not None and np.any(value < 0):
        raise ShapeMismatchError("Fill dimensions must be >= 0")
    return shape_value(operation, 0)


@shape_of("BroadcastTo")
def _broadcast_to(operation: Operation, given: list[Shape]) -> Shape:
    found = shape_value(operation, 1)
    if found is not None and given[0] is not None:
        at_least(found, len(given[0]))
        pairs = zip(given[0][::-1], found[::-1], strict=False)
        for size, other in pairs:
            if size > 1 and other >= 0:
                same(size, other)
        ones = [1] * (len(found) - len(given[0]))
        pairs = zip([*ones, *given[0]], found, strict=True)
        return tuple(max(size, UNKNOWN) if n < 0 and size > 1 else n for size, n in pairs)
    return found


def shown(sizes: Sequence[int]) -> str:
    """Sizes as messages show them."""
    return str(list(sizes)).replace(" ", "")


@shape_of("Reshape")
def _reshape(operation: Operation, given: list[Shape]) -> Shape:
    sizes, shape = shape_value(operation, 1), given[0]
    if sizes is None:
        return None
    if shape is None:
        return sizes
    total = product(shape)
    if total == UNKNOWN:
        rest = product([size for size in shape if size >= 0])
        if rest and shape.count(UNKNOWN) == 1 and UNKNOWN not in sizes:
            divided(product(sizes), rest)
        return sizes
    if sizes.count(UNKNOWN) == 1:
        rest = product([size for size in sizes if size >= 0])
        if not rest:
            return sizes
        left = divided(total, rest)
        return tuple(left if size < 0 else size for size in sizes)
    if UNKNOWN not in sizes and product(sizes) != total:
        raise ShapeMismatchError(
            f"Cannot reshape a tensor with {total} elements to shape"
            f" {shown(sizes)} ({product(sizes)} elements)"
        )
    return sizes


register("ShapeN", lambda operation, given: [(rank_of(shape),) for shape in given])
register("IdentityN", lambda operation, given: list(given))


@shape_of("ExpandDims")
def _expand(operation: Operation, given: list[Shape]) -> Shape:
    axis, shape = value_at(operation, 1), given[0]
    if axis is not None and axis.size != 1:
        raise ShapeMismatchError("'dim' input must be a tensor with a single value")
    if shape is None or axis is None:
        return None
    at = int(axis.item())
    if not -len(shape) - 1 <= at <= len(shape):
        raise ShapeMismatchError(f"dim {at} not in the interval [{-len(shape) - 1}, {len(shape)}].")
    at %= len(shape) + 1
    return (*shape[:at], 1, *shape[at:])


@shape_of("Squeeze")
def _squeeze(operation: Operation, given: list[Shape]) -> Shape:
    shape, dims = given[0], operation.attribute("squeeze_dims")
    if shape is None or (not dims and UNKNOWN in shape):
        return None
    axes = [axis_of(axis, len(shape)) for axis in dims]
    for axis in axes:
        if shape[axis] not in (1, UNKNOWN):
            raise ShapeMismatchError(
                f"Can not squeeze dim[{axis}], expected a dimension of 1, got {shape[axis]}"
            )
    kept = [at not in axes if axes else size != 1 for at, size in enumerate(shape)]
    return tuple(size for size, keep in zip(shape, kept, strict=True) if keep)


@shape_of("Transpose ConjugateTranspose")
def _transpose(operation: Operation, given: list[Shape]) -> Shape:
    order, shape = value_at(operation, 1), given[0]
    (count,) = with_rank(given[1], 1)
    if shape is not None:
        exactly(count, len(shape))
    if shape is None:  # one axis may stand for none, too
        rank = count if order is None else len(order)
        return None if rank < 2 else unknown(rank)
    if order is None:
        return unknown(len(shape))
    about = "perm dim {axis} is out of range of input rank {rank}"
    return tuple(shape[axis_of(int(axis), len(shape), about)] for axis in order)


# Joining and cutting ----------------------------------------------------------------------------


@shape_of("Concat ConcatV2")
def _concat(operation: Operation, given: list[Shape]) -> Shape:
    """The axis comes first, or last."""
    is_last = operation.type == "ConcatV2"
    axis = value_at(operation, len(given) - 1 if is_last else 0)
    shapes = given[:-1] if is_last else given[1:]
    with_rank(given[-1 if is_last else 0], 0)
    known = next((shape for shape in shapes if shape is not None), None)
    if known is None:
        return None
    rank = len(at_least(known, 1) or ())
    wide = [(UNKNOWN,) * rank if shape is None else with_rank(shape, rank) for shape in shapes]
    if axis is None:
        return unknown(rank)
    at = int(axis)
    for shape in shapes:
        with_axis(shape, at)
    at %= rank
    others: list[Shape] = [shape[:at] + shape[at + 1 :] for shape in wide]
    rest = reduce(merged, others)
    assert rest is not None
    sizes = [shape[at] for shape in wide]
    total = UNKNOWN if UNKNOWN in sizes else sum(sizes)
    return (*rest[:at], total, *rest[at:])


def _all_merged(given: list[Shape]) -> Shape:
    """What is known of a shape by several descriptions of it, the last ones first."""
    *others, found = given
    for at, other in reversed([*enumerate(others)]):
        try:
            found = merged(other, found)
        except ShapeMismatchError as error:
            about = f"\n\tFrom merging shape {at} with other shapes."
            raise ShapeMismatchError(f"{error}{about}") from None
    return found


shape_of("AddN")(lambda operation, given: _all_merged(given))


@shape_of("EnsureShape")
def _ensured(operation: Operation, given: list[Shape]) -> Shape:
    wanted: Shape = operation.attribute("shape")
    return given[0] if wanted is None else merged(wanted, with_rank(given[0], len(wanted)))


@shape_of("Pack")
def _pack(operation: Operation, given: list[Shape]) -> Shape:
    found = _all_merged(given)
    if found is None:
        return None
    at = axis_of(operation.attribute("axis") or 0, len(found) + 1)
    return (*found[:at], len(given), *found[at:])


@shape_of("Unpack")
def _unpack(operation: Operation, given: list[Shape]) -> list[Shape]:
    count, shape = len(operation.types), given[0]
    if shape is None:
        return [None] * count
    at = axis_of(operation.attribute("axis") or 0, len(shape))
    exactly(shape[at], operation.attribute("num"))
    return [shape[:at] + shape[at + 1 :]] * count


@shape_of("Split SplitV")
def _split(operation: Operation, given: list[Shape]) -> list[Shape]:
    even, count = operation.type == "Split", len(operation.types)
    shape, axis = given[1 if even else 0], value_at(operation, 0 if even else 2)
    if axis is not None and axis.ndim:
        raise ShapeMismatchError(f"Input must be scalar but has rank {axis.ndim}")
    counts = None if even else value_at(operation, 1)
    if shape is not None and counts is not None and len(counts) != count:
        raise ShapeMismatchError("Length of size_splits should be equal to num_outputs")
    if shape is None or axis is None:
        return [unknown(rank_of(shape))] * count
    at = axis_of(int(axis), len(shape))
    if even:
        about = "\n\tNumber of ways to split should evenly divide the split dimension"
        sizes = [divided(shape[at], count, about)] * count
    else:
        sizes = _uneven(counts, count, shape[at])
    return [(*shape[:at], size, *shape[at + 1 :]) for size in sizes]


def _uneven(counts: np.ndarray | None, count: int, total: int) -> list[int]:
    """Sizes of parts, of which one may be what is left of a total."""
    if counts is None:
        return [UNKNOWN] * count
    sizes = [int(size) for size in counts]
    if sizes.count(UNKNOWN) > 1:
        raise ShapeMismatchError("size_splits can only have one -1")
    whole = sum(size for size in sizes if size >= 0)
    if total >= 0 and (whole > total or (UNKNOWN not in sizes and whole != total)):
        raise ShapeMismatchError(
            f"can't split axis of size {total} into pieces of size {shown(sizes)}"
        )
    if sizes.count(UNKNOWN) == 1 and total >= 0:
        sizes = [total - whole if size < 0 else size for size in sizes]
    return sizes


@shape_of("StridedSlice")
def _strided(operation: Operation, given: list[Shape]) -> Shape:
    shape, strides = given[0], value_at(operation, 3)
    places: list[Shape] = [with_rank(each, 1) for each in given[1:4]]
    reduce(merged, places)
    if shape is None or strides is None:
        return None
    steps = strides.ravel().tolist()
    begin, end = (
        [UNSEEN] * len(steps) if value is None else value.ravel().tolist()
        for value in (value_at(operation, 1), value_at(operation, 2))
    )
    return sliced(shape, slices_of(operation, begin, end, steps))


def sliced(shape: tuple[int, ...], slices: tuple[Any, ...]) -> tuple[int, ...]:
    """The shape of a slice.

    >>> sliced((5, -1, 3), (slice(1, 3, 1), Ellipsis, None, 0))
    (2, -1, 1)
    """
    consumed = sum(1 for part in slices if part is not None and part is not Ellipsis)
    if consumed > len(shape):
        raise ShapeMismatchError(
            f"Index out of range using input dim {len(shape)}; input has only {len(shape)} dims"
        )
    slices = slices if Ellipsis in slices else (*slices, Ellipsis)
    found: list[int] = []
    rest = list(shape)
    for part in slices:
        if part is Ellipsis:
            skipped = len(shape) - consumed
            found += rest[:skipped]
            rest = rest[skipped:]
        elif part is None:
            found.append(1)
        elif part == UNSEEN:
            rest.pop(0)
        elif isinstance(part, int):
            size = rest.pop(0)
            if size >= 0 and not -size <= part < size:
                raise ShapeMismatchError(
                    f"slice index {part} of dimension {len(shape) - len(rest) - 1} out of bounds."
                )
        else:
            found.append(_slice_size(part, rest.pop(0)))
    return tuple(found)


def _slice_size(part: slice, size: int) -> int:
    if size >= 0 and UNSEEN not in (part.start, part.stop):
        return len(range(*part.indices(size)))
    return size if part == slice(None, None, 1) else UNKNOWN


@shape_of("Slice")
def _slice(operation: Operation, given: list[Shape]) -> Shape:
    """A size of -1 is the rest, where all begins and sizes are known."""
    merged(with_rank(given[1], 1), with_rank(given[2], 1))
    begins, counts, shape = sizes_at(operation, 1), shape_value(operation, 2), given[0]
    known = begins if begins is not None else counts
    if known is None:
        return unknown(rank_of(shape))
    shape = with_rank(shape, len(known))
    if counts is None:
        return unknown(len(shape))
    sizes = value_at(operation, 2)
    begins = begins or unknown(len(shape)) or ()
    found = []
    for size, start, count in zip(shape, begins, counts, strict=True):
        rest = size - start if size >= 0 and start >= 0 else UNKNOWN
        found.append(count if count >= 0 else rest if sizes is not None else UNKNOWN)
    return tuple(found)


@shape_of("Pad PadV2 MirrorPad MirrorPadGrad")
def _pad(operation: Operation, given: list[Shape]) -> Shape:
    """The margins have a row for each axis."""
    pads, shape = value_at(operation, 1), given[0]
    rows = with_rank(given[1], 2)
    exactly(rows[1], 2)
    if shape is None and rows[0] >= 0:
        shape = unknown(rows[0])
    if shape is not None and rows[0] >= 0:
        with_rank(shape, rows[0])
    if pads is not None and np.any(pads < 0):
        raise ShapeMismatchError("Paddings must be non-negative")
    if pads is None or shape is None:
        is_gradient = operation.type == "MirrorPadGrad"
        return unknown(rows[0] if is_gradient else rank_of(shape))
    sign = -1 if operation.type == "MirrorPadGrad" else 1
    changes = [sign * int(np.sum(pad)) for pad in pads]
    for size, change in zip(shape, changes, strict=True):
        if 0 <= size < -change:
            about = f"Negative dimension size caused by subtracting {-change} from {size}"
            raise ShapeMismatchError(about)
    pairs = zip(shape, changes, strict=True)
    return tuple(UNKNOWN if size < 0 else size + change for size, change in pairs)


@shape_of("Tile")
def _tile(operation: Operation, given: list[Shape]) -> Shape:
    counts, shape = shape_value(operation, 1), given[0]
    if shape is None:
        return unknown(rank_of(counts))
    return tuple(map(product, zip(shape, with_rank(counts, len(shape)), strict=True)))


@shape_of("Range")
def _range(operation: Operation, given: list[Shape]) -> Shape:
    for shape in given:
        with_rank(shape, 0)
    first, last, step = (value_at(operation, place) for place in range(3))
    if first is None or last is None or step is None:
        return (UNKNOWN,)
    if step == 0:
        raise ShapeMismatchError("Requires delta != 0")
    if (first > last) if step > 0 else (first < last):
        sign = "<= limit when delta > 0" if step > 0 else ">= limit when delta < 0"
        raise ShapeMismatchError(f"Requires start {sign}: {first}/{last}")
    return (len(np.arange(first.item(), last.item(), step.item())),)


@shape_of("LinSpace")
def _linspace(operation: Operation, given: list[Shape]) -> Shape:
    for shape in given:
        with_rank(shape, 0)
    count = value_at(operation, 2)
    if count is not None and count <= 0:
        raise ShapeMismatchError(f"Requires num > 0: {count}")
    return (UNKNOWN if count is None else int(count),)


@shape_of("BroadcastArgs")
def _joint(operation: Operation, given: list[Shape]) -> Shape:
    sizes = [with_rank(shape, 1)[0] for shape in given]
    return (UNKNOWN if min(sizes) < 0 else max(sizes),)


@shape_of("Bitcast")
def _bitcast(operation: Operation, given: list[Shape]) -> Shape:
    from_type, to_type = (np.dtype(held(name_of(operation.attribute(n)))) for n in ("T", "type"))
    shape, more = given[0], from_type.itemsize // to_type.itemsize
    if shape is None or from_type.itemsize == to_type.itemsize:
        return shape
    if more:
        return (*shape, more)
    less = to_type.itemsize // from_type.itemsize
    if not shape or shape[-1] not in (less, UNKNOWN):
        size = f"{shape[-1]} does not match {less}" if shape else f"it has no size to match {less}"
        raise ShapeMismatchError(f"Cannot bitcast due to shape. {size}")
    return shape[:-1]


@shape_of("SpaceToBatchND BatchToSpaceND")
def _blocks_nd(operation: Operation, given: list[Shape]) -> Shape:
    sides, edges, shape = value_at(operation, 1), value_at(operation, 2), given[0]
    axes = with_rank(given[1], 1)[0]
    if axes >= 0:
        at_least(shape, axes + 1)
    merged(with_rank(given[2], 2), (axes, 2))
    if shape is None or axes < 0:
        return unknown(rank_of(shape))
    factors = [UNKNOWN] * axes if sides is None else [int(side) for side in sides]
    if sides is not None and np.any(sides < 1):
        raise ShapeMismatchError("block_shape must be positive")
    if edges is not None and np.any(edges < 0):
        raise ShapeMismatchError("paddings and crops must be non-negative")
    return blocks_of_batches(shape, factors, edges, operation.type == "SpaceToBatchND")


@shape_of("SpaceToBatch BatchToSpace")
def _blocks(operation: Operation, given: list[Shape]) -> Shape:
    side = int(operation.attribute("block_size"))
    if side < 2:
        raise ShapeMismatchError(f"Block size should be > 1: {side}")
    shape = with_rank(given[0], 4)
    merged(given[1], (2, 2))
    edges = value_at(operation, 1)
    return blocks_of_batches(shape, [side, side], edges, operation.type == "SpaceToBatch")


def blocks_of_batches(
    shape: tuple[int, ...], sides: list[int], edges: np.ndarray | None, into_batch: bool
) -> Shape:
    """The shape of blocks of space that become batches, or of batches that become blocks."""
    count, blocks, batch = len(sides), product(sides), shape[0]
    if batch >= 0 and blocks >= 0:
        batch = batch * blocks if into_batch else divided(batch, blocks)
    elif blocks < 0:
        batch = UNKNOWN
    space = []
    for at, side in enumerate(sides):
        size, edge = shape[at + 1], UNKNOWN if edges is None else int(np.sum(edges[at]))
        if size < 0 or edge < 0 or side < 0:
            space.append(UNKNOWN)
        elif into_batch:
            space.append(divided(size + edge, side))
        elif size * side < edge:
            raise ShapeMismatchError(f"crops of {edge} are more than {size * side}")
        else:
            space.append(size * side - edge)
    return (batch, *space, *shape[count + 1 :])


@shape_of("DepthToSpace")
def _space_of_channels(operation: Operation, given: list[Shape]) -> Shape:
    side, shape = operation.attribute("block_size"), with_rank(given[0], 4)
    last = is_channels_last(operation)
    batch, rows, columns, depth = shape if last else (shape[0], *shape[2:], shape[1])
    space, depth = (product((rows, side)), product((columns, side))), divided(depth, side * side)
    return (batch, *space, depth) if last else (batch, depth, *space)
