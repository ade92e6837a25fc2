"""Pictures in PNG format: arrays (height, width, channels) of numbers of 8 or 16 bits."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterator

import numpy as np

Array = np.ndarray

SIGNATURE = b"\x89PNG\r\n\x1a\n"
_GRAY, _COLOURS, _PALETTE, _GRAY_ALPHA, _COLOURS_ALPHA = 0, 2, 3, 4, 6
_CHANNELS = {_GRAY: 1, _COLOURS: 3, _PALETTE: 1, _GRAY_ALPHA: 2, _COLOURS_ALPHA: 4}
# How much red, green and blue count in gray, of 32768.
_WEIGHTS = np.array([9797, 19234, 3737])
# Of each pass over an interlaced picture: the first row and column, and the steps to the next.
_PASSES = (
    (0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2),
    (1, 0, 2, 1),
)  # fmt: skip


# Writing ----------------------------------------------------------------------------------------


def encoded(pixels: Array, compression: int = -1) -> bytes:
    """A picture of 1 (gray), 2 (and alpha), 3 (colours) or 4 channels, as a file."""
    height, width, depth = pixels.shape
    kind = {count: kind for kind, count in _CHANNELS.items() if kind != _PALETTE}[depth]
    size = pixels.dtype.itemsize
    rows = np.zeros((height, 1 + width * depth * size), np.uint8)
    rows[:, 1:] = np.frombuffer(pixels.astype(f">u{size}").tobytes(), np.uint8).reshape(height, -1)
    head = struct.pack(">IIBBBBB", width, height, 8 * size, kind, 0, 0, 0)
    parts = (
        (b"IHDR", head), (b"IDAT", zlib.compress(rows.tobytes(), compression)), (b"IEND", b""),
    )  # fmt: skip
    return SIGNATURE + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in parts
    )


# Reading ----------------------------------------------------------------------------------------


def decoded(data: bytes, channels: int, dtype: str) -> Array:
    """The pixels of a file.

    Args:
        data: the file.
        channels: 1 (gray), 3 (colours), 4 (and alpha); 0: as the file has them.
        dtype: `uint8` or `uint16`.

    Raises:
        ValueError: the file is damaged.
    """
    try:
        pixels, bits, own = _read(data)
    except (struct.error, zlib.error, LookupError) as error:
        part = "data, size" if b"IDAT" in data else "header, data size"
        raise ValueError(f"Invalid PNG {part} {len(data)}") from error
    pixels, wide = _with_channels(pixels, channels or own, bits), bits == 16
    if dtype == "uint8":
        return (pixels >> 8 if wide else pixels).astype(np.uint8)
    return (pixels if wide else pixels * 257).astype(np.uint16)


def _parts(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    at = len(SIGNATURE)
    if data[:at] != SIGNATURE:
        raise ValueError(f"Invalid PNG header, data size {len(data)}")
    while at < len(data):
        size, name = struct.unpack_from(">I4s", data, at)
        content = data[at + 8 : at + 8 + size]
        (check,) = struct.unpack_from(">I", data, at + 8 + size)
        if check != zlib.crc32(name + content):
            raise zlib.error(f"part {name!r} is damaged")
        yield name, content
        at += 12 + size


def _read(data: bytes) -> tuple[Array, int, int]:
    """The pixels, as wide integers; how many bits they have in the file; how many channels.

    Where the file has a transparent colour, there's one more channel: few ask for it.
    """
    parts: dict[bytes, bytes] = {}
    for name, content in _parts(data):
        parts[name] = parts.get(name, b"") + content
    width, height, bits, kind, _, _, interlaced = struct.unpack(">IIBBBBB", parts[b"IHDR"])
    stream = zlib.decompress(parts[b"IDAT"])
    found = np.zeros((height, width, _CHANNELS[kind]), np.int64)
    for row, column, down, right in _PASSES if interlaced else ((0, 0, 1, 1),):
        target = found[row::down, column::right]
        if target.size:
            target[...], stream = _samples(stream, target.shape, bits)
    pixels = _expanded(found, kind, bits, parts)
    return pixels, bits, pixels.shape[-1] if kind == _PALETTE else _CHANNELS[kind]


def _samples(stream: bytes, shape: tuple[int, ...], bits: int) -> tuple[Array, bytes]:
    """The numbers of a pass, and what follows it."""
    height, width, depth = shape
    stride = 1 + (width * depth * bits + 7) // 8
    rows = np.frombuffer(stream, np.uint8, height * stride).reshape(height, stride)
    plain, above = [], np.zeros(stride - 1, np.uint8)
    for row in rows:
        above = _FILTERS[int(row[0])](row[1:], above, max(1, depth * bits // 8))
        plain.append(above)
    found = np.stack(plain)
    if bits == 16:
        found = found.view(">u2")
    elif bits < 8:
        places = np.unpackbits(found, axis=1).reshape(height, -1, bits)
        found = places @ (1 << np.arange(bits)[::-1])
    return found[:, : width * depth].reshape(shape), stream[height * stride :]


def _expanded(pixels: Array, kind: int, bits: int, parts: dict[bytes, bytes]) -> Array:
    """Palettes as colours, few bits as 8, transparent colours as an alpha channel."""
    clear = parts.get(b"tRNS")
    if kind == _PALETTE:
        palette = np.frombuffer(parts[b"PLTE"], np.uint8).reshape(-1, 3).astype(np.int64)
        if clear is not None:
            alpha = np.full(len(palette), 255)
            alpha[: len(clear)] = np.frombuffer(clear, np.uint8)
            palette = np.column_stack([palette, alpha])
        return np.asarray(palette[pixels[..., 0]])
    most = (1 << bits) - 1
    if clear is not None:
        alpha = (pixels != np.frombuffer(clear, ">u2")).any(-1, keepdims=True) * most
        pixels = np.concatenate([pixels, alpha], -1)
    return pixels * (255 // most) if bits < 8 else pixels


def _with_channels(pixels: Array, channels: int, bits: int) -> Array:
    """Pixels of some channels; new alpha is the largest number that the file's bits can hold."""
    depth = pixels.shape[-1]
    colours, alpha = pixels[..., : depth - 1 + depth % 2], pixels[..., depth - 1 + depth % 2 :]
    if channels < 3 <= depth:
        rounding = 1 << 14 if bits == 16 else 0
        gray = (colours @ _WEIGHTS + rounding) >> 15
        same = (colours == colours[..., :1]).all(-1)
        colours = np.where(same, colours[..., 0], gray)[..., None]
    elif channels >= 3 > depth:
        colours = np.repeat(colours, 3, -1)
    if channels % 2:
        return colours
    if not alpha.size:
        alpha = np.full_like(colours[..., :1], (1 << bits) - 1)
    return np.concatenate([colours, alpha], -1)


