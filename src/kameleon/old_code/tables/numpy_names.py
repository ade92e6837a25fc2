"""Names that NumPy had in 2019 and has lost from 1.20 to 2.5, and what behaves otherwise."""

from __future__ import annotations

import builtins
import pickle
from collections.abc import Mapping, Sequence
from functools import wraps
from types import ModuleType
from typing import Any

from ..stand_in import Old, Table, Value, constant, function, same, warn_old

# By old name, Python's own of today.
PYTHONS = {
    **{name: name for name in ("bool", "complex", "float", "int", "object", "str")},
    "long": "int",
    "unicode": "str",
}
# By old name, NumPy's of today.
RENAMED = {
    # numbers
    "Inf": "inf", "Infinity": "inf", "PINF": "inf", "infty": "inf", "NaN": "nan",
    # dtypes
    "float_": "float64", "complex_": "complex128", "cfloat": "complex128",
    "singlecomplex": "complex64", "longfloat": "longdouble", "longcomplex": "clongdouble",
    "clongfloat": "clongdouble", "unicode_": "str_", "string_": "bytes_", "bool8": "bool_",
    "int0": "intp", "uint0": "uintp", "object0": "object_", "str0": "str_", "bytes0": "bytes_",
    "void0": "void", "typeDict": "sctypeDict",
    # functions
    "alltrue": "all", "sometrue": "any", "product": "prod", "cumproduct": "cumprod",
    "round_": "round", "row_stack": "vstack", "trapz": "trapezoid", "rank": "ndim",
    "mat": "asmatrix", "byte_bounds": "lib.array_utils.byte_bounds",
    "compare_chararrays": "char.compare_chararrays",
    # errors and warnings
    "AxisError": "exceptions.AxisError", "ComplexWarning": "exceptions.ComplexWarning",
    "RankWarning": "exceptions.RankWarning", "TooHardError": "exceptions.TooHardError",
    "VisibleDeprecationWarning": "exceptions.VisibleDeprecationWarning",
    "ModuleDeprecationWarning": "exceptions.ModuleDeprecationWarning",
}  # fmt: skip


# --- functions that are gone --------------------------------------------------------------------


def _asfarray(numpy: Any) -> Any:
    def asfarray(a: Any, dtype: Any = numpy.float64) -> Any:
        """An array of floats, of the dtype if that's inexact."""
        inexact = numpy.issubdtype(dtype, numpy.inexact)
        return numpy.asarray(a, dtype=dtype if inexact else numpy.float64)

    return asfarray


class _Cast(dict[Any, Any]):
    """`cast[dtype](x)` is x as an array of that dtype."""

    def __init__(self, numpy: Any) -> None:
        super().__init__()
        self.numpy = numpy

    def __missing__(self, dtype: Any) -> Any:
        return lambda x: self.numpy.asarray(x, dtype=dtype)


def _scalar_types(numpy: Any) -> dict[str, list[type]]:
    found: dict[str, list[type]] = {"int": [], "uint": [], "float": [], "complex": []}
    kinds = {"i": "int", "u": "uint", "f": "float", "c": "complex"}
    for code in "bhilqBHILQefdgFDG":
        dtype = numpy.dtype(code)
        if dtype.type not in (kind := found[kinds[dtype.kind]]) and code not in "qQ":
            kind.append(dtype.type)
    return found | {"others": [builtins.bool, builtins.object, bytes, str, numpy.void]}


def _obj2sctype(numpy: Any) -> Any:
    def obj2sctype(rep: Any, default: Any = None) -> Any:
        """The scalar type of an array, a dtype, or what names one."""
        if isinstance(rep, type) and issubclass(rep, numpy.generic):
            return rep
        try:
            return rep.dtype.type if hasattr(rep, "dtype") else numpy.dtype(rep).type
        except TypeError:
            return default

    return obj2sctype


def _issubsctype(numpy: Any) -> Any:
    scalar = _obj2sctype(numpy)
    return lambda arg1, arg2: issubclass(scalar(arg1), scalar(arg2))


def _issctype(numpy: Any) -> Any:
    def issctype(rep: Any) -> bool:
        """Whether it's a scalar type or a dtype, but for that of objects."""
        if not isinstance(rep, type | numpy.dtype):
            return False
        found = _obj2sctype(numpy)(rep)
        return found is not None and found is not numpy.object_

    return issctype


