"""Shapes of images, boxes and sounds, of files of them, and of pretended quantization."""

from __future__ import annotations

import numpy as np

from ..graph import Operation, Shape
from .known import value_at
from .networks import windowed
from .notation import table
from .rules import UNKNOWN, ShapeMismatchError, same, shape_of, with_rank

table(
    """
    ResizeBilinear ResizeNearestNeighbor ResizeBicubic ResizeArea ScaleAndTranslate
        ResizeNearestNeighborGrad : (b,?,?,c) =[h,w] -> (b,h,w,c)
    QuantizedResizeBilinear : (b,?,?,c) =[h,w] -> (b,h,w,c) () ()
    ResizeBilinearGrad ResizeBicubicGrad ScaleAndTranslateGrad : ? x -> x
    CropAndResize : (?,?,?,c) (n,4) (n) =[h,w] -> (n,h,w,c)
    CropAndResizeGradImage : ? ? ? =(b,h,w,c) -> (b,h,w,c)
    CropAndResizeGradBoxes : ? ? x -> x
    ImageConnectedComponents : (b,h,w) -> (b,h,w)
    ImageProjectiveTransform : (b,h,w,c) -> (b,h,w,c)
    ImageProjectiveTransformV2 : (b,?,?,c) ? =[h,w] -> (b,h,w,c)
    Resampler : (?,?,?,c) (*b,n,?) -> (*b,n,c)
    ResamplerGrad : x y -> x y
    ExtractGlimpse : (b,?,?,c) =[h,w] (b,2) -> (b,h,w,c)
    RGBToHSV HSVToRGB : (*b,3) -> (*b,3)
    AdjustContrastv2 : x:(*b,h,w,c) () -> x
    AdjustContrast AdjustHue AdjustSaturation AdjustHsvInYiq : x:(*b,h,w,c) -> x

    NonMaxSuppression NonMaxSuppressionV2 NonMaxSuppressionV3 : (n,4) (n) ()* -> (?)
    NonMaxSuppressionWithOverlaps : (n,?) (n) ()* -> (?)
    NonMaxSuppressionV4 : (n,4) (n) =k ()* -> (k) () if pad_to_max_output_size
        else (n,4) (n) ()* -> (?) ()
    NonMaxSuppressionV5 : (n,4) (n) =k ()* -> (k) (k) () if pad_to_max_output_size
        else (n,4) (n) ()* -> (?) (?) ()
    BipartiteMatch : (m,n) -> (m) (n)
    DrawBoundingBoxes : x:(?,?,?,?) (?,?,4) -> x
    DrawBoundingBoxesV2 : x:(*b,?,?,?) -> x
    SampleDistortedBoundingBox : (3) (?,?,4) -> (3) (3) (1,1,4)
    SampleDistortedBoundingBoxV2 : (3) (?,?,4) () -> (3) (3) (1,1,4)

    DecodeGif : () -> (?,?,?,3)
    EncodeJpeg EncodePng EncodeJpegVariableQuality : (?,?,?) -> ()
    ExtractJpegShape : () -> (3)

    FakeQuantWithMinMaxArgs FakeQuantWithMinMaxVars QuantizeAndDequantizeV2 QuantizeAndDequantize
        QuantizeAndDequantizeV3 Dequantize : x ()* -> x
    FakeQuantWithMinMaxArgsGradient : x -> x
    FakeQuantWithMinMaxVarsGradient : x x () () -> x () ()
    FakeQuantWithMinMaxVarsPerChannel : x:(*b,n) (n) (n) -> x
    FakeQuantWithMinMaxVarsPerChannelGradient : x:(*b,n) x:(*b,n) (n) (n) -> x (n) (n)
    QuantizeV2 : x ()* -> x () ()
    QuantizedRelu QuantizedRelu6 QuantizedReluX QuantizeDownAndShrinkRange Requantize
        QuantizedInstanceNorm : x ()* -> x () ()
    RequantizationRange : x () () -> () ()
    RequantizationRangePerChannel : ? (?) (?) -> () ()
    RequantizePerChannel : x (?) (?) () () -> x () ()
    QuantizedAdd QuantizedMul : x y () () () () -> x|y () ()
    QuantizedBiasAdd : (*b,n,c) (c) () () () () -> (*b,n,c) () ()
    QuantizedMatMul : (m,k)^transpose_a (k,n)^transpose_b () () () () -> (m,n) () ()
    QuantizedBatchNormWithGlobalNormalization : (b,h,w,c) () () (c) () () (c) () () (c) () ()
        (c) () () -> (b,h,w,c) () ()
    """
)


