"""Modules of NumPy that have gone, or have lost names: what lies where today."""

from __future__ import annotations

import importlib
import io
import types
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..stand_in import Old, Table, constant, from_module, module, moved, same, taken_from
from .numpy_arrays import MEMBERS
from .numpy_names import GONE, random_integers
from .numpy_ways import CALLED, CHANGED, OF_LINALG, OF_RANDOM, OF_TESTING


def _of_numpy(*others: str) -> Callable[[str], Old | None]:
    """Names of a module that are `numpy`'s today, or those of other modules."""

    def find(name: str) -> Old | None:
        for place in ("numpy", *others):
            try:
                if hasattr(importlib.import_module(place), name):
                    return from_module(place, name)
            except ImportError:
                continue
        return GONE.get(name) and Old(GONE[name].today, lambda _: GONE[name].value(np))

    return find


# --- numpy.compat -------------------------------------------------------------------------------


def asbytes(s: str | bytes) -> bytes:
    """A text as bytes."""
    return s if isinstance(s, bytes) else str(s).encode("latin1")


def asstr(s: str | bytes) -> str:
    """Bytes as a text."""
    return s.decode("latin1") if isinstance(s, bytes) else str(s)


def open_latin1(filename: Any, mode: str = "r") -> Any:
    """A file of text whose bytes are its characters."""
    return open(filename, mode, encoding="latin1")


def _nested(convert: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def of(x: Any) -> Any:
        nests = hasattr(x, "__iter__") and not isinstance(x, bytes | str)
        return [of(item) for item in x] if nests else convert(x)

    return of


COMPAT = {
    **{f.__name__: constant("str.encode, bytes.decode", f) for f in (asbytes, asstr)},
    "asunicode": constant("bytes.decode", asstr),
    "asbytes_nested": constant("str.encode", _nested(asbytes)),
    "asunicode_nested": constant("bytes.decode", _nested(asstr)),
    "sixu": constant("the text", lambda s: s),
    **{name: constant("str", str) for name in ("basestring", "unicode")},
    "long": constant("int", int),
    "bytes": constant("bytes", bytes),
    "integer_types": constant("int, numpy.integer", (int,)),
    "strchar": constant("'U'", "U"),
    "Path": constant("pathlib.Path", Path),
    "is_pathlib_path": constant("isinstance", lambda x: isinstance(x, Path)),
    "isfileobj": constant(
        "isinstance",
        lambda f: isinstance(f, io.FileIO | io.BufferedReader | io.BufferedWriter),
    ),
    "open_latin1": constant("open", open_latin1),
    "os_fspath": from_module("os", "fspath"),
    "os_PathLike": from_module("os", "PathLike"),
    "contextlib_nullcontext": from_module("contextlib", "nullcontext"),
    "pickle": module("pickle"),
    "getexception": Old(
        "except … as error", lambda _: lambda: importlib.import_module("sys").exc_info()[1]
    ),
}

# --- numpy.testing ------------------------------------------------------------------------------


def _mark(name: str, *args: Any, **options: Any) -> Any:
    pytest: Any = importlib.import_module("pytest")
    return getattr(pytest.mark, name)(*args, **options)


# Decorators of tests, by pytest's marks.
DECORATORS: dict[str, Callable[..., Any]] = {
    "slow": lambda t: t,
    "setastest": lambda tf=True: lambda t: t,
    "skipif": lambda skip_condition, msg=None: _mark(
        "skipif", skip_condition, reason=msg or "skipped"
    ),
    "knownfailureif": lambda fail_condition, msg=None: _mark(
        "xfail", fail_condition, reason=msg or "a known failure"
    ),
    "parametrize": lambda vars, input: _mark("parametrize", vars, input),
}


def raises(*exceptions: type[BaseException]) -> Any:
    """A decorator of tests that must raise one of these."""

    def decorate(test: Any) -> Any:
        def call(*args: Any, **options: Any) -> None:
            with np.testing.assert_raises(exceptions):
                test(*args, **options)

        call.__name__ = test.__name__
        return call

    return decorate


def run_module_suite(file_to_run: Any = None, argv: Any = None) -> None:
    """Run the tests of a file, by pytest."""
    import __main__

    importlib.import_module("pytest").main([file_to_run or __main__.__file__])


TESTING = {
    "dec": constant("pytest.mark", types.SimpleNamespace(**DECORATORS)),
    "rand": constant("numpy.random.rand", lambda *sizes: np.random.rand(*sizes)),
    "raises": constant("pytest.raises", raises),
    "run_module_suite": constant("pytest.main", run_module_suite),
}

# --- the tables ---------------------------------------------------------------------------------

# Modules of `numpy.lib` and `numpy.core` whose names lie in `numpy`, most of them.
OF_LIB = (
    "arraypad arraysetops financial function_base histograms index_tricks nanfunctions npyio"
    " polynomial shape_base stride_tricks twodim_base type_check ufunclike utils"
).split()
OF_CORE = (
    "arrayprint defchararray einsumfunc fromnumeric function_base getlimits machar memmap"
    " multiarray numeric numerictypes records shape_base umath"
).split()
OF_DUAL = {
    **taken_from("numpy.fft", "fft ifft fft2 ifft2 fftn ifftn"),
    **taken_from(
        "numpy.linalg", "norm inv svd solve det eig eigvals eigh eigvalsh lstsq pinv cholesky"
    ),
    "i0": from_module("numpy", "i0"),
}


def inner1d(a: Any, b: Any) -> Any:
    """The inner products along the last axis."""
    return np.einsum("...i,...i", a, b)


PRODUCTS = {
    "inner1d": constant("numpy.vecdot", inner1d),
    "matrix_multiply": from_module("numpy", "matmul"),
    "euclidean_pdist": from_module("scipy.spatial.distance", "pdist"),
}

TABLES: Mapping[str, Table] = {
    "numpy": Table(GONE, CHANGED, members=MEMBERS, called=CALLED),
    "numpy.lib": Table(missing=_of_numpy()),
    **{f"numpy.lib.{name}": Table(missing=_of_numpy("numpy.lib"), made=True) for name in OF_LIB},
    "numpy.core": Table(missing=_of_numpy(), made=True),
    **{
        f"numpy.core.{name}": Table(missing=_of_numpy("numpy.exceptions"), made=True)
        for name in OF_CORE
    },
    "numpy.core.umath_tests": Table(PRODUCTS, made=True),
    "numpy.linalg": Table({"linalg": same("numpy.linalg")}, OF_LINALG),
    "numpy.linalg.linalg": Table(missing=_of_numpy("numpy.linalg"), made=True),
    **{f"numpy.fft.{name}": moved("numpy.fft") for name in ("fftpack", "helper")},
    "numpy.random": Table(
        {"random_integers": constant("numpy.random.randint(low, high + 1)", random_integers)},
        OF_RANDOM,
    ),
    "numpy.testing": Table(TESTING, OF_TESTING),
    "numpy.testing.utils": moved("numpy.testing"),
    "numpy.testing.decorators": Table(
        {name: constant("pytest.mark", found) for name, found in DECORATORS.items()}, made=True
    ),
    "numpy.compat": Table(COMPAT, made=True),
    "numpy.dual": Table(OF_DUAL, made=True),
}
