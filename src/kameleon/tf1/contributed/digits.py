"""`tensorflow.examples.tutorials.mnist`: images of digits in files, drawn in batches."""

from __future__ import annotations

import functools
import gzip
import os
import struct
import urllib.request
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ... import files
from ...errors import ArgumentError, FileFormatError
from ...ir.types import as_dtype

SOURCE = "https://storage.googleapis.com/cvdf-datasets/mnist/"
IMAGES, LABELS = 2051, 2049  # the first number of a file


class Dataset(NamedTuple):
    """Rows and what they mean."""

    data: Any
    target: Any


class Datasets(NamedTuple):
    """Three parts of the samples."""

    train: Any
    validation: Any
    test: Any


class DataSet:
    """Samples that are given in batches, in an order of NumPy's generator.

    Args:
        images: of shape (samples, rows, columns, 1), of uint8.
        labels: a number, or a row, for each.
        fake_data: batches of ones and zeros instead.
        one_hot: whether labels that are faked are rows.
        dtype: float32, from 0 to 1, or uint8.
        reshape: whether an image is a row of pixels.
        seed: of NumPy's generator.
    """

    def __init__(
        self, images: Any, labels: Any, fake_data: bool = False, one_hot: bool = False,
        dtype: Any = "float32", reshape: bool = True, seed: int | None = None,
    ):  # fmt: skip
        if seed is not None:
            np.random.seed(seed)
        kind = as_dtype(dtype)
        if kind not in ("uint8", "float32"):
            raise TypeError(f"Invalid image dtype {dtype!r}, expected uint8 or float32")
        self.one_hot, self._fake = one_hot, fake_data
        if not fake_data:
            if len(images) != len(labels):
                raise ArgumentError(f"{len(images)} images and {len(labels)} labels")
            images = images.reshape(len(images), -1) if reshape else images
            if kind == "float32":
                images = images.astype(np.float32) * np.float32(1 / 255)
        self._images, self._labels = images, labels
        self._epochs_completed, self._at = 0, 0

    images = property(lambda self: self._images)
    labels = property(lambda self: self._labels)
    num_examples = property(lambda self: 10000 if self._fake else len(self._images))
    epochs_completed = property(lambda self: self._epochs_completed)

    def next_batch(
        self, batch_size: int, fake_data: bool = False, shuffle: bool = True
    ) -> tuple[Any, Any]:
        """The next images and labels; after the last ones, those of a new order."""
        if fake_data or self._fake:
            label: Any = [1] + [0] * 9 if self.one_hot else 0
            return [[1] * 784 for _ in range(batch_size)], [label for _ in range(batch_size)]
        if self._epochs_completed == 0 and self._at == 0 and shuffle:
            self._mix()
        start, stop = self._at, self._at + batch_size
        self._at = stop
        if stop <= self.num_examples:
            return self._images[start:stop], self._labels[start:stop]
        rest = self._images[start:], self._labels[start:]
        self._epochs_completed += 1
        if shuffle:
            self._mix()
        self._at = stop - self.num_examples
        first = self._images[: self._at], self._labels[: self._at]
        images, labels = (np.concatenate(pair) for pair in zip(rest, first, strict=True))
        return images, labels

    def _mix(self) -> None:
        order = np.arange(self.num_examples)
        np.random.shuffle(order)
        self._images, self._labels = self._images[order], self._labels[order]


def maybe_download(filename: str, work_directory: str, source_url: str) -> str:
    """The path of a file in a folder, fetched if it isn't there."""
    path = os.path.join(work_directory, filename)
    if not os.path.exists(path):
        os.makedirs(work_directory, exist_ok=True)
        with urllib.request.urlopen(source_url) as got:
            files.replace(path, got.read())
    return path


def _content(f: Any, magic: int, sizes: int, what: str) -> Any:
    """The bytes of a gzipped file of the format IDX, in their shape."""
    print("Extracting", f.name)
    with gzip.GzipFile(fileobj=f) as stream:
        numbers = struct.unpack(f">{1 + sizes}I", stream.read(4 + 4 * sizes))
        if numbers[0] != magic:
            raise FileFormatError(f"Invalid magic number {numbers[0]} in {what} file: {f.name}")
        return np.frombuffer(stream.read(), np.uint8).reshape(numbers[1:])


def extract_images(f: Any) -> Any:
    """The images of an open file, of shape (samples, rows, columns, 1)."""
    return _content(f, IMAGES, 3, "MNIST image")[..., np.newaxis]


def dense_to_one_hot(labels_dense: Any, num_classes: int) -> np.ndarray:
    """For each label a row that's 1 at its place."""
    hot: np.ndarray = np.eye(num_classes)[np.asarray(labels_dense).ravel()]
    return hot


def extract_labels(f: Any, one_hot: bool = False, num_classes: int = 10) -> Any:
    """The labels of an open file."""
    labels = _content(f, LABELS, 1, "MNIST label")
    return dense_to_one_hot(labels, num_classes) if one_hot else labels


def read_data_sets(
    train_dir: str, fake_data: bool = False, one_hot: bool = False, dtype: Any = "float32",
    reshape: bool = True, validation_size: int = 5000, seed: int | None = None,
    source_url: str = SOURCE,
) -> Datasets:  # fmt: skip
    """The digits of a folder: those for training, of which the first ones validate, and others.

    Files that aren't there are fetched.
    """
    options: dict[str, Any] = {"dtype": dtype, "reshape": reshape, "seed": seed}
    if fake_data:
        train, validation, test = (DataSet([], [], True, one_hot, **options) for _ in range(3))
        return Datasets(train, validation, test)
    in_rows = functools.partial(extract_labels, one_hot=one_hot)
    readers: tuple[tuple[str, Callable[[Any], Any]], ...] = (
        ("images-idx3", extract_images), ("labels-idx1", in_rows)
    )  # fmt: skip
    found = []
    for part in ("train", "t10k"):
        for kind, read in readers:
            name = f"{part}-{kind}-ubyte.gz"
            path = maybe_download(name, train_dir, (source_url or SOURCE) + name)
            with open(path, "rb") as file:
                found.append(read(file))
    images, labels, tests, answers = found
    if not 0 <= validation_size <= len(images):
        raise ArgumentError(
            f"Validation size should be between 0 and {len(images)}. Received: {validation_size}."
        )
    n = validation_size
    return Datasets(
        DataSet(images[n:], labels[n:], **options), DataSet(images[:n], labels[:n], **options),
        DataSet(tests, answers, **options),
    )  # fmt: skip


def load_mnist(train_dir: str = "MNIST-data") -> Datasets:
    """The digits of a folder."""
    return read_data_sets(train_dir)


AT = ("contrib.learn.python.learn.datasets.mnist", "contrib.learn.datasets.mnist")
NAMES: dict[str, Any] = {}
PLAIN: dict[str, Any] = {
    "examples.tutorials.mnist.input_data.read_data_sets": read_data_sets,
    **{
        f"{at}.{thing.__name__}": thing
        for at in AT
        for thing in (
            DataSet, read_data_sets, extract_images, extract_labels, dense_to_one_hot, load_mnist
        )
    },
    **{
        f"{at}.{thing.__name__}": thing
        for at in ("contrib.learn.python.learn.datasets.base", "contrib.learn.datasets.base")
        for thing in (Dataset, Datasets, maybe_download)
    },
}  # fmt: skip
