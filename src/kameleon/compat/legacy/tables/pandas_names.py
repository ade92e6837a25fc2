"""What pandas had in 2019, and what it takes otherwise today."""

from __future__ import annotations

import datetime
import importlib
from collections.abc import Mapping, Sequence
from functools import partial
from operator import attrgetter
from typing import Any

import numpy as np

from ..functions import Function, around, bound, positional
from ..members import Changed, Members
from ..stand_in import Old, Table, constant, from_module, moved, same


def _pandas() -> Any:
    return importlib.import_module("pandas")


# --- rows, labels and values --------------------------------------------------------------------


@bound
def append(
    x: Any, other: Any, ignore_index: bool = False, verify_integrity: bool = False,
    sort: bool = False,
) -> Any:  # fmt: skip
    """These rows, and those of `other` after them, in a new object."""
    pandas = _pandas()
    others = list(other) if isinstance(other, (list, tuple)) else [other]
    if isinstance(x, pandas.DataFrame):
        others = [_rows(o, ignore_index) for o in others]
    return pandas.concat(
        [x, *others], ignore_index=ignore_index, verify_integrity=verify_integrity, sort=sort
    )


def _rows(other: Any, ignore_index: bool) -> Any:
    """What is appended to a frame, as a frame."""
    pandas = _pandas()
    if isinstance(other, pandas.DataFrame):
        return other
    if isinstance(other, Mapping):
        other = pandas.Series(dict(other), dtype=None if other else object)
    if other.name is None and not ignore_index:
        raise TypeError("append: a row without a name needs ignore_index=True")
    return other.to_frame().T.infer_objects()


class _Indexer:
    """`x.ix`: by labels; by positions where the labels aren't numbers."""

    def __init__(self, x: Any):
        self.x = x

    def _positions(self, axis: int, key: Any) -> Any:
        """What selects by position what `key` selects along an axis."""
        index = self.x.axes[axis]
        is_whole = index.dtype.kind in "iu"
        if isinstance(key, slice):
            ends = [end for end in (key.start, key.stop) if end is not None]
            if ends and not is_whole and all(isinstance(end, (int, np.integer)) for end in ends):
                return key
            return index.slice_indexer(key.start, key.stop, key.step)
        if np.ndim(key):
            keys = np.asarray(key)
            if keys.dtype == bool:
                return np.flatnonzero(keys)
            return keys if keys.dtype.kind in "iu" and not is_whole else index.get_indexer_for(key)
        if isinstance(key, (int, np.integer)) and not is_whole:
            return key
        found = index.get_loc(key)
        return np.flatnonzero(found) if isinstance(found, np.ndarray) else found

    def _of(self, key: Any) -> tuple[Any, ...]:
        keys = key if isinstance(key, tuple) else (key,)
        return tuple(self._positions(axis, part) for axis, part in enumerate(keys))

    def __getitem__(self, key: Any) -> Any:
        return self.x.iloc[self._of(key)]

    def __setitem__(self, key: Any, value: Any) -> None:
        try:
            places = self._of(key)
        except KeyError:  # labels that aren't there yet
            self.x.loc[key] = value
        else:
            self.x.iloc[places] = value


@bound
def as_matrix(x: Any, columns: Any = None) -> Any:
    """The values, of these columns alone if they're given."""
    return (x if columns is None else x[columns]).to_numpy()


@bound
def get_value(x: Any, *keys: Any, takeable: bool = False) -> Any:
    """One value, by its labels; by its positions where `takeable`."""
    return (x.iat if takeable else x.at)[keys]


@bound
def set_value(x: Any, *keys_and_value: Any, takeable: bool = False) -> Any:
    """Set one value, by its labels, in the object itself, which is returned."""
    *keys, value = keys_and_value
    (x.iat if takeable else x.at)[tuple(keys)] = value
    return x


@bound
def lookup(frame: Any, row_labels: Sequence[Any], col_labels: Sequence[Any]) -> Any:
    """The values at pairs of labels, in an array."""
    pairs = zip(row_labels, col_labels, strict=True)
    return np.array([frame.at[row, column] for row, column in pairs])


