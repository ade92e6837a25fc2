"""How much each old pixel adds to each new one, where images are scaled and moved by a kernel."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Array = np.ndarray


def _lanczos(radius: float) -> Callable[[Array], Array]:
    """Sources: Lanczos, "Applied analysis" (1956); Duchon, "Lanczos filtering" (1979)."""
    return lambda x: np.where(x > radius, 0, np.sinc(x) * np.sinc(x / radius))


def _cubic(a: float, b: float) -> Callable[[Array], Array]:
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
    "keyscubic": (2.0, _cubic(0, 0.5)),
    "mitchellcubic": (2.0, _cubic(1 / 3, 1 / 3)),
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