def _maximum_sctype(numpy: Any) -> Any:
    def maximum_sctype(t: Any) -> Any:
        """The most precise scalar type of the same kind."""
        kind = numpy.dtype(t).kind
        named = {"i": "int64", "u": "uint64", "f": "longdouble", "c": "clongdouble"}
        return getattr(numpy, named[kind]) if kind in named else numpy.dtype(t).type

    return maximum_sctype


def _find_common_type(numpy: Any) -> Any:
    order = "biufc"

    def find_common_type(array_types: Sequence[Any], scalar_types: Sequence[Any]) -> Any:
        """The dtype of arrays and scalars together: a scalar counts only by a higher kind."""
        arrays = numpy.result_type(*array_types) if array_types else None
        scalars = numpy.result_type(*scalar_types) if scalar_types else None
        if arrays is None or scalars is None:
            return scalars if arrays is None else arrays
        return scalars if order.find(scalars.kind) > order.find(arrays.kind) else arrays

    return find_common_type


def _in1d(numpy: Any) -> Any:
    def in1d(
        ar1: Any, ar2: Any, assume_unique: bool = False, invert: bool = False, **kind: Any
    ) -> Any:
        """For each element of the first array, flat, whether the second has it."""
        return numpy.isin(numpy.ravel(ar1), ar2, assume_unique, invert, **kind)

    return in1d


def _disp(mesg: Any, device: Any = None, linefeed: bool = True) -> None:
    print(mesg, end="\n" if linefeed else "", file=device, flush=True)


def _random_integers(random: Any) -> Any:
    def random_integers(low: int, high: int | None = None, size: Any = None) -> Any:
        """Integers from low to high, or from 1 to low, both included."""
        first, last = (1, low) if high is None else (low, high)
        return random.randint(first, int(last) + 1, size=size, dtype="l")

    return random_integers


GONE: Mapping[str, Old] = {
    **{old: constant(today, getattr(builtins, today)) for old, today in PYTHONS.items()},
    **{old: same(f"numpy.{today}") for old, today in RENAMED.items()},
    "NINF": constant("-numpy.inf", -float("inf")),
    "PZERO": constant("0.0", 0.0),
    "NZERO": constant("-0.0", -0.0),
    "asscalar": function("a.item()", lambda a: a.item()),
    "alen": function("len(a)", lambda a: len(a) if hasattr(a, "__len__") else 1),
    "asfarray": Old("numpy.asarray(a, dtype=float)", _asfarray),
    "cast": Old("numpy.asarray(a, dtype=…)", _Cast),
    "disp": function("print", _disp),
    "fastCopyAndTranspose": function("a.T.copy()", lambda a: a.T.copy()),
    "find_common_type": Old("numpy.result_type", _find_common_type),
    "in1d": Old("numpy.isin", _in1d),
    "issctype": Old("issubclass(…, numpy.generic)", _issctype),
    "issubclass_": function(
        "issubclass", lambda arg1, arg2: isinstance(arg1, type) and issubclass(arg1, arg2)
    ),
    "issubsctype": Old("numpy.issubdtype", _issubsctype),
    "loads": constant("pickle.loads", pickle.loads),
    "maximum_sctype": Old("a dtype by its name", _maximum_sctype),
    "msort": Old("numpy.sort(a, axis=0)", lambda numpy: lambda a: numpy.sort(a, axis=0)),
    "nbytes": Old(
        "numpy.dtype(…).itemsize",
        lambda numpy: {kind: numpy.dtype(kind).itemsize for kind in numpy.sctypeDict.values()},
    ),
    "obj2sctype": Old("numpy.dtype(…).type", _obj2sctype),
    "sctype2char": Old(
        "numpy.dtype(…).char", lambda numpy: lambda t: numpy.dtype(_obj2sctype(numpy)(t)).char
    ),
    "sctypes": Old("the dtypes by their names", _scalar_types),
}


# --- functions that behave otherwise ------------------------------------------------------------

RAGGED = "numpy.array of lists of unequal lengths"


