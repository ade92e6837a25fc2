"""Files of pictures, bit by bit: what their pixels are."""

import struct
import zlib

import numpy as np
import tensorflow as tf
from recording import case, error_of, main, run

ROWS, COLUMNS = np.mgrid[:9, :10]
COLOURS = np.stack([COLUMNS * 25, ROWS * 28, ROWS * COLUMNS * 3], -1).astype("uint8")
GRAY, ALPHA, HUED, PALETTE, HUED_ALPHA = 0, 4, 2, 3, 6


def file(bits, kind, lines, interlaced=0, **parts):
    """A file of 9 rows and 10 columns; its lines begin with their filters."""
    head = struct.pack(">IIBBBBB", 10, 9, bits, kind, 0, 0, interlaced)
    parts = [("IHDR", head), *sorted(parts.items()), ("IDAT", zlib.compress(lines))]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data))
        + name.encode()
        + data
        + struct.pack(">I", zlib.crc32(name.encode() + data) & 0xFFFFFFFF)
        for name, data in [*parts, ("IEND", b"")]
    )


def plain(rows):
    """Lines that aren't filtered."""
    return b"".join(b"\0" + row.tobytes() for row in rows)


def packed(values, bits):
    """Lines of few bits."""
    places = np.unpackbits(values[..., None].astype("uint8"), axis=-1)[..., 8 - bits :]
    return plain(np.packbits(places.reshape(len(values), -1), axis=-1))


def pixels(data, channels, dtypes=(tf.uint8, tf.uint16)):
    """What is decoded, for each of some numbers of channels and types."""
    found = [tf.image.decode_png(data, each, kind) for each in channels for kind in dtypes]
    return [[list(x.shape), x.sum(), x[::3, 1::4]] for x in run(found)]


@case
def few_bits():
    grays = COLUMNS * 25
    return [
        pixels(file(bits, GRAY, packed(grays >> (8 - bits), bits)), (0, 3, 4)) for bits in (1, 2, 4)
    ]


@case
def palettes():
    table, lines = COLOURS[2:6, 3:7].tobytes(), packed((ROWS * COLUMNS) % 16, 4)
    clear = bytes([0, 100, 255, 30])
    files = [file(4, PALETTE, lines, PLTE=table), file(4, PALETTE, lines, PLTE=table, tRNS=clear)]
    return [pixels(each, (0, 1, 3, 4)) for each in files]


@case
def clear_colours():
    colour = struct.pack(">HHH", *COLOURS[3, 4].tolist())
    hued = file(8, HUED, plain(COLOURS), tRNS=colour)
    gray = file(8, GRAY, plain(COLOURS[..., 0]), tRNS=colour[:2])
    return [pixels(each, (0, 1, 3, 4)) for each in (hued, gray)]


@case
def many_bits():
    wide = (COLOURS.astype(">u2") * 257 + np.arange(3)).astype(">u2")
    files = [file(16, HUED, plain(wide)), file(16, ALPHA, plain(wide[..., :2]))]
    return [pixels(each, (0, 1, 3, 4)) for each in files]


@case
def interlaced():
    passes = ((0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2))
    parts = [COLOURS[a::c, b::d] for a, b, c, d in (*passes, (1, 0, 2, 1))]
    return pixels(file(8, HUED, b"".join(map(plain, parts)), 1), (0, 1, 4))


@case
def filters():
    """Each line is the difference to the pixel to the left, above, their mean, the nearest one."""
    given = np.concatenate([COLOURS, 255 - COLOURS[..., 1:2]], -1).astype(int)
    lines, before = [], np.zeros((10, 4), int)
    for number, row in enumerate(given):
        left = np.concatenate([np.zeros((1, 4), int), row[:-1]])
        corner = np.concatenate([np.zeros((1, 4), int), before[:-1]])
        a, b, c = (abs(left + before - corner - x) for x in (left, before, corner))
        nearest = np.where((a <= b) & (a <= c), left, np.where(b <= c, before, corner))
        kind = number % 5
        taken = [np.zeros_like(row), left, before, (left + before) // 2, nearest][kind]
        lines.append(bytes([kind]) + ((row - taken) % 256).astype("uint8").tobytes())
        before = row
    return pixels(file(8, HUED_ALPHA, b"".join(lines)), (0, 1, 3))


@case
def there_and_back():
    wide = tf.cast(COLOURS, tf.uint16) * 200
    again = [tf.image.decode_png(tf.image.encode_png(COLOURS[..., :n], 9)) for n in (1, 2, 3)]
    return run([*again, tf.image.decode_png(tf.image.encode_png(wide), dtype=tf.uint16)])


@case
def damaged():
    whole = file(8, HUED, plain(COLOURS))
    files = [b"", whole[:4], whole[:60], whole.replace(b"IHDR", b"IHDS"), whole[:-40]]
    return [error_of(lambda data=data: tf.image.decode_png(data)) for data in files]


@case
def crops_halfway_between_pixels():
    x = tf.reshape(tf.range(256.0), [1, 16, 16, 1])
    boxes = [[0.1, 0.1, 0.9, 0.8], [-0.1, 0.5, 1.2, 0.1]]
    crops = [tf.image.crop_and_resize(x, boxes, [0, 0], [n, 5], method=how)
             for n in (1, 4) for how in ("nearest", "bilinear")]  # fmt: skip
    return run([tf.squeeze(each) for each in crops])


if __name__ == "__main__":
    main()
