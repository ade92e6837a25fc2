"""The summaries of `tf.compat.v2.summary`, which TensorFlow 1.15 had of TensorBoard.

A TensorBoard that is installed today has them on TensorFlow 2. Each writes a tensor under a tag;
its metadata tells TensorBoard's plugin what the tensor holds.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from . import location

__all__ = ["audio", "histogram", "image", "scalar", "text"]

_WAV = b"\x10\x0b"  # as the plugin's message has it: field 2 is 11


def _write(
    kind: str, plugin: str, made: Callable[[Any], Any], name: str, values: list[Any], step: Any,
    description: str | None, content: bytes = b"",
) -> Any:  # fmt: skip
    """Write what is made of TensorFlow's API, in the scope of a summary."""
    tf = importlib.import_module(location.PACKAGE).compat.v2
    ops = importlib.import_module(f"{location.PACKAGE}.python.ops.summary_ops_v2")
    metadata = importlib.import_module(
        f"{location.PACKAGE}.core.framework.summary_pb2"
    ).SummaryMetadata(summary_description=description)
    metadata.plugin_data.plugin_name, metadata.plugin_data.content = plugin, content
    with ops.summary_scope(name, f"{kind}_summary", values=[*values, step]) as (tag, _):
        return ops.write(tag=tag, tensor=made(tf), step=step, metadata=metadata)


def scalar(name: str, data: Any, step: Any = None, description: str | None = None) -> Any:
    """A number."""

    def made(tf: Any) -> Any:
        tf.debugging.assert_scalar(data)
        return tf.cast(data, tf.float32)

    return _write("scalar", "scalars", made, name, [data], step, description)


def histogram(
    name: str, data: Any, step: Any = None, buckets: Any = None, description: str | None = None
) -> Any:
    """How many numbers lie in each of so many parts of their range: rows of two edges and a count.
    Equal numbers are in one part, of width 1; no numbers are in none.
    """

    def made(tf: Any) -> Any:
        numbers = tf.cast(tf.reshape(data, [-1]), tf.float64)
        some = tf.minimum(tf.size(numbers), 1)
        ranged = tf.pad(numbers, [[0, 1 - some]])  # a zero, where there are none
        low, high = tf.reduce_min(ranged), tf.reduce_max(ranged)
        equal = tf.equal(low, high)
        low, high = tf.where(equal, low - 0.5, low), tf.where(equal, high + 0.5, high)
        parts = some * tf.where(equal, 1, 30 if buckets is None else buckets)
        width = (high - low) / tf.cast(parts, tf.float64)
        at = tf.cast(tf.floor((numbers - low) / width), tf.int32)
        counts = tf.math.unsorted_segment_sum(
            tf.ones_like(numbers), tf.minimum(at, parts - 1), parts
        )
        left = low + width * tf.cast(tf.range(parts), tf.float64)
        right = tf.concat([left, tf.reshape(high, [1])], 0)[1:]
        return tf.stack([left, right, counts], 1)

    return _write("histogram", "histograms", made, name, [data, buckets], step, description)


def image(
    name: str, data: Any, step: Any = None, max_outputs: Any = 3, description: str | None = None
) -> Any:
    """Pictures as PNG, after their width and height."""

    def made(tf: Any) -> Any:
        tf.debugging.assert_rank(data, 4)
        tf.debugging.assert_non_negative(max_outputs)
        pixels = tf.image.convert_image_dtype(data, tf.uint8, saturate=True)
        files = tf.map_fn(tf.image.encode_png, pixels[:max_outputs], dtype=tf.string)
        sizes = tf.strings.as_string(tf.shape(pixels)[2:0:-1])
        return tf.concat([sizes, files], 0)

    return _write("image", "images", made, name, [data, max_outputs], step, description)


def audio(
    name: str, data: Any, sample_rate: Any, step: Any = None, max_outputs: Any = 3,
    encoding: str | None = None, description: str | None = None,
) -> Any:  # fmt: skip
    """Sounds as WAV, each beside an empty label."""
    if encoding not in (None, "wav"):
        raise ValueError(f"Unknown encoding: {encoding!r}")

    def made(tf: Any) -> Any:
        tf.debugging.assert_rank(data, 3)
        tf.debugging.assert_non_negative(max_outputs)
        encoded = tf.map_fn(
            lambda one: tf.audio.encode_wav(one, sample_rate), data[:max_outputs], dtype=tf.string
        )
        return tf.stack([encoded, tf.fill(tf.shape(encoded), "")], 1)

    values = [data, sample_rate, max_outputs]
    return _write("audio", "audio", made, name, values, step, description, _WAV)


def text(name: str, data: Any, step: Any = None, description: str | None = None) -> Any:
    """Strings."""

    def made(tf: Any) -> Any:
        tf.debugging.assert_type(data, tf.string)
        return data

    return _write("text", "text", made, name, [data], step, description)
