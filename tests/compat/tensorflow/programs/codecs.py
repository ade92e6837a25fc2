"""Files of pictures and sounds in memory: what they give when they are read, and read again."""

import base64
import io
import wave
import zlib

import numpy as np
import tensorflow as tf
from recording import case, error_of, main, raised, run, told

ROWS, COLUMNS = np.mgrid[0:10, 0:14].astype(float)
SMOOTH = np.stack([ROWS * 25, COLUMNS * 18, 250 - ROWS * 12 - COLUMNS * 9], -1).astype("uint8")
NOISE = np.random.RandomState(0).randint(0, 256, (5, 7, 4)).astype("uint8")


def chunk(kind, data):
    whole = kind + data
    return len(data).to_bytes(4, "big") + whole + zlib.crc32(whole).to_bytes(4, "big")


def png(pixels, kind, depth=8, more=()):
    """A file of the PNG format, written out here."""
    height, width = pixels.shape[:2]
    rows = [b"\0" + row.astype(">u2" if depth == 16 else "u1").tobytes() for row in pixels]
    size = width.to_bytes(4, "big") + height.to_bytes(4, "big")
    parts = [chunk(b"IHDR", size + bytes([depth, kind, 0, 0, 0])), *more]
    parts += [chunk(b"IDAT", zlib.compress(b"".join(rows))), chunk(b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


PALETTE = chunk(b"PLTE", bytes(range(48)))
CLEAR = chunk(b"tRNS", bytes([0, 100, 255, 7]))
PNGS = {
    "gray": png(NOISE[..., 0], 0),
    "gray16": png(NOISE[..., 0].astype("uint16") * 201, 0, 16),
    "color": png(NOISE[..., :3], 2),
    "palette": png(NOISE[..., 0] % 16, 3, more=[PALETTE]),
    "clear palette": png(NOISE[..., 0] % 16, 3, more=[PALETTE, CLEAR]),
    "gray and alpha": png(NOISE[..., :2], 4),
    "color and alpha": png(NOISE, 6),
}
# Two frames of 3 by 2 pixels in four colors.
GIF = base64.b64decode(
    "R0lGODlhAwACAIEAAAAAAP8AAAD/AAAA/yH/C05FVFNDQVBFMi4wAwEAAAAsAAAAAAMAAgAACAgAAQQQMEBgQAAh+Q"
    "QBAAAEACwAAAAAAwACAIEAAAD/AAAA/wAAAP8ICAADCBgAQGBAADs="
)


@case
def png_files():
    return [
        told(tf.image.decode_png(data, channels))
        for data in PNGS.values()
        for channels in (0, 1, 3, 4)
    ]


@case
def png_of_sixteen_bits():
    return [told(tf.image.decode_png(PNGS[name], dtype=tf.uint16)) for name in ("gray", "gray16")]


@case
def png_again():
    found = []
    for count in (1, 2, 3, 4):
        data = tf.image.encode_png(tf.constant(NOISE[..., :count]), compression=6)
        found.append([str(data.shape), told(tf.image.decode_png(data, channels=0))])
    wide = tf.constant(NOISE[..., :1].astype("uint16") * 199)
    return [found, told(tf.image.decode_png(tf.image.encode_png(wide), dtype=tf.uint16))]


@case
def bitmaps():
    size = [v.to_bytes(4, "little") for v in (40, 3, 2)]
    head = b"BM" + (78).to_bytes(4, "little") + b"\0" * 4 + (54).to_bytes(4, "little")
    about = b"".join(size) + b"\x01\0\x18\0" + b"\0" * 4 + (24).to_bytes(4, "little") + b"\0" * 16
    rows = b"".join(bytes(range(9 * i, 9 * i + 9)) + b"\0\0\0" for i in range(2))
    return [told(tf.image.decode_bmp(head + about + rows, channels)) for channels in (0, 3)]


@case
def gif_files():
    return [told(tf.image.decode_gif(GIF)), told(tf.image.decode_image(GIF))]


def near(image, channels=3):
    """How far a decoded picture is from the smooth one, in steps of ten; and its shape."""
    pixels = run(image).astype(int)
    return [list(pixels.shape), int(np.abs(pixels - SMOOTH[..., :channels]).mean() // 10)]


@case
def photographs():
    smooth = tf.constant(SMOOTH)
    made = [
        tf.image.encode_jpeg(smooth),
        tf.image.encode_jpeg(smooth, quality=90, progressive=True, optimize_size=True),
        tf.image.encode_jpeg(smooth, chroma_downsampling=False),
    ]
    gray = tf.image.encode_jpeg(smooth[..., :1], format="grayscale")
    part = tf.image.decode_and_crop_jpeg(made[0], [2, 3, 4, 5], channels=3)
    found = run(part).astype(int) - SMOOTH[2:6, 3:8]
    return [
        [near(tf.image.decode_jpeg(data)) for data in made],
        near(tf.image.decode_image(made[0])), near(tf.image.decode_png(made[0])),
        near(tf.image.decode_jpeg(gray), 1), list(run(tf.image.decode_jpeg(gray, 3)).shape),
        [str(part.shape), int(np.abs(found).mean() // 10)],
        told(tf.image.extract_jpeg_shape(made[0])), told(tf.image.extract_jpeg_shape(gray)),
        list(run(tf.image.decode_jpeg(made[0], ratio=2)).shape),
    ]  # fmt: skip


@case
def which_are_photographs():
    data = [tf.image.encode_jpeg(SMOOTH), PNGS["gray"], GIF]
    return [bool(run(tf.image.is_jpeg(each))) for each in data]


@case
def faults_of_pictures():
    return [
        error_of(lambda: tf.image.decode_png(b"nothing")),
        error_of(lambda: tf.image.decode_png(PNGS["gray"][:40])),
        error_of(lambda: tf.image.decode_jpeg(GIF)),
        error_of(lambda: tf.image.decode_bmp(PNGS["gray"])),
        error_of(lambda: tf.image.decode_gif(b"GIF")),
        error_of(lambda: tf.image.decode_png(PNGS["gray"], channels=-1)),
        error_of(lambda: tf.image.extract_jpeg_shape(PNGS["gray"])),
    ]


# Sounds -----------------------------------------------------------------------------------------


def sound(samples, rate=8000):
    into = io.BytesIO()
    with wave.open(into, "wb") as file:
        file.setnchannels(samples.shape[1])
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(samples.astype("<i2").tobytes())
    return into.getvalue()


SAMPLES = np.random.RandomState(1).randint(-30000, 30000, (600, 2))


@case
def sounds():
    data = sound(SAMPLES[:20])
    waves = [tf.audio.decode_wav(data)]
    for channels, samples in ((1, -1), (3, -1), (-1, 12), (2, 30)):
        waves.append(tf.audio.decode_wav(data, channels, samples))
    return [told(list(each)) for each in waves]


@case
def sounds_again():
    given = np.linspace(-1.2, 1.2, 31).astype("float32")[:, None]
    data = tf.audio.encode_wav(given, 16000)
    return [told(data)[0][:2], told(list(tf.audio.decode_wav(data)))]


@case
def spectra_of_sounds():
    given = (SAMPLES[:, :1] / 32768).astype("float32")
    found = []
    for size, stride, squared in ((64, 32, True), (100, 37, False)):
        made = tf.raw_ops.AudioSpectrogram(
            input=given, window_size=size, stride=stride, magnitude_squared=squared
        )
        found.append(told(made))
        how = {"upper_frequency_limit": 3500.0, "lower_frequency_limit": 30.0}
        found.append(told(tf.raw_ops.Mfcc(spectrogram=made, sample_rate=8000, **how)))
    return found


@case
def faults_of_sounds():
    wide = sound(SAMPLES[:4]).replace(b"\x10\0data", b"\x20\0data")
    return [
        error_of(lambda: tf.audio.decode_wav(b"RIFF nothing")),
        error_of(lambda: tf.audio.decode_wav(wide)),
        error_of(lambda: tf.audio.encode_wav(np.zeros(3, "float32"), 8000)),
    ]


@case
def what_is_said_of_damaged_files():
    def said(data, **how):
        return raised(lambda: run(tf.image.decode_image(data, **how)))[1].split("\n")[0]

    picture, photograph = run(
        [tf.image.encode_png(np.zeros((9, 9, 3), "uint8")),
         tf.image.encode_jpeg(np.zeros((99, 99, 3), "uint8"))]
    )  # fmt: skip
    cut = [said(picture[:40]), said(PNGS["gray"][:-4]), said(picture.replace(b"IDAT", b"IDAz"))]
    halves = [said(photograph[:20]), said(photograph[:99]), said(b"\xff\xd8\xffabc", channels=3)]
    return [[each.split(" size")[0] for each in [*cut, *halves]], said(photograph, channels=4)]


if __name__ == "__main__":
    main()
