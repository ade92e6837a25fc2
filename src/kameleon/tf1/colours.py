"""Colours of images in TensorFlow 1: dtypes, colour spaces, brightness, contrast, hue."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..backend import surface as K
from ..backend._tensors import as_float, as_tensor
from ..compat.tensorflow.arithmetic.pictures import hsv_of, rgb_of
from ..errors import ArgumentError, ShapeError
from ..ir.types import DType, as_dtype
from ..prims import elementwise as ew
from ..prims.linalg import contract
from .calling import called
from .elementwise import saturate_cast

Unary = Callable[[Any], Any]


# Dtypes ---------------------------------------------------------------------------------------


def _largest(dtype: DType) -> int:
    return int(np.iinfo(str(dtype)).max)


def convert_image_dtype(image: Any, dtype: Any, saturate: bool, what: str) -> Any:
    """Of another dtype; floats are from 0 to 1, integers from 0 to their largest number.

    Args:
        saturate: what's out of range becomes the range's end.
    """
    x, to = as_tensor(image, what), as_dtype(dtype)
    cast: Unary = lambda y: saturate_cast(y, to, what) if saturate else K.cast(y, to)  # noqa: E731
    if x.dtype == to:
        return K.identity(x)
    if x.dtype.is_float and to.is_float:
        return K.cast(x, to)
    if to.is_float:
        return K.cast(x, to) * (1.0 / _largest(x.dtype))
    if x.dtype.is_float:
        return cast(x * (_largest(to) + 0.5))
    own, other = _largest(x.dtype), _largest(to)
    if own > other:
        return cast(x // ((own + 1) // (other + 1)))
    return cast(x) * ((other + 1) // (own + 1))


def in_floats(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function of an image of floats, for images of any dtype, which they keep."""

    def call(image: Any, *rest: Any, what: str) -> Any:
        x = as_tensor(image, what)
        kind = x.dtype if x.dtype.is_float and x.dtype != "float64" else as_dtype("float32")
        y = function(convert_image_dtype(x, kind, False, what), *rest)
        return convert_image_dtype(y, x.dtype, True, what)

    return call


# Colour spaces --------------------------------------------------------------------------------


def _channels(x: Any, what: str) -> list[Any]:
    if x.shape[-1] not in (3, None):
        raise ShapeError(f"{what}: 3 channels (the last axis) were expected, not {x!r}")
    return [x[..., i] for i in range(3)]


def rgb_to_hsv(images: Any, what: str) -> Any:
    """Hue, saturation and value, all from 0 to 1."""
    return hsv_of(*_channels(as_float(images, what), what))


def hsv_to_rgb(images: Any, what: str) -> Any:
    """The inverse of `rgb_to_hsv`."""
    return rgb_of(*_channels(as_float(images, what), what))


# What each colour (a row) adds to luma and the two differences; ITU-R BT.601.
_YUV = [[0.299, -0.14714119, 0.61497538], [0.587, -0.28886916, -0.51496512],
        [0.114, 0.43601035, -0.10001026]]  # fmt: skip
_FROM_YUV: Sequence[Sequence[float]] = [
    [1.0, 1.0, 1.0],
    [0, -0.394642334, 2.03206185],
    [1.13988303, -0.58062185, 0],
]
_YIQ = [[0.299, 0.59590059, 0.2115], [0.587, -0.27455667, -0.52273617],
        [0.114, -0.32134392, 0.31119955]]  # fmt: skip
_FROM_YIQ: Sequence[Sequence[float]] = [
    [1, 1, 1],
    [0.95598634, -0.27201283, -1.10674021],
    [0.6208248, -0.64720424, 1.70423049],
]


def _by_matrix(matrix: Sequence[Sequence[float]]) -> Callable[..., Any]:
    """Each pixel's channels times a matrix."""

    def call(images: Any, what: str) -> Any:
        x = as_float(images, what)
        _channels(x, what)
        return contract(x, K.constant(matrix, x.dtype), ((len(x.shape) - 1,), (0,)))

    return call


def rgb_to_grayscale(images: Any, what: str) -> Any:
    weights = [0.2989, 0.587, 0.114]  # of ITU-R BT.601

    def grey(x: Any) -> Any:
        _channels(x, what)
        return K.sum(x * K.constant(weights, x.dtype), axis=-1, keepdims=True)

    return in_floats(grey)(images, what=what)


def grayscale_to_rgb(images: Any, what: str) -> Any:
    x = as_tensor(images, what)
    if x.shape[-1] not in (1, None):
        raise ShapeError(f"{what}: 1 channel (the last axis) was expected, not {x!r}")
    return K.repeat_elements(x, 3, axis=-1)


# Changes --------------------------------------------------------------------------------------


def adjust_brightness(image: Any, delta: Any, what: str) -> Any:
    return in_floats(lambda x: x + K.cast(as_tensor(delta, what), x.dtype))(image, what=what)


