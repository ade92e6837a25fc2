"""Names that NumPy had in 2019 and has lost from 1.20 to 2.5."""

from __future__ import annotations

import ast
import builtins
import importlib
import inspect
import pickle
import warnings
from collections.abc import Mapping, Sequence
from functools import partial, wraps
from typing import Any

import numpy as np

from ..stand_in import Old, constant, module, same

# By old name, Python's own of today.
PYTHONS = {
    **{name: name for name in ("bool", "complex", "float", "int", "object", "str")},
    "long": "int",
    "unicode": "str",
}
# By old name, NumPy's of today.
RENAMED = {
    # numbers
    "Inf": "inf", "Infinity": "inf", "PINF": "inf", "infty": "inf", "NaN": "nan", "NAN": "nan",
    # dtypes
    "float_": "float64", "complex_": "complex128", "cfloat": "complex128",
    "singlecomplex": "complex64", "longfloat": "longdouble", "longcomplex": "clongdouble",
    "clongfloat": "clongdouble", "unicode_": "str_", "string_": "bytes_", "bool8": "bool_",
    "int0": "intp", "uint0": "uintp", "object0": "object_", "str0": "str_", "bytes0": "bytes_",
    "void0": "void", "typeDict": "sctypeDict",
    # functions
    "alltrue": "all", "sometrue": "any", "product": "prod", "cumproduct": "cumprod",
    "round_": "round", "trapz": "trapezoid", "rank": "ndim",
    "mat": "asmatrix", "byte_bounds": "lib.array_utils.byte_bounds",
    "compare_chararrays": "char.compare_chararrays", "chararray": "char.chararray",
    "format_parser": "rec.format_parser", "DataSource": "lib.npyio.DataSource",
    "add_docstring": "lib.add_docstring", "add_newdoc": "lib.add_newdoc",
    "tracemalloc_domain": "lib.tracemalloc_domain",
    # errors and warnings
    "AxisError": "exceptions.AxisError", "ComplexWarning": "exceptions.ComplexWarning",
    "RankWarning": "exceptions.RankWarning", "TooHardError": "exceptions.TooHardError",
    "VisibleDeprecationWarning": "exceptions.VisibleDeprecationWarning",
    "ModuleDeprecationWarning": "exceptions.ModuleDeprecationWarning",
}  # fmt: skip


# --- functions that are gone --------------------------------------------------------------------


def asfarray(a: Any, dtype: Any = np.float64) -> Any:
    """An array of floats, of the dtype if that's inexact."""
    return np.asarray(a, dtype if np.issubdtype(dtype, np.inexact) else np.float64)


class _Cast(dict[Any, Any]):
    """`cast[dtype](x)` is x as an array of that dtype."""

    def __missing__(self, dtype: Any) -> Any:
        return lambda x: np.asarray(x, dtype=dtype)


def _scalar_types(numpy: Any) -> dict[str, list[type]]:
    found: dict[str, list[type]] = {"int": [], "uint": [], "float": [], "complex": []}
    kinds = {"i": "int", "u": "uint", "f": "float", "c": "complex"}
    for code in "bhilqBHILQefdgFDG":
        dtype = numpy.dtype(code)
        if dtype.type not in (kind := found[kinds[dtype.kind]]) and code not in "qQ":
            kind.append(dtype.type)
    return found | {"others": [builtins.bool, builtins.object, bytes, str, numpy.void]}


def obj2sctype(rep: Any, default: Any = None) -> Any:
    """The scalar type of an array, a dtype, or what names one."""
    if isinstance(rep, type) and issubclass(rep, np.generic):
        return rep
    try:
        return rep.dtype.type if hasattr(rep, "dtype") else np.dtype(rep).type
    except TypeError:
        return default


def issctype(rep: Any) -> bool:
    """Whether it's a scalar type or a dtype, but for that of objects."""
    if not isinstance(rep, type | np.dtype):
        return False
    found = obj2sctype(rep)
    return found is not None and found is not np.object_


def maximum_sctype(t: Any) -> Any:
    """The most precise scalar type of the same kind."""
    kind = np.dtype(t).kind
    named = {"i": "int64", "u": "uint64", "f": "longdouble", "c": "clongdouble"}
    return getattr(np, named[kind]) if kind in named else np.dtype(t).type


