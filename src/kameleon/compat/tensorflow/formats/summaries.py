"""What summaries hold, as messages: numbers, distributions, pictures, sounds, tensors."""

from __future__ import annotations

import io
import sys
import wave
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np

from ..protocol.messages import message
from ..protocol.tensors import tensor_message
from . import png

LARGEST = sys.float_info.max


def _summary(*values: dict[str, Any]) -> bytes:
    return bytes(message("Summary")(value=values).SerializeToString())


def scalar(tag: bytes, number: float) -> bytes:
    """A number, as a summary."""
    return _summary({"tag": tag, "simple_value": float(number)})


# Distributions ----------------------------------------------------------------------------------


@cache
def _limits() -> np.ndarray:
    """Where buckets end: each is a tenth wider than the one nearer to 0."""
    found, limit = [], 1e-12
    while limit < 1e20:
        found.append(limit)
        limit *= 1.1
    found.append(LARGEST)
    return np.array([*(-each for each in reversed(found)), 0.0, *found])


def histogram(tag: bytes, values: np.ndarray) -> bytes:
    """How values are distributed, as a summary."""
    numbers, limits = np.ravel(values).astype(np.float64), _limits()
    counts = np.bincount(np.searchsorted(limits, numbers, "right"), minlength=len(limits))
    sums = [np.cumsum(each)[-1] if len(each) else 0.0 for each in (numbers, numbers * numbers)]
    low, high = (numbers.min(), numbers.max()) if len(numbers) else (LARGEST, -LARGEST)
    empty = counts == 0
    # Of buckets side by side in which there's nothing, the last one stands for all.
    kept = ~(empty & np.append(empty[1:], False))
    content = message("HistogramProto")(
        min=low, max=high, num=len(numbers), sum=sums[0], sum_squares=sums[1],
        bucket_limit=limits[kept].tolist(), bucket=counts[kept].tolist(),
    )  # fmt: skip
    return _summary({"tag": tag, "histo": content})


# Pictures and sounds ----------------------------------------------------------------------------


def images(tag: bytes, batch: np.ndarray, most: int, bad: Sequence[int]) -> bytes:
    """Some pictures of a batch, as a summary."""
    values = []
    for label, each in _labelled(tag + b"/image", batch, most):
        height, width, depth = each.shape
        pixels = each if each.dtype == np.uint8 else _pixels(each, bad)
        content = message("Summary.Image")(
            height=height, width=width, colorspace=depth, encoded_image_string=png.encoded(pixels)
        )
        values.append({"tag": label, "image": content})
    return _summary(*values)


def _labelled(tag: bytes, batch: np.ndarray, most: int) -> Iterator[tuple[bytes, np.ndarray]]:
    """Some of a batch, each with its tag: numbered, if there may be several."""
    for number, each in enumerate(batch[:most]):
        yield tag + (b"/%d" % number if most > 1 else b""), each


def _pixels(picture: np.ndarray, bad: Sequence[int]) -> np.ndarray:
    """Floats as bytes: the largest becomes 255; if some are negative, 0 becomes 128."""
    kind, depth = picture.dtype, picture.shape[-1]
    rows = picture.reshape(-1, depth)
    finite = np.isfinite(rows).all(1)
    low, high = (rows[finite].min(), rows[finite].max()) if finite.any() else (np.inf, -np.inf)
    largest = np.float32(max(abs(low), abs(high)) if low < 0 else high)
    full = np.float32(127 if low < 0 else 255)
    scale = kind.type(full / largest if largest >= 1e-6 else 0)
    shift = kind.type(128 if low < 0 else 0)
    found = np.empty(rows.shape, np.uint8)
    found[finite] = (rows[finite] * scale + shift).astype(np.uint8)
    found[~finite] = np.resize(np.asarray(bad, np.uint8), depth)
    return found.reshape(picture.shape)


def sounds(tag: bytes, batch: np.ndarray, rate: float, most: int) -> bytes:
    """Some sounds of a batch (number, frames, channels), as a summary."""
    values = []
    for label, each in _labelled(tag + b"/audio", batch, most):
        frames, channels = each.shape
        content = message("Summary.Audio")(
            sample_rate=rate, num_channels=channels, length_frames=frames,
            encoded_audio_string=wav(_away(each.astype(np.float32) * np.float32(32768)), int(rate)),
            content_type="audio/wav",
        )  # fmt: skip
        values.append({"tag": label, "audio": content})
    return _summary(*values)


def _away(x: np.ndarray) -> np.ndarray:
    """Whole numbers, halves rounded away from 0."""
    found: np.ndarray = np.trunc(x + np.copysign(np.float32(0.5), x))
    return found


def wav(sound: np.ndarray, rate: int) -> bytes:
    """A sound (frames, channels) of whole numbers of 16 bits, and what's nearest to others, in WAV
    format.
    """
    into = io.BytesIO()
    with wave.Wave_write(into) as file:
        file.setnchannels(sound.shape[1])
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(np.clip(sound, -32768, 32767).astype("<i2").tobytes())
    return into.getvalue()


# Tensors ----------------------------------------------------------------------------------------


def tensor(tag: bytes, value: np.ndarray, metadata: bytes) -> bytes:
    """An array, and what it's for, as a summary."""
    about = message("SummaryMetadata").FromString(metadata)
    return _summary({"tag": tag, "tensor": tensor_message(value), "metadata": about})


def tensor_of_node(name: bytes, value: np.ndarray, description: bytes, shown: bytes) -> bytes:
    """An array, with the name of a node, as a summary."""
    found: dict[str, Any] = {"node_name": name, "tensor": tensor_message(value)}
    if description or shown:
        found["metadata"] = {"summary_description": description, "display_name": shown}
    return _summary(found)
