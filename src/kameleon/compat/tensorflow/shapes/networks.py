"""Shapes of convolutions, pooling, normalization and losses."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..graph import Operation, Shape
from .known import sizes_at, value_at
from .notation import table
from .rules import (
    UNKNOWN,
    ShapeMismatchError,
    broadcast,
    is_channels_last,
    merged,
    register,
    same,
    shape_of,
    unknown,
    with_rank,
)

table(
    """
    MaxPoolGradGradV2 : x:(?,?,?,?) y:(?,?,?,?) x (?) (?) -> y
    MaxPoolGrad MaxPoolGradV2 MaxPoolGradWithArgmax FractionalMaxPoolGrad LRN :
        (b,h,w,c) -> (b,h,w,c)
    MaxPool3DGrad : (b,d,h,w,c) -> (b,d,h,w,c)
    Dilation2DBackpropInput : x -> x
    LRNGrad : (b,h,w,c) (b,h,w,c) (b,h,w,c) -> (b,h,w,c)
    Dilation2DBackpropFilter : ? x -> x
    AvgPoolGrad Conv2DBackpropInput DepthwiseConv2dNativeBackpropInput :
        =(b,h,w,c) -> (b,h,w,c)
    AvgPool3DGrad Conv3DBackpropInputV2 : =(b,d,h,w,c) -> (b,d,h,w,c)
    Conv2DBackpropFilter DepthwiseConv2dNativeBackpropFilter : ? =(h,w,c,n) -> (h,w,c,n)
    Conv3DBackpropFilterV2 : ? =(d,h,w,c,n) -> (d,h,w,c,n)
    Softmax LogSoftmax : x:(*b,?) -> x
    BiasAdd BiasAddV1 : ~(b,*s,c) (c) -> ~(b,*s,c)
    BiasAddGrad : ~(b,*s,c) -> (c)
    SparseSoftmaxCrossEntropyWithLogits : (b,c) (b) -> (b) (b,c)
    FusedBatchNorm FusedBatchNormV2 FusedBatchNormV3 :
        ~(b,h,w,c) (c) (c) -> ~(b,h,w,c) (c)*4 if is_training
        else ~(b,h,w,c) (c)* -> ~(b,h,w,c) (c)*4
    FusedBatchNormGrad FusedBatchNormGradV2 FusedBatchNormGradV3 :
        ~(b,h,w,c) ~(p,q,r,c) (c) (c) (c) -> ~(b,h,w,c) (c) (c) (0) (0) if is_training
        else ~(b,h,w,c) ~(p,q,r,c) (c) (c) (c) -> ~(b,h,w,c) (c)*4
    BatchNormWithGlobalNormalization : (b,h,w,c) (c)* -> (b,h,w,c)
    BatchNormWithGlobalNormalizationGrad : x c -> x c*4
    LSTMBlockCell : (b,?) (?,n) -> (b,n)*7
    LSTMBlockCellGrad : (b,?) (?,n) -> (b,n) (b,4*n) (n)*3
    BlockLSTM BlockLSTMV2 : ? (t,b,?) ? ? ? ? ? ? (n) -> (t,b,n//4)*7
    BlockLSTMGrad BlockLSTMGradV2 : ? (t,b,x) (c,d) (h,j) (w,v) (i) (f) (o) (n)
        -> (t,b,x) (c,d) (h,j) (w,v) (i) (f) (o) (n)
    GRUBlockCell : (b,?) (?,n) -> (b,n)*4
    GRUBlockCellGrad : (b,x) (?,n) -> (b,x) (b,n) (b,n) (b,2*n)
    """
)


def spatial(operation: Operation, name: str, rank: int) -> list[int]:
    """A list of sizes for all axes, such as strides, of which the spatial ones are taken."""
    numbers: Any = operation.attribute(name) or [1] * rank
    return list(numbers[1:-1] if is_channels_last(operation) else numbers[2:])


def explicit_pads(operation: Operation, rank: int) -> list[tuple[int, int]]:
    """How much is padded before and after each spatial axis, where an operation says so itself."""
    pads: Any = operation.attribute("explicit_paddings") or [0] * (2 * rank)
    pairs = list(zip(pads[::2], pads[1::2], strict=True))
    if min(pads) < 0:
        raise ShapeMismatchError("All elements of explicit_paddings must be nonnegative")
    if any(pairs[0]) or any(pairs[-1 if is_channels_last(operation) else 1]):
        raise ShapeMismatchError(
            "Nonzero explicit padding in the batch or depth dimensions is not supported"
        )
    return pairs[1:-1] if is_channels_last(operation) else pairs[2:]


def _pad(operation: Operation) -> int | None:
    """How much is padded, where it isn't said by axis; None, as much as strides alone need."""
    return None if operation.attribute("padding") == b"SAME" else 0


def windowed(
    size: int, kernel: int, stride: int, pad: int | None, dilation: int = 1, none: bool = False
) -> int:
    """How many places a window has; as many as fit with strides alone, where it isn't said how
    much is padded. There may be `none` where the window is too large by less than two strides.
    """
    for name, step in (("Stride", stride), ("Dilation rate", dilation)):
        if step < 1:
            raise ShapeMismatchError(f"{name} must be > 0, but got {step}")
    if size < 0:
        return UNKNOWN
    if pad is None:
        return -(-size // stride)
    if kernel < 0:
        return UNKNOWN
    left = size + pad - (kernel - 1) * dilation - 1
    if none and -2 * stride < left < 0:
        return 0
    if left < 0:
        raise ShapeMismatchError(
            f"Negative dimension size caused by subtracting {size + pad - left} from {size + pad}"
        )
    return left // stride + 1


@shape_of("Conv2D Conv3D DepthwiseConv2dNative")
def _convolution(operation: Operation, given: list[Shape]) -> Shape:
    rank = 5 if operation.type == "Conv3D" else 4
    shape, kernel = with_rank(given[0], rank), with_rank(given[1], rank)
    last = is_channels_last(operation)
    channels, space = (shape[-1], shape[1:-1]) if last else (shape[1], shape[2:])
    if operation.type == "DepthwiseConv2dNative":
        same(channels, kernel[-2])
        filters = UNKNOWN if UNKNOWN in kernel[-2:] else kernel[-2] * kernel[-1]
    else:
        filters = kernel[-1]
        if channels >= 0 and kernel[-2] > 0 and channels % kernel[-2]:
            raise ShapeMismatchError(
                f"Depth of input ({channels}) is not a multiple of input depth of filter"
                f" ({kernel[-2]})"
            )
    sizes = _windows(operation, space, kernel[:-2])
    return (shape[0], *sizes, filters) if last else (shape[0], filters, *sizes)


@shape_of("MaxPool AvgPool MaxPool3D AvgPool3D MaxPoolWithArgmax")
def _pool(operation: Operation, given: list[Shape]) -> list[Shape]:
    rank = 5 if "3D" in operation.type else 4
    for name in ("ksize", "strides"):
        if len(operation.attribute(name)) != rank:
            raise ShapeMismatchError(f"{operation.type} needs {rank} numbers in {name}")
    shape = with_rank(given[0], rank)
    last = is_channels_last(operation)
    space = shape[1:-1] if last else shape[2:]
    sizes = _windows(operation, space, tuple(spatial(operation, "ksize", rank)))
    depth = shape[-1] if last else shape[1]
    if operation.type in ("MaxPool", "MaxPoolWithArgmax"):  # which may look across channels
        size, step = (operation.attribute(name)[-1 if last else 1] for name in ("ksize", "strides"))
        depth = windowed(depth, size, step, _pad(operation))
    found = (shape[0], *sizes, depth) if last else (shape[0], depth, *sizes)
    return [found] * len(operation.types)


@shape_of("MaxPoolGradGrad MaxPool3DGradGrad MaxPoolGradGradWithArgmax")
def _pool_again(operation: Operation, given: list[Shape]) -> list[Shape]:
    """What is pooled, as its slope was, which has its shape."""
    merged(given[0], given[1 if operation.type.endswith("Argmax") else 2])
    return _pool(operation, given)


@shape_of("MaxPoolV2")
def _pool_by_inputs(operation: Operation, given: list[Shape]) -> Shape:
    """The sizes and strides of its window are inputs."""
    shape = with_rank(given[0], 4)
    for window in given[1:]:
        with_rank(window, 1)
    values = [value_at(operation, place) for place in (1, 2)]
    if values[0] is None or values[1] is None:
        return unknown(4)
    sizes, strides = ([int(n) for n in value] for value in values if value is not None)
    pad = _pad(operation)
    parts = zip(shape[1:], sizes[1:], strides[1:], strict=True)
    return (shape[0], *(windowed(n, k, s, pad) for n, k, s in parts))


@shape_of("FractionalMaxPool FractionalAvgPool")
def _fractional(operation: Operation, given: list[Shape]) -> list[Shape]:
    shape, ratios = with_rank(given[0], 4), operation.attribute("pooling_ratio")
    if len(ratios) != 4:
        raise ShapeMismatchError("pooling_ratio needs 4 numbers")
    pairs = zip(shape, ratios, strict=True)
    sizes = tuple(UNKNOWN if size < 0 else int(size / ratio) for size, ratio in pairs)
    return [sizes, (UNKNOWN,), (UNKNOWN,)]


register("FractionalAvgPoolGrad", lambda operation, given: sizes_at(operation, 0) or unknown(4))


@shape_of("Dilation2D")
def _dilation(operation: Operation, given: list[Shape]) -> Shape:
    shape, kernel = with_rank(given[0], 4), with_rank(given[1], 3)
    steps, rates = operation.attribute("strides"), operation.attribute("rates")
    pad = _pad(operation)
    if len(steps) != 4 or len(rates) != 4:
        raise ShapeMismatchError("Dilation2D needs 4 numbers in strides and rates")
    if UNKNOWN in (*shape[1:3], *kernel[:2]):
        return (shape[0], UNKNOWN, UNKNOWN, kernel[2])
    space = (windowed(shape[i], kernel[i - 1], steps[i], pad, rates[i], True) for i in (1, 2))
    return (shape[0], *space, same(shape[3], kernel[2]))


@shape_of("FusedPadConv2D FusedResizeAndPadConv2D")
def _padded_convolution(operation: Operation, given: list[Shape]) -> Shape:
    resizes = operation.type == "FusedResizeAndPadConv2D"
    shape = with_rank(given[0], 4)
    if resizes:
        sizes = value_at(operation, 1)
        space = (UNKNOWN, UNKNOWN) if sizes is None else tuple(int(n) for n in np.ravel(sizes))
        shape = (shape[0], *space, shape[3])
    pads, kernel = value_at(operation, 1 + resizes), with_rank(given[2 + resizes], 4)
    rows = with_rank(given[1 + resizes], 2)
    if rows[0] not in (4, UNKNOWN) or rows[1] not in (2, UNKNOWN):
        raise ShapeMismatchError("paddings has 4 rows and 2 columns")
    if pads is None:
        return unknown(4)
    wide = [UNKNOWN if n < 0 else n + int(np.sum(p)) for n, p in zip(shape, pads, strict=True)]
    return (wide[0], *_windows(operation, (wide[1], wide[2]), kernel[:2]), kernel[3])


def _windows(
    operation: Operation, space: tuple[int, ...], kernel: tuple[int, ...]
) -> tuple[int, ...]:
    rank, pad = len(space) + 2, _pad(operation)
    pads = [None if pad is None else sum(pair) for pair in explicit_pads(operation, rank)]
    strides, dilations = (spatial(operation, name, rank) for name in ("strides", "dilations"))
    parts = zip(space, kernel, strides, pads, dilations, strict=True)
    return tuple(windowed(size, k, step, pad, gap) for size, k, step, pad, gap in parts)


@shape_of("SoftmaxCrossEntropyWithLogits")
def _cross_entropy(operation: Operation, given: list[Shape]) -> list[Shape]:
    found = broadcast(given[0], given[1])
    logits = with_rank(found, 2)
    return [logits[:1], logits]
