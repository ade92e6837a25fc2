"""Images at other sizes: each axis linear, nearest, cubic or by area."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from kameleon.backend import surface as K
from kameleon.backend._tensors import as_tensor
from kameleon.errors import ArgumentError
from kameleon.graph.primitives import elementwise as ew
from kameleon.graph.primitives.linalg import contract
from kameleon.graph.primitives.movement import move_axis
from kameleon.graph.primitives.sizes import Size, size_of

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


INTERPOLATIONS = {"linear": _linear, "nearest": _nearest, "cubic": _cubic, "area": _area}
