"""Datasets that read columns of text, examples, and rows of data bases."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ...dtypes import name_of
from ...failures import failure
from ...formats import parts
from ...graph import Operation
from ..files import text
from ..table import FOLDS, host
from ..values import texts
from .base import Dataset, Element, array, sparse
from .elements import mapped

if TYPE_CHECKING:
    from ...variables import Store


def _like(operation: Operation, kind: str, **attributes: Any) -> Operation:
    """An operation of another type, with such attributes."""
    made = Operation(operation.graph, kind, operation.name)
    made.known.update(attributes)
    return made


@host("CSVDataset ExperimentalCSVDataset")
def _columns(
    store: Store, operation: Operation, paths: Any, packing: Any, buffer: Any, header: Any,
    mark: Any, quotes: Any, missing: Any, chosen: Any, *defaults: Any,
) -> Dataset:  # fmt: skip
    decode, given = FOLDS["DecodeCSV"], texts(paths).ravel()
    told = _like(
        operation, "DecodeCSV", field_delim=texts(mark).item(), use_quote_delim=bool(quotes),
        na_value=texts(missing).item(), select_cols=[int(each) for each in np.ravel(chosen)],
    )  # fmt: skip

    def lines() -> Iterator[Element]:
        for path in given:
            rows = _joined(parts.lines(text(path), text(packing)), bool(quotes))
            if header:
                next(rows, None)
            for row in rows:
                yield (array(row),)

    def columns(row: Any) -> list[Any]:
        return [array(each) for each in decode(told, row, *defaults)]

    return mapped(Dataset(lines), columns).typed(operation.attribute("output_types"))


def _joined(lines: Iterator[bytes], quotes: bool) -> Iterator[bytes]:
    """Rows: lines, of which several are one as long as a quote is open."""
    row = b""
    for line in lines:
        row = row + b"\n" + line if row else line
        if quotes and row.count(b'"') % 2:
            continue
        yield row
        row = b""
    if row:
        yield row


@host("ParseExampleDataset ExperimentalParseExampleDataset")
def _examples(
    store: Store, operation: Operation, source: Dataset, calls: Any, *defaults: Any
) -> Dataset:
    read = operation.attribute
    many, few = read("sparse_keys") or [], read("dense_keys") or []
    told = _like(
        operation, "ParseExample", Nsparse=len(many), Ndense=len(few),
        sparse_types=read("sparse_types"), Tdense=read("Tdense"), dense_shapes=read("dense_shapes"),
    )  # fmt: skip
    order = np.argsort(np.array([*many, *few]), kind="stable")

    def parsed(serialized: Any) -> list[Any]:
        found = FOLDS["ParseExample"](told, serialized, [], *many, *few, *defaults)
        count = len(many)
        columns = zip(*(found[at * count : (at + 1) * count] for at in range(3)), strict=True)
        values = [*(sparse(*each) for each in columns), *found[3 * count :]]
        return [values[at] for at in order]

    return mapped(source, parsed).typed(read("output_types"))


@host("SqlDataset ExperimentalSqlDataset")
def _rows(store: Store, operation: Operation, driver: Any, place: Any, query: Any) -> Dataset:
    kinds = operation.attribute("output_types")
    if text(driver) != "sqlite":
        message = f"The database type, {text(driver)}, is not supported by SqlDataset."
        raise failure("INVALID_ARGUMENT", message)

    def rows() -> Iterator[Element]:
        base = sqlite3.connect(text(place))
        try:
            for row in base.execute(text(query)):
                yield tuple(_value(*pair) for pair in zip(row, kinds, strict=True))
        except sqlite3.Error as error:
            raise failure("INVALID_ARGUMENT", f"Failed to execute query: {error}") from error
        finally:
            base.close()

    return Dataset(rows, types=kinds)


def _value(value: Any, number: int) -> Any:
    if name_of(number) == "string":
        return texts("" if value is None else value if isinstance(value, bytes) else str(value))
    return np.asarray(value or 0).astype(name_of(number))