def from_items(kind: Any, items: Any, columns: Any = None, orient: str = "columns") -> Any:
    """A frame of pairs of a column's name and values; of rows with `orient='index'`."""
    table = dict(items)
    if orient == "index":
        return kind.from_dict(table, orient="index", columns=columns)
    return kind(table, columns=list(table) if columns is None else columns)


def from_csv(
    path: Any, header: Any = 0, sep: str = ",", index_col: Any = 0, parse_dates: bool = True,
    **options: Any,
) -> Any:  # fmt: skip
    """Read a CSV file whose first column is the index."""
    return _pandas().read_csv(
        path, header=header, sep=sep, index_col=index_col, parse_dates=parse_dates, **options
    )


@bound
def mad(x: Any, axis: Any = 0, skipna: bool = True) -> Any:
    """The mean absolute deviation from the mean."""
    if x.ndim == 1:
        return (x - x.mean(skipna=skipna)).abs().mean(skipna=skipna)
    away = x.sub(x.mean(axis=axis, skipna=skipna), axis=1 - (axis in (1, "columns")))
    return away.abs().mean(axis=axis, skipna=skipna)


def _clipped(side: str) -> Old:
    """Values beyond a threshold become it."""

    @bound
    def clip(x: Any, threshold: Any, axis: Any = None, inplace: bool = False) -> Any:
        return x.clip(**{side: threshold}, axis=axis, inplace=inplace)

    return Old(f".clip({side}=…)", clip)


BOTH: Mapping[str, Old] = {
    "append": Old("pandas.concat([…, other])", append),
    "ix": Old(".loc, by labels, or .iloc, by positions", _Indexer),
    "as_matrix": Old(".to_numpy()", as_matrix),
    "get_values": Old(".to_numpy()", attrgetter("to_numpy")),
    "get_value": Old(".at", get_value),
    "set_value": Old(".at", set_value),
    "iteritems": Old(".items()", attrgetter("items")),
    "mad": Old("(x - x.mean()).abs().mean()", mad),
    "clip_lower": _clipped("lower"),
    "clip_upper": _clipped("upper"),
    "pad": Old(".ffill()", attrgetter("ffill")),
    "backfill": Old(".bfill()", attrgetter("bfill")),
    "bool": Old(".item()", lambda x: lambda: bool(x.to_numpy().item())),
}
OF_FRAMES: Mapping[str, Old] = {
    **BOTH,
    "from_items": Old("pandas.DataFrame(dict(items))", lambda kind: partial(from_items, kind)),
    "from_csv": Old("pandas.read_csv", lambda kind: from_csv),
    "lookup": Old(".at, for each pair of labels", lookup),
    "applymap": Old(".map", attrgetter("map")),
    "swapaxes": Old(".transpose()", lambda x: lambda a, b, copy=True: x if a == b else x.T),
    "get_dtype_counts": Old(
        ".dtypes.value_counts()", lambda x: lambda: x.dtypes.astype(str).value_counts().sort_index()
    ),
    "sortlevel": Old(".sort_index(level=…)", lambda x: lambda level=0: x.sort_index(level=level)),
}
OF_SERIES: Mapping[str, Old] = {
    **BOTH,
    "from_csv": Old("pandas.read_csv", lambda kind: lambda path, **options: from_csv(
        path, **{"header": None, **options}).iloc[:, 0]),
    "nonzero": Old(".to_numpy().nonzero()", lambda x: lambda: x.to_numpy().nonzero()),
    "ravel": Old(".to_numpy()", lambda x: lambda order="C": x.to_numpy().ravel(order)),
    "ptp": Old(".max() - .min()", lambda x: lambda: x.max() - x.min()),
    "compress": Old("x[condition]", lambda x: lambda where: x[np.asarray(where, bool)]),
    "asobject": Old(".astype(object).to_numpy()", lambda x: x.astype(object).to_numpy()),
    "itemsize": Old(".dtype.itemsize", lambda x: x.dtype.itemsize),
    "real": Old("numpy.real", lambda x: np.real(x.to_numpy())),
    "imag": Old("numpy.imag", lambda x: np.imag(x.to_numpy())),
}  # fmt: skip

