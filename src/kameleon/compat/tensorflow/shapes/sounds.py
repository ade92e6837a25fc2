"""Shapes of sounds, and of spectra over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .notation import table
from .rules import UNKNOWN, ShapeMismatchError, shape_of, with_rank

if TYPE_CHECKING:
    from ..graph import Operation, Shape


table(
    """
    EncodeWav : (?,?) () -> ()
    Mfcc : (c,t,?) () -> (c,t,@dct_coefficient_count)
    """
)


@shape_of("DecodeWav")
def _decoded(operation: Operation, given: list[Shape]) -> list[Shape]:
    with_rank(given[0], 0)
    told = [operation.attribute(f"desired_{what}") for what in ("samples", "channels")]
    if told[0] == 0 or told[1] == 0:
        raise ShapeMismatchError("samples and channels must be > 0, or -1")
    return [tuple(UNKNOWN if size < 0 else size for size in told), ()]


def transformed(size: int) -> int:
    """The least power of two that a window fits in."""
    return 1 << (size - 1).bit_length()


@shape_of("AudioSpectrogram")
def _spectrogram(operation: Operation, given: list[Shape]) -> Shape:
    length, channels = with_rank(given[0], 2)
    size, stride = operation.attribute("window_size"), operation.attribute("stride")
    windows = UNKNOWN if length < 0 else max((length - size) // stride + 1, 0)
    return (channels, windows, transformed(size) // 2 + 1)
