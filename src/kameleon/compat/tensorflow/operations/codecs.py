"""Files of pictures, in memory: PNG, bit for bit; JPEG, GIF and BMP, which Pillow reads and writes.

Pillow and TensorFlow round otherwise in JPEG: pixels differ by some units.
"""

from __future__ import annotations

import importlib
import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from ..failures import failure, invalid
from ..formats import png
from ..graph import Operation
from .table import host
from .values import Kind, scalar

Array = np.ndarray

# How a file of each format begins.
BEGINNINGS = {b"\xff\xd8\xff": "JPEG", png.SIGNATURE: "PNG", b"GIF8": "GIF", b"BM": "BMP"}
# What is said of a file that Pillow can't read.
UNREADABLE = {
    "JPEG": "Invalid JPEG data or crop window, data size {size}",
    "GIF": "Invalid GIF data (size {size}), {error}",
    "BMP": "Invalid BMP data, size {size}: {error}",
}
MODES = {1: "L", 3: "RGB", 4: "RGBA"}  # of Pillow's pictures, by number of channels


# Reading ----------------------------------------------------------------------------------------


class File(NamedTuple):
    """A file: its bytes, and its format."""

    data: bytes
    kind: str


def _file(contents: Any, *kinds: str) -> File:
    """A file of one of these formats."""
    data = bytes(np.asarray(contents, object).item())
    kind = next((name for start, name in BEGINNINGS.items() if data.startswith(start)), "")
    if kind not in kinds:
        start = data[:16].decode(errors="replace")
        shown = f"{kind} format" if kind else f"unknown format starting with '{start}'"
        raise invalid(f"Expected image (JPEG, PNG, or GIF), got {shown if data else 'empty file'}")
    return File(data, kind)


@contextmanager
def _opened(file: File) -> Iterator[Any]:
    """The file as a picture of Pillow's; what can't be read of it is an error of TensorFlow's."""
    try:
        yield _pillow().open(io.BytesIO(file.data), formats=(file.kind,))
    except (OSError, SyntaxError, ValueError, EOFError) as error:
        raise invalid(UNREADABLE[file.kind].format(size=len(file.data), error=error)) from error


def _pillow() -> Any:
    try:
        return importlib.import_module("PIL.Image")
    except ImportError:
        message = "JPEG, GIF and BMP are read and written by Pillow: pip install pillow"
        raise failure("UNIMPLEMENTED", message) from None


def _array(picture: Any, mode: str) -> Array:
    found = np.asarray(picture if picture.mode == mode else picture.convert(mode))
    return found if found.ndim == 3 else found[..., None]


def _photograph(file: File, channels: int, dtype: str) -> Array:
    if channels == 4:
        raise invalid("channels must be 0, 1, or 3 for JPEG, got 4")
    with _opened(file) as picture:
        mode = MODES[channels] if channels else "L" if picture.mode == "L" else "RGB"
        picture.draft(mode, None)  # so that gray is what the file says of brightness
        return _array(picture, mode)


def _bitmap(file: File, channels: int, dtype: str) -> Array:
    with _opened(file) as picture:
        own = {"L": 1, "RGBA": 4}.get(picture.mode, 3)
        if channels not in (0, own):
            raise invalid(
                f"channels attribute {channels} does not match bits per pixel from file {own}"
            )
        return _array(picture, MODES[own])


def _frames(file: File) -> Array:
    frames = []
    with _opened(file) as picture:
        for number in range(picture.n_frames):
            picture.seek(number)
            frames.append(_array(picture, "RGB"))
    return np.stack(frames)


def _still(file: File, channels: int, dtype: str) -> Array:
    frames = _frames(file)
    if len(frames) != 1:
        message = f"Got {len(frames)} frames, but animated gifs can only be decoded by"
        how = "tf.image.decode_gif or tf.image.decode_image"
        raise invalid(f"{message} {how}")
    return np.asarray(frames[0])


