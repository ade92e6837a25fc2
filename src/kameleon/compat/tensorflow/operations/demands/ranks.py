"""What operations demand of ranks, and of numbers that are axes or sizes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...graph import Operation, shape_text
from .table import RANKS, demand_numbers, is_axis, is_size, known_numbers, on, refuse

# Ranks ------------------------------------------------------------------------------------------

# By types: see `RANKS`.
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
    "SparseToDense": [
        (1, 1, "output_shape should be a vector, got shape {shape}"),
        (3, 0, "default_value should be a scalar."),
    ],
    "SparseReshape": [(2, 1, "Target shape should be a vector but received shape {shape}")],
    "SparseTensorDenseMatMul": [(3, 2, "Tensor 'b' is not a matrix")],
    "SparseSegmentSum SparseSegmentMean SparseSegmentSqrtN": [
        (1, 1, "indices should be a vector."),
        (2, 1, "segment_ids should be a vector."),
    ],
    "LRN": [(0, 4, "in must be 4-dimensional")],
    "SpaceToDepth DepthToSpace": [(0, 4, "Input rank should be 4 instead of {rank}")],
    "Conv2D DepthwiseConv2dNative FusedBatchNorm FusedBatchNormV2 FusedBatchNormV3": [
        (0, 4, "input must be 4-dimensional{shape}"),
    ],
    "ResizeBilinear ResizeBicubic ResizeArea ResizeNearestNeighbor": [
        (0, 4, "input must be 4-dimensional{shape}"),
        (1, 1, "shape_t must be 1-dimensional{shape}"),
    ],
}  # fmt: skip
RANKS.update((name, demands) for names, demands in _RANKED.items() for name in names.split())

# Axes and sizes ---------------------------------------------------------------------------------

# By type: the number of the input with the numbers, what holds for them, and the complaint.
_NUMBERS: dict[str, tuple[int, Callable[[int, int], bool], str]] = {
    "Sum Mean Prod Max Min All Any EuclideanNorm": (
        1, is_axis, "Invalid reduction dimension ({number} for input with {rank} dimension(s)",
    ),
    "Cumsum Cumprod": (
        1, is_axis, "ScanOp: Expected scan axis in the range [-{rank}, {rank}), but got {number}",
    ),
    "Roll": (2, is_axis, "axis {number} is out of range"),
    "ReverseV2": (1, is_axis, "'axis'[{at}] = {number} is out of valid range [0, {last}"),
    "ExpandDims": (
        1, lambda number, rank: is_axis(number, rank + 1),
        "Tried to expand dim index {number} for tensor with {rank} dimensions.",
    ),
    "LinSpace": (2, lambda number, rank: number > 0, "Requires num > 0: {number}"),
    "Fill RandomUniform RandomStandardNormal TruncatedNormal": (
        0, is_size, "Dimension {number} must be >= 0",
    ),
    "OneHot": (1, is_size, "depth must be non-negative, got: {number}"),
}  # fmt: skip


def _numbered(place: int, holds: Callable[[int, int], bool], complaint: str) -> Callable[..., None]:
    def check(operation: Operation, *values: Any) -> None:
        demand_numbers(known_numbers(values[place]), len(values[0].shape), complaint, holds)

    return check


for _names, _setting in _NUMBERS.items():
    on(_names)(_numbered(*_setting))


@on("ArgMax ArgMin")
def _arg(operation: Operation, x: Any, axis: Any) -> None:
    rank = len(x.shape)
    about = "Expected dimension in the range [-{rank}, {rank}), but got {number}"
    demand_numbers(known_numbers(axis), rank, about)
    for at in known_numbers(axis):
        if x.shape[at] == 0:
            refuse(f"Reduction axis {at % rank} is empty in shape {shape_text(x.shape)}")


@on("Squeeze")
def _squeezed(operation: Operation, x: Any) -> None:
    axes, rank = list(operation.attribute("squeeze_dims") or ()), len(x.shape)
    about = "Tried to squeeze dim index {number} for tensor with {rank} dimensions."
    demand_numbers(axes, rank, about)
    for at in axes:
        if x.shape[at] != 1:
            refuse(
                f"Can not squeeze dim[{at % rank}], expected a dimension of 1, got {x.shape[at]}"
            )


@on("Transpose ConjugateTranspose")
def _turned(operation: Operation, x: Any, order: Any) -> None:
    rank, axes = len(x.shape), known_numbers(order)
    if order.shape != (rank,):
        sizes = f"{rank}. But input(1) is a vector of size {order.shape[0] if order.shape else 0}"
        refuse(f"transpose expects a vector of size {sizes}")
    demand_numbers(axes, rank, "{number} is out of range [0 .. {rank})")
    for at in range(rank) if axes else ():
        if at not in [each % rank for each in axes]:
            refuse(f"{at} is missing from {{{','.join(map(str, axes))}}}.")
