"""Special functions: inverse circular ones, of gamma, of Bessel; steps between floats."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kameleon import backend as K
from kameleon.graph.ir.node import Tensor as Node
from kameleon.graph.ir.types import as_dtype
from kameleon.graph.primitives import elementwise as E
from kameleon.graph.primitives.filling import full_like
from kameleon.graph.primitives.reduce import in_single

from ..arithmetic import special as S
from .elementwise import elementwise, on_tensors, zero


def _nan(x: Node) -> Node:
    return full_like(x, np.nan)


def _within(function: Callable[..., Node], *outside: Callable[..., Node]) -> Callable[..., Node]:
    """A function that is NaN where one of some conditions on its operands holds."""

    def call(*xs: Node) -> Node:
        found = function(*xs)
        for condition in outside:
            found = E.select(condition(*xs), _nan(found), found)
        return found

    return call


def _igamma_slope(a: Node, x: Node) -> Node:
    """The derivative of the lower incomplete gamma function by its first operand, 0 at the ends."""
    wide, at = (E.cast(each, "float64") for each in (a, x))
    far = E.gt(at, 10 * wide + 1000)
    at_end = E.logical_or(far, E.eq(at, zero(at)))
    [slope] = K.gradients(K.sum(S.igamma(wide, E.select(at_end, full_like(at, 1), at))), [wide])
    return E.cast(E.select(at_end, zero(slope), slope), a.dtype)


def _gamma_sample_slope(a: Node, x: Node) -> Node:
    """How a number of a gamma distribution changes with its shape parameter."""
    density = E.exp((a - 1) * E.log(x) - x - S.lgamma(a))
    return -_igamma_slope(a, x) / density


def _next_after(x: Node, to: Node) -> Node:
    """The float beside another one, towards a third."""
    kind = {"float32": "int32", "float64": "int64"}[str(x.dtype)]
    bits = E.bitcast(x, dtype=as_dtype(kind))
    grows = E.eq(E.gt(to, x), E.gt(x, zero(x)))
    moved = E.bitcast(
        bits + E.select(grows, full_like(bits, 1), full_like(bits, -1)), dtype=x.dtype
    )
    least = np.finfo(str(x.dtype)).smallest_subnormal
    moved = E.select(E.eq(x, zero(x)), E.sign(to) * E.constant(least), moved)
    moved = E.select(E.eq(x, to), to, moved)
    return E.select(E.logical_or(E.is_nan(x), E.is_nan(to)), _nan(x), moved)


def _no_shape(a: Node, x: Node) -> Node:
    return E.logical_or(E.lt(x, zero(x)), E.le(a, zero(a)))


def _no_lower(a: Node, x: Node) -> Node:
    """Up to 0 nothing is met, whatever the shape."""
    return E.logical_and(_no_shape(a, x), E.ne(x, zero(x)))


def _no_zeta(x: Node, q: Node) -> Node:
    """Below 1, and for a negative base that isn't whole with a power that isn't."""
    broken = E.logical_and(E.ne(q, E.floor(q)), E.ne(x, E.floor(x)))
    return E.logical_or(E.lt(x, full_like(x, 1)), E.logical_and(E.lt(q, zero(q)), broken))


def _zeta(x: Node, q: Node) -> Node:
    """At whole numbers that aren't above zero it's infinite."""
    pole = E.logical_and(E.le(q, zero(q)), E.eq(q, E.floor(q)))
    pole = E.logical_or(pole, E.eq(x, full_like(x, 1)))
    return E.select(pole, full_like(x, np.inf), S.zeta(x, q))


def _no_order(a: Node, x: Node) -> Node:
    return E.logical_or(E.ne(a, E.floor(a)), E.lt(a, zero(a)))


def _no_beta(a: Node, b: Node, x: Node) -> Node:
    outside = E.logical_or(E.lt(x, zero(x)), E.gt(x, full_like(x, 1)))
    for each in (a, b):
        fits = E.logical_and(E.gt(each, zero(each)), E.lt(each, full_like(each, np.inf)))
        outside = E.logical_or(outside, E.logical_not(fits))
    return outside


elementwise({
    "Acos": (S.acos, np.arccos),
    "Acosh": (S.acosh, np.arccosh),
    "Asin": (S.asin, np.arcsin),
    "Asinh": (S.asinh, np.arcsinh),
    "Atan": (S.atan, np.arctan),
    "Atanh": (S.atanh, np.arctanh),
    "Sinh": (S.sinh, np.sinh),
    "Cosh": (S.cosh, np.cosh),
    "BesselI0e": (S.i0e, None),
    "BesselI1e": (S.i1e, None),
    "Digamma": (S.digamma, None),
    "Lgamma": (S.lgamma, None),
    "Erf": (S.erf, None),
    "Erfc": (S.erfc, None),
    "Atan2": (S.atan2, None),
    "Igamma": (_within(S.wide(S.igamma), _no_lower), None),
    "Igammac": (_within(S.wide(S.igammac), _no_shape), None),
    "IgammaGradA": (_within(_igamma_slope, _no_shape), None),
    "RandomGammaGrad": (_gamma_sample_slope, None),
    "Zeta": (_within(_zeta, _no_zeta), None),
    "Polygamma": (_within(S.polygamma, _no_order), None),
    "Betainc": (_within(S.wide(S.betainc), _no_beta), None),
    "NextAfter": (_next_after, None),
}, taking=lambda function: on_tensors(in_single(function)))  # fmt: skip