READ: dict[str, Callable[[File, int, str], Array]] = {
    "JPEG": _photograph,
    "PNG": lambda file, channels, dtype: png.decoded(file.data, channels, dtype),
    "GIF": _still,
    "BMP": _bitmap,
}


def _pixels(file: File, channels: int, dtype: str = "uint8") -> Array:
    """Rows, columns and channels of a picture."""
    found = READ[file.kind](file, channels, dtype)
    return found if found.dtype == dtype else found.astype(np.uint16) * 257


@host("DecodeJpeg DecodePng")
def _decode(contents: Any, *, channels: int, ratio: int | None, dtype: Kind) -> Array:
    file = _file(contents, "JPEG", "PNG", "GIF")
    found = _pixels(file, channels, dtype or "uint8")
    return found if ratio in (None, 1) or file.kind != "JPEG" else _smaller(found, ratio)


def _smaller(pixels: Array, ratio: int) -> Array:
    """A photograph, whose sides are so much shorter."""
    small = _picture(pixels).reduce(ratio)
    return _array(small, small.mode)


@host("DecodeAndCropJpeg")
def _decode_part(contents: Any, window: list[int], *, channels: int) -> Array:
    pixels = _pixels(_file(contents, "JPEG"), channels)
    top, left, height, width = window
    inside = top >= 0 and left >= 0 and height > 0 and width > 0
    if not inside or top + height > pixels.shape[0] or left + width > pixels.shape[1]:
        raise invalid(f"Invalid JPEG data or crop window: {window}")
    return pixels[top : top + height, left : left + width]


host("DecodeBmp")(lambda contents, *, channels: _pixels(_file(contents, "BMP"), channels))


@host("DecodeGif")
def _decode_frames(contents: Any) -> Array:
    file = _file(contents, "GIF", "PNG")
    return _frames(file) if file.kind == "GIF" else _pixels(file, 3)[None]


@host("ExtractJpegShape")
def _shape(contents: Any, *, output_type: Kind) -> Array:
    with _opened(_file(contents, "JPEG")) as picture:
        return np.array([*picture.size[::-1], len(picture.getbands())], output_type)


# Writing ----------------------------------------------------------------------------------------


def _demand(pixels: Array, *counts: int) -> None:
    if pixels.ndim != 3 or pixels.shape[-1] not in counts:
        raise invalid(
            f"image must be 3-dimensional, of {counts} channels, not {list(pixels.shape)}"
        )


def _picture(pixels: Array) -> Any:
    return _pillow().fromarray(pixels[..., 0] if pixels.shape[-1] == 1 else pixels)


def _photographed(pixels: Array, **how: Any) -> Array:
    file = io.BytesIO()
    _picture(pixels).save(file, "JPEG", **how)
    return scalar(file.getvalue())


@host("EncodePng")
def _encode_png(pixels: Array, *, compression: int) -> Array:
    if not -1 <= compression <= 9:
        raise invalid(f"compression should be in [-1,9], got {compression}")
    _demand(pixels, 1, 2, 3, 4)
    return scalar(png.encoded(pixels, compression))


@host("EncodeJpeg")
def _encode_photograph(operation: Operation, pixels: Array) -> Array:
    setting = operation.attribute
    _demand(pixels, *{b"": (1, 3), b"grayscale": (1,), b"rgb": (3,)}[setting("format")])
    return _photographed(
        pixels, quality=setting("quality"), progressive=setting("progressive"),
        optimize=setting("optimize_size"), subsampling=2 if setting("chroma_downsampling") else 0,
        dpi=(setting("x_density"), setting("y_density")),
    )  # fmt: skip


@host("EncodeJpegVariableQuality")
def _encode_with(pixels: Array, quality: int) -> Array:
    if not 0 <= quality <= 100:
        raise invalid(f"quality must be in [0,100], got {quality}")
    _demand(pixels, 1, 3)
    return _photographed(pixels, quality=quality, subsampling=2)
