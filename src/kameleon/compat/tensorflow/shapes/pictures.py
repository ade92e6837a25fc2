"""Shapes of images, boxes, files of pictures, pretended quantization and random numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .known import sizes_at, value_at
from .networks import windowed
from .places import size_at
from .rules import UNKNOWN, ShapeMismatchError, at_least, merged, same, shape_of, unknown, with_rank

if TYPE_CHECKING:
    from ..graph import Operation, Shape


def _two_sizes(operation: Operation, place: int) -> tuple[int, int]:
    """Rows and columns, where they are known."""
    source, index = operation.inputs[place]
    if with_rank(source.shapes[index], 1)[0] not in (2, UNKNOWN):
        raise ShapeMismatchError("Dimension must be 2: a size has two numbers")
    value = value_at(operation, place)
    return (UNKNOWN, UNKNOWN) if value is None else (int(value[0]), int(value[1]))


# Other sizes ------------------------------------------------------------------------------------


@shape_of(
    "ResizeBilinear ResizeNearestNeighbor ResizeBicubic ResizeArea ScaleAndTranslate"
    " ResizeNearestNeighborGrad QuantizedResizeBilinear"
)
def _resize(operation: Operation, given: list[Shape]) -> Shape | list[Shape]:
    shape = with_rank(given[0], 4)
    sizes = _two_sizes(operation, 1)
    found = (shape[0], *sizes, shape[3])
    return [found, (), ()] if operation.type.startswith("Quantized") else found


@shape_of("ResizeBilinearGrad ResizeBicubicGrad ScaleAndTranslateGrad")
def _like_the_second(operation: Operation, given: list[Shape]) -> Shape:
    return given[1]


@shape_of("CropAndResize")
def _crops(operation: Operation, given: list[Shape]) -> Shape:
    image, boxes = with_rank(given[0], 4), with_rank(given[1], 2)
    which = with_rank(given[2], 1)
    same(boxes[1], 4)
    return (same(boxes[0], which[0]), *_two_sizes(operation, 3), image[3])


@shape_of("CropAndResizeGradImage")
def _crops_image(operation: Operation, given: list[Shape]) -> Shape:
    return sizes_at(operation, 3) or unknown(4)


@shape_of("CropAndResizeGradBoxes")
def _crops_boxes(operation: Operation, given: list[Shape]) -> Shape:
    return with_rank(given[2], 2)


@shape_of("ImageProjectiveTransform ImageProjectiveTransformV2")
def _transform(operation: Operation, given: list[Shape]) -> Shape:
    shape = with_rank(given[0], 4)
    return (shape[0], *_two_sizes(operation, 2), shape[3]) if len(given) > 2 else shape


@shape_of("Resampler")
def _resample(operation: Operation, given: list[Shape]) -> Shape:
    x, at = with_rank(given[0], 4), at_least(given[1], 2)
    return None if at is None else (*at[:-1], x[3])


@shape_of("ResamplerGrad")
def _resample_gradient(operation: Operation, given: list[Shape]) -> list[Shape]:
    return given[:2]


@shape_of("ExtractGlimpse")
def _glimpse(operation: Operation, given: list[Shape]) -> Shape:
    shape, offsets = with_rank(given[0], 4), with_rank(given[2], 2)
    sizes = _two_sizes(operation, 1)
    same(offsets[1], 2)
    return (same(shape[0], offsets[0]), *sizes, shape[3])


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


# Colours ----------------------------------------------------------------------------------------


@shape_of("RGBToHSV HSVToRGB")
def _colours(operation: Operation, given: list[Shape]) -> Shape:
    shape = at_least(given[0], 1)
    if shape is not None and shape[-1] not in (3, UNKNOWN):
        raise ShapeMismatchError(f"Dimension must be 3 but is {shape[-1]}")
    return None if shape is None else (*shape[:-1], 3)


@shape_of("AdjustContrastv2 AdjustContrast AdjustHue AdjustSaturation AdjustHsvInYiq")
def _adjusted(operation: Operation, given: list[Shape]) -> Shape:
    return at_least(given[0], 3)


# Boxes ------------------------------------------------------------------------------------------


def _check_boxes(operation: Operation, given: list[Shape]) -> None:
    boxes, scores = with_rank(given[0], 2), with_rank(given[1], 1)
    for shape in given[2:]:
        with_rank(shape, 0)
    same(boxes[0], scores[0])
    if not operation.type.endswith("Overlaps"):
        same(boxes[1], 4)


@shape_of("NonMaxSuppression NonMaxSuppressionV2 NonMaxSuppressionV3 NonMaxSuppressionWithOverlaps")
def _best(operation: Operation, given: list[Shape]) -> Shape:
    _check_boxes(operation, given)
    return (UNKNOWN,)


@shape_of("NonMaxSuppressionV4 NonMaxSuppressionV5")
def _best_padded(operation: Operation, given: list[Shape]) -> list[Shape]:
    _check_boxes(operation, given)
    count = size_at(operation, 2) if operation.attribute("pad_to_max_output_size") else UNKNOWN
    return [(count,), ()] if operation.type.endswith("V4") else [(count,), (count,), ()]


@shape_of("BipartiteMatch")
def _matched(operation: Operation, given: list[Shape]) -> list[Shape]:
    rows, columns = with_rank(given[0], 2)
    return [(rows,), (columns,)]


@shape_of("CombinedNonMaxSuppression")
def _best_of_classes(operation: Operation, given: list[Shape]) -> list[Shape]:
    boxes, scores = with_rank(given[0], 4), with_rank(given[1], 3)
    for shape in given[2:]:
        with_rank(shape, 0)
    same(boxes[3], 4)
    batch, each, total = boxes[0], value_at(operation, 2), value_at(operation, 3)
    if total is None:
        return unknown_rows(batch)
    count = int(total)
    if operation.attribute("pad_per_class"):
        if each is None or scores[2] < 0:
            return unknown_rows(batch)
        count = min(count, int(each) * scores[2])
    return [(batch, count, 4), (batch, count), (batch, count), (batch,)]


def unknown_rows(batch: int) -> list[Shape]:
    """Boxes, scores and classes of unknown number."""
    return [(batch, UNKNOWN, 4), (batch, UNKNOWN), (batch, UNKNOWN), (batch,)]


@shape_of("DrawBoundingBoxes DrawBoundingBoxesV2")
def _drawn(operation: Operation, given: list[Shape]) -> Shape:
    with_rank(given[1], 3)
    return with_rank(given[0], 4)


@shape_of("SampleDistortedBoundingBox SampleDistortedBoundingBoxV2")
def _part(operation: Operation, given: list[Shape]) -> list[Shape]:
    same(with_rank(given[0], 1)[0], 3)
    same(with_rank(given[1], 3)[2], 4)
    return [(3,), (3,), (1, 1, 4)]


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


@shape_of("DecodeGif")
def _frames(operation: Operation, given: list[Shape]) -> Shape:
    with_rank(given[0], 0)
    return (UNKNOWN, UNKNOWN, UNKNOWN, 3)


@shape_of("EncodeJpeg EncodePng EncodeJpegVariableQuality")
def _encoded(operation: Operation, given: list[Shape]) -> Shape:
    with_rank(given[0], 3)
    return ()


@shape_of("ExtractJpegShape")
def _sizes_of_file(operation: Operation, given: list[Shape]) -> Shape:
    with_rank(given[0], 0)
    return (3,)


# Pretended quantization -------------------------------------------------------------------------


@shape_of(
    "FakeQuantWithMinMaxArgs FakeQuantWithMinMaxVars QuantizeAndDequantizeV2 QuantizeAndDequantize"
    " QuantizeAndDequantizeV3"
)
def _rounded(operation: Operation, given: list[Shape]) -> Shape:
    for shape in given[1:]:
        with_rank(shape, 0)
    return given[0]


@shape_of("FakeQuantWithMinMaxArgsGradient")
def _rounded_gradient(operation: Operation, given: list[Shape]) -> Shape:
    return merged(given[0], given[1])


@shape_of("FakeQuantWithMinMaxVarsGradient")
def _rounded_gradients(operation: Operation, given: list[Shape]) -> list[Shape]:
    return [merged(given[0], given[1]), (), ()]


@shape_of("FakeQuantWithMinMaxVarsPerChannel")
def _rounded_by_channel(operation: Operation, given: list[Shape]) -> Shape:
    shape, low, high = at_least(given[0], 1), with_rank(given[1], 1), with_rank(given[2], 1)
    depth = same(low[0], high[0])
    return None if shape is None else (*shape[:-1], same(shape[-1], depth))


@shape_of("FakeQuantWithMinMaxVarsPerChannelGradient")
def _rounded_by_channel_gradients(operation: Operation, given: list[Shape]) -> list[Shape]:
    shape, low, high = merged(given[0], given[1]), with_rank(given[2], 1), with_rank(given[3], 1)
    depth = merged(low, high)
    if shape is not None:
        depth = merged(depth, (at_least(shape, 1) or ())[-1:])
    return [shape, depth, depth]


@shape_of("QuantizeV2")
def _quantized(operation: Operation, given: list[Shape]) -> list[Shape]:
    for shape in given[1:]:
        with_rank(shape, 0)
    return [given[0], (), ()]


@shape_of("Dequantize")
def _dequantized(operation: Operation, given: list[Shape]) -> Shape:
    for shape in given[1:]:
        with_rank(shape, 0)
    return given[0]
