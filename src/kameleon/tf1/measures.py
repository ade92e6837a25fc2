"""How like two images are, and how rough one is: measures and edges of TensorFlow 1."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..backend import surface as K
from ..backend._tensors import as_float, as_tensor
from ..errors import ShapeError
from ..ir.types import as_dtype, join_shapes
from ..prims import elementwise as ew
from ..prims.movement import concatenate
from ..prims.sizes import dims_of, size_of
from .arrays import pad
from .calling import called
from .colours import convert_image_dtype
from .crops import axes_of, image_of

FLOAT = as_dtype("float32")


def _pair(a: Any, b: Any, max_val: Any, what: str) -> tuple[Any, Any, Any]:
    """Two images and their largest value as floats; integers count from 0 to 1."""
    x, y = as_tensor(a, what), as_tensor(b, what)
    if min(len(x.shape), len(y.shape)) < 3:
        raise ShapeError(f"{what}: images of one size were expected, not {x!r} and {y!r}")
    sizes = join_shapes(x.shape[-3:], y.shape[-3:], f"{what}: images of one size were expected")
    x, y = (_of_size(v, sizes) for v in (x, y))
    largest = convert_image_dtype(K.cast(as_tensor(max_val, what), x.dtype), FLOAT, False, what)
    return *(convert_image_dtype(v, FLOAT, False, what) for v in (x, y)), largest


def _of_size(x: Any, sizes: Sequence[int | None]) -> Any:
    """An image some of whose sizes are known by another one: what a model is compared with."""
    if x.shape[-3:] == tuple(sizes):
        return x
    known = [
        own if size is None else size for own, size in zip(dims_of(x)[-3:], sizes, strict=True)
    ]
    return K.reshape(x, [*dims_of(x)[:-3], *known])


def psnr(a: Any, b: Any, max_val: Any, what: str) -> Any:
    """The ratio of the largest value to the mean error, in decibels, of each image."""
    x, y, largest = _pair(a, b, max_val, what)
    error = K.mean(K.square(x - y), axis=(-3, -2, -1))
    return 20.0 * ew.log(largest) / math.log(10.0) - 10.0 / math.log(10.0) * ew.log(error)


# Structural similarity ------------------------------------------------------------------------


def _bell(size: int, sigma: float) -> Any:
    """A window of weights of a normal distribution, whose sum is 1."""
    places = np.arange(size, dtype="float32") - np.float32((size - 1) / 2.0)
    logs = np.square(places) * np.float32(-0.5 / sigma**2)
    weights = np.exp(logs[:, None] + logs[None])
    return (weights / weights.sum()).astype("float32")


def _similarity(x: Any, y: Any, largest: Any, window: Any, k1: float, k2: float) -> tuple[Any, Any]:
    """The similarity of each channel, and the part of it without luminance.

    Source: Wang et al., "Image quality assessment: from error visibility to structural
    similarity" (2004).
    """
    channels = size_of(x, 3)
    kernel = K.constant(window[:, :, None, None], "float32")
    kernel = kernel * K.ones((1, 1, channels, 1))

    def mean(v: Any) -> Any:
        return K.depthwise_conv2d(v, kernel, (1, 1), "valid", "channels_last")

    first, second = K.square(k1 * largest), K.square(k2 * largest)
    means = mean(x), mean(y)
    product, squares = means[0] * means[1] * 2.0, K.square(means[0]) + K.square(means[1])
    luminance = (product + first) / (squares + first)
    both, each = mean(x * y) * 2.0, mean(K.square(x) + K.square(y))
    structure = (both - product + second) / (each - squares + second)
    return K.mean(luminance * structure, axis=(1, 2)), K.mean(structure, axis=(1, 2))


def _flat(x: Any) -> Any:
    """All images in one axis."""
    return K.reshape(x, [-1, *dims_of(x)[-3:]])


def _per_image(x: Any, like: Any) -> Any:
    """The mean of the channels, in the shape of the axes before images."""
    return K.reshape(K.mean(x, axis=-1), dims_of(like)[:-3])


def ssim(
    img1: Any, img2: Any, max_val: Any, filter_size: int, filter_sigma: float, k1: float, k2: float,
    what: str,
) -> Any:  # fmt: skip
    """The structural similarity of images: 1 for equal ones."""
    x, y, largest = _pair(img1, img2, max_val, what)
    window = _bell(filter_size, filter_sigma)
    found, _ = _similarity(_flat(x), _flat(y), largest, window, k1, k2)
    return _per_image(found, x)


def ssim_multiscale(
    img1: Any, img2: Any, max_val: Any, power_factors: Sequence[float], filter_size: int,
    filter_sigma: float, k1: float, k2: float, what: str,
) -> Any:  # fmt: skip
    """The product of powers of similarities of images, each half as large as the one before.

    Source: Wang, Simoncelli and Bovik, "Multi-scale structural similarity for image quality
    assessment" (2003).
    """
    x, y, largest = _pair(img1, img2, max_val, what)
    window = _bell(filter_size, filter_sigma)
    pair, parts, whole = [_flat(x), _flat(y)], [], None
    for scale in range(len(power_factors)):
        if scale:
            pair = [_halved(v, what) for v in pair]
        whole, structure = _similarity(pair[0], pair[1], largest, window, k1, k2)
        parts.append(K.relu(structure))
    stacked = K.stack([*parts[:-1], K.relu(whole)], axis=-1)
    powers = K.pow(stacked, K.constant(list(power_factors), "float32") + K.zeros_like(stacked))
    return _per_image(K.prod(powers, axis=-1), x)


def _halved(x: Any, what: str) -> Any:
    odd = [size_of(x, axis) % 2 for axis in (1, 2)]
    framed = pad(x, [(0, 0), (0, odd[0]), (0, odd[1]), (0, 0)], "SYMMETRIC", 0, what)
    return K.pool2d(framed, (2, 2), (2, 2), "valid", "channels_last", "avg")


# Edges ----------------------------------------------------------------------------------------


def _steps(x: Any, axis: int) -> Any:
    """Each element less the one before it."""
    first = [slice(None)] * axis
    return x[(*first, slice(1, None))] - x[(*first, slice(None, -1))]


def total_variation(images: Any, what: str) -> Any:
    """The sum of the differences of neighbours, of each image."""
    x = image_of(images, what)
    axes = tuple(range(len(x.shape) - 3, len(x.shape)))
    rows, columns = (K.sum(K.abs(_steps(x, axis)), axis=axes) for axis in axes_of(x))
    return rows + columns


def image_gradients(image: Any, what: str) -> tuple[Any, Any]:
    """The differences of each pixel from the next, down and across; 0 for the last ones."""
    x = as_tensor(image, what)
    if len(x.shape) != 4:
        raise ShapeError(f"{what}: images (batch, rows, columns, channels) expected, not {x!r}")

    def along(axis: int) -> Any:
        last = K.zeros_like(x[(*[slice(None)] * axis, slice(0, 1))])
        return K.reshape(concatenate([_steps(x, axis), last], axis), dims_of(x))

    return along(1), along(2)


_SOBEL = np.array([[-1, -2, -1], [0, 0, 0], [1, 2, 1]], "float32")


def sobel_edges(image: Any, what: str) -> Any:
    """Changes down and across: (batch, rows, columns, channels, 2).

    Source: Sobel and Feldman, "A 3x3 isotropic gradient operator for image processing" (1968).
    """
    x = as_float(image, what)
    channels = size_of(x, 3)
    kernels = np.stack([_SOBEL, _SOBEL.T], axis=-1)[:, :, None]
    kernel = K.constant(kernels, x.dtype) * K.ones((1, 1, channels, 1), x.dtype)
    framed = pad(x, [(0, 0), (1, 1), (1, 1), (0, 0)], "REFLECT", 0, what)
    found = K.depthwise_conv2d(framed, kernel, (1, 1), "valid", "channels_last")
    return K.reshape(found, [*dims_of(x), 2])


PLAIN = called({
    "image.psnr": psnr, "image.ssim": ssim, "image.ssim_multiscale": ssim_multiscale,
    "image.total_variation": total_variation, "image.image_gradients": image_gradients,
    "image.sobel_edges": sobel_edges,
})  # fmt: skip