KINDS = "biufc"  # of dtypes, in their order


def find_common_type(array_types: Sequence[Any], scalar_types: Sequence[Any]) -> Any:
    """The dtype of arrays and scalars together: a scalar counts only by a higher kind."""
    arrays = np.result_type(*array_types) if array_types else None
    scalars = np.result_type(*scalar_types) if scalar_types else None
    if arrays is None or scalars is None:
        return scalars if arrays is None else arrays
    return scalars if KINDS.find(scalars.kind) > KINDS.find(arrays.kind) else arrays


def in1d(ar1: Any, ar2: Any, assume_unique: bool = False, invert: bool = False, **kind: Any) -> Any:
    """For each element of the first array, flat, whether the second has it."""
    return np.isin(np.ravel(ar1), ar2, assume_unique, invert, **kind)


def disp(mesg: Any, device: Any = None, linefeed: bool = True) -> None:
    """Print a message."""
    print(mesg, end="\n" if linefeed else "", file=device, flush=True)


def random_integers(low: int, high: int | None = None, size: Any = None) -> Any:
    """Integers from low to high, or from 1 to low, both included."""
    first, last = (1, low) if high is None else (low, high)
    return np.random.randint(first, int(last) + 1, size=size, dtype="l")


def deprecate(*args: Any, old_name: str | None = None, new_name: str | None = None,
              message: str | None = None) -> Any:  # fmt: skip
    """A function that warns when it's called; without one, what makes such a function of one."""

    def decorate(func: Any) -> Any:
        said = f"`{old_name or func.__name__}` is deprecated"
        said += f", use `{new_name}` instead!" if new_name else "!"

        @wraps(func)
        def call(*args: Any, **options: Any) -> Any:
            warnings.warn("\n".join(filter(None, (said, message))), DeprecationWarning, 2)
            return func(*args, **options)

        return call

    return decorate(*args) if args else decorate


def source(object: Any, output: Any = None) -> None:
    """Print the source of a function, class or module."""
    print(inspect.getsource(object), file=output)


class _Limits:
    """What `MachAr` told of the floats of the machine."""

    def __init__(self, *conversions: Any) -> None:
        info = np.finfo(np.float64)
        for name in ("eps", "epsneg", "tiny", "resolution", "precision", "machep", "negep"):
            setattr(self, name, getattr(info, name))
        self.ibeta, self.it, self.iexp = 2, info.nmant, info.nexp
        self.minexp, self.maxexp, self.xmin, self.xmax = (
            info.minexp,
            info.maxexp,
            info.tiny,
            info.max,
        )
        self.epsilon, self.huge = info.eps, info.max


def _from_text(fname: Any, **options: Any) -> Any:
    """`genfromtxt` with other defaults; a record array, where the result has fields."""
    found = np.genfromtxt(fname, **{"encoding": "bytes"} | options)
    return found.view(np.recarray) if found.dtype.names else found


def _of_finance(name: str) -> Old:
    """A function of finance; they have a package of their own."""

    def value(_: Any) -> Any:
        try:
            return getattr(importlib.import_module("numpy_financial"), name)
        except ModuleNotFoundError:
            raise AttributeError(
                f"numpy.{name} has moved to a package of its own: pip install numpy-financial",
                name=name,
            ) from None

    return Old(f"numpy_financial.{name}", value)


FINANCE = "fv ipmt irr mirr nper npv pmt ppmt pv rate".split()
# Numbers that C code and few programs used.
NUMBERS = {
    "CLIP": 0, "WRAP": 1, "RAISE": 2, "MAXDIMS": 32, "BUFSIZE": 8192, "ALLOW_THREADS": 1,
    "ERR_IGNORE": 0, "ERR_WARN": 1, "ERR_RAISE": 2, "ERR_CALL": 3, "ERR_PRINT": 4, "ERR_LOG": 5,
    "ERR_DEFAULT": 521, "MAY_SHARE_BOUNDS": 0, "MAY_SHARE_EXACT": -1, "SHIFT_DIVIDEBYZERO": 0,
    "SHIFT_OVERFLOW": 3, "SHIFT_UNDERFLOW": 6, "SHIFT_INVALID": 9, "FPE_DIVIDEBYZERO": 1,
    "FPE_OVERFLOW": 2, "FPE_UNDERFLOW": 4, "FPE_INVALID": 8, "UFUNC_BUFSIZE_DEFAULT": 8192,
    "FLOATING_POINT_SUPPORT": 1,
}  # fmt: skip