def adjust_contrast(images: Any, contrast_factor: Any, what: str) -> Any:
    """Further from each channel's mean, or nearer."""

    def adjusted(x: Any) -> Any:
        mean = K.mean(x, (-3, -2), keepdims=True)
        return (x - mean) * K.cast(as_tensor(contrast_factor, what), x.dtype) + mean

    return in_floats(adjusted)(images, what=what)


def adjust_hue(image: Any, delta: Any, what: str) -> Any:
    """The hue moved by a share of the circle of colours."""

    def adjusted(x: Any) -> Any:
        hue, saturation, value = _channels(rgb_to_hsv(x, what), what)
        moved = hue + K.cast(as_tensor(delta, what), x.dtype)
        moved = moved - ew.floor(moved)
        return hsv_to_rgb(K.stack([moved, saturation, value], axis=-1), what)

    return in_floats(adjusted)(image, what=what)


def adjust_saturation(image: Any, saturation_factor: Any, what: str) -> Any:
    def adjusted(x: Any) -> Any:
        hue, saturation, value = _channels(rgb_to_hsv(x, what), what)
        factor = K.cast(as_tensor(saturation_factor, what), x.dtype)
        grown = K.clip(saturation * factor, 0.0, 1.0)
        return hsv_to_rgb(K.stack([hue, grown, value], axis=-1), what)

    return in_floats(adjusted)(image, what=what)


def adjust_gamma(image: Any, gamma: Any, gain: Any, what: str) -> Any:
    """`gain` times a power of the image."""
    if not K.is_tensor(gamma) and gamma < 0:
        raise ArgumentError(f"{what}: gamma must not be negative, but is {gamma}")

    def adjusted(x: Any) -> Any:
        return gain * K.pow(x, K.cast(as_tensor(gamma, what), x.dtype))

    return in_floats(adjusted)(image, what=what)


def per_image_standardization(image: Any, what: str) -> Any:
    """Each image with mean 0 and deviation 1; a deviation counts as 1 / sqrt(pixels) at least."""

    def standard(x: Any) -> Any:
        axes = (-3, -2, -1)
        pixels = K.cast(K.prod(K.shape(x)[-3:]), x.dtype)
        deviation = K.maximum(K.std(x, axes, keepdims=True), 1.0 / K.sqrt(pixels))
        return (x - K.mean(x, axes, keepdims=True)) / deviation

    return in_floats(standard)(image, what=what)


# At random ------------------------------------------------------------------------------------


def _drawn(low: Any, high: Any, seed: Any) -> Any:
    return K.random_uniform((), low, high, seed=seed)


def _around(adjust: Callable[..., Any], largest: float = np.inf) -> Callable[..., Any]:
    """Changed by a number between `-max_delta` and `max_delta`, drawn anew at each run."""

    def call(image: Any, max_delta: float, seed: Any, what: str) -> Any:
        if not 0 <= max_delta <= largest:
            raise ArgumentError(f"{what}: max_delta is {max_delta}; it's from 0 to {largest}")
        return adjust(image, _drawn(-max_delta, max_delta, seed), what)

    return call


def _between(adjust: Callable[..., Any]) -> Callable[..., Any]:
    """Changed by a factor between `lower` and `upper`, drawn anew at each run."""

    def call(image: Any, lower: float, upper: float, seed: Any, what: str) -> Any:
        if not 0 <= lower < upper:
            raise ArgumentError(f"{what}: 0 <= lower < upper must hold, not {lower}, {upper}")
        return adjust(image, _drawn(lower, upper, seed), what)

    return call


PLAIN = called({
    "image.convert_image_dtype": convert_image_dtype,
    "image.rgb_to_hsv": rgb_to_hsv, "image.hsv_to_rgb": hsv_to_rgb,
    "image.rgb_to_yuv": _by_matrix(_YUV), "image.yuv_to_rgb": _by_matrix(_FROM_YUV),
    "image.rgb_to_yiq": _by_matrix(_YIQ), "image.yiq_to_rgb": _by_matrix(_FROM_YIQ),
    "image.rgb_to_grayscale": rgb_to_grayscale, "image.grayscale_to_rgb": grayscale_to_rgb,
    "image.adjust_brightness": adjust_brightness, "image.adjust_contrast": adjust_contrast,
    "image.adjust_hue": adjust_hue, "image.adjust_saturation": adjust_saturation,
    "image.adjust_gamma": adjust_gamma,
    "image.per_image_standardization": per_image_standardization,
    "image.random_brightness": _around(adjust_brightness),
    "image.random_hue": _around(adjust_hue, 0.5),
    "image.random_contrast": _between(adjust_contrast),
    "image.random_saturation": _between(adjust_saturation),
})  # fmt: skip