def _array_of(name: str) -> Value:
    """`array` and its like: rows of unequal lengths give an array of objects, as until NumPy 1.23,
    and `copy=False` copies where it must, as until NumPy 1.26.
    """

    def give(numpy: Any) -> Any:
        make = getattr(numpy, name)
        may_copy = None if numpy.lib.NumpyVersion(numpy.__version__) >= "2.0.0" else False

        def array(rows: Any, *args: Any, **options: Any) -> Any:
            if options.get("copy") is False:
                options["copy"] = may_copy
            try:
                return make(rows, *args, **options)
            except ValueError as error:
                asked = options.get("dtype") is not None or (args and args[0] is not None)
                if asked or "inhomogeneous" not in str(error):
                    raise
            warn_old(RAGGED, "numpy.array(…, dtype=object)")
            return make(
                rows, *((object,) if args else ()), *args[1:], **options | {"dtype": object}
            )

        array.__name__ = array.__qualname__ = name
        array.__module__, array.__doc__ = "numpy", make.__doc__
        return array

    return give


def _fromstring(numpy: Any) -> Any:
    def fromstring(
        string: Any, dtype: Any = float, count: int = -1, sep: str = "", **like: Any
    ) -> Any:
        """`numpy.fromstring`; without a separator the array of a string's bytes, as until 2.2."""
        if sep:
            return numpy.fromstring(string, dtype, count, sep=sep, **like)
        warn_old("numpy.fromstring of binary data", "numpy.frombuffer")
        data = string.encode("latin-1") if isinstance(string, str) else string
        return numpy.frombuffer(data, dtype, count).copy()

    return fromstring


def _meshgrid(numpy: Any) -> Any:
    def meshgrid(*xi: Any, **options: Any) -> Any:
        """`numpy.meshgrid`, whose result is a list, as until NumPy 1.26."""
        return list(numpy.meshgrid(*xi, **options))

    return meshgrid


def _of_ragged(name: str) -> Value:
    """A function that makes an array of its argument, which may have rows of unequal lengths."""

    def give(numpy: Any) -> Any:
        function, as_array = getattr(numpy, name), _array_of("asanyarray")(numpy)

        @wraps(function)
        def call(a: Any, *args: Any, **options: Any) -> Any:
            return function(as_array(a) if isinstance(a, list | tuple) else a, *args, **options)

        return call

    return give


def _dtype(numpy: Any) -> Any:
    """`numpy.dtype`, which takes kinds of numbers, too, as until NumPy 1.26."""
    kinds = {
        numpy.floating: "float64", numpy.inexact: "float64", numpy.number: "float64",
        numpy.complexfloating: "complex128", numpy.integer: "int64", numpy.signedinteger: "int64",
        numpy.unsignedinteger: "uint64", numpy.character: "S", numpy.flexible: "V",
        numpy.generic: "V",
    }  # fmt: skip

    class OfKinds(type):
        """Makes a class that is `numpy.dtype` in all but its calls."""

        def __call__(cls, dtype: Any, *args: Any, **options: Any) -> Any:
            known = kinds.get(dtype) if isinstance(dtype, type) else None
            return numpy.dtype(known or dtype, *args, **options)

        def __instancecheck__(cls, x: Any) -> bool:
            return isinstance(x, numpy.dtype)

        def __subclasscheck__(cls, kind: type) -> bool:
            return issubclass(kind, numpy.dtype)

        def __getattr__(cls, name: str) -> Any:
            return getattr(numpy.dtype, name)

    return OfKinds("dtype", (), {"__module__": "numpy", "__doc__": numpy.dtype.__doc__})


CHANGED: Mapping[str, Value] = {
    **{name: _array_of(name) for name in ("array", "asarray", "asanyarray")},
    **{name: _of_ragged(name) for name in ("copy", "shape", "size", "ndim")},
    "dtype": _dtype,
    "fromstring": _fromstring,
    "meshgrid": _meshgrid,
}


def _of_lib(name: str) -> Old | None:
    """`numpy.lib` had most functions that `numpy` has."""
    return Old(f"numpy.{name}", lambda _: getattr(_numpy(), name))


def _numpy() -> ModuleType:
    import numpy

    return numpy


TABLES: Mapping[str, Table] = {
    "numpy": Table(GONE, CHANGED),
    "numpy.lib": Table(missing=_of_lib),
    "numpy.linalg": Table({"linalg": Old("numpy.linalg", lambda linalg: linalg)}),
    "numpy.random": Table(
        {"random_integers": Old("numpy.random.randint(low, high + 1)", _random_integers)}
    ),
}
