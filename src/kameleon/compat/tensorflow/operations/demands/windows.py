"""What convolutions and pools demand of their windows, which slide over the spatial axes alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from ...failures import failure
from ...graph import Operation
from ...shapes.networks import explicit_pads, spatial
from ...shapes.rules import is_channels_last
from .table import known_numbers, on, refuse


def _lacks(message: str) -> NoReturn:
    raise failure("UNIMPLEMENTED", message)


def _depth(operation: Operation, numbers: Sequence[int]) -> int:
    """Of numbers for all axes, that of the channels."""
    return numbers[-1 if is_channels_last(operation) else 1]


def _space(operation: Operation, numbers: Sequence[int]) -> Sequence[int]:
    """Of numbers for all axes, those of the spatial ones."""
    return numbers[1:-1] if is_channels_last(operation) else numbers[2:]


def _demand_places(
    operation: Operation, shape: Sequence[int], kernel: Sequence[int], strides: Sequence[int]
) -> None:
    """Refuse windows that are larger than what they slide over."""
    if operation.attribute("padding") == b"SAME":
        return
    rank = len(shape)
    gaps, pads = spatial(operation, "dilations", rank), explicit_pads(operation, rank)
    parts = zip(_space(operation, shape), kernel, strides, gaps, pads, strict=True)
    for size, cells, step, gap, pad in parts:
        whole = (cells - 1) * gap + 1
        count = int((size + sum(pad) - whole + step) / step)
        if count < 0:
            refuse(
                f"Computed output size would be negative: {count} [input_size: {size + sum(pad)},"
                f" effective_filter_size: {whole}, stride: {step}]"
            )


@on("Conv2D Conv3D DepthwiseConv2dNative")
def _convolved(operation: Operation, x: Any, kernel: Any) -> None:
    gaps = "dilation rates" if operation.type == "Conv3D" else "dilations"
    for name, what in (("strides", "strides"), ("dilations", gaps)):
        numbers = operation.attribute(name) or [1] * len(x.shape)
        if numbers[0] != 1 or _depth(operation, numbers) != 1:
            about = f"Current implementation does not yet support {what}"
            refuse(f"{about} in the batch and depth dimensions.")
    given, taken = _depth(operation, x.shape), kernel.shape[-2]
    if taken and given % taken:
        refuse(f"input depth must be evenly divisible by filter depth: {given} vs {taken}")
    if operation.type == "Conv2D" and given != taken:
        _lacks(
            "The Conv2D op currently does not support grouped convolutions on the CPU. A grouped"
            f" convolution was attempted to be run because the input depth of {given} does not"
            f" match the filter input depth of {taken}"
        )
    strides = spatial(operation, "strides", len(x.shape))
    _demand_places(operation, x.shape, kernel.shape[:-2], strides)


@on("MaxPool MaxPoolV2 MaxPool3D AvgPool AvgPool3D")
def _pooled(operation: Operation, x: Any, *inputs: Any) -> None:
    given = [operation.attribute(name) for name in ("ksize", "strides")]
    kernel, strides = map(known_numbers, inputs) if inputs else given
    if not kernel:
        return
    if kernel[0] > 1 or strides[0] > 1:
        _lacks("Pooling is not yet supported on the batch dimension.")
    _demand_depth(operation, _depth(operation, x.shape), kernel, strides)
    _demand_places(operation, x.shape, _space(operation, kernel), _space(operation, strides))


def _demand_depth(
    operation: Operation, channels: int, kernel: Sequence[int], strides: Sequence[int]
) -> None:
    """Refuse pools across channels; but the largest of neighbours in two dimensions is told."""
    across, step = _depth(operation, kernel), _depth(operation, strides)
    if operation.type.endswith("3D") and max(across, step) > 1:
        _lacks("Pooling is not yet supported on the depth dimension.")
    if across == 1:
        return
    if max(_space(operation, kernel)) > 1:
        about = "MaxPooling supports exactly one of pooling across depth or pooling across"
        _lacks(f"{about} width/height.")
    about = "Depthwise max pooling requires the depth window to"
    if channels % across:
        _lacks(f"{about} evenly divide the input depth")
    if across != step:
        _lacks(f"{about} equal the depth stride")
    if operation.type == "AvgPool":
        _lacks("Non-spatial pooling is not yet supported. Volunteers? :)")


@on("MaxPoolGrad")
def _pooled_back(operation: Operation, *values: Any) -> None:
    if _depth(operation, operation.attribute("ksize")) > 1:
        _lacks("MaxPoolingGrad is not yet supported on the depth dimension.")
