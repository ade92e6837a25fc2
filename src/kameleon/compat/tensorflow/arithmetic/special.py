"""Special functions over K: inverse circular ones, error function, gamma, Bessel.

They are composed of primitives, so that every engine has them. In float32 they are exact to about
1e-6, in float64 to about 1e-13, but where a function says less.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kameleon.backend import surface as K
from kameleon.graph.ir.types import FLOAT64
from kameleon.graph.primitives import elementwise as ew
from kameleon.graph.primitives.filling import full_like

Unary = Callable[[Any], Any]


def sloped(value: Unary, slope: Unary) -> Unary:
    """A function of elements with a derivative of its own."""

    @K.custom_gradient
    def function(x: Any) -> Any:
        return value(x), lambda g: g * slope(x)

    return function


def polynomial(x: Any, coefficients: Sequence[float]) -> Any:
    """By Horner's rule; the constant comes first."""
    total = full_like(x, 0) + coefficients[-1]
    for c in reversed(coefficients[:-1]):
        total = total * x + c
    return total


# Inverse functions ----------------------------------------------------------------------------

_ARCTAN = [(-1.0) ** k / (2 * k + 1) for k in range(20)]
_EIGHTH = math.tan(math.pi / 8)


def _atan_value(x: Any) -> Any:
    """1/x for |x| > 1, then (z - 1) / (z + 1) beyond tan(pi/8), then the Taylor series."""
    a = K.abs(x)
    beyond = K.greater(a, 1.0)
    z = K.switch(beyond, 1.0 / K.maximum(a, 1.0), a)
    high = K.greater(z, _EIGHTH)
    w = K.switch(high, (z - 1.0) / (z + 1.0), z)
    y = w * polynomial(w * w, _ARCTAN)
    y = K.switch(high, y + math.pi / 4, y)
    size = K.switch(beyond, math.pi / 2 - y, y)
    return K.switch(K.less(x, 0.0), -size, size)


atan = sloped(_atan_value, lambda x: 1.0 / (1.0 + x * x))
asin = sloped(
    lambda x: atan(x / ew.sqrt((1.0 - x) * (1.0 + x))),
    lambda x: 1.0 / ew.sqrt((1.0 - x) * (1.0 + x)),
)
acos = sloped(
    lambda x: 2.0 * atan(ew.sqrt((1.0 - x) / (1.0 + x))),
    lambda x: -1.0 / ew.sqrt((1.0 - x) * (1.0 + x)),
)


def _direction(x: Any) -> Any:
    """-1 or 1; of zeros, too, by their sign."""
    return K.switch(K.less(K.switch(K.equal(x, 0.0), 1.0 / x, x), 0.0), full_like(x, -1), 1.0)


@K.custom_gradient
def atan2(y: Any, x: Any) -> Any:
    """The angle of the point (x, y)."""
    up, right = (_direction(each) for each in (y, x))
    is_diagonal = ew.logical_and(*(K.equal(K.abs(each), math.inf) for each in (y, x)))
    slope = K.switch(is_diagonal, up * right, y / K.switch(K.equal(x, 0.0), right, x))
    base = atan(slope)
    angle = K.switch(K.less(right, 0.0), base + up * math.pi, base)
    is_upright = ew.logical_and(K.equal(x, 0.0), K.not_equal(y, 0.0))
    angle = K.switch(is_upright, up * (math.pi / 2), angle)

    def slopes(g: Any) -> list[Any]:
        squares = x * x + y * y
        return [g * x / squares, -g * y / squares]

    return angle, slopes


def _asinh_value(x: Any) -> Any:
    a = K.abs(x)
    near = K.minimum(a, 1e10)
    grown = ew.log1p(near + near * (near / (1.0 + ew.sqrt(1.0 + near * near))))
    grown = K.switch(K.greater(a, near), ew.log(a) + math.log(2.0), grown)
    return K.sign(x) * grown


