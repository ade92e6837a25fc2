"""Functions of NumPy that behave otherwise than in 2019, and what makes them behave as then."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping
from functools import reduce, wraps
from typing import Any

import numpy as np

from ..functions import Around, Function, around, renamed
from ..stand_in import warn_old

# --- lists of unequal lengths -------------------------------------------------------------------

RAGGED = "numpy.array of lists of unequal lengths"


@around
def _array(make: Function, rows: Any, *args: Any, **options: Any) -> Any:
    """`array` and its like: rows of unequal lengths give an array of objects, as until NumPy 1.23,
    and so do lists of what refuses to be an array, as TensorFlow's tensors do, until 1.18;
    `copy=False` copies where it must, as until 1.26, integers wrap around, and arrays of one
    element are numbers where a dtype is asked for.
    """
    if options.get("copy") is False:
        options["copy"] = None
    try:
        return make(rows, *args, **options)
    except OverflowError:
        return _wrapping(make, rows, *args, **options)
    except NotImplementedError:
        if _asks_for_dtype(args, options) or not isinstance(rows, list | tuple):
            raise
        return _objects(rows)
    except ValueError as error:
        asked = _asks_for_dtype(args, options)
        if asked and (numbers := _numbers(rows)) is not None:
            return make(numbers, *args, **options)
        if asked or "inhomogeneous" not in str(error):
            raise
    warn_old(RAGGED, "numpy.array(…, dtype=object)")
    return make(rows, *((object,) if args else ()), *args[1:], **options | {"dtype": object})


def _asks_for_dtype(args: tuple[Any, ...], options: Mapping[str, Any]) -> bool:
    return options.get("dtype") is not None or (bool(args) and args[0] is not None)


def _objects(rows: Any) -> np.ndarray:
    """An array of the objects in lists, with as many axes as these are alike."""
    found = np.empty(_shape(rows), object)
    for index in np.ndindex(found.shape):
        found[index] = reduce(operator.getitem, index, rows)
    return found


def _shape(rows: Any) -> tuple[int, ...]:
    if not isinstance(rows, list | tuple):
        return ()
    inner = {_shape(row) for row in rows}
    return (len(rows), *(inner.pop() if len(inner) == 1 else ()))


def _numbers(rows: Any) -> Any:
    """Rows some of whose numbers are arrays of one element, as an array of objects; else None."""
    objects = np.array(rows, object)
    places = [i for i, x in enumerate(objects.flat) if isinstance(x, np.ndarray) and x.size == 1]
    if not places:
        return None
    warn_old("an array of one element as a number in an array", "a.item()")
    for place in places:
        objects.flat[place] = objects.flat[place].item()
    return objects


_asanyarray = _array(np.asanyarray)


def _listed(x: Any) -> Any:
    """What may have unequal rows, as an array."""
    return _asanyarray(x) if isinstance(x, list | tuple) else x


@around
def _of_ragged(function: Function, a: Any, *args: Any, **options: Any) -> Any:
    """A function that makes an array of its first argument, which may have unequal rows."""
    return function(_listed(a), *args, **options)


@around
def _saving_ragged(function: Function, file: Any, *arrays: Any, **named: Any) -> Any:
    """`save` and its like: any of the arrays may have unequal rows."""
    return function(file, *map(_listed, arrays), **{name: _listed(x) for name, x in named.items()})


# --- integers that don't fit a dtype ------------------------------------------------------------

WRAPS = "wrapping an integer around into a smaller dtype"
WRAPS_TODAY = "numpy.array(x).astype(dtype)"


def _wrapping(make: Function, rows: Any, dtype: Any = None, *args: Any, **options: Any) -> Any:
    """`array` of integers that don't fit the dtype: they wrap around."""
    if dtype is None or np.dtype(dtype).kind not in "iu":
        return make(rows, dtype, *args, **options)
    found = make(rows, None, *args, **options)
    if found.dtype.kind not in "iufb":  # not even the largest integers hold them
        return make(rows, dtype, *args, **options)
    warn_old(WRAPS, WRAPS_TODAY)
    return found.astype(dtype)


@around
def _scalar(kind: Any, *args: Any, **options: Any) -> Any:
    """What a scalar type of integers gives where it's called: they wrap around."""
    try:
        return kind(*args, **options)
    except OverflowError:
        return _wrapping(np.array, *args, kind, **options)[()]


@around
def _filling(function: Function, a: Any, fill_value: Any, dtype: Any = None, **options: Any) -> Any:
    """`full` and its like, whose value wraps around."""
    try:
        return function(a, fill_value, dtype, **options)
    except OverflowError:
        kind = dtype if dtype is not None else np.asarray(a).dtype
        return function(a, _wrapping(np.array, fill_value, kind), dtype, **options)


@around
def _counting(arange: Function, *args: Any, dtype: Any = None, **options: Any) -> Any:
    """`arange`, whose values wrap around."""
    try:
        return arange(*args, dtype=dtype, **options)
    except OverflowError:
        return _wrapping(np.array, arange(*args, **options), dtype)


