"""Images of TensorFlow 1 at other sizes: linear, nearest, cubic and by area."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from ..backend import surface as K
from ..backend._tensors import as_tensor, size_or_node
from ..errors import ArgumentError, ShapeError
from ..prims import elementwise as ew
from ..prims.linalg import contract
from ..prims.movement import move_axis
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
# What places are computed with: NumPy's functions, where all sizes are known; else those of K.
OF_NODES = SimpleNamespace(
    floor=ew.floor, ceil=ew.ceil, rint=ew.round, minimum=K.minimum, maximum=K.maximum, abs=K.abs,
)  # fmt: skip


class Axis:
    """An axis of an image, and its size to be.

    Attributes:
        size, wanted: float32 scalars.
        xp: where functions are looked up.
    """

    def __init__(self, size: Size, wanted: Size, align: bool, half: bool):
        if align and half:
            raise ArgumentError("tf.image: align_corners and half_pixel_centers exclude each other")
        self.known = isinstance(size, int) and isinstance(wanted, int)
        self.xp: Any = np if self.known else OF_NODES
        self.size, self.wanted = self._float(size), self._float(wanted)
        self.align, self.half = align, half
        self.numbers = (
            np.arange(self.wanted, dtype="float32")
            if self.known
            else K.cast(K.arange(wanted), "float32")
        )

    def _float(self, size: Any) -> Any:
        return np.float32(size) if self.known else K.cast(as_tensor(size, "tf.image"), "float32")

    @property
    def scale(self) -> Any:
        """How far the new pixels are apart."""
        if not self.align:
            return self.size / self.wanted
        steps = self.xp.maximum(self.wanted - 1.0, 1.0)
        scale = (self.size - 1.0) / steps
        return scale if not self.known or self.wanted > 1 else self.size / self.wanted

    @property
    def places(self) -> Any:
        """Where the new pixels are, counted in old ones."""
        if self.half:
            return (self.numbers + np.float32(0.5)) * self.scale - np.float32(0.5)
        return self.numbers * self.scale

    def clipped(self, index: Any) -> Any:
        """Indices, those outside replaced by the first or the last."""
        return self.xp.maximum(self.xp.minimum(index, self.size - 1.0), 0.0)


# The methods ----------------------------------------------------------------------------------


def _taken(x: Any, axis: int, index: Any) -> Any:
    where = K.constant(index, "int32") if isinstance(index, np.ndarray) else K.cast(index, "int32")
    return x[(*[slice(None)] * axis, where)]


def _shares(values: Any, axis: int) -> Any:
    shape = [-1 if i == axis else 1 for i in range(4)]
    if isinstance(values, np.ndarray):
        return K.constant(values.reshape(shape), "float32")
    return K.reshape(values, shape)


def _linear(x: Any, axis: int, at: Axis) -> Any:
    """Mixed of the two pixels beside each place."""
    low, high = at.xp.floor(at.places), at.xp.ceil(at.places)
    first, second = (_taken(x, axis, at.clipped(i)) for i in (low, high))
    return first + (second - first) * _shares(at.places - low, axis)


def _nearest(x: Any, axis: int, at: Axis) -> Any:
    places = (at.numbers + np.float32(0.5)) * at.scale if at.half else at.places
    index = at.xp.floor(places + np.float32(0.5)) if at.align else at.xp.floor(places)
    return _taken(x, axis, at.clipped(index))


FINE = 1024.0  # TensorFlow rounds the distances between pixels to parts of this size


def _cubic(x: Any, axis: int, at: Axis) -> Any:
    """Mixed of the four pixels around each place.

    Source: Keys, "Cubic convolution interpolation for digital image processing" (1981), with
    a = -1/2 for half pixels, else a = -3/4.
    """
    a = -0.5 if at.half else -0.75
    low = at.xp.floor(at.places)
    share = at.xp.rint((at.places - low) * np.float32(FINE)) / np.float32(FINE)
    parts, whole = [], 0.0
    for offset in (-1, 0, 1, 2):
        weight = _kernel(at.xp.abs(share - np.float32(offset)), a, offset in (0, 1))
        index = low + np.float32(offset)
        if at.half:  # pixels outside have no weight
            inside = at.xp.maximum(1.0 - at.xp.abs(at.clipped(index) - index), 0.0)
            weight = weight * inside
        whole = whole + weight
        parts.append((index, weight))
    rows = [(_taken(x, axis, at.clipped(i)), _shares(w / whole, axis)) for i, w in parts]
    first, *others = (pixels * w for pixels, w in rows)
    return sum(others, first)


def _kernel(d: Any, a: float, near: bool) -> Any:
    if near:
        return ((a + 2) * d - (a + 3)) * d * d + 1
    return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a


def _area(x: Any, axis: int, at: Axis) -> Any:
    """The mean over what each new pixel covers."""
    start = at.places
    old = (
        np.arange(at.size, dtype="float32")
        if at.known
        else K.cast(K.arange(size_of(x, axis)), "float32")
    )
    left, pixel = (
        (start[:, None], old[None])
        if at.known
        else (K.expand_dims(start, 1), K.expand_dims(old, 0))
    )
    # The last pixel goes on for ever.
    beyond = at.xp.maximum(pixel - (at.size - 2.0), 0.0) * 1e6
    covered = at.xp.minimum(pixel + 1.0 + beyond, left + at.scale) - at.xp.maximum(pixel, left)
    weights = at.xp.maximum(covered, 0.0) / at.scale
    matrix = K.constant(weights, "float32") if at.known else weights
    return move_axis(contract(x, matrix, ((axis,), (1,))), 3, axis)


INTERPOLATIONS = {0: _linear, 1: _nearest, 2: _cubic, 3: _area}


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