def set_string_function(f: Any, repr: bool = True) -> None:
    """Let a function write arrays; None takes NumPy's own again."""
    np.set_printoptions(override_repr=f)


GONE: Mapping[str, Old] = {
    **{old: constant(today, getattr(builtins, today)) for old, today in PYTHONS.items()},
    **{old: same(f"numpy.{today}") for old, today in RENAMED.items()},
    "NINF": constant("-numpy.inf", -float("inf")),
    "PZERO": constant("0.0", 0.0),
    "NZERO": constant("-0.0", -0.0),
    **{name: _of_finance(name) for name in FINANCE},
    **{name: constant(str(value), value) for name, value in NUMBERS.items()},
    **{name: module(name) for name in ("math", "sys", "warnings")},
    "MachAr": constant("numpy.finfo", _Limits),
    "deprecate": constant("a DeprecationWarning", deprecate),
    "deprecate_with_doc": constant("a DeprecationWarning", lambda msg: deprecate(message=msg)),
    "safe_eval": constant("ast.literal_eval", lambda source: ast.literal_eval(source)),
    "source": constant("inspect.getsource", source),
    "get_array_wrap": constant(
        "a.__array_wrap__",
        lambda *args: next((x.__array_wrap__ for x in args if hasattr(x, "__array_wrap__")), None),
    ),
    "set_string_function": constant("numpy.set_printoptions", set_string_function),
    "recfromtxt": constant("numpy.genfromtxt", partial(_from_text, dtype=None)),
    "recfromcsv": constant(
        "numpy.genfromtxt",
        partial(_from_text, dtype=None, delimiter=",", names=True, case_sensitive="lower"),
    ),
    "ndfromtxt": constant("numpy.genfromtxt", partial(_from_text, usemask=False)),
    "mafromtxt": constant("numpy.genfromtxt(…, usemask=True)", partial(_from_text, usemask=True)),
    "asscalar": constant("a.item()", lambda a: a.item()),
    "alen": constant("len(a)", lambda a: len(a) if hasattr(a, "__len__") else 1),
    "asfarray": constant("numpy.asarray(a, dtype=float)", asfarray),
    "cast": constant("numpy.asarray(a, dtype=…)", _Cast()),
    "disp": constant("print", disp),
    "fastCopyAndTranspose": constant("a.T.copy()", lambda a: a.T.copy()),
    "find_common_type": constant("numpy.result_type", find_common_type),
    "in1d": constant("numpy.isin", in1d),
    "issctype": constant("issubclass(…, numpy.generic)", issctype),
    "issubclass_": constant(
        "issubclass", lambda arg1, arg2: isinstance(arg1, type) and issubclass(arg1, arg2)
    ),
    "issubsctype": constant(
        "numpy.issubdtype", lambda arg1, arg2: issubclass(obj2sctype(arg1), obj2sctype(arg2))
    ),
    "loads": constant("pickle.loads", pickle.loads),
    "row_stack": constant("numpy.vstack", lambda tup: np.vstack(list(tup))),
    "maximum_sctype": constant("a dtype by its name", maximum_sctype),
    "msort": constant("numpy.sort(a, axis=0)", lambda a: np.sort(a, axis=0)),
    "nbytes": Old(
        "numpy.dtype(…).itemsize",
        lambda numpy: {kind: numpy.dtype(kind).itemsize for kind in numpy.sctypeDict.values()},
    ),
    "obj2sctype": constant("numpy.dtype(…).type", obj2sctype),
    "sctype2char": constant("numpy.dtype(…).char", lambda t: np.dtype(obj2sctype(t)).char),
    "sctypes": Old("the dtypes by their names", _scalar_types),
}
