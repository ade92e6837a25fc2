"""What operations refuse, in TensorFlow's words: shapes that don't go together, places outside.

A value is an array where it's known, else a tensor of K's, of which the shape is known.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

import numpy as np

from kameleon.graph.ir.node import Tensor

from ..failures import failure, invalid
from ..graph import Operation, shape_text
from ..shapes.state import SCATTERING

F = TypeVar("F", bound=Callable[..., Any])

DEMANDS: dict[str, Callable[..., None]] = {}  # (operation, *values)


def demand(operation: Operation, values: list[Any]) -> None:
    """Refuse values that the operation doesn't take; what has open sizes is refused when it's run.

    Raises:
        InvalidArgumentError: (TensorFlow's) in its words.
    """
    function = DEMANDS.get(operation.type)
    for place, rank, complaint in _RANKS.get(operation.type, ()):
        if len(shape := values[place].shape) != rank:
            _refuse(complaint.format(shape=shape_text(shape), rank=len(shape)))
    is_open = any(isinstance(value, Tensor) and None in value.shape for value in values)
    if function is not None and not is_open:
        function(operation, *values)


def _on(*names: str) -> Callable[[F], F]:
    def add(function: F) -> F:
        DEMANDS.update(dict.fromkeys(" ".join(names).split(), function))
        return function

    return add


def _refuse(message: str) -> NoReturn:
    raise invalid(message)


def _pair(one: Any, other: Any, between: str = " vs. ") -> str:
    return f"{shape_text(one.shape)}{between}{shape_text(other.shape)}"


def _known(value: Any) -> np.ndarray | None:
    return value if isinstance(value, np.ndarray) else None


def _numbers(value: Any) -> list[int]:
    """Integers that are known; none where they aren't."""
    return [] if not isinstance(value, np.ndarray) else [int(each) for each in value.ravel()]


# Ranks ------------------------------------------------------------------------------------------

# By type: places of inputs, how many axes they have, and the complaint.
_RANKED: dict[str, list[tuple[int, int, str]]] = {
    "Reshape": [(1, 1, "sizes input must be 1-D, not {shape}")],
    "Tile": [(1, 1, "Expected multiples to be 1-D, but got shape {shape}")],
    "ReverseV2": [(1, 1, "'dims' must be 1-dimension, not {rank}")],
    "InvertPermutation": [(0, 1, "invert_permutation expects a 1D vector.")],
    "Fill": [
        (0, 1, "dims must be a vector, got shape {shape}"),
        (1, 0, "value must be a scalar, got shape {shape}"),
    ],
    "RandomUniform RandomUniformInt RandomStandardNormal TruncatedNormal": [
        (0, 1, "shape must be a vector of {{int32,int64}}, got shape {shape}"),
    ],
    "OneHot": [(1, 0, "depth must be a scalar, but got: {shape}")],
    **{
        kind: [
            (at, 0, f"{name} must be a scalar, not shape {{shape}}")
            for at, name in enumerate(names)
        ]
        for kind, names in {
            "Range": ("start", "limit", "delta"), "LinSpace": ("start", "stop", "num"),
        }.items()
    },
    "LRN": [(0, 4, "in must be 4-dimensional")],
    "SpaceToDepth DepthToSpace": [(0, 4, "Input rank should be 4 instead of {rank}")],
    "FusedBatchNorm FusedBatchNormV2 FusedBatchNormV3": [
        (0, 4, "input must be 4-dimensional{shape}"),
    ],
    "ResizeBilinear ResizeBicubic ResizeArea ResizeNearestNeighbor": [
        (0, 4, "input must be 4-dimensional{shape}"),
        (1, 1, "shape_t must be 1-dimensional{shape}"),
    ],
}  # fmt: skip
_RANKS = {name: told for names, told in _RANKED.items() for name in names.split()}
DEMANDS.update(dict.fromkeys(_RANKS, lambda operation, *values: None))

# Axes and sizes ---------------------------------------------------------------------------------


def _is_axis(number: int, rank: int) -> bool:
    return -rank <= number < rank


def _is_size(number: int, rank: int) -> bool:
    return number >= 0


# By type: the number of the input with the numbers, what holds for them, and the complaint.
_NUMBERS: dict[str, tuple[int, Callable[[int, int], bool], str]] = {
    "Sum Mean Prod Max Min All Any EuclideanNorm": (
        1, _is_axis, "Invalid reduction dimension ({number} for input with {rank} dimension(s)",
    ),
    "ArgMax ArgMin": (
        1, _is_axis, "Expected dimension in the range [-{rank}, {rank}), but got {number}",
    ),
    "Cumsum Cumprod": (
        1, _is_axis, "ScanOp: Expected scan axis in the range [-{rank}, {rank}), but got {number}",
    ),
    "Roll": (2, _is_axis, "axis {number} is out of range"),
    "ReverseV2": (1, _is_axis, "'axis'[{at}] = {number} is out of valid range [0, {last}"),
    "ExpandDims": (
        1, lambda number, rank: _is_axis(number, rank + 1),
        "Tried to expand dim index {number} for tensor with {rank} dimensions.",
    ),
    "LinSpace": (2, lambda number, rank: number > 0, "Requires num > 0: {number}"),
    "Fill RandomUniform RandomStandardNormal TruncatedNormal": (
        0, _is_size, "Dimension {number} must be >= 0",
    ),
    "OneHot": (1, _is_size, "depth must be non-negative, got: {number}"),
}  # fmt: skip


def _demand_numbers(
    numbers: list[int], rank: int, complaint: str, holds: Callable[[int, int], bool] = _is_axis
) -> None:
    for at, number in enumerate(numbers):
        if not holds(number, rank):
            _refuse(complaint.format(number=number, rank=rank, at=at, last=rank - 1))


def _numbered(place: int, holds: Callable[[int, int], bool], complaint: str) -> Callable[..., None]:
    def check(operation: Operation, *values: Any) -> None:
        _demand_numbers(_numbers(values[place]), len(values[0].shape), complaint, holds)

    return check


for _names, _told in _NUMBERS.items():
    _on(_names)(_numbered(*_told))


@_on("Squeeze")
def _squeezed(operation: Operation, x: Any) -> None:
    axes, rank = list(operation.attribute("squeeze_dims") or ()), len(x.shape)
    about = "Tried to squeeze dim index {number} for tensor with {rank} dimensions."
    _demand_numbers(axes, rank, about)
    for at in axes:
        if x.shape[at] != 1:
            _refuse(
                f"Can not squeeze dim[{at % rank}], expected a dimension of 1, got {x.shape[at]}"
            )


@_on("Transpose ConjugateTranspose")
def _turned(operation: Operation, x: Any, order: Any) -> None:
    rank, told = len(x.shape), _numbers(order)
    if order.shape != (rank,):
        sizes = f"{rank}. But input(1) is a vector of size {order.shape[0] if order.shape else 0}"
        _refuse(f"transpose expects a vector of size {sizes}")
    _demand_numbers(told, rank, "{number} is out of range [0 .. {rank})")
    for at in range(rank) if told else ():
        if at not in [each % rank for each in told]:
            _refuse(f"{at} is missing from {{{','.join(map(str, told))}}}.")


# Element-wise -----------------------------------------------------------------------------------


@_on(
    "Add AddV2 Sub Mul RealDiv Div Maximum Minimum SquaredDifference Equal NotEqual Less LessEqual"
    " Greater GreaterEqual LogicalAnd LogicalOr DivNoNan MulNoNan Atan2 Xdivy Xlogy BitwiseAnd"
    " BitwiseOr BitwiseXor LeftShift RightShift"
)
def _alike(operation: Operation, a: Any, b: Any) -> None:
    one, other = a.shape, b.shape
    if operation.attribute("incompatible_shape_error") is False:
        return
    if one == other or not one or not other:
        return
    for x, y in zip(reversed(one), reversed(other), strict=False):
        if x != y and x != 1 and y != 1:
            _refuse(f"Incompatible shapes: {_pair(a, b)}")


@_on("FloorDiv FloorMod TruncateDiv TruncateMod Pow")
def _divided(operation: Operation, a: Any, b: Any) -> None:
    _alike(operation, a, b)
    known = _known(b)
    if known is None or known.dtype.kind not in "iu" or 0 in a.shape:
        return
    if operation.type == "Pow" and (known < 0).any():
        _refuse("Integers to negative integer powers are not allowed")
    if operation.type != "Pow" and not known.all():
        _refuse("Integer division by zero")


def _demand_same(operation: Operation, values: Any, places: list[int]) -> None:
    """Of two inputs the same shape."""
    one, other = (values[place] for place in places)
    if one.shape != other.shape:
        about = f"Inputs to operation {operation.name} of type {operation.type} must have the same"
        shapes = _pair(one, other, f" != input {places[1]}: ")
        _refuse(f"{about} size and shape.  Input {places[0]}: {shapes}")


@_on("AddN AccumulateNV2")
def _summed(operation: Operation, *values: Any) -> None:
    for at in range(1, len(values) if hasattr(values[0], "shape") else 0):
        _demand_same(operation, values, [0, at])


_on("SoftplusGrad SoftsignGrad ReluGrad Relu6Grad EluGrad SeluGrad LeakyReluGrad")(
    lambda operation, *values: _demand_same(operation, values, [0, 1])
)


@_on("Select")
def _selected(operation: Operation, *values: Any) -> None:
    _demand_same(operation, values, [1, 2])
    if values[0].shape not in ((), values[1].shape[:1]):
        _demand_same(operation, values, [0, 1])


# Products, losses -------------------------------------------------------------------------------


@_on("MatMul SparseMatMul")
def _product(operation: Operation, a: Any, b: Any) -> None:
    for at, value in enumerate((a, b)):
        if len(value.shape) != 2:
            _refuse(f"In[{at}] is not a matrix. Instead it has shape {shape_text(value.shape)}")
    inner = a.shape[0 if operation.attribute("transpose_a") else 1]
    if inner != b.shape[1 if operation.attribute("transpose_b") else 0]:
        _refuse(f"Matrix size-incompatible: In[0]: {_pair(a, b, ', In[1]: ')}")


@_on("BatchMatMul BatchMatMulV2")
def _products(operation: Operation, a: Any, b: Any) -> None:
    x, y = (int(operation.attribute(name) or 0) for name in ("adj_x", "adj_y"))
    for at, value in enumerate((a, b)):
        if len(value.shape) < 2:
            _refuse(f"In[{at}] ndims must be >= 2: {len(value.shape)}")
    try:
        np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    except ValueError:
        _refuse(f"In[0] and In[1] must have compatible batch dimensions: {_pair(a, b)}")
    inner, outer = a.shape[-1 - x], b.shape[-2 + y]
    if inner != outer:
        _refuse(f"In[0] mismatch In[1] shape: {inner} vs. {outer}: {_pair(a, b, ' ')} {x} {y}")


@_on("BiasAdd")
def _bias(operation: Operation, x: Any, bias: Any) -> None:
    if len(bias.shape) != 1:
        _refuse(f"Biases must be 1D: {shape_text(bias.shape)}")
    first = operation.attribute("data_format") == b"NCHW" and len(x.shape) > 2
    if len(x.shape) > 1 and bias.shape[0] != x.shape[1 if first else -1]:
        about = "Must provide as many biases as the last dimension of the input tensor"
        _refuse(f"{about}: {_pair(bias, x)}")


@_on("SoftmaxCrossEntropyWithLogits")
def _entropy(operation: Operation, logits: Any, labels: Any) -> None:
    if max(len(logits.shape), len(labels.shape)) != 2:
        about = "logits and labels must be either 2-dimensional, or broadcasted to be"
        _refuse(f"{about} 2-dimensional")
    if logits.shape != labels.shape and 1 not in (*logits.shape, *labels.shape):
        sizes = _pair(logits, labels, " labels_size=")
        _refuse(f"logits and labels must be broadcastable: logits_size={sizes}")


@_on("SparseSoftmaxCrossEntropyWithLogits")
def _sparse_entropy(operation: Operation, logits: Any, labels: Any) -> None:
    told, count = _numbers(labels), logits.shape[-1]
    for label in told:
        if not 0 <= label < count:
            about = f"Received a label value of {label} which is outside the valid range of"
            _refuse(f"{about} [0, {count}).  Label values: {' '.join(map(str, told))}")


# Shapes -----------------------------------------------------------------------------------------


@_on("Reshape")
def _reshaped(operation: Operation, x: Any, sizes: Any) -> None:
    if _known(sizes) is None:
        return
    told, count = _numbers(sizes), int(np.prod(x.shape, dtype=np.int64))
    free = [at for at, size in enumerate(told) if size == -1]
    if len(free) > 1:
        _refuse(f"Only one input size may be -1, not both {free[0]} and {free[1]}")
    rest = int(np.prod([size for size in told if size != -1], dtype=np.int64))
    about = f"Input to reshape is a tensor with {count} values, but the requested shape"
    if free and rest and count % rest:
        _refuse(f"{about} requires a multiple of {rest}")
    if count != rest and (not free or not rest):
        _refuse(f"{about} has {rest}")


@_on("Tile")
def _tiled(operation: Operation, x: Any, times: Any) -> None:
    if times.shape != (len(x.shape),):
        size = f"{len(x.shape)} but got length {times.shape[0]}"
        _refuse(f"Expected multiples argument to be a vector of length {size}")
    about = "Expected multiples[{at}] >= 0, but got {number}"
    _demand_numbers(_numbers(times), len(x.shape), about, _is_size)


@_on("Pad PadV2 MirrorPad")
def _padded(operation: Operation, x: Any, margins: Any, *value: Any) -> None:
    if margins.shape != (len(x.shape), 2):
        about = "The first dimension of paddings must be the rank of inputs"
        _refuse(f"{about}{_pair(margins, x, ' ')}")


# Parts ------------------------------------------------------------------------------------------


@_on("ConcatV2")
def _joined(operation: Operation, *values: Any) -> None:
    *parts, axis = values
    rank, told = len(parts[0].shape), _numbers(axis)
    about = "ConcatOp : Expected concatenating dimensions in the range [-{rank}, {rank})"
    _demand_numbers(told, rank, f"{about}, but got {{number}}")
    for place, part in enumerate(parts if told else ()):
        if part.shape == parts[0].shape:
            continue
        shapes = f"shape[0] = {_pair(parts[0], part, f' vs. shape[{place}] = ')}"
        if len(part.shape) != rank:
            _refuse(f"ConcatOp : Ranks of all input tensors should match: {shapes}")
        one, other = (np.delete(each.shape, told[0]).tolist() for each in (part, parts[0]))
        if one != other:
            _refuse(f"ConcatOp : Dimensions of inputs should match: {shapes}")


@_on("Pack")
def _stacked(operation: Operation, *values: Any) -> None:
    for at, value in enumerate(values[1:], 1):
        if value.shape != values[0].shape:
            shapes = _pair(values[0], value, f" != values[{at}].shape = ")
            _refuse(f"Shapes of all inputs must match: values[0].shape = {shapes}")


@_on("Split")
def _split(operation: Operation, axis: Any, x: Any) -> None:
    count = operation.attribute("num_split")
    for at in _numbers(axis):
        if x.shape[at] % count:
            about = "Number of ways to split should evenly divide the split dimension, but got"
            _refuse(f"{about} split_dim {at} (size = {x.shape[at]}) and num_split {count}")


@_on("SplitV")
def _split_by_sizes(operation: Operation, x: Any, sizes: Any, axis: Any) -> None:
    told = _numbers(sizes)
    total = sum(size for size in told if size != -1)
    if told.count(-1) > 1:
        _refuse("There can only be one -1 in the input.")
    for at in _numbers(axis) if told else ():
        if total > x.shape[at] or (-1 not in told and total != x.shape[at]):
            _refuse(
                "Determined shape must either match input shape along split_dim exactly if fully"
                " specified, or be less than the size of the input along split_dim if not fully"
                f" specified.  Got: {total}"
            )


@_on("Slice")
def _sliced(operation: Operation, x: Any, begin: Any, sizes: Any) -> None:
    starts, counts = _numbers(begin), _numbers(sizes)
    for at, (start, count) in enumerate(zip(starts, counts, strict=False)):
        size = x.shape[at]
        if not 0 <= start <= size:
            _refuse(f"Expected begin[{at}] in [0, {size}], but got {start}")
        if count != -1 and not 0 <= count <= size - start:
            _refuse(f"Expected size[{at}] in [0, {size - start}], but got {count}")


@_on("StridedSlice")
def _strided(operation: Operation, x: Any, begin: Any, end: Any, strides: Any) -> None:
    starts, steps = _numbers(begin), _numbers(strides)
    hole, new, shrink = (
        operation.attribute(f"{name}_mask") for name in ("ellipsis", "new_axis", "shrink_axis")
    )
    taking = [at for at in range(len(steps)) if not (hole | new) >> at & 1]
    axis = 0
    for at, step in enumerate(steps if starts else ()):
        if step == 0:
            _refuse(f"strides[{at}] must be non-zero")
        if at not in taking:
            axis += (len(x.shape) - len(taking)) * (hole >> at & 1)
            continue
        if axis >= len(x.shape):
            about = f"Index out of range using input dim {axis}"
            _refuse(f"{about}; input has only {len(x.shape)} dims")
        if shrink >> at & 1 and not -x.shape[axis] <= starts[at] < x.shape[axis]:
            _refuse(f"slice index {starts[at]} of dimension {axis} out of bounds.")
        axis += 1


# Places -----------------------------------------------------------------------------------------


def demand_places(at: Any, size: int) -> None:
    """Refuse places outside of an axis of that size, where they're known."""
    known = _known(at)
    if known is None or not known.size or 0 <= known.min() <= known.max() < size:
        return
    place = tuple(np.argwhere((known < 0) | (known >= size))[0])
    _refuse(f"indices{shape_text(place) if place else ''} = {known[place]} is not in [0, {size})")


@_on("Gather GatherV2 ResourceGather")
def _gathered(operation: Operation, x: Any, at: Any, axis: Any = None) -> None:
    axes = [operation.attribute("batch_dims") or 0] if axis is None else _numbers(axis)
    about = "Expected axis in the range [-{rank}, {rank}), but got {number}"
    _demand_numbers(axes, len(x.shape), about)
    for along in axes:
        demand_places(at, x.shape[along])


_on(SCATTERING)(lambda operation, x, at, rows: demand_places(at, x.shape[0]))


@_on("GatherNd ResourceGatherNd")
def _gathered_at(operation: Operation, x: Any, at: Any) -> None:
    if at.shape[-1] > len(x.shape):
        sizes = f"{at.shape[-1]} vs. {len(x.shape)}"
        _refuse(f"index innermost dimension length must be <= params rank; saw: {sizes}")
    _demand_coordinates(at, x.shape, "param shape")


_on(
    "TensorScatterUpdate TensorScatterAdd TensorScatterSub ScatterNdNonAliasingAdd",
    *(f"{by}ScatterNd{way}" for by in ("", "Resource") for way in ("Update", "Add", "Sub")),
)(lambda operation, x, at, values: _demand_coordinates(at, x.shape, "shape"))


@_on("ScatterNd")
def _scattered_at(operation: Operation, at: Any, values: Any, sizes: Any) -> None:
    if _known(sizes) is not None:
        _demand_coordinates(at, tuple(_numbers(sizes)), "shape")


def _demand_coordinates(at: Any, sizes: tuple[int, ...], what: str) -> None:
    known = _known(at)
    if known is not None and known.size:
        outside = ((known < 0) | (known >= np.array(sizes[: known.shape[-1]]))).any(-1)
        for place in np.argwhere(outside)[:1]:
            told = ", ".join(map(str, known[tuple(place)]))
            about = f"indices[{','.join(map(str, place))}] = [{told}] does not index into"
            _refuse(f"{about} {what} {shape_text(sizes)}")


@_on("UnsortedSegmentSum UnsortedSegmentMax UnsortedSegmentMin UnsortedSegmentProd")
def _segments(operation: Operation, x: Any, at: Any, count: Any) -> None:
    if x.shape[: len(at.shape)] != at.shape:
        shapes = _pair(x, at, " does not start with segment_ids.shape = ")
        _refuse(f"data.shape = {shapes}")
    known = _known(at)
    if known is None:
        return
    for size in _numbers(count):
        for place in np.argwhere(known >= size)[:1]:
            about = f"segment_ids{shape_text(place)} = {known[tuple(place)]}"
            _refuse(f"{about} is out of range [0, {size})")


@_on("AssignAddVariableOp AssignSubVariableOp")
def _changed(operation: Operation, x: Any, value: Any) -> None:
    if x.shape != value.shape:
        shapes = _pair(x, value, " using a Tensor with shape ")
        _refuse(f"Cannot update variable with shape {shapes}, shapes must be equal.")


@_on("SpaceToDepth")
def _blocked(operation: Operation, x: Any) -> None:
    side, (height, width) = operation.attribute("block_size"), x.shape[1:3]
    if operation.attribute("data_format") == b"NHWC" and (height % side or width % side):
        sizes = f"Image width {width} and height {height}"
        _refuse(f"{sizes} should be divisible by block_size: {side}")


@_on("Unpack")
def _unpacked(operation: Operation, x: Any) -> None:
    axis, count = operation.attribute("axis") or 0, operation.attribute("num")
    if x.shape and x.shape[axis] != count:
        axis %= len(x.shape)
        _refuse(f"Input shape axis {axis} must equal {count}, got shape {shape_text(x.shape)}")


@_on("CropAndResize")
def _cropped(operation: Operation, x: Any, boxes: Any, which: Any, sizes: Any) -> None:
    if any(not 0 <= number < x.shape[0] for number in _numbers(which)):
        raise failure("OUT_OF_RANGE", "box_index has values outside [0, batch_size)")
    if which.shape != boxes.shape[:1]:
        _refuse("box_index has incompatible shape")
    if any(size <= 0 for size in _numbers(sizes)):
        _refuse("crop dimensions must be positive")


# Numbers ----------------------------------------------------------------------------------------


@_on("InvertPermutation")
def _permuted(operation: Operation, order: Any) -> None:
    met, places = set[int](), _numbers(order)
    for place in places:
        if not 0 <= place < len(places):
            _refuse(f"{place} is not between 0 and {len(places)}")
        if place in met:
            _refuse(f"{place} is duplicated in the input.")
        met.add(place)


@_on("TopK TopKV2")
def _top(operation: Operation, x: Any, count: Any = None) -> None:
    for k in [operation.attribute("k")] if count is None else _numbers(count):
        if k < 0:
            _refuse(f"Need k >= 0, got {k}")
        if x.shape and k > x.shape[-1]:
            _refuse(f"input must have at least k columns. Had {x.shape[-1]}, needed {k}")


@_on("Range")
def _range(operation: Operation, *values: Any) -> None:
    known = [value.item() for value in values if isinstance(value, np.ndarray)]
    if len(known) < 3:
        return
    first, last, by = known
    if by == 0:
        _refuse(f"Requires delta != 0: {by}")
    if (last - first) * by < 0:
        relation = "start <= limit when delta > 0" if by > 0 else "start >= limit when delta < 0"
        _refuse(f"Requires {relation}: {first}/{last}")
