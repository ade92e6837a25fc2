"""Datasets of arrays, of numbers, of files, of functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from ...arithmetic import sparse as A
from ...dtypes import NUMBERS
from ...failures import failure, invalid, refused
from ...formats import parts
from ...formats.records import Reader
from ...formats.tables import DamagedError
from ...resources.philox import Philox
from ..files import files_of
from ..values import text, texts
from .base import (
    ENDLESS,
    STRING,
    Dataset,
    Element,
    Function,
    array,
    dataset,
    ends,
    rows,
)

dataset("TensorDataset")(lambda values: Dataset(lambda: [tuple(values)], 1))


@dataset("TensorSliceDataset")
def _slices(values: list[Any]) -> Dataset:
    """Rows of arrays."""
    return Dataset(partial(rows, values), len(np.asarray(values[0])))


@dataset("SparseTensorSliceDataset", attributes="Tvalues")
def _sparse_slices(indices: Any, values: Any, shape: Any, Tvalues: int) -> Dataset:
    """Rows of a sparse tensor, as the parts of sparse tensors."""
    x, whole = A.sparse(indices, values, shape), NUMBERS["int64"]
    types = [whole, Tvalues, whole]
    if (np.diff(x.indices[:, 0]) < 0).any():
        raise failure(
            "UNIMPLEMENTED",
            "The SparseTensor must be ordered in the batch dimension; handling arbitrarily ordered"
            " input is not currently supported.",
        )
    return Dataset(lambda: map(tuple, map(A.Sparse.parts, A.rows(x))), int(x.shape[0]), types)


@dataset("RangeDataset")
def _range(start: int, stop: int, step: int) -> Dataset:
    """Numbers at equal distances."""
    if not step:
        raise invalid("step must be a non-zero integer.")
    numbers = range(start, stop, step)
    return Dataset(lambda: ((np.asarray(each, np.int64),) for each in numbers), len(numbers))


@dataset("RandomDataset ExperimentalRandomDataset")
def _random(seed: int, second: int) -> Dataset:
    """Random numbers of 32 bits, without end."""

    def elements() -> Iterator[Element]:
        generator = Philox(seed, second)
        while True:
            yield (np.asarray(generator.next(), np.int64),)

    return Dataset(elements, ENDLESS)


@dataset("GeneratorDataset", functions="init_func next_func finalize_func")
def _generated(first: Function, following: Function, last: Function) -> Dataset:
    """What a function gives for a state that another one made, until there's nothing more."""

    def begin() -> Iterator[Element]:
        states: list[Any] = []

        def step() -> Element | None:
            if not states:
                states.append(first())
            try:
                return tuple(following(*states[0]))
            except Exception as error:
                if not ends(error):
                    raise
            last(*states[0])
            return None

        return iter(step, None)

    return Dataset(begin)


# Files ------------------------------------------------------------------------------------------


PACKINGS = (b"", b"ZLIB", b"GZIP")


def _in_files(paths: Any, packing: bytes, read: Callable[[str], Iterator[bytes]]) -> Dataset:
    if packing not in PACKINGS:
        raise invalid("Unsupported compression_type.")
    names = [text(each) for each in texts(paths).ravel()]

    def begin() -> Iterator[Element]:
        left, opened = names[::-1], list[Iterator[bytes]]()

        def step() -> Element | None:
            """The next record. What is damaged is left; what can't be read is tried again."""
            while left:
                try:
                    opened[:] = opened or [read(left[-1])]
                    data = next(opened[0], None)
                except OSError as error:
                    opened.clear()
                    raise refused(error, left[-1]) from error
                except DamagedError as error:
                    opened.clear()
                    left.pop()
                    raise failure("DATA_LOSS", str(error)) from error
                if data is not None:
                    return (array(data),)
                opened.clear()
                left.pop()
            return None

        return iter(step, None)

    return Dataset(begin)


@dataset("TextLineDataset", types=STRING)
def _lines(paths: Any, packing: bytes, buffer: int) -> Dataset:
    return _in_files(paths, packing, lambda path: parts.lines(path, text(packing)))


@dataset("TFRecordDataset", types=STRING)
def _records(paths: Any, packing: bytes, buffer: int) -> Dataset:
    return _in_files(paths, packing, lambda path: iter(Reader(path, text(packing))))


@dataset("FixedLengthRecordDataset FixedLengthRecordDatasetV2", types=STRING)
def _fixed(
    paths: Any, header: int, size: int, footer: int, buffer: int, packing: bytes = b""
) -> Dataset:
    """Records of one length, between a header and a footer."""
    if size <= 0:
        raise invalid("`record_bytes` must be > 0")
    for name, width in (("header", header), ("footer", footer)):
        if width < 0:
            raise invalid(f"`{name}_bytes` must be >= 0")

    def read(path: str) -> Iterator[bytes]:
        try:
            yield from parts.fixed(path, size, header, footer, 0, text(packing))
        except DamagedError as error:
            raise invalid(str(error)) from error

    return _in_files(paths, packing, read)


@dataset("MatchingFilesDataset ExperimentalMatchingFilesDataset", types=STRING)
def _files(patterns: Any) -> Dataset:
    found = files_of(patterns)
    return Dataset(lambda: ((array(each),) for each in found), len(found))
