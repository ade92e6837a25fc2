"""Datasets that read columns of text, examples, and rows of data bases."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Any

import numpy as np

from ...dtypes import name_of
from ...failures import failure, invalid, refused
from ...formats import parts
from ...formats.tables import DamagedError
from ..examples import WORDS, Wanted, asked, message_of
from ..parsing import Columns
from ..values import objects, text, texts
from .base import Dataset, Element, array, dataset
from .elements import mapped


@dataset("CSVDataset ExperimentalCSVDataset")
def _columns(
    paths: Any, packing: bytes, buffer: int, header: bool, mark: bytes, quotes: bool,
    missing: bytes, chosen: Any, defaults: list[Any],
) -> Dataset:  # fmt: skip
    numbers = [int(each) for each in np.ravel(chosen)]
    columns = Columns(mark, quotes, missing, numbers, len(defaults), of_nothing=True)

    def lines() -> Iterator[Element]:
        for path in texts(paths).ravel():
            try:
                rows = parts.rows(text(path), mark if quotes else b"", text(packing))
                if header and next(rows, None) is None:
                    raise invalid("Can't read header of file")
                for row in rows:
                    yield (array(row),)
            except OSError as error:
                raise refused(error, text(path)) from error
            except DamagedError as error:
                raise failure("DATA_LOSS", str(error)) from error

    return mapped(Dataset(lines), lambda row: [array(x) for x in columns.read(row, defaults)])


@dataset(
    "ParseExampleDataset ExperimentalParseExampleDataset",
    attributes="sparse_keys sparse_types dense_keys Tdense dense_shapes",
)
def _examples(
    source: Dataset, calls: int, defaults: list[Any], sparse_keys: Sequence[bytes],
    sparse_types: Sequence[int], dense_keys: Sequence[bytes], Tdense: Sequence[int],
    dense_shapes: Sequence[Any],
) -> Dataset:  # fmt: skip
    count = len(sparse_keys)
    dense = asked(dense_keys, Tdense, dense_shapes, defaults)
    wanted = Wanted(WORDS["ParseExample"], (), asked(sparse_keys, sparse_types), dense)
    order = np.argsort(np.array([*sparse_keys, *dense_keys]), kind="stable")

    def parsed(serialized: Any) -> list[Any]:
        found = wanted.parsed([message_of("Example", data) for data in texts(serialized)])
        columns = zip(*(found[at * count : (at + 1) * count] for at in range(3)), strict=True)
        values = [*(objects(each) for each in columns), *found[3 * count :]]
        return [values[at] for at in order]

    return mapped(source, parsed)


@dataset("SqlDataset ExperimentalSqlDataset", attributes="output_types")
def _rows(driver: bytes, place: bytes, query: bytes, output_types: Sequence[int]) -> Dataset:
    if driver != b"sqlite":
        raise invalid(f"The database type, {text(driver)}, is not supported by SqlDataset.")

    def rows() -> Iterator[Element]:
        try:
            with closing(sqlite3.connect(text(place))) as base:
                for row in base.execute(text(query)):
                    if len(row) != len(output_types):
                        about = "must match the number of elements in output_types"
                        counts = f"({len(row)}) {about} ({len(output_types)})"
                        raise invalid(f"The number of columns in query {counts}.")
                    yield tuple(_value(*pair) for pair in zip(row, output_types, strict=True))
        except sqlite3.Error as error:
            raise failure("UNKNOWN", f"Failed to execute query: {error}") from error

    return Dataset(rows)


def _value(value: Any, number: int) -> Any:
    if name_of(number) == "string":
        return texts("" if value is None else value if isinstance(value, bytes) else str(value))
    return np.asarray(value or 0).astype(name_of(number))