@around
def _of_small(function: Function, /, *args: Any, **options: Any) -> Any:
    """A function of two numbers or arrays, of a dtype that holds an integer beside an array."""
    return function(*_holding(args), **options)


def _holding(args: tuple[Any, ...]) -> Iterator[Any]:
    """The arguments; Python's integers that the arrays' dtype can't hold, in one that can."""
    kinds = [x.dtype for x in args if isinstance(x, np.ndarray | np.generic)]
    small = [kind for kind in kinds if kind.kind in "iu"]
    for x in args:
        if (
            type(x) is int
            and small
            and not all(np.iinfo(kind).min <= x <= np.iinfo(kind).max for kind in small)
        ):
            warn_old("an integer beside an array of a smaller dtype", "numpy.array(x)")
            yield np.asarray(x, np.min_scalar_type(x))
        else:
            yield x


# --- what is taken ------------------------------------------------------------------------------


@around
def _of_any_iterable(function: Function, tup: Any, *args: Any, **options: Any) -> Any:
    """A function of several arrays in a sequence, which may come one by one."""
    if not hasattr(tup, "__getitem__"):
        name = f"numpy.{function.__name__}"
        warn_old(f"{name}(generator)", f"{name}(list(…))")
        tup = list(tup)
    return function(tup, *args, **options)


@around
def _summing(function: Function, a: Any, *args: Any, **options: Any) -> Any:
    """`sum`, also of a generator, as Python's own."""
    if isinstance(a, Iterator):
        warn_old("numpy.sum(generator)", "sum(…)")
        return reduce(operator.add, a, 0)
    return function(_listed(a), *args, **options)


@around
def _of_whole_floats(
    function: Function, start: Any, stop: Any, num: Any = 50, *args: Any, **options: Any
) -> Any:
    """`linspace` and its like, whose number of values may be 50.0."""
    if isinstance(num, float):
        warn_old(f"numpy.{function.__name__}(num={num})", f"num={int(num)}")
        num = int(num)
    return function(start, stop, num, *args, **options)


@around
def _of_numbers(function: Function, a: Any) -> Any:
    """A function of arrays, which takes a number for an array of one."""
    return function(np.atleast_1d(a))


@around
def _reading(function: Function, /, *args: Any, **options: Any) -> Any:
    """`loadtxt` and its like: converters get bytes, and so do arrays of dtype=None."""
    by_bytes = options.get("converters") or options.get("dtype", float) is None
    if by_bytes and "encoding" not in options:
        options["encoding"] = "bytes"
    return function(*args, **options)


@around
def _fromstring(
    function: Function, string: Any, dtype: Any = float, count: int = -1, sep: str = "", **like: Any
) -> Any:
    """`numpy.fromstring`; without a separator the array of a string's bytes, as until 2.2."""
    if sep:
        return function(string, dtype, count, sep=sep, **like)
    warn_old("numpy.fromstring of binary data", "numpy.frombuffer")
    data = string.encode("latin-1") if isinstance(string, str) else string
    return np.frombuffer(data, dtype, count).copy()


@around
def _issubdtype(function: Function, arg1: Any, arg2: Any) -> Any:
    """`numpy.issubdtype`; Python's types stand for kinds, as until 1.20."""
    kinds = {float: np.floating, int: np.signedinteger, complex: np.complexfloating}
    return function(arg1, kinds.get(arg2, arg2) if isinstance(arg2, type) else arg2)


@around
def _reshape(function: Function, /, *args: Any, **options: Any) -> Any:
    """`reshape`, whose array may be given by name, and whose shape by its old one."""
    given = [options.pop("a")] if "a" in options else list(args)
    if "newshape" in options:
        warn_old("numpy.reshape(newshape=…)", "numpy.reshape(a, shape)")
        given.append(options.pop("newshape"))
    return function(*given, **options)


# --- what is given ------------------------------------------------------------------------------


@around
def _as_list(function: Function, /, *args: Any, **options: Any) -> Any:
    """A function that gave a list and gives a tuple today."""
    found = function(*args, **options)
    return list(found) if type(found) is tuple else found


@around
def _unique(
    function: Function,
    ar: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    *args: Any,
    **more: Any,
) -> Any:
    """`numpy.unique`, whose inverse is flat, as until NumPy 1.26."""
    found = function(ar, return_index, return_inverse, *args, **more)
    if not return_inverse:
        return found
    at = 2 if return_index else 1
    return (*found[:at], found[at].reshape(-1), *found[at + 1 :])


@around
def _solve(function: Function, a: Any, b: Any) -> Any:
    """`numpy.linalg.solve`, which takes a stack of vectors beside one of matrices."""
    if np.ndim(b) == np.ndim(a) - 1 > 1:
        warn_old("numpy.linalg.solve of a stack of vectors", "b[..., None]")
        return function(a, np.asarray(b)[..., None])[..., 0]
    return function(a, b)


@around
def _least_squares(function: Function, a: Any, b: Any, rcond: Any = "warn") -> Any:
    """`numpy.linalg.lstsq`; by default nothing but the machine's precision counts as 0."""
    return function(a, b, -1 if rcond == "warn" else rcond)


