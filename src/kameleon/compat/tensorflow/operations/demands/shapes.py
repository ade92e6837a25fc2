"""What operations demand of shapes of inputs, and of numbers that say shapes and parts."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...graph import Operation, shape_text
from .table import demand_numbers, is_size, known_array, known_numbers, on, pair, refuse

# Element-wise -----------------------------------------------------------------------------------


@on(
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
            refuse(f"Incompatible shapes: {pair(a, b)}")


@on("FloorDiv FloorMod TruncateDiv TruncateMod Pow")
def _divided(operation: Operation, a: Any, b: Any) -> None:
    _alike(operation, a, b)
    known = known_array(b)
    if known is None or known.dtype.kind not in "iu" or 0 in a.shape:
        return
    if operation.type == "Pow" and (known < 0).any():
        refuse("Integers to negative integer powers are not allowed")
    if operation.type != "Pow" and not known.all():
        refuse("Integer division by zero")


def _demand_same(operation: Operation, values: Any, places: list[int]) -> None:
    """Of two inputs the same shape."""
    one, other = (values[place] for place in places)
    if one.shape != other.shape:
        about = f"Inputs to operation {operation.name} of type {operation.type} must have the same"
        shapes = pair(one, other, f" != input {places[1]}: ")
        refuse(f"{about} size and shape.  Input {places[0]}: {shapes}")


@on("AddN AccumulateNV2")
def _summed(operation: Operation, *values: Any) -> None:
    for at in range(1, len(values) if hasattr(values[0], "shape") else 0):
        _demand_same(operation, values, [0, at])


on("SoftplusGrad SoftsignGrad ReluGrad Relu6Grad EluGrad SeluGrad LeakyReluGrad")(
    lambda operation, *values: _demand_same(operation, values, [0, 1])
)


@on("Select")
def _selected(operation: Operation, *values: Any) -> None:
    _demand_same(operation, values, [1, 2])
    if values[0].shape not in ((), values[1].shape[:1]):
        _demand_same(operation, values, [0, 1])


# Products, losses -------------------------------------------------------------------------------


@on("MatMul SparseMatMul")
def _product(operation: Operation, a: Any, b: Any) -> None:
    for at, value in enumerate((a, b)):
        if len(value.shape) != 2:
            refuse(f"In[{at}] is not a matrix. Instead it has shape {shape_text(value.shape)}")
    inner = a.shape[0 if operation.attribute("transpose_a") else 1]
    if inner != b.shape[1 if operation.attribute("transpose_b") else 0]:
        refuse(f"Matrix size-incompatible: In[0]: {pair(a, b, ', In[1]: ')}")


@on("BatchMatMul BatchMatMulV2")
def _products(operation: Operation, a: Any, b: Any) -> None:
    x, y = (int(operation.attribute(name) or 0) for name in ("adj_x", "adj_y"))
    for at, value in enumerate((a, b)):
        if len(value.shape) < 2:
            refuse(f"In[{at}] ndims must be >= 2: {len(value.shape)}")
    try:
        np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    except ValueError:
        refuse(f"In[0] and In[1] must have compatible batch dimensions: {pair(a, b)}")
    inner, outer = a.shape[-1 - x], b.shape[-2 + y]
    if inner != outer:
        refuse(f"In[0] mismatch In[1] shape: {inner} vs. {outer}: {pair(a, b, ' ')} {x} {y}")


@on("BiasAdd")
def _bias(operation: Operation, x: Any, bias: Any) -> None:
    if len(bias.shape) != 1:
        refuse(f"Biases must be 1D: {shape_text(bias.shape)}")
    first = operation.attribute("data_format") == b"NCHW" and len(x.shape) > 2
    if len(x.shape) > 1 and bias.shape[0] != x.shape[1 if first else -1]:
        about = "Must provide as many biases as the last dimension of the input tensor"
        refuse(f"{about}: {pair(bias, x)}")


@on("SoftmaxCrossEntropyWithLogits")
def _entropy(operation: Operation, logits: Any, labels: Any) -> None:
    if max(len(logits.shape), len(labels.shape)) != 2:
        about = "logits and labels must be either 2-dimensional, or broadcasted to be"
        refuse(f"{about} 2-dimensional")
    if logits.shape != labels.shape and 1 not in (*logits.shape, *labels.shape):
        sizes = pair(logits, labels, " labels_size=")
        refuse(f"logits and labels must be broadcastable: logits_size={sizes}")


@on("SparseSoftmaxCrossEntropyWithLogits")
def _sparse_entropy(operation: Operation, logits: Any, labels: Any) -> None:
    if logits.shape[:1] != labels.shape:
        shapes = pair(logits, labels, " and labels shape ")
        refuse(f"logits and labels must have the same first dimension, got logits shape {shapes}")
    known, count = known_numbers(labels), logits.shape[-1]
    least, most = min(known, default=0), max(known, default=0)
    if known and not 0 <= least <= most < count:
        about = f"Received a label value of {least if least < 0 else most} which is outside the"
        refuse(f"{about} valid range of [0, {count}).  Label values: {' '.join(map(str, known))}")


@on("ResizeArea ScaleAndTranslate")
def _resized(operation: Operation, x: Any, *values: Any) -> None:
    if 0 in x.shape[1:3]:
        refuse("input image must be of non-zero size")


@on("MatrixBandPart")
def _band(operation: Operation, x: Any, *limits: Any) -> None:
    names, sizes = (("lower", "rows"), ("upper", "columns")), x.shape[-2:]
    for (side, of), size, limit in zip(names, sizes, limits, strict=True):
        for number in known_numbers(limit):
            if number > size:
                about = f"num_{side} must be negative or less or equal to number of {of} ({size})"
                refuse(f"{about} got: {number}")


# Shapes -----------------------------------------------------------------------------------------


@on("Reshape")
def _reshaped(operation: Operation, x: Any, sizes: Any) -> None:
    if known_array(sizes) is None:
        return
    wanted, count = known_numbers(sizes), int(np.prod(x.shape, dtype=np.int64))
    free = [at for at, size in enumerate(wanted) if size == -1]
    if len(free) > 1:
        refuse(f"Only one input size may be -1, not both {free[0]} and {free[1]}")
    rest = int(np.prod([size for size in wanted if size != -1], dtype=np.int64))
    about = f"Input to reshape is a tensor with {count} values, but the requested shape"
    if free and rest and count % rest:
        refuse(f"{about} requires a multiple of {rest}")
    if count != rest and (not free or not rest):
        refuse(f"{about} has {rest}")


@on("Tile")
def _tiled(operation: Operation, x: Any, times: Any) -> None:
    if times.shape != (len(x.shape),):
        size = f"{len(x.shape)} but got length {times.shape[0]}"
        refuse(f"Expected multiples argument to be a vector of length {size}")
    about = "Expected multiples[{at}] >= 0, but got {number}"
    demand_numbers(known_numbers(times), len(x.shape), about, is_size)


@on("Pad PadV2 MirrorPad")
def _padded(operation: Operation, x: Any, margins: Any, *value: Any) -> None:
    if margins.shape != (len(x.shape), 2):
        about = "The first dimension of paddings must be the rank of inputs"
        refuse(f"{about}{pair(margins, x, ' ')}")
    for before, after in np.reshape(known_numbers(margins), (-1, 2)).tolist():
        if min(before, after) < 0:
            refuse(f"Paddings must be non-negative: {before} {after}")


# Parts ------------------------------------------------------------------------------------------


@on("ConcatV2")
def _joined(operation: Operation, *values: Any) -> None:
    *parts, axis = values
    rank, axes = len(parts[0].shape), known_numbers(axis)
    about = "ConcatOp : Expected concatenating dimensions in the range [-{rank}, {rank})"
    demand_numbers(axes, rank, f"{about}, but got {{number}}")
    for place, part in enumerate(parts if axes else ()):
        if part.shape == parts[0].shape:
            continue
        shapes = f"shape[0] = {pair(parts[0], part, f' vs. shape[{place}] = ')}"
        if len(part.shape) != rank:
            refuse(f"ConcatOp : Ranks of all input tensors should match: {shapes}")
        one, other = (np.delete(each.shape, axes[0]).tolist() for each in (part, parts[0]))
        if one != other:
            refuse(f"ConcatOp : Dimensions of inputs should match: {shapes}")


@on("Pack")
def _stacked(operation: Operation, *values: Any) -> None:
    for at, value in enumerate(values[1:], 1):
        if value.shape != values[0].shape:
            shapes = pair(values[0], value, f" != values[{at}].shape = ")
            refuse(f"Shapes of all inputs must match: values[0].shape = {shapes}")


@on("Split")
def _split(operation: Operation, axis: Any, x: Any) -> None:
    count = operation.attribute("num_split")
    for at in known_numbers(axis):
        if x.shape[at] % count:
            about = "Number of ways to split should evenly divide the split dimension, but got"
            refuse(f"{about} split_dim {at} (size = {x.shape[at]}) and num_split {count}")


@on("SplitV")
def _split_by_sizes(operation: Operation, x: Any, sizes: Any, axis: Any) -> None:
    counts = known_numbers(sizes)
    total = sum(size for size in counts if size != -1)
    if counts.count(-1) > 1:
        refuse("There can only be one -1 in the input.")
    for at in known_numbers(axis) if len(counts) > 1 else ():  # one part is all, whatever is asked
        if total > x.shape[at] or (-1 not in counts and total != x.shape[at]):
            refuse(
                "Determined shape must either match input shape along split_dim exactly if fully"
                " specified, or be less than the size of the input along split_dim if not fully"
                f" specified.  Got: {total}"
            )


@on("Slice")
def _sliced(operation: Operation, x: Any, begin: Any, sizes: Any) -> None:
    starts, counts = known_numbers(begin), known_numbers(sizes)
    for at, (start, count) in enumerate(zip(starts, counts, strict=False)):
        size = x.shape[at]
        if not 0 <= start <= size:
            refuse(f"Expected begin[{at}] in [0, {size}], but got {start}")
        if count != -1 and not 0 <= count <= size - start:
            refuse(f"Expected size[{at}] in [0, {size - start}], but got {count}")


@on("StridedSlice")
def _strided(operation: Operation, x: Any, begin: Any, end: Any, strides: Any) -> None:
    starts, steps = known_numbers(begin), known_numbers(strides)
    hole, new, shrink = (
        operation.attribute(f"{name}_mask") for name in ("ellipsis", "new_axis", "shrink_axis")
    )
    taking = [at for at in range(len(steps)) if not (hole | new) >> at & 1]
    axis = 0
    for at, step in enumerate(steps if starts else ()):
        if step == 0:
            refuse(f"strides[{at}] must be non-zero")
        if at not in taking:
            axis += (len(x.shape) - len(taking)) * (hole >> at & 1)
            continue
        if axis >= len(x.shape):
            about = f"Index out of range using input dim {axis}"
            refuse(f"{about}; input has only {len(x.shape)} dims")
        if shrink >> at & 1 and not -x.shape[axis] <= starts[at] < x.shape[axis]:
            refuse(f"slice index {starts[at]} of dimension {axis} out of bounds.")
        axis += 1
