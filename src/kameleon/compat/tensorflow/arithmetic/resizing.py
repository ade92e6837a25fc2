"""Images at other sizes: each axis linear, nearest, cubic or by area; or by a kernel, which says
how much each old pixel adds to each new one.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from kameleon.backend import surface as K
from kameleon.backend._tensors import as_tensor
from kameleon.errors import ArgumentError
from kameleon.graph.primitives import elementwise as ew
from kameleon.graph.primitives.linalg import contract
from kameleon.graph.primitives.movement import move_axis
from kameleon.graph.primitives.sizes import Size

Array = np.ndarray

# What places are computed with: NumPy's functions, where all sizes are known; else those of K.
OF_NODES = SimpleNamespace(
    floor=ew.floor, ceil=ew.ceil, rint=ew.round, minimum=K.minimum, maximum=K.maximum, abs=K.abs,
)  # fmt: skip


class Axis:
    """An axis of an image, and its size to be.

    Attributes:
        size, wanted: float32 scalars.
        old, numbers: those of the pixels, before and after.
        xp: where functions are looked up.
    """

    def __init__(self, size: Size, wanted: Size, align: bool, half: bool):
        if align and half:
            raise ArgumentError("tf.image: align_corners and half_pixel_centers exclude each other")
        self.known = isinstance(size, int) and isinstance(wanted, int)
        self.xp: Any = np if self.known else OF_NODES
        self.size, self.wanted = self._float(size), self._float(wanted)
        self.align, self.half = align, half
        self.old, self.numbers = self._range(size), self._range(wanted)

    def _range(self, size: Any) -> Any:
        if self.known:
            return np.arange(size, dtype="float32")
        return K.cast(K.arange(size), "float32")

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
    left, pixel = (
        (start[:, None], at.old[None])
        if at.known
        else (K.expand_dims(start, 1), K.expand_dims(at.old, 0))
    )
    # The last pixel goes on for ever.
    beyond = at.xp.maximum(pixel - (at.size - 2.0), 0.0) * 1e6
    covered = at.xp.minimum(pixel + 1.0 + beyond, left + at.scale) - at.xp.maximum(pixel, left)
    weights = at.xp.maximum(covered, 0.0) / at.scale
    matrix = K.constant(weights, "float32") if at.known else weights
    return move_axis(contract(x, matrix, ((axis,), (1,))), 3, axis)


INTERPOLATIONS = {"linear": _linear, "nearest": _nearest, "cubic": _cubic, "area": _area}


# By kernels -------------------------------------------------------------------------------------


def _lanczos(radius: float) -> Callable[[Array], Array]:
    """Sources: Lanczos, "Applied analysis" (1956); Duchon, "Lanczos filtering" (1979)."""
    return lambda x: np.where(x > radius, 0, np.sinc(x) * np.sinc(x / radius))


def _cubics(a: float, b: float) -> Callable[[Array], Array]:
    """Source: Mitchell and Netravali, "Reconstruction filters in computer graphics" (1988)."""

    def kernel(x: Array) -> Array:
        near = ((12 - 9 * a - 6 * b) * x - (18 - 12 * a - 6 * b)) * x * x + 6 - 2 * a
        far = ((-a - 6 * b) * x + 6 * a + 30 * b) * x * x - (12 * a + 48 * b) * x + 8 * a + 24 * b
        return np.where(x < 1, near, np.where(x < 2, far, 0)) / 6

    return kernel


# By name, how far a kernel reaches, and its value at a distance.
KERNELS: dict[str, tuple[float, Callable[[Array], Array]]] = {
    **{f"lanczos{radius}": (radius, _lanczos(radius)) for radius in (1, 3, 5)},
    "gaussian": (1.5, lambda x: np.where(x < 1.5, np.exp(-2 * x * x), 0)),
    "box": (1.0, lambda x: np.where(x < 0.5, 1.0, np.where(x == 0.5, 0.5, 0.0))),
    "triangle": (1.0, lambda x: np.maximum(1 - x, 0)),
    "keyscubic": (2.0, _cubics(0, 0.5)),
    "mitchellcubic": (2.0, _cubics(1 / 3, 1 / 3)),
}


def spans(size: int, wanted: int, scale: float, shift: float, kernel: str, smooth: bool) -> Array:
    """Shares of old pixels in new ones: (new, old); each row sums up to 1, or is zeros.

    Args:
        size, wanted: how many old and new pixels.
        scale, shift: an old place x is at scale x + shift.
        kernel: a name in `KERNELS`.
        smooth: where images shrink, the kernel is widened.
    """
    radius, function = KERNELS[kernel]
    step = np.float32(1) / np.float32(scale)
    wide = max(step, np.float32(1)) if smooth else np.float32(1)
    places = (np.arange(wanted, dtype=np.float32) + 0.5) * step - step * np.float32(shift)
    reach = np.float32(radius) * wide
    first = np.clip(np.ceil(places - reach - 0.5), 0, size - 1)
    last = np.clip(np.floor(places + reach - 0.5), 0, size - 1)
    old = np.arange(size, dtype=np.float32)
    shares = function(np.abs(old + 0.5 - places[:, None]) / wide)
    seen = (old >= first[:, None]) & (old <= last[:, None])
    seen &= ((places >= 0) & (places <= size))[:, None]
    shares = np.where(seen, shares, 0)
    total = shares.sum(1, keepdims=True)
    has = np.abs(total) >= 1000 * np.finfo(np.float32).tiny
    return np.asarray(np.where(has, shares / np.where(has, total, 1), shares), np.float32)