# What was subtracted from the bytes of a row: the pixel to the left, the one above, …


def _left(row: Array, above: Array, step: int) -> Array:
    padded = np.zeros(-len(row) % step + len(row), np.uint8)
    padded[: len(row)] = row
    return padded.reshape(-1, step).cumsum(0, dtype=np.uint8).ravel()[: len(row)]


def _mean(row: Array, above: Array, step: int) -> Array:
    found = [0] * step
    for at, (x, up) in enumerate(zip(row.tolist(), above.tolist(), strict=True)):
        found.append((x + (found[at] + up >> 1)) & 255)
    return np.array(found[step:], np.uint8)


def _nearest(row: Array, above: Array, step: int) -> Array:
    """Of the pixels to the left, above and in the corner, the one next to left + above - corner."""
    found, corners = [0] * step, [0] * step + above.tolist()
    for at, (x, up) in enumerate(zip(row.tolist(), above.tolist(), strict=True)):
        left, corner = found[at], corners[at]
        off = (abs(up - corner), abs(left - corner), abs(left + up - 2 * corner))
        best = (left, up, corner)[off.index(min(off))]
        found.append((x + best) & 255)
    return np.array(found[step:], np.uint8)


_FILTERS: tuple[Callable[[Array, Array, int], Array], ...] = (
    lambda row, above, step: row, _left, lambda row, above, step: row + above, _mean, _nearest,
)  # fmt: skip
