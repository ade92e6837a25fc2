"""What summaries hold, as messages: numbers, distributions, pictures, sounds, tensors."""

from __future__ import annotations

import struct
import sys
from collections.abc import Sequence
from functools import cache

import numpy as np

from ..dtypes import name_of
from . import png
from .bundles import number_of, shape_message
from .wire import FIXED32, field, optional

LARGEST = sys.float_info.max


def _value(tag: bytes, *content: bytes) -> bytes:
    """A value of a summary, with the name that it's shown by."""
    return field(1, optional(1, tag) + b"".join(content))


def scalar(tag: bytes, number: float) -> bytes:
    """A number, as a summary."""
    return _value(tag, field(2, float(number), FIXED32))


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


def _double(number: int, value: float) -> bytes:
    return field(number, float(value)) if value else b""


def histogram(tag: bytes, values: np.ndarray) -> bytes:
    """How values are distributed, as a summary."""
    numbers, limits = np.ravel(values).astype(np.float64), _limits()
    counts = np.bincount(np.searchsorted(limits, numbers, "right"), minlength=len(limits))
    sums = [np.cumsum(each)[-1] if len(each) else 0.0 for each in (numbers, numbers * numbers)]
    low, high = (numbers.min(), numbers.max()) if len(numbers) else (LARGEST, -LARGEST)
    told = [low, high, float(len(numbers)), *sums]
    empty = counts == 0
    # Of buckets side by side in which there's nothing, the last one stands for all.
    kept = ~(empty & np.append(empty[1:], False))
    content = b"".join(_double(number, value) for number, value in enumerate(told, 1))
    content += field(6, limits[kept].tobytes())
    content += field(7, counts[kept].astype(np.float64).tobytes())
    return _value(tag, field(5, content))


# Pictures and sounds ----------------------------------------------------------------------------


def images(tag: bytes, batch: np.ndarray, most: int, bad: Sequence[int]) -> bytes:
    """Some pictures of a batch, as a summary."""
    found = b""
    for number, each in enumerate(batch[:most]):
        label = b"/image/%d" % number if most > 1 else b"/image"
        height, width, depth = each.shape
        pixels = each if each.dtype == np.uint8 else _pixels(each, bad)
        content = optional(1, height) + optional(2, width) + optional(3, depth)
        found += _value(tag + label, field(4, content + field(4, png.encoded(pixels))))
    return found


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
    found = b""
    for number, each in enumerate(batch[:most]):
        label = b"/audio/%d" % number if most > 1 else b"/audio"
        frames, channels = each.shape
        content = field(1, float(rate), FIXED32) + field(2, channels) + field(3, frames)
        content += field(4, wav(each, int(rate))) + field(5, b"audio/wav")
        found += _value(tag + label, field(6, content))
    return found


def wav(sound: np.ndarray, rate: int) -> bytes:
    """A sound (frames, channels) of numbers between -1 and 1 in WAV format."""
    scaled = sound.astype(np.float32) * np.float32(32768)
    whole = np.trunc(scaled + np.copysign(np.float32(0.5), scaled))
    data = np.clip(whole, -32768, 32767).astype("<i2").tobytes()
    channels = sound.shape[1]
    head = struct.pack("<HHIIHH", 1, channels, rate, 2 * channels * rate, 2 * channels, 16)
    content = b"WAVEfmt " + struct.pack("<I", len(head)) + head
    content += b"data" + struct.pack("<I", len(data)) + bytes(data)
    return b"".join([b"RIFF", struct.pack("<I", len(content)), content])


# Tensors ----------------------------------------------------------------------------------------


def tensor_message(value: np.ndarray) -> bytes:
    """An array as a message TensorProto."""
    number = number_of(value)
    head = field(1, number) + field(2, shape_message(value.shape))
    if name_of(number) == "string":
        return head + b"".join(field(8, each) for each in value.ravel())
    return head + optional(4, np.ascontiguousarray(value).tobytes())


def tensor(tag: bytes, value: np.ndarray, metadata: bytes) -> bytes:
    """An array, and what it's for, as a summary."""
    return _value(tag, field(8, tensor_message(value)), field(9, metadata))


def tensor_of_node(name: bytes, value: np.ndarray, metadata: bytes) -> bytes:
    """An array, with the name of a node, as a summary."""
    content = field(7, name) + field(8, tensor_message(value)) + optional(9, metadata)
    return field(1, content)
