"""What pandas had in 2019, and what it takes otherwise today."""

from __future__ import annotations

import datetime
import importlib
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from types import ModuleType
from typing import Any

import numpy as np

from ..arguments import positional
from ..members import Changed, Lost, Members
from ..stand_in import Old, Table, constant, from_module, function, same


def _pandas() -> Any:
    return importlib.import_module("pandas")


# --- rows, labels and values --------------------------------------------------------------------


def _append(x: Any) -> Any:
    pandas = _pandas()

    def append(
        other: Any, ignore_index: bool = False, verify_integrity: bool = False, sort: bool = False
    ) -> Any:
        """These rows, and those of `other` after them, in a new object."""
        others = list(other) if isinstance(other, (list, tuple)) else [other]
        if isinstance(x, pandas.DataFrame):
            others = [_rows(o, ignore_index) for o in others]
        return pandas.concat(
            [x, *others], ignore_index=ignore_index, verify_integrity=verify_integrity, sort=sort
        )

    return append


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


def _as_matrix(x: Any) -> Any:
    def as_matrix(columns: Any = None) -> Any:
        """The values, of these columns alone if they're given."""
        return (x if columns is None else x[columns]).to_numpy()

    return as_matrix


def _get_value(x: Any) -> Any:
    def get_value(*keys: Any, takeable: bool = False) -> Any:
        """One value, by its labels; by its positions where `takeable`."""
        return (x.iat if takeable else x.at)[keys]

    return get_value


def _set_value(x: Any) -> Any:
    def set_value(*keys_and_value: Any, takeable: bool = False) -> Any:
        """Set one value, by its labels, in the object itself, which is returned."""
        *keys, value = keys_and_value
        (x.iat if takeable else x.at)[tuple(keys)] = value
        return x

    return set_value


def _lookup(frame: Any) -> Any:
    def lookup(row_labels: Sequence[Any], col_labels: Sequence[Any]) -> Any:
        """The values at pairs of labels, in an array."""
        pairs = zip(row_labels, col_labels, strict=True)
        return np.array([frame.at[row, column] for row, column in pairs])

    return lookup


def _from_items(kind: Any) -> Any:
    def from_items(items: Any, columns: Any = None, orient: str = "columns") -> Any:
        """A frame of pairs of a column's name and values; of rows with `orient='index'`."""
        table = dict(items)
        if orient == "index":
            return kind.from_dict(table, orient="index", columns=columns)
        return kind(table, columns=list(table) if columns is None else columns)

    return from_items


def _from_csv(kind: Any) -> Any:
    def from_csv(
        path: Any, header: Any = 0, sep: str = ",", index_col: Any = 0, parse_dates: bool = True,
        **options: Any,
    ) -> Any:  # fmt: skip
        """Read a CSV file whose first column is the index."""
        return _pandas().read_csv(
            path, header=header, sep=sep, index_col=index_col, parse_dates=parse_dates, **options
        )

    return from_csv


def _mad(x: Any) -> Any:
    def mad(axis: Any = 0, skipna: bool = True) -> Any:
        """The mean absolute deviation from the mean."""
        if x.ndim == 1:
            return (x - x.mean(skipna=skipna)).abs().mean(skipna=skipna)
        away = x.sub(x.mean(axis=axis, skipna=skipna), axis=1 - (axis in (1, "columns")))
        return away.abs().mean(axis=axis, skipna=skipna)

    return mad


def _clip(side: str) -> Callable[[Any], Any]:
    def of(x: Any) -> Any:
        def clip(threshold: Any, axis: Any = None, inplace: bool = False) -> Any:
            """Values cut off at the threshold."""
            return x.clip(**{side: threshold, "axis": axis, "inplace": inplace})

        return clip

    return of


def _method(name: str, **options: Any) -> Callable[[Any], Any]:
    """What another method gives, with these options."""
    return lambda x: lambda *args, **more: getattr(x, name)(*args, **options, **more)


