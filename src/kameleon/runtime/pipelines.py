"""What people have besides arrays: frames of columns, as arrays; and what gives batches.

A class is known by its name and by the library that it's from: no library is imported here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..errors import FeedError
from ..graph.ir.types import as_dtype

# The library of a class, and the name of the class.
Kind = tuple[str, str]
# Columns and their names.
Columns = Iterable[tuple[Any, Any]]


class Frames(NamedTuple):
    """The frames of a library.

    Attributes:
        library, classes: which they are.
        columns: the columns of a frame, or of what's one column, that may hold something else than
            numbers.
        has_nulls: whether a column lacks values.
        fill, codes: what makes numbers of a column that lacks values, or that holds texts; `{}`
            stands for the column.
    """

    library: str
    classes: tuple[str, ...]
    columns: Callable[[Any], Columns]
    has_nulls: Callable[[Any], bool]
    fill: str
    codes: str


def _of_pandas(frame: Any) -> Columns:
    if frame.ndim == 1:
        return [(frame.name, frame)]
    dtypes = list(frame.dtypes)
    others = {dtype for dtype in set(dtypes) if not _is_plain(dtype)}  # of many columns, few
    if not others:
        return []
    return [(frame.columns[i], frame.iloc[:, i]) for i, d in enumerate(dtypes) if d in others]


def _is_plain(dtype: Any) -> bool:
    """Whether a column of pandas's is an array of numbers, which has NaN, and no null."""
    return isinstance(dtype, np.dtype) and dtype.kind in NUMBERS


def _of_polars(frame: Any) -> Columns:
    columns = frame.iter_columns() if hasattr(frame, "iter_columns") else [frame]
    return [(column.name, column) for column in columns]


def _of_pyarrow(table: Any) -> Columns:
    if not hasattr(table, "column_names"):
        return [(None, table)]
    return zip(table.column_names, table.columns, strict=True)


NUMBERS = "biuf"  # kinds of dtypes
FRAMES: tuple[Frames, ...] = (
    Frames(
        "pandas",
        ("DataFrame", "Series", "Index"),
        _of_pandas,
        lambda column: not _is_plain(column.dtype) and bool(column.isna().any()),
        "{}.fillna(0)",
        "{}.astype('category').cat.codes",
    ),
    Frames(
        "polars",
        ("DataFrame", "Series"),
        _of_polars,
        lambda column: column.null_count() > 0,
        "{}.fill_null(0)",
        "{}.cast(polars.Categorical).to_physical()",
    ),
    Frames(
        "pyarrow",
        ("Table", "RecordBatch", "Array", "ChunkedArray"),
        _of_pyarrow,
        lambda column: column.null_count > 0,
        "pyarrow.compute.fill_null({}, 0)",
        "{}.to_pandas().astype('category').cat.codes",
    ),
)
_FRAMES: dict[Kind, Frames] = {(row.library, name): row for row in FRAMES for name in row.classes}
# What is no array yet: what it's like, and what makes an array of it.
UNREADY: dict[Kind, tuple[str, str]] = {
    ("polars", "LazyFrame"): ("isn't computed yet", "frame.collect()"),
    ("torch", "NestedTensor"): ("has rows of several lengths", "tensor.to_padded_tensor(0.0)"),
    ("tensorflow", "RaggedTensor"): ("has rows of several lengths", "tensor.to_tensor()"),
    ("tensorflow", "SparseTensor"): ("is sparse", "tf.sparse.to_dense(tensor)"),
}


def kinds(value: Any) -> list[Kind]:
    """The class of a value, and those that it inherits from.

    >>> kinds(True)
    [('builtins', 'bool'), ('builtins', 'int'), ('builtins', 'object')]
    """
    return [(kind.__module__.partition(".")[0], kind.__name__) for kind in type(value).__mro__]


def is_source(value: Any) -> bool:
    """Whether a value gives batches one after the other, and is none itself: a loader, a dataset,
    an iterator.

    >>> is_source(iter([1])), is_source([1]), is_source(np.ones(1))
    (True, False, False)
    """
    if isinstance(value, (list, tuple, Mapping, str, bytes)) or not isinstance(value, Iterable):
        return False
    return not any(hasattr(value, name) for name in ("shape", "__array__"))


def as_array(value: Any) -> Any:
    """A frame, or a column of one, as an array of numbers; any other value as it is.

    >>> as_array([1, 2])
    [1, 2]

    Raises:
        FeedError: a column has nulls, or isn't made of numbers; or the value gives arrays, or
            becomes one, and isn't one yet.
    """
    for kind in kinds(value):
        if kind in UNREADY:
            what, remedy = UNREADY[kind]
            raise FeedError(f"a {'.'.join(kind)} {what}: {remedy}")
        if kind in _FRAMES:
            return _numeric(value, _FRAMES[kind], f"a {'.'.join(kind)}")
    if is_source(value) and not isinstance(value, Sequence):
        raise FeedError(
            f"a {type(value).__name__} gives batches, and this takes one of them:"
            " for batch in batches: f(batch)"
        )
    return value


def numbers(array: np.ndarray) -> np.ndarray:
    """An array of Python objects that are all numbers, as an array of numbers; others as they are.

    >>> numbers(np.array([1, 2.5], object)).dtype
    dtype('float64')
    """
    if array.dtype != object:
        return array
    found = np.array(array.tolist())
    return found if found.shape == array.shape else array


def require_numbers(array: np.ndarray) -> None:
    """Refuse what NumPy would take for numbers: None is NaN to it, '3' is 3, dates are days.

    >>> require_numbers(np.array([1, None]))
    Traceback (most recent call last):
    TypeError: None is no number
    """
    if array.dtype.kind in "US":
        raise TypeError("texts are no numbers; np.asarray(x, 'float32') reads those that tell one")
    if array.dtype != object:
        as_dtype(array.dtype)
        return
    for item in array.flat:
        if item is None or isinstance(item, str | bytes):
            raise TypeError(f"{item!r} is no number")


def _numeric(frame: Any, row: Frames, what: str) -> np.ndarray:
    for name, column in row.columns(frame):
        is_whole = column is frame
        where = what if is_whole else f"column {name!r} of {what}"
        code = "column" if is_whole else f"frame[{name!r}]"
        if row.has_nulls(column):
            raise FeedError(f"{where} has nulls, which are no numbers: {row.fill.format(code)}")
        if numbers(np.asarray(column)).dtype.kind not in NUMBERS:
            held = column.type if row.library == "pyarrow" else column.dtype
            raise FeedError(
                f"{where} holds {held}, no numbers: {row.codes.format(code)} numbers its values"
            )
    return numbers(np.asarray(frame))