@shape_of("ExtractImagePatches ExtractVolumePatches")
def _patches(operation: Operation, given: list[Shape]) -> Shape:
    rank = 4 if operation.type == "ExtractImagePatches" else 5
    shape = with_rank(given[0], rank)
    rates = operation.attribute("rates") or [1] * rank
    kernel, steps = operation.attribute("ksizes"), operation.attribute("strides")
    if {len(kernel), len(steps), len(rates)} != {rank}:
        raise ShapeMismatchError(f"{operation.type} needs {rank} numbers in each attribute")
    pad = None if operation.attribute("padding") == b"SAME" else 0
    axes = range(1, rank - 1)
    space = [windowed(shape[i], kernel[i], steps[i], pad, rates[i], True) for i in axes]
    depth = UNKNOWN if shape[-1] < 0 else shape[-1] * int(np.prod(kernel[1:-1]))
    if UNKNOWN in space:
        space = [UNKNOWN] * len(space)
    return (shape[0], *space, depth)


@shape_of("CombinedNonMaxSuppression")
def _best_of_classes(operation: Operation, given: list[Shape]) -> list[Shape]:
    boxes, scores = with_rank(given[0], 4), with_rank(given[1], 3)
    for shape in given[2:]:
        with_rank(shape, 0)
    same(boxes[3], 4)
    batch, each, total = boxes[0], value_at(operation, 2), value_at(operation, 3)
    count = UNKNOWN if total is None else int(total)
    if operation.attribute("pad_per_class") and total is not None:
        count = UNKNOWN if each is None or scores[2] < 0 else min(count, int(each) * scores[2])
    return [(batch, count, 4), (batch, count), (batch, count), (batch,)]


# Files ------------------------------------------------------------------------------------------


@shape_of("DecodeJpeg DecodePng DecodeBmp DecodeAndCropJpeg")
def _decoded(operation: Operation, given: list[Shape]) -> Shape:
    with_rank(given[0], 0)
    channels, sizes = operation.attribute("channels"), (UNKNOWN, UNKNOWN)
    if channels < 0:
        raise ShapeMismatchError(f"channels must be non-negative, got {channels}")
    if operation.type == "DecodeAndCropJpeg":
        window = value_at(operation, 1)
        sizes = (UNKNOWN, UNKNOWN) if window is None else (int(window[2]), int(window[3]))
    return (*sizes, channels or UNKNOWN)


# Sounds -------------------------------------------------------------------------------------------


table(
    """
    EncodeWav : (?,?) () -> ()
    Mfcc : (c,t,?) () -> (c,t,@dct_coefficient_count)
    """
)


@shape_of("DecodeWav")
def _decoded_sound(operation: Operation, given: list[Shape]) -> list[Shape]:
    with_rank(given[0], 0)
    wanted = [operation.attribute(f"desired_{what}") for what in ("samples", "channels")]
    if wanted[0] == 0 or wanted[1] == 0:
        raise ShapeMismatchError("samples and channels must be > 0, or -1")
    return [tuple(UNKNOWN if size < 0 else size for size in wanted), ()]


def transformed(size: int) -> int:
    """The least power of two that a window fits in."""
    return 1 << (size - 1).bit_length()


@shape_of("AudioSpectrogram")
def _spectrogram(operation: Operation, given: list[Shape]) -> Shape:
    length, channels = with_rank(given[0], 2)
    size, stride = operation.attribute("window_size"), operation.attribute("stride")
    windows = UNKNOWN if length < 0 else max((length - size) // stride + 1, 0)
    return (channels, windows, transformed(size) // 2 + 1)
