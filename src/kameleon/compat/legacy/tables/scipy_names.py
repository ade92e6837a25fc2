"""What SciPy's functions of numbers had in 1.1, and what they give otherwise today."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from ..functions import Around, Function, around, bound, renamed
from ..stand_in import (
    Old,
    Table,
    constant,
    from_module,
    moved,
    same,
    taken_from,
    warn_old,
)


def binom_test(x: Any, n: Any = None, p: float = 0.5, alternative: str = "two-sided") -> float:
    """How probable it is that so many of n tries succeed, or as extreme a number."""
    stats: Any = importlib.import_module("scipy.stats")
    if np.size(x) == 2:
        x, n = x[0], x[0] + x[1]
    return float(stats.binomtest(int(x), int(n), p, alternative).pvalue)


def itemfreq(a: Any) -> Any:
    """The distinct elements, and how often each is there, as two columns."""
    return np.array(np.unique(a, return_counts=True)).T


@around
def _mode(
    mode: Function, a: Any, axis: int | None = 0, nan_policy: str = "propagate", **options: Any
) -> Any:
    """`scipy.stats.mode`, whose results keep the axis, as until SciPy 1.10."""
    given, along = (np.ravel(a), 0) if axis is None else (a, axis)
    return mode(given, along, nan_policy, **{"keepdims": True} | options)


def derivative(
    func: Callable[..., Any], x0: float, dx: float = 1.0, n: int = 1, args: Any = (), order: int = 3
) -> Any:
    """The n-th derivative at a point, by central differences of `order` points."""
    weights = central_diff_weights(order, n)
    half = order >> 1
    values = (w * func(x0 + (i - half) * dx, *args) for i, w in enumerate(weights))
    return sum(values) / dx**n


def central_diff_weights(Np: int, ndiv: int = 1) -> Any:
    """What Np equidistant values are weighted with for their middle's derivative."""
    if Np < ndiv + 1 or not Np % 2:
        raise ValueError("the number of points must be odd, and above the order of the derivative")
    places = np.arange(-(Np >> 1), (Np >> 1) + 1.0)
    powers = np.linalg.inv(np.vander(places, increasing=True))
    return float(np.prod(np.arange(1, ndiv + 1))) * powers[ndiv]


def ricker(points: int, a: float) -> Any:
    """The Mexican hat: a Gaussian's second derivative of width `a`, negated, of norm 1."""
    x = (np.arange(points) - (points - 1.0) / 2) / a
    return 2 / (np.sqrt(3 * a) * np.pi**0.25) * (1 - x**2) * np.exp(-(x**2) / 2)


def cwt(data: Any, wavelet: Callable[..., Any], widths: Any) -> Any:
    """The wavelet transform: for each width a row, the data convolved with the wavelet."""
    lengths = [min(10 * width, len(data)) for width in widths]
    rows = [
        np.convolve(data, np.conj(wavelet(length, width)[::-1]), mode="same")
        for length, width in zip(lengths, widths, strict=True)
    ]
    return np.array(rows)


@bound
def sph_harm(special: Any, m: Any, n: Any, theta: Any, phi: Any) -> Any:
    """A spherical harmonic, with the degree behind the order."""
    return special.sph_harm_y(n, m, phi, theta)


def quadrature(func: Any, a: float, b: float, args: Any = (), *more: Any, **options: Any) -> Any:
    """The integral of a function between two bounds, and how exact it is."""
    integrate: Any = importlib.import_module("scipy.integrate")
    return integrate.quad(func, a, b, args)[:2]


@around
def _positive(
    solve: Function, a: Any, b: Any, sym_pos: bool = False, *args: Any, **options: Any
) -> Any:
    """`scipy.linalg.solve`; `sym_pos` says that the matrix is positive definite."""
    if sym_pos:
        warn_old("scipy.linalg.solve(sym_pos=True)", "assume_a='pos'")
    return solve(a, b, *args, **({"assume_a": "pos"} if sym_pos else {}) | options)


