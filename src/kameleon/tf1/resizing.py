"""Images of TensorFlow 1 at other sizes: linear, nearest, cubic and by area."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..backend import surface as K
from ..backend._tensors import as_tensor, size_or_node
from ..compat.tensorflow.arithmetic.resizing import INTERPOLATIONS, Axis
from ..errors import ArgumentError, ShapeError
from ..prims.sizes import Size, size_of
from .arrays import known
from .calling import called
from .crops import pad_to_bounding_box


class ResizeMethod:
    """The numbers by which programs choose an interpolation."""

    BILINEAR, NEAREST_NEIGHBOR, BICUBIC, AREA = range(4)


METHODS = {
    0: 0, 1: 1, 2: 2, 3: 3, "bilinear": 0, "nearest": 1, "bicubic": 2, "area": 3,
}  # fmt: skip


# Functions ------------------------------------------------------------------------------------


def resized(images: Any, size: Any, method: Any, align: bool, half: bool, what: str) -> Any:
    """(batch, rows, columns, channels), or one image, at another size.

    Pixel i of n is taken at i * size / n; with `align` at i * (size - 1) / (n - 1); with `half` at
    (i + 1/2) * size / n - 1/2. All results but those of 'nearest' are float32.
    """
    if method not in METHODS:
        names = ", ".join(repr(name) for name in METHODS if isinstance(name, str))
        raise ArgumentError(f"{what}: method is {method!r}; there are {names}")
    x = as_tensor(images, what)
    if len(x.shape) == 3:
        return K.squeeze(resized(K.expand_dims(x, 0), size, method, align, half, what), 0)
    if len(x.shape) != 4:
        raise ShapeError(f"{what}: images (batch, rows, columns, channels) expected, not {x!r}")
    number = METHODS[method]
    x = x if number == 1 else K.cast(x, "float32")
    for axis, wanted in zip((1, 2), two_sizes(size, what), strict=True):
        x = INTERPOLATIONS[number](x, axis, Axis(size_of(x, axis), wanted, align, half))
    return x


def two_sizes(size: Any, what: str) -> list[Size]:
    """Rows and columns, of two numbers or an integer vector."""
    if K.is_tensor(size):
        size = [size[0], size[1]]
    if len(size) != 2:
        raise ShapeError(f"{what}: a size has two numbers, not {size!r}")
    return [size_or_node(n, what) for n in size]


def resize_images(
    images: Any, size: Any, method: Any, align_corners: bool, preserve_aspect_ratio: bool, what: str
) -> Any:
    """As `resized`; images that have the size already are left as they are."""
    return _resized_if_other(
        images, size, method, preserve_aspect_ratio, what, align=align_corners, half=False
    )


def resize(images: Any, size: Any, method: Any = "bilinear", preserve_aspect_ratio: bool = False,
           antialias: bool = False, name: str | None = None) -> Any:  # fmt: skip
    """As `resized`, by half pixels; images that have the size already are left as they are.

    Raises:
        ArgumentError: `antialias` is asked for, which there isn't.
    """
    what = "tf.compat.v2.image.resize"
    if antialias:
        raise ArgumentError(f"{what}: antialias=True isn't there; blur the images before")
    half = METHODS.get(method) != ResizeMethod.AREA
    return _resized_if_other(
        images, size, method, preserve_aspect_ratio, what, align=False, half=half
    )


def _resized_if_other(
    images: Any, size: Any, method: Any, one_ratio: bool, what: str, *, align: bool, half: bool
) -> Any:
    x = as_tensor(images, what)
    rows, columns = (size_of(x, axis) for axis in (len(x.shape) - 3, len(x.shape) - 2))
    wanted = two_sizes(size, what)
    if one_ratio:
        wanted = _of_one_ratio(wanted, [rows, columns], what)
    if all(isinstance(n, int) for n in (rows, columns)) and [rows, columns] == wanted:
        return K.identity(x)
    return resized(x, wanted, method, align, half, what)


def _of_one_ratio(wanted: Sequence[Size], sizes: Sequence[Size], what: str) -> list[Size]:
    """The largest sizes within those wanted that have the ratio of others."""
    numbers = [n for n in (*wanted, *sizes) if isinstance(n, int)]
    if len(numbers) < 4:
        raise ShapeError(f"{what}: preserve_aspect_ratio needs sizes that are known")
    share = min(
        np.float32(w) / np.float32(n) for w, n in zip(numbers[:2], numbers[2:], strict=True)
    )
    return [round(float(share * np.float32(n))) for n in numbers[2:]]


def _by(method: int) -> Callable[..., Any]:
    def call(
        images: Any, size: Any, align_corners: bool, half_pixel_centers: bool, what: str
    ) -> Any:
        return resized(images, size, method, align_corners, half_pixel_centers, what)

    return call


def resize_area(images: Any, size: Any, align_corners: bool, what: str) -> Any:
    return resized(images, size, ResizeMethod.AREA, align_corners, False, what)


def resize_image_with_pad(
    image: Any, target_height: int, target_width: int, method: Any, align_corners: bool, what: str
) -> Any:
    """As large as fits into a size without another ratio of the sides; zeros around."""
    x = as_tensor(image, what)
    sizes = [known(x, axis, what) for axis in (len(x.shape) - 3, len(x.shape) - 2)]
    wanted = (int(target_height), int(target_width))
    ratio = max(np.float64(n) / w for n, w in zip(sizes, wanted, strict=True))
    within = [int(np.floor(n / ratio)) for n in sizes]
    smaller = resized(x, within, method, align_corners, False, what)
    above, left = (max(0, (w - n) // 2) for w, n in zip(wanted, within, strict=True))
    return pad_to_bounding_box(smaller, above, left, *wanted, what)


NAMES: dict[str, Any] = {"compat.v2.image.resize": resize}
PLAIN: dict[str, Any] = {
    "image.ResizeMethod": ResizeMethod,
    **called({
        "image.resize_images": resize_images,
        "image.resize_bilinear": _by(ResizeMethod.BILINEAR),
        "image.resize_nearest_neighbor": _by(ResizeMethod.NEAREST_NEIGHBOR),
        "image.resize_bicubic": _by(ResizeMethod.BICUBIC),
        "image.resize_area": resize_area,
        "image.resize_image_with_pad": resize_image_with_pad,
    }),
}  # fmt: skip