BOTH: Mapping[str, Lost] = {
    "append": Lost("pandas.concat([…, other])", _append),
    "ix": Lost(".loc, by labels, or .iloc, by positions", _Indexer),
    "as_matrix": Lost(".to_numpy()", _as_matrix),
    "get_values": Lost(".to_numpy()", _method("to_numpy")),
    "get_value": Lost(".at", _get_value),
    "set_value": Lost(".at", _set_value),
    "iteritems": Lost(".items()", _method("items")),
    "mad": Lost("(x - x.mean()).abs().mean()", _mad),
    "clip_lower": Lost(".clip(lower=…)", _clip("lower")),
    "clip_upper": Lost(".clip(upper=…)", _clip("upper")),
    "pad": Lost(".ffill()", _method("ffill")),
    "backfill": Lost(".bfill()", _method("bfill")),
    "bool": Lost(".item()", lambda x: lambda: bool(x.to_numpy().item())),
}
OF_FRAMES: Mapping[str, Lost] = {
    **BOTH,
    "from_items": Lost("pandas.DataFrame(dict(items))", _from_items),
    "from_csv": Lost("pandas.read_csv", _from_csv),
    "lookup": Lost(".at, for each pair of labels", _lookup),
    "applymap": Lost(".map", _method("map")),
    "swapaxes": Lost(".transpose()", lambda x: lambda a, b, copy=True: x if a == b else x.T),
    "get_dtype_counts": Lost(
        ".dtypes.value_counts()", lambda x: lambda: x.dtypes.astype(str).value_counts().sort_index()
    ),
    "sortlevel": Lost(".sort_index(level=…)", lambda x: lambda level=0: x.sort_index(level=level)),
}
OF_SERIES: Mapping[str, Lost] = {
    **BOTH,
    "from_csv": Lost("pandas.read_csv", lambda kind: lambda path, **options: _from_csv(kind)(
        path, **{"header": None, **options}).iloc[:, 0]),
    "nonzero": Lost(".to_numpy().nonzero()", lambda x: lambda: x.to_numpy().nonzero()),
    "ravel": Lost(".to_numpy()", lambda x: lambda order="C": x.to_numpy().ravel(order)),
    "ptp": Lost(".max() - .min()", lambda x: lambda: x.max() - x.min()),
    "compress": Lost("x[condition]", lambda x: lambda where: x[np.asarray(where, bool)]),
    "asobject": Lost(".astype(object).to_numpy()", lambda x: x.astype(object).to_numpy()),
    "itemsize": Lost(".dtype.itemsize", lambda x: x.dtype.itemsize),
    "real": Lost("numpy.real", lambda x: np.real(x.to_numpy())),
    "imag": Lost("numpy.imag", lambda x: np.imag(x.to_numpy())),
}  # fmt: skip

# Methods that take by name alone what they took by position.
NAMED_TODAY = (
    "drop dropna any all sort_values sort_index set_index reset_index to_csv drop_duplicates"
    " fillna replace to_json to_excel rename_axis sample where mask clip ffill bfill"
).split()


def _filling(method: Callable[..., Any]) -> Callable[..., Any]:
    """`fillna`, which takes the way to fill by `method`, too."""
    ways = {"ffill": "ffill", "pad": "ffill", "bfill": "bfill", "backfill": "bfill"}
    fill = positional(method)

    @wraps(method)
    def fillna(self: Any, value: Any = None, method: Any = None, *args: Any, **options: Any) -> Any:
        if method is None:
            return fill(self, value, *args, **options)
        more = dict(zip(("axis", "inplace", "limit"), args, strict=False))
        return getattr(self, ways[method])(**more, **options)

    return fillna


TAKEN: Mapping[str, Changed] = {
    **{name: Changed(positional) for name in NAMED_TODAY},
    "fillna": Changed(_filling),
}
MEMBERS: Members = {"DataFrame": {**OF_FRAMES, **TAKEN}, "Series": {**OF_SERIES, **TAKEN}}


# --- functions ----------------------------------------------------------------------------------


def _reader(name: str) -> Callable[[ModuleType], Any]:
    def give(pandas: ModuleType) -> Any:
        read = positional(getattr(pandas, name))

        @wraps(read)
        def reader(
            *args: Any, squeeze: bool = False, prefix: str | None = None,
            error_bad_lines: bool = True, warn_bad_lines: bool = True,
            delim_whitespace: bool = False, **options: Any,
        ) -> Any:  # fmt: skip
            if delim_whitespace:
                options["sep"] = r"\s+"
            if not error_bad_lines:
                options["on_bad_lines"] = "warn" if warn_bad_lines else "skip"
            found = read(*args, **options)
            if prefix is not None:
                found.columns = [f"{prefix}{i}" for i in range(found.shape[1])]
            return found.squeeze("columns") if squeeze else found

        return reader

    return give


def _taking_positions(name: str) -> Callable[[ModuleType], Any]:
    return lambda pandas: positional(getattr(pandas, name))


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
    "value_counts": function(
        ".value_counts()", lambda values, *a, **kw: _pandas().Series(values).value_counts(*a, **kw)
    ),
    "match": function(
        "pandas.Index(values).get_indexer(to_match)",
        lambda to_match, values: _pandas().Index(values).get_indexer(to_match),
    ),
    "groupby": function(".groupby", lambda x, by, **options: x.groupby(by, **options)),
    **{f"rolling_{way}": _rolling(way, "rolling") for way in WINDOWED},
}

TABLES: Mapping[str, Table] = {
    "pandas": Table(
        GONE,
        {"concat": _taking_positions("concat")}
        | {name: _reader(name) for name in ("read_csv", "read_table")},
        members=MEMBERS,
    ),
    "pandas.io.json": Table({"json_normalize": from_module("pandas", "json_normalize")}),
    "pandas.util.testing": Table(
        missing=lambda name: from_module("pandas._testing", name), made=True
    ),
    "pandas.tools": Table(made=True),
    "pandas.tools.plotting": Table(
        missing=lambda name: from_module("pandas.plotting", name), made=True
    ),
    "pandas.core.index": Table(missing=lambda name: from_module("pandas", name), made=True),
}