def _dtype(theirs: Any) -> Any:
    """`numpy.dtype`, which takes kinds of numbers, as until NumPy 1.26, and former names."""
    kinds = {
        np.floating: "float64", np.inexact: "float64", np.number: "float64",
        np.complexfloating: "complex128", np.integer: "int64", np.signedinteger: "int64",
        np.unsignedinteger: "uint64", np.character: "S", np.flexible: "V",
        np.generic: "V", "float_": "float64", "complex_": "complex128", "unicode_": "U",
        "string_": "S", "bool8": "bool", "longfloat": "longdouble",
    }  # fmt: skip

    class OfKinds(type):
        """Makes a class that is `numpy.dtype` in all but its calls."""

        def __call__(cls, dtype: Any, *args: Any, **options: Any) -> Any:
            known = kinds.get(dtype) if isinstance(dtype, type | str) else None
            return theirs(known or dtype, *args, **options)

        def __instancecheck__(cls, x: Any) -> bool:
            return isinstance(x, theirs)

        def __subclasscheck__(cls, kind: type) -> bool:
            return issubclass(kind, theirs)

        def __getattr__(cls, name: str) -> Any:
            return getattr(theirs, name)

    return OfKinds("dtype", (), {"__module__": "numpy", "__doc__": theirs.__doc__})


# --- the tables ---------------------------------------------------------------------------------

# How NumPy calls the first argument, where what stands here for a function calls it otherwise.
FIRST = {
    "array": "object", "asarray": "a", "asanyarray": "a", "array_split": "ary", "full": "shape",
    "permutation": "x", "stack": "arrays",
}  # fmt: skip


def _by(ways: Mapping[str, Around]) -> dict[str, Around]:
    """The same, of functions whose first argument may be given by its name."""
    return {
        name: _by_first(way, FIRST[name]) if name in FIRST else way for name, way in ways.items()
    }


def _by_first(way: Around, name: str) -> Around:
    def give(today: Function) -> Function:
        function = way(today)

        @wraps(function)
        def call(*args: Any, **options: Any) -> Any:
            first = () if args or name not in options else (options.pop(name),)
            return function(*first, *args, **options)

        return call

    return give


def _as(said: str, **names: str | None) -> Around:
    return renamed(f"numpy.{said}", **names)


BINS = ("histogram", "histogram2d", "histogramdd")
QUANTILES = ("percentile", "quantile", "nanpercentile", "nanquantile")
WAYS: dict[str, Around] = {
    **dict.fromkeys(("array", "asarray", "asanyarray"), _array),
    **dict.fromkeys(("copy", "shape", "size", "ndim"), _of_ragged),
    **dict.fromkeys(("max", "min", "amax", "amin", "array_split", "repeat", "mean"), _of_ragged),
    **dict.fromkeys(("save", "savez", "savez_compressed"), _saving_ragged),
    **dict.fromkeys(("vstack", "hstack", "dstack", "column_stack", "stack"), _of_any_iterable),
    **dict.fromkeys(("linspace", "logspace", "geomspace"), _of_whole_floats),
    **dict.fromkeys(("nonzero", "argwhere"), _of_numbers),
    **dict.fromkeys(("loadtxt", "genfromtxt"), _reading),
    **dict.fromkeys(("full", "full_like"), _filling),
    **dict.fromkeys(
        ("gradient", "meshgrid", "broadcast_arrays", "atleast_1d", "atleast_2d", "atleast_3d"),
        _as_list,
    ),
    **{name: _as(name, normed="density") for name in BINS},
    **{name: _as(name, interpolation="method") for name in QUANTILES},
    "arange": _counting,
    "array2string": _as("array2string", style=None),
    "corrcoef": _as("corrcoef", bias=None, ddof=None),
    "fromstring": _fromstring,
    "isscalar": _as("isscalar", num="element"),
    "issubdtype": _issubdtype,
    "reshape": _reshape,
    "sum": _summing,
    "unique": _unique,
    "unravel_index": _as("unravel_index", dims="shape"),
    "where": _of_small,
}
CHANGED: Mapping[str, Around] = {
    **_by(WAYS),
    "dtype": _dtype,
    "row_stack": lambda today: _of_any_iterable(np.vstack),
}
INTEGERS = (
    "byte ubyte short ushort intc uintc int_ uint intp uintp longlong ulonglong"
    " int8 uint8 int16 uint16 int32 uint32 int64 uint64"
).split()
# By name, what is there where code calls it on the spot.
CALLED: Mapping[str, Around] = {
    **_by(dict.fromkeys(INTEGERS, _scalar)),
    **_by(dict.fromkeys(("add", "subtract", "multiply", "maximum", "minimum"), _of_small)),
}
OF_LINALG = _by(
    {"solve": _solve, "lstsq": _least_squares, "matrix_rank": _as("linalg.matrix_rank", M="A")}
)
OF_RANDOM = _by({"permutation": _of_ragged})
OF_TESTING = _by(
    {
        name: _as(f"testing.{name}", x="actual", y="desired")
        for name in ("assert_array_equal", "assert_array_almost_equal", "assert_array_less")
    }
)
