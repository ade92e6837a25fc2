"""Signals in TensorFlow 1: frames, windows, cosine transforms, and what's made of spectra.

Fourier transforms give complex numbers, which no tensor here holds: they are the installed
TensorFlow's.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..backend import surface as K
from ..backend._tensors import as_float, as_tensor
from ..errors import ArgumentError, UnsupportedError
from ..ir.types import as_dtype, normalize_axes
from ..prims.indexing import scatter_add
from ..prims.linalg import contract
from ..prims.sizes import dims_of, size_of
from .arrays import known, pad, roll
from .calling import called

Array = np.ndarray[Any, Any]

# Frames ---------------------------------------------------------------------------------------


def frame(
    signal: Any, frame_length: Any, frame_step: Any, pad_end: bool, pad_value: Any, axis: int,
    what: str,
) -> Any:  # fmt: skip
    """An axis cut into frames that may overlap: two axes, frames and what's in each.

    Args:
        pad_end: frames begin as long as there is signal; behind it they hold `pad_value`.
    """
    x = as_tensor(signal, what)
    (along,) = normalize_axes(what, axis, len(x.shape))
    length, step = int(frame_length), int(frame_step)
    size = size_of(x, along)
    if pad_end:
        count = -(-size // step)
        margins: list[Any] = [(0, 0)] * len(x.shape)
        margins[along] = (0, length)
        x = pad(x, margins, "CONSTANT", pad_value, what)
    else:
        count = (size - length) // step + 1
        count = max(count, 0) if isinstance(count, int) else K.maximum(count, 0)
    starts = K.expand_dims(K.arange(count) * step, 1)
    places = starts + K.reshape(K.arange(length), (1, -1))
    return x[(*[slice(None)] * along, K.cast(places, "int32"))]


def overlap_and_add(signal: Any, frame_step: Any, what: str) -> Any:
    """The inverse of `frame`: (…, frames, length) -> (…, whole length); what overlaps adds up."""
    x, step = as_tensor(signal, what), int(frame_step)
    frames, length = size_of(x, -2), size_of(x, -1)
    whole = (frames - 1) * step + length
    places = K.expand_dims(K.arange(frames) * step, 1) + K.expand_dims(K.arange(length), 0)
    flat = K.reshape(x, [*dims_of(x)[:-2], -1])
    return scatter_add(flat, K.reshape(K.cast(places, "int32"), (-1,)), whole, len(flat.shape) - 1)


# Windows --------------------------------------------------------------------------------------


def _raised_cosine(high: float) -> Callable[..., Any]:
    """A window of a cosine, from 2 `high` - 1 at its ends to 1."""

    def call(window_length: Any, periodic: bool, dtype: Any, what: str) -> Any:
        length = int(window_length)
        if length == 1:
            return K.ones((1,), dtype)
        span = length + (1 if periodic and length % 2 == 0 else 0) - 1
        values = high - (1 - high) * np.cos(2 * math.pi * np.arange(length) / span)
        return K.constant(values, dtype)

    return call


# Cosine transforms ----------------------------------------------------------------------------


def _cosines(kind: int, size: int, ortho: bool) -> Array:
    """The matrix of a cosine transform: rows are elements, columns frequencies.

    Source: Rao and Yip, "Discrete cosine transform" (1990).
    """
    n = np.arange(size)
    if kind == 1:
        if size < 2 or ortho:
            raise ArgumentError("tf.signal.dct: type 1 needs 2 elements, and has no norm")
        matrix = 2 * np.cos(math.pi * np.outer(n, n) / (size - 1))
        matrix[[0, -1]] /= 2
        return matrix
    if kind == 2:
        matrix = 2 * np.cos(math.pi * np.outer(2 * n + 1, n) / (2 * size))
        if ortho:
            matrix *= math.sqrt(1 / (2 * size))
            matrix[:, 0] *= math.sqrt(1 / 2)
        return matrix
    if kind != 3:
        raise ArgumentError(f"tf.signal.dct: type is {kind}; there are 1, 2 and 3")
    if ortho:
        return _cosines(2, size, True).T
    matrix = 2 * np.cos(math.pi * np.outer(n, 2 * n + 1) / (2 * size))
    matrix[0] /= 2
    return matrix


def _transformed(x: Any, kind: int, n: Any, axis: Any, norm: Any, inverse: bool, what: str) -> Any:
    if norm not in (None, "ortho"):
        raise ArgumentError(f"{what}: norm is {norm!r}; there are None and 'ortho'")
    if axis not in (-1, None):
        raise UnsupportedError(f"{what}: axis is {axis}; only the last one, -1, is there")
    x, last = as_float(x, what), len(as_tensor(x, what).shape) - 1
    if n is not None:
        missing = int(n) - known(x, last, what)
        x = pad(x[..., : int(n)], [*[(0, 0)] * last, (0, max(missing, 0))], "CONSTANT", 0, what)
    size, ortho = known(x, last, what), norm == "ortho"
    own = {1: 1, 2: 3, 3: 2}.get(kind, kind) if inverse else kind
    matrix = _cosines(own, size, ortho)
    return contract(x, K.constant(matrix, x.dtype), ((last,), (0,)))


def dct(input: Any, type: int, n: Any, axis: Any, norm: Any, what: str) -> Any:
    """The cosine transform of the last axis, of type 1, 2 or 3."""
    return _transformed(input, int(type), n, axis, norm, False, what)


def idct(input: Any, type: int, n: Any, axis: Any, norm: Any, what: str) -> Any:
    """The inverse of `dct` of the same type; without a norm as many times larger as that says."""
    return _transformed(input, int(type), n, axis, norm, True, what)


# Spectra --------------------------------------------------------------------------------------


def _mel(hertz: Any) -> Any:
    return 1127.0 * np.log1p(np.asarray(hertz, "float64") / 700.0)


def linear_to_mel_weight_matrix(
    num_mel_bins: int, num_spectrogram_bins: int, sample_rate: Any, lower_edge_hertz: float,
    upper_edge_hertz: float, dtype: Any, what: str,
) -> Any:  # fmt: skip
    """How much each frequency of a spectrum (down) adds to each band of the mel scale (across).

    Source: Stevens, Volkmann and Newman, "A scale for the measurement of the psychological
    magnitude pitch" (1937); triangles as of Young et al., "The HTK book".
    """
    half = float(sample_rate) / 2
    if num_mel_bins <= 0 or not 0 <= lower_edge_hertz < upper_edge_hertz <= half:
        raise ArgumentError(
            f"{what}: some bands between 0 and {half} Hz are expected, not {num_mel_bins} from"
            f" {lower_edge_hertz} to {upper_edge_hertz}"
        )
    places = _mel(np.linspace(0.0, half, num_spectrogram_bins))[1:, None]
    edges = np.linspace(_mel(lower_edge_hertz), _mel(upper_edge_hertz), num_mel_bins + 2)
    low, middle, high = edges[:-2], edges[1:-1], edges[2:]
    rising, falling = (places - low) / (middle - low), (high - places) / (high - middle)
    weights = np.maximum(0.0, np.minimum(rising, falling))
    return K.constant(np.pad(weights, [(1, 0), (0, 0)]), as_dtype(dtype))


def mfccs_from_log_mel_spectrograms(log_mel_spectrograms: Any, what: str) -> Any:
    """The cosine transform of the logarithms of a mel spectrum, scaled as the HTK book does."""
    x = as_float(log_mel_spectrograms, what)
    size = known(x, len(x.shape) - 1, what)
    return _transformed(x, 2, None, -1, None, False, what) * (1 / math.sqrt(2 * size))


def _shifted(back: bool) -> Callable[..., Any]:
    """Axes turned by half of their sizes: the frequency 0 to the middle, or back."""

    def call(x: Any, axes: Any, what: str) -> Any:
        x = as_tensor(x, what)
        all_axes = range(len(x.shape)) if axes is None else np.atleast_1d(axes).tolist()
        for axis in all_axes:
            half = size_of(x, axis) // 2
            x = roll(x, [-half if back else half], [axis], what)
        return x

    return call


PLAIN = called({
    "signal.frame": frame, "signal.overlap_and_add": overlap_and_add,
    "signal.hann_window": _raised_cosine(0.5), "signal.hamming_window": _raised_cosine(0.54),
    "signal.dct": dct, "signal.idct": idct,
    "signal.linear_to_mel_weight_matrix": linear_to_mel_weight_matrix,
    "signal.mfccs_from_log_mel_spectrograms": mfccs_from_log_mel_spectrograms,
})  # fmt: skip