@around
def _minimize(minimize: Function, *args: Any, **options: Any) -> Any:
    """`scipy.optimize.minimize`, whose `fun` was what the function gave: an array, if so.

    SLSQP took numbers of any precision.
    """
    given = inspect.signature(minimize).bind(*args, **options).arguments
    shapes: list[tuple[int, ...]] = []
    method, slope = str(given.get("method")).upper(), given.get("jac")
    precision = float if method == "SLSQP" else None
    changed: dict[str, Any] = {"x0": np.asarray(given["x0"], precision)}

    def noted(*point: Any) -> Any:
        value = given["fun"](*point)
        shapes.append(np.shape(value[0] if slope is True else value))
        return (value[0], np.asarray(value[1], precision)) if slope is True else value

    if callable(slope):
        changed["jac"] = lambda *point: np.asarray(slope(*point), precision)
    result = minimize(**given | changed | {"fun": noted})
    inverse = result.get("hess_inv")
    optimize: Any = importlib.import_module("scipy.optimize")
    if method == "TNC" or isinstance(inverse, optimize.LbfgsInvHessProduct):
        result.fun = np.reshape(result.fun, shapes[-1])[()]
    return result


@around
def _at_rate(
    function: Function,
    *args: Any,
    nyq: float | None = None,
    Hz: float | None = None,
    **options: Any,
) -> Any:
    """A function that makes a filter, to which half the rate was given."""
    if nyq is not None or Hz is not None:
        name = f"scipy.signal.{function.__name__}"
        warn_old(f"{name}({'nyq' if nyq else 'Hz'}=…)", "fs=…")
        options["fs"] = 2 * nyq if nyq is not None else Hz
    return function(*args, **options)


def _solve(solve: Function) -> Function:
    return _positive(renamed("scipy.linalg.solve", debug=None)(solve))


def _renamed(module: str, **functions: Mapping[str, str | None]) -> dict[str, Around]:
    """By name of a function, its arguments by their old names; see `renamed`."""
    return {name: renamed(f"scipy.{module}.{name}", **names) for name, names in functions.items()}


# Modules whose names lie in the package around them today.
SPARSE = (
    "dsolve dsolve.linsolve eigen eigen.arpack eigen.arpack.arpack eigen.lobpcg eigen.lobpcg.lobpcg"
    " isolve isolve.iterative isolve.lsqr isolve.lsmr isolve.minres isolve.lgmres isolve.utils"
).split()
TABLES: Mapping[str, Table] = {
    "scipy.stats": Table(
        {
            "binom_test": constant("scipy.stats.binomtest(…).pvalue", binom_test),
            "itemfreq": constant("numpy.unique(…, return_counts=True)", itemfreq),
            "median_absolute_deviation": Old(
                "scipy.stats.median_abs_deviation(…, scale='normal')",
                lambda stats: partial(stats.median_abs_deviation, scale="normal"),
            ),
            "frechet_r": same("scipy.stats.weibull_min"),
            "frechet_l": same("scipy.stats.weibull_max"),
            "trapz": from_module("numpy", "trapezoid"),
            **taken_from("numpy", "nanmean nanmedian nanstd"),
        },
        {"mode": _mode}
        | _renamed(
            "stats",
            moment={"moment": "order"},
            kendalltau={"initial_lexsort": None},
            kstest={"mode": "method"},
        ),
    ),
    "scipy.integrate": Table(
        {
            "trapz": same("scipy.integrate.trapezoid"),
            "simps": same("scipy.integrate.simpson"),
            "cumtrapz": same("scipy.integrate.cumulative_trapezoid"),
            "quadrature": constant("scipy.integrate.quad", quadrature),
            "romberg": constant("scipy.integrate.quad", lambda *a, **o: quadrature(*a, **o)[0]),
        }
    ),
    "scipy.linalg": Table(
        {
            "pinv2": same("scipy.linalg.pinv"),
            **taken_from("numpy", "kron tri tril triu"),
        },
        {"solve": _solve}
        | _renamed(
            "linalg",
            eigh={"eigvals": "subset_by_index", "turbo": None},
            eigvalsh={"eigvals": "subset_by_index", "turbo": None},
            pinv={"cond": "rtol", "rcond": "rtol"},
            pinvh={"cond": "rtol", "rcond": "rtol"},
            solve_banded={"debug": None},
            solve_triangular={"debug": None},
        ),
    ),
    "scipy.optimize": Table(changed={"minimize": _minimize}),
    "scipy.optimize.nnls": moved("scipy.optimize"),
    **{f"scipy.sparse.linalg.{name}": moved("scipy.sparse.linalg") for name in SPARSE},
    "scipy.special": Table({"sph_harm": Old("scipy.special.sph_harm_y", sph_harm)}),
    "scipy.sparse": Table(
        members={
            "spmatrix": {
                "A": Old(".toarray()", lambda x: x.toarray()),
                "H": Old(".T.conj()", lambda x: x.T.conj()),
                "getH": Old(".T.conj", lambda x: lambda: x.T.conj()),
            }
        }
    ),
}
