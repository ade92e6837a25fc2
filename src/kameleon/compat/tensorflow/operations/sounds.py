"""Sounds: files in memory, spectra over time, and what speech is recognized by."""

from __future__ import annotations

import io
import wave
from typing import Any

import numpy as np

from ..failures import invalid
from ..formats.summaries import wav
from ..shapes.pictures import transformed
from .table import fold, host
from .values import scalar

Array = np.ndarray
FLOOR = 1e-12  # of a band's energy


@host("DecodeWav")
def _decode(contents: Array, *, desired_channels: int, desired_samples: int) -> list[Array]:
    try:
        with wave.open(io.BytesIO(contents.item())) as file:
            count, channels, rate = file.getnframes(), file.getnchannels(), file.getframerate()
            width, data = file.getsampwidth(), file.readframes(count)
    except (wave.Error, EOFError) as error:
        raise invalid(f"not a WAV file: {error}") from error
    if width != 2:
        raise invalid(f"Can only read 16-bit WAV files, but received {8 * width}")
    samples = np.frombuffer(data, "<i2").reshape(-1, channels).astype(np.float32) / 32768
    more = max(desired_channels - channels, 0)
    samples = np.pad(samples, ((0, 0), (0, more)), "edge")  # the last one again
    samples = samples[:, :desired_channels] if desired_channels > 0 else samples
    if desired_samples >= 0:
        missing = max(desired_samples - len(samples), 0)
        samples = np.pad(samples[:desired_samples], ((0, missing), (0, 0)))
    return [samples, np.array(rate, np.int32)]


@host("EncodeWav")
def _encode(samples: Array, rate: int) -> Array:
    if samples.ndim != 2:
        raise invalid(f"audio must be 2-dimensional but got {samples.shape}")
    return scalar(wav(np.round(samples * 32768), rate))


@fold("AudioSpectrogram")
def _spectrogram(
    samples: Array, *, window_size: int, stride: int, magnitude_squared: bool
) -> Array:
    """Magnitudes of (samples, channels): (channels, windows, frequencies)."""
    wide = transformed(window_size)
    if len(samples) < window_size:
        return np.zeros((samples.shape[1], 0, wide // 2 + 1), np.float32)
    seen = np.lib.stride_tricks.sliding_window_view(samples.astype(float), window_size, 0)
    bell = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(window_size) / window_size)
    found = np.fft.rfft(seen[::stride] * bell, wide)
    energy = np.square(found.real) + np.square(found.imag)
    spectrum = energy if magnitude_squared else np.sqrt(energy)
    return np.asarray(np.swapaxes(spectrum, 0, 1), np.float32)


@fold("Mfcc")
def _coefficients(
    spectra: Array, rate: int, *, filterbank_channel_count: int, lower_frequency_limit: float,
    upper_frequency_limit: float, dct_coefficient_count: int,
) -> Array:  # fmt: skip
    """Cepstral coefficients of squared magnitudes, along the last axis, over mel bands.

    Davis and Mermelstein, IEEE Trans. ASSP 28 (1980).
    """
    count, limits = filterbank_channel_count, (lower_frequency_limit, upper_frequency_limit)
    bands = _bands(spectra.shape[-1], rate, count, *limits)
    heard = np.log(np.maximum(np.sqrt(spectra.astype(float)) @ bands, FLOOR))
    turns = np.outer(np.arange(count) + 0.5, np.arange(dct_coefficient_count))
    cosines = np.sqrt(2 / count) * np.cos(turns * np.pi / count)
    return np.asarray(heard @ cosines, np.float32)


def _bands(frequencies: int, rate: float, count: int, low: float, high: float) -> Array:
    """How much each frequency counts in each band: triangles, evenly spaced in mel."""
    between = 0.5 * rate / (frequencies - 1)
    mel = _mel(np.arange(frequencies) * between)
    edges = np.linspace(_mel(low), _mel(high), count + 2)
    rising = (mel[:, None] - edges[:-2]) / np.diff(edges)[:-1]
    falling = (edges[2:] - mel[:, None]) / np.diff(edges)[1:]
    heard = np.arange(frequencies)
    inside = (heard >= int(1.5 + low / between)) & (heard <= int(high / between))
    return np.asarray(np.maximum(np.minimum(rising, falling), 0) * inside[:, None])


def _mel(frequency: Any) -> Any:
    return 1127 * np.log1p(frequency / 700)