asinh = sloped(_asinh_value, lambda x: 1.0 / ew.sqrt(1.0 + x * x))


def acosh(x: Any) -> Any:
    t = x - 1.0
    return ew.log1p(t + ew.sqrt(t * (2.0 + t)))


def atanh(x: Any) -> Any:
    return 0.5 * ew.log1p(2.0 * x / (1.0 - x))


def _sinh_value(x: Any) -> Any:
    """(e - 1/e) / 2 by m = exp(|x|) - 1, exact near 0; e / 2 where m is large."""
    a = K.abs(x)
    m = ew.expm1(K.minimum(a, 20.0))
    near, far = 0.5 * (m + m / (m + 1.0)), ew.exp(a - math.log(2.0))
    return K.sign(x) * K.switch(K.greater(a, 20.0), far, near)


def _cosh_value(x: Any) -> Any:
    a = K.abs(x)
    return ew.exp(a - math.log(2.0)) + 0.5 * ew.exp(-a)


sinh = sloped(_sinh_value, _cosh_value)
cosh: Any = sloped(_cosh_value, sinh)


# The error function ---------------------------------------------------------------------------

# erf(x) / x in powers of x**2.
_ERF = [(-1.0) ** k * 2 / (math.sqrt(math.pi) * math.factorial(k) * (2 * k + 1)) for k in range(16)]
# exp(x**2) erfc(x) (1 + 2 x) in powers of (x - 4) / (x + 4), for x >= 0: interpolated at the zeros
# of a Chebyshev polynomial, from values of 40 digits.
_ERFC = [
    1.2329951186255526, -0.139621116840557, 0.015379652102618402, 0.06809705425420673,
    -0.10103906603618064, 0.0937328350110569, -0.06633036581541651, 0.03716751538360477,
    -0.016197734020451597, 0.005031971017234254, -0.0007577735257382458, -0.0001992610018544279,
    0.00015062257137043143, -2.4387691264306046e-05, -1.1224122281497544e-05,
    5.6894090899650724e-06, 2.968409172531307e-07, -8.019174684327191e-07,
    7.202517584836005e-08, 9.290772873032215e-08, -1.673812797437216e-08,
    -6.984021100158542e-09, 1.6403183696752708e-09,
]  # fmt: skip


def _tail(a: Any) -> Any:
    """erfc(a) for a >= 0; beyond 30 it's 0 in any dtype."""
    a = K.minimum(a, 30.0)
    return ew.exp(-a * a) * polynomial((a - 4.0) / (a + 4.0), _ERFC) / (1.0 + 2.0 * a)


def _near_zero(x: Any) -> Any:
    small = K.minimum(K.maximum(x, -1.0), 1.0)
    return small * polynomial(small * small, _ERF)


def _bell(x: Any) -> Any:
    return (2 / math.sqrt(math.pi)) * ew.exp(-x * x)


def _erf_value(x: Any) -> Any:
    a = K.abs(x)
    y = K.sign(x) * (1.0 - _tail(a))
    return K.switch(K.less(a, 1.0), _near_zero(x), y)


def _erfc_value(x: Any) -> Any:
    a = K.abs(x)
    tail = _tail(a)
    y = K.switch(K.less(x, 0.0), 2.0 - tail, tail)
    return K.switch(K.less(a, 0.5), 1.0 - _near_zero(x), y)


erf = sloped(_erf_value, _bell)
erfc = sloped(_erfc_value, lambda x: -_bell(x))


# Gamma and zeta -------------------------------------------------------------------------------

# Bernoulli numbers B2, B4 ...
_BERNOULLI = [1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510]
_STIRLING = [b / (2 * k * (2 * k - 1)) for k, b in enumerate(_BERNOULLI, 1)]
_SHIFT = 10


