"""What arrays and numbers of NumPy could do in 2019, and do otherwise today."""

from __future__ import annotations

import operator
from collections.abc import Callable
from operator import attrgetter
from typing import Any

import numpy as np

from ..functions import Around, Function, around, bound
from ..members import Changed, Members
from ..stand_in import Old, warn_old
from .numpy_ways import WRAPS, WRAPS_TODAY

# --- arrays -------------------------------------------------------------------------------------


def _of_one(kind: type) -> Around:
    """`float(a)` and its like, of an array of one element, as until NumPy 2.3."""

    @around
    def call(convert: Function, a: Any) -> Any:
        if a.ndim == 0 or a.size != 1:
            return convert(a)
        warn_old(f"{kind.__name__}() of an array of one element", f"{kind.__name__}(a.item())")
        return kind(a.item())

    return call


@around
def _truth(convert: Function, a: Any) -> Any:
    """Whether the one element of an array is true; an empty one is false, as until 2.1."""
    if a.size == 0:
        warn_old("the truth value of an empty array", "a.size > 0")
        return False
    return convert(a)


@around
def _fill(method: Function, a: Any, value: Any) -> None:
    """`a.fill(value)`, where an integer that doesn't fit wraps around."""
    try:
        method(a, value)
    except OverflowError:
        warn_old(WRAPS, WRAPS_TODAY)
        method(a, np.array(value).astype(a.dtype))


@bound
def itemset(a: Any, *args: Any) -> None:
    """Set an element, by its place in the flat array, or by its indices."""
    *place, value = args
    if not place:
        a[(0,) * a.ndim] = value
    elif len(place) == 1 and not isinstance(place[0], tuple):
        a.flat[place[0]] = value
    else:
        a[place[0] if len(place) == 1 else tuple(place)] = value


@bound
def newbyteorder(x: Any, new_order: str = "S") -> Any:
    """The same bytes, read in another order."""
    dtype = x.dtype.newbyteorder(new_order)
    return np.asarray(x).view(dtype)[()] if isinstance(x, np.generic) else x.view(dtype)


@bound
def ptp(x: Any, axis: Any = None, out: Any = None, **options: Any) -> Any:
    """From the least to the largest."""
    return np.ptp(x, axis, out, **options)


OF_BOTH: dict[str, Old | Changed] = {
    "tostring": Old(".tobytes", attrgetter("tobytes")),
    "newbyteorder": Old(".view(x.dtype.newbyteorder())", newbyteorder),
    "ptp": Old("numpy.ptp(x)", ptp),
}
OF_ARRAYS: dict[str, Old | Changed] = {
    **OF_BOTH,
    "itemset": Old("a[…] = value", itemset),
    "__float__": Changed(_of_one(float), is_implied=True),
    "__int__": Changed(_of_one(int), is_implied=True),
    "__complex__": Changed(_of_one(complex), is_implied=True),
    "__bool__": Changed(_truth, is_implied=True),
    "fill": Changed(_fill),
}


# --- numbers ------------------------------------------------------------------------------------


@around
def _written_plainly(before: Callable[..., str], x: Any) -> str:
    """How a number is written within lists and by `repr`, as until NumPy 1.26."""
    if isinstance(x, np.str_ | np.bytes_):
        return repr(x.item())
    if isinstance(x, np.datetime64 | np.timedelta64):
        return before(x).replace("np.", "numpy.", 1)
    if isinstance(x, np.void):
        return before(x).replace("np.", "", 1)
    return str(x)


# Python's numbers beside one of NumPy's: they count as of these types, as until NumPy 1.26.
AS = {int: np.int64, float: np.float64, complex: np.complex128}


def _of_both_types(name: str) -> Around:
    """An operator of a number of a small dtype: of the dtype that holds Python's number, too."""
    compute = getattr(operator, name.removeprefix("r"))

    @around
    def operate(method: Function, x: Any, other: Any) -> Any:
        kind = AS.get(type(other))
        if kind is None:
            return method(x, other)
        try:
            counted = kind(other)
        except OverflowError:
            return method(x, other)
        found = compute(counted, x) if name[0] == "r" else compute(x, counted)
        warn_old(
            f"numpy.{type(found).__name__} as what an operator gives of"
            f" numpy.{type(x).__name__} and {type(other).__name__}",
            f"numpy.{kind.__name__}({other}) beside it",
        )
        return found

    return operate


OPERATORS = "add sub mul truediv floordiv mod pow".split()
# By letter, those types whose numbers count as larger ones beside Python's.
SMALL = "bBhHiILefF"


def _of_numbers(code: str) -> dict[str, Old | Changed]:
    names = [f"{r}{name}" for name in OPERATORS for r in ("", "r")] if code in SMALL else []
    return {
        "__repr__": Changed(_written_plainly, is_implied=True),
        **{f"__{name}__": Changed(_of_both_types(name), is_implied=True) for name in names},
    }


TYPES = {np.dtype(code).type.__name__: code for code in "?bBhHiIlLqQefdgFDGSUVMm"}
MEMBERS: Members = {
    "ndarray": OF_ARRAYS,
    "generic": OF_BOTH,
    **{name: _of_numbers(code) for name, code in TYPES.items()},
    "ndenumerate": {"next": Old("next(…)", bound(lambda x: next(x)))},
    "ndindex": {"next": Old("next(…)", bound(lambda x: next(x)))},
    "lib.npyio.NpzFile": {
        "iteritems": Old(".items", bound(lambda x: iter(x.items()))),
        "iterkeys": Old(".keys", bound(lambda x: iter(x.keys()))),
    },
    "ma.MaskedArray": {
        "mini": Old(".min", bound(lambda x, axis=None: x.min(axis))),
    },
}
