"""Normal variates from uniform ones: the inverse normal distribution function.

With x = 2 u - 1 and w = -log((1 - x)(1 + x)) the quantile is z = x P(w). P is a polynomial in w
in the centre, and polynomials in sqrt(w) in the tails: about 2 units in the last place of the
result in float32 (all 2**24 values that are drawn), 5 in float64, and never more than 3 between
engines whose logarithms differ in the last bit.

Sources: Giles, "Approximating the erfinv function", GPU Computing Gems (2011), for the form and
for the table of float64; the table of float32 is a weighted least-squares fit of the same form.
"""

from __future__ import annotations

from ..ir.node import Node, Primitive
from ..ir.types import FLOAT64
from .elementwise import (
    FLOAT,
    add,
    cast,
    elementwise,
    log,
    lt,
    maximum,
    mul,
    neg,
    select,
    sqrt,
    sub,
)
from .filling import full_like

ROOT_TWO = 2**0.5
# The tables hold the highest power first. Each is used below its bound of w, in w - offset or
# (the tails) in sqrt(w) - offset.
# float32, w < 5: in w - 1
CENTRE_32 = (
    -1.2235168e-08,
    1.9837209e-07,
    -7.3351856e-07,
    -6.227429e-06,
    5.4018215e-05,
    0.00014188977,
    -0.0033607648,
    0.0060112234,
    0.35048863,
    1.5943482,
)
# float32: in sqrt(w) - 2
TAIL_32 = (
    0.00016736133,
    -0.0019504033,
    0.009495684,
    -0.02380928,
    0.026493477,
    0.015803492,
    -0.09994826,
    0.15976316,
    1.2917023,
    2.6287167,
)
# float64, w < 6.25: in w - 3.125; the three tables of float64 give P / sqrt(2)
CENTRE_64 = (
    -3.64441206401782e-21,
    -1.6850591381820166e-19,
    1.28584807152564e-18,
    1.1157877678025181e-17,
    -1.333171662854621e-16,
    2.0972767875968562e-17,
    6.637638134358324e-15,
    -4.054566272975207e-14,
    -8.151934197605472e-14,
    2.6335093153082323e-12,
    -1.2975133253453532e-11,
    -5.415412054294628e-11,
    1.0512122733215323e-09,
    -4.112633980346984e-09,
    -2.9070369957882005e-08,
    4.2347877827932404e-07,
    -1.3654692000834679e-06,
    -1.3882523362786469e-05,
    0.00018673420803405714,
    -0.000740702534166267,
    -0.006033670871430149,
    0.24015818242558962,
    1.6536545626831027,
)
# float64, w < 16: in sqrt(w) - 3.25
MIDDLE_64 = (
    2.2137376921775787e-09,
    9.075656193888539e-08,
    -2.7517406297064545e-07,
    1.8239629214389228e-08,
    1.5027403968909828e-06,
    -4.013867526981546e-06,
    2.9234449089955446e-06,
    1.2475304481671779e-05,
    -4.7318229009055734e-05,
    6.828485145957318e-05,
    2.4031110387097894e-05,
    -0.0003550375203628475,
    0.0009532893797373805,
    -0.0016882755560235047,
    0.002491442096107851,
    -0.003751208507569241,
    0.005370914553590064,
    1.0052589676941592,
    3.0838856104922208,
)
# float64: in sqrt(w) - 5
TAIL_64 = (
    -2.7109920616438573e-11,
    -2.555641816996525e-10,
    1.5076572693500548e-09,
    -3.789465440126737e-09,
    7.61570120807834e-09,
    -1.496002662714924e-08,
    2.914795345090108e-08,
    -6.771199775845234e-08,
    2.2900482228026655e-07,
    -9.9298272942317e-07,
    4.526062597223154e-06,
    -1.968177810553167e-05,
    7.599527703001776e-05,
    -0.00021503011930044477,
    -0.00013871931833623122,
    1.0103004648645344,
    4.849906401408584,
)


def _horner(x: Node, table: tuple[float, ...]) -> Node:
    total = full_like(x, table[0])
    for coefficient in table[1:]:
        total = add(mul(total, x), full_like(x, coefficient))
    return total


def _shifted(x: Node, offset: float) -> Node:
    return sub(x, full_like(x, offset))


def _below(w: Node, bound: float) -> Node:
    return lt(w, full_like(w, bound))


def _factor_32(w: Node, root: Node) -> Node:
    centre, tail = _horner(_shifted(w, 1), CENTRE_32), _horner(_shifted(root, 2), TAIL_32)
    return select(_below(w, 5), centre, tail)


def _factor_64(w: Node, root: Node) -> Node:
    middle, tail = _horner(_shifted(root, 3.25), MIDDLE_64), _horner(_shifted(root, 5), TAIL_64)
    outer = select(_below(w, 16), middle, tail)
    return select(_below(w, 6.25), _horner(_shifted(w, 3.125), CENTRE_64), outer)


def _expand(x: Node) -> Node:
    if x.dtype.itemsize == 2:
        return cast(_expand(cast(x, "float32")), x.dtype)
    one = full_like(x, 1)
    w = maximum(neg(log(mul(sub(one, x), add(one, x)))), full_like(x, 0))
    if x.dtype == FLOAT64:
        z = mul(x, _factor_64(w, sqrt(w)))
        return mul(z, full_like(z, ROOT_TWO))
    return mul(x, _factor_32(w, sqrt(w)))


normal_quantile: Primitive = elementwise(
    "normal_quantile",
    FLOAT,
    "the standard normal's quantile at (1 + x) / 2, for -1 < x < 1",
    expand=_expand,
)