# Methods that take by name alone what they took by position.
NAMED_TODAY = (
    "drop dropna any all sort_values sort_index set_index reset_index to_csv drop_duplicates"
    " fillna replace to_json to_excel rename_axis sample where mask clip ffill bfill"
).split()


FILLS = {"ffill": "ffill", "pad": "ffill", "bfill": "bfill", "backfill": "bfill"}


@around
def _filling(
    fill: Function, self: Any, value: Any = None, method: Any = None, *args: Any, **options: Any
) -> Any:
    """`fillna`, which takes the way to fill by `method`, too."""
    if method is None:
        return fill(self, value, *args, **options)
    more = dict(zip(("axis", "inplace", "limit"), args, strict=False))
    return getattr(self, FILLS[method])(**more, **options)


@around
def _by_sets(find: Function, self: Any, key: Any) -> Any:
    """`frame[key]`, where the key may be a set of labels, too."""
    return find(self, list(key) if isinstance(key, set) else key)


TAKEN: Mapping[str, Changed] = {
    "__getitem__": Changed(_by_sets, is_implied=True),
    **{name: Changed(positional) for name in NAMED_TODAY},
    "fillna": Changed(lambda fillna: _filling(positional(fillna))),
}
MEMBERS: Members = {"DataFrame": {**OF_FRAMES, **TAKEN}, "Series": {**OF_SERIES, **TAKEN}}


# --- functions ----------------------------------------------------------------------------------


@around
def _reading(
    read: Function, /, *args: Any, squeeze: bool = False, prefix: str | None = None,
    error_bad_lines: bool = True, warn_bad_lines: bool = True, delim_whitespace: bool = False,
    **options: Any,
) -> Any:  # fmt: skip
    if delim_whitespace:
        options["sep"] = r"\s+"
    if not error_bad_lines:
        options["on_bad_lines"] = "warn" if warn_bad_lines else "skip"
    found = read(*args, **options)
    if prefix is not None:
        found.columns = [f"{prefix}{i}" for i in range(found.shape[1])]
    return found.squeeze("columns") if squeeze else found


def _reader(read: Function) -> Function:
    return _reading(positional(read))


def _rolling(way: str, kind: str) -> Old:
    """`rolling_mean(x, 3)` and its like."""

    def roll(x: Any, window: Any = None, *args: Any, **options: Any) -> Any:
        how = {key: options.pop(key) for key in ("min_periods", "center") if key in options}
        return getattr(getattr(x, kind)(window, **how), way)(*args, **options)

    return Old(f".{kind}(…).{way}()", lambda _: roll)


WINDOWED = "mean sum std var min max median count skew kurt apply corr cov quantile".split()

GONE: Mapping[str, Old] = {
    "np": constant("import numpy", np),
    "datetime": constant("datetime.datetime", datetime.datetime),
    **{f"{kind}Index": same("pandas.Index") for kind in ("Int64", "UInt64", "Float64")},
    "scatter_matrix": same("pandas.plotting.scatter_matrix"),
    "TimeSeries": same("pandas.Series"),
    "value_counts": constant(
        ".value_counts()", lambda values, *a, **kw: _pandas().Series(values).value_counts(*a, **kw)
    ),
    "match": constant(
        "pandas.Index(values).get_indexer(to_match)",
        lambda to_match, values: _pandas().Index(values).get_indexer(to_match),
    ),
    "groupby": constant(".groupby", lambda x, by, **options: x.groupby(by, **options)),
    **{f"rolling_{way}": _rolling(way, "rolling") for way in WINDOWED},
}

TABLES: Mapping[str, Table] = {
    "pandas": Table(
        GONE,
        {"concat": positional, "read_csv": _reader, "read_table": _reader},
        members=MEMBERS,
    ),
    "pandas.io.json": Table({"json_normalize": from_module("pandas", "json_normalize")}),
    "pandas.util.testing": moved("pandas._testing"),
    "pandas.tools": Table(made=True),
    "pandas.tools.plotting": moved("pandas.plotting"),
    "pandas.core.index": moved("pandas"),
}