def _lgamma_positive(x: Any) -> Any:
    """Stirling's series at x + 10 for x < 10; what was put on is a product, taken off."""
    low = K.less(x, float(_SHIFT))
    safe = K.switch(low, x, full_like(x, 1))
    product = functools.reduce(lambda p, k: p * (safe + float(k)), range(1, _SHIFT), safe)
    z = K.switch(low, x + float(_SHIFT), x)
    series = polynomial(1.0 / (z * z), _STIRLING) / z
    whole = (z - 0.5) * ew.log(z) - z + 0.5 * math.log(2 * math.pi) + series
    return K.switch(low, whole - ew.log(product), whole)


def lgamma_value(x: Any) -> Any:
    """log |gamma(x)|, in double precision, for its terms cancel; by reflection below 1/2."""
    if x.dtype != FLOAT64:
        return ew.cast(lgamma_value(ew.cast(x, FLOAT64)), x.dtype)
    low = K.less(x, 0.5)
    positive = _lgamma_positive(K.switch(low, 1.0 - x, x))
    sine = K.abs(ew.sin(math.pi * (x - ew.floor(x))))
    value = K.switch(low, math.log(math.pi) - ew.log(sine) - positive, positive)
    return K.switch(K.equal(K.abs(x), np.inf), full_like(x, np.inf), value)


def _digamma_positive(x: Any) -> Any:
    low = K.less(x, float(_SHIFT))
    safe = K.switch(low, x, full_like(x, 1))
    taken = sum((1.0 / (safe + float(k)) for k in range(_SHIFT)), full_like(x, 0))
    z = K.switch(low, x + float(_SHIFT), x)
    squares = 1.0 / (z * z)
    series = squares * polynomial(squares, [b / (2 * k) for k, b in enumerate(_BERNOULLI, 1)])
    whole = ew.log(z) - 0.5 / z - series
    return K.switch(low, whole - taken, whole)


def _digamma_value(x: Any) -> Any:
    low = K.less(x, 0.5)
    positive = _digamma_positive(K.switch(low, 1.0 - x, x))
    part = math.pi * (x - ew.floor(x))
    value = K.switch(low, positive - math.pi * ew.cos(part) / ew.sin(part), positive)
    return K.switch(ew.logical_and(low, K.equal(x, ew.floor(x))), full_like(x, np.inf), value)


@K.custom_gradient
def zeta(x: Any, q: Any) -> Any:
    """sum((q + k) ** -x) by the formula of Euler and Maclaurin, for x > 1 and q > 0."""
    shifted = q + float(_SHIFT)
    head = sum((K.pow(q + float(k), -x) for k in range(_SHIFT)), full_like(q, 0))
    power = K.pow(shifted, -x)
    total = head + power * shifted / (x - 1.0) + 0.5 * power
    factor = x / shifted
    for k, b in enumerate(_BERNOULLI, 1):
        total = total + power * factor * (b / math.factorial(2 * k))
        factor = factor * (x + (2.0 * k - 1)) * (x + 2.0 * k) / (shifted * shifted)
    return total, lambda g: [None, -g * x * zeta(x + 1.0, q)]


@K.custom_gradient
def polygamma(a: Any, x: Any) -> Any:
    """The derivative number `a` of digamma, for x > 0; digamma itself for 0."""
    sign = 1.0 - 2.0 * K.cast(K.equal(a % 2.0, 0.0), a.dtype)
    high = sign * ew.exp(lgamma_value(a + 1.0)) * zeta(a + 1.0, x)
    value = K.switch(K.equal(a, 0.0), _digamma_value(x), high)
    return value, lambda g: [None, g * polygamma(a + 1.0, x)]


digamma = sloped(_digamma_value, lambda x: polygamma(full_like(x, 1), x))
lgamma = sloped(lgamma_value, digamma)


# Incomplete functions -------------------------------------------------------------------------

TERMS = 256


def wide(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function computed in float64: its terms cancel."""

    def call(*xs: Any) -> Any:
        return K.cast(function(*(K.cast(x, "float64") for x in xs)), xs[0].dtype)

    return call


def _steps(x: Any) -> Any:
    return K.constant(np.arange(TERMS), x.dtype)


def _lower(a: Any, x: Any) -> Any:
    """The regularized lower incomplete gamma function by its series, for x < a + 90."""
    last = [K.expand_dims(v, -1) for v in (a, x)]
    sums = 1.0 + K.sum(K.cumprod(last[1] / (last[0] + 1.0 + _steps(x)), axis=-1), axis=-1)
    log_first = a * ew.log(x) - x - lgamma(a + 1.0)
    value = ew.exp(log_first + ew.log(sums))
    return K.switch(K.equal(x, 0.0), full_like(x, 0), value)


def igamma(a: Any, x: Any) -> Any:
    near = K.minimum(x, a + 80.0)
    return K.switch(K.greater(x, near), full_like(x, 1), _lower(a, near))


def igammac(a: Any, x: Any) -> Any:
    return 1.0 - igamma(a, x)


def _beta_series(a: Any, b: Any, x: Any) -> Any:
    last = [K.expand_dims(v, -1) for v in (a, b, x)]
    k = _steps(x)
    ratios = (last[0] + last[1] + k) / (last[0] + 1.0 + k) * last[2]
    sums = 1.0 + K.sum(K.cumprod(ratios, axis=-1), axis=-1)
    log_beta = lgamma(a) + lgamma(b) - lgamma(a + b)
    return ew.exp(a * ew.log(x) + b * ew.log1p(-x) - log_beta - ew.log(a)) * sums


@K.custom_gradient
def betainc(a: Any, b: Any, x: Any) -> Any:
    turned = K.greater(x, (a + 1.0) / (a + b + 2.0))
    left, right = K.switch(turned, b, a), K.switch(turned, a, b)
    inner = _beta_series(left, right, K.switch(turned, 1.0 - x, x))
    value = K.switch(turned, 1.0 - inner, inner)
    log_beta = lgamma(a) + lgamma(b) - lgamma(a + b)
    density = ew.exp((a - 1.0) * ew.log(x) + (b - 1.0) * ew.log1p(-x) - log_beta)
    value = K.switch(K.equal(x, 0.0), full_like(x, 0), value)
    return K.switch(K.equal(x, 1.0), full_like(x, 1), value), lambda g: [None, None, g * density]


# Bessel functions -----------------------------------------------------------------------------


def _bessel(order: int) -> Unary:
    """exp(-|x|) I(x): the power series to 12, the asymptotic one beyond."""

    def value(x: Any) -> Any:
        a = K.abs(x)
        near = K.expand_dims(K.minimum(a, 12.0), -1)
        k = np.arange(1, 60)
        ratios = near * near * K.constant(0.25 / (k * (k + order)), x.dtype)
        sums = 1.0 + K.sum(K.cumprod(ratios, axis=-1), axis=-1)
        small = K.minimum(a, 12.0)
        low = sums * ew.exp(-small) * (small / 2.0 if order else 1.0)
        far = K.maximum(a, 12.0)
        coefficients, c = [1.0], 1.0
        for n in range(1, 20):
            c *= -(4 * order**2 - (2 * n - 1) ** 2) / (8 * n)
            coefficients.append(c)
        high = polynomial(1.0 / far, coefficients) / ew.sqrt(2 * math.pi * far)
        size = K.switch(K.greater(a, 12.0), high, low)
        return K.sign(x) * size if order else size

    return value


def _i1e_slope(x: Any) -> Any:
    safe = K.switch(K.equal(x, 0.0), full_like(x, 1), x)
    slope = i0e(x) - i1e(x) * (K.sign(x) + 1.0 / safe)
    return K.switch(K.equal(x, 0.0), full_like(x, 0) + 0.5, slope)


i0e: Any = sloped(_bessel(0), lambda x: i1e(x) - K.sign(x) * i0e(x))
i1e: Any = sloped(_bessel(1), _i1e_slope)
