"""TensorFlow 1's special functions, as programs call them."""

from __future__ import annotations

from typing import Any

from ..backend import surface as K
from ..backend._tensors import as_float, broadcast_together, promoted
from ..compat.tensorflow.arithmetic import special
from ..compat.tensorflow.arithmetic.special import lgamma, wide
from ..prims import elementwise as ew
from ..prims.special import softplus
from .calling import called
from .elementwise import floating, floats


def lbeta(x: Any, what: str) -> Any:
    """The logarithm of the multivariate beta function, of the last axis."""
    x = as_float(x, what)
    return K.sum(lgamma(x), axis=-1) - lgamma(K.sum(x, axis=-1))


def betainc(a: Any, b: Any, x: Any, what: str) -> Any:
    """The regularized incomplete beta function."""
    xs = [as_float(v, what) for v in promoted((a, b, x), what)]
    return wide(special.betainc)(*broadcast_together(xs, what))


ONE = "atan asin acos asinh acosh atanh sinh cosh erf erfc lgamma digamma"
TWO: dict[str, Any] = {
    "atan2": special.atan2, "zeta": special.zeta, "polygamma": special.polygamma,
    "igamma": wide(special.igamma), "igammac": wide(special.igammac),
}  # fmt: skip
PLAIN = called({
    "sigmoid": floating(K.sigmoid), "tanh": floating(ew.tanh),
    "log_sigmoid": floating(lambda x: -softplus(-x)),
    **{name: floating(getattr(special, name)) for name in ONE.split()},
    **{name: floats(function) for name, function in TWO.items()},
    "lbeta": lbeta, "betainc": betainc,
    "math.bessel_i0e": floating(special.i0e), "math.bessel_i1e": floating(special.i1e),
    "math.bessel_i0": floating(lambda x: special.i0e(x) * ew.exp(K.abs(x))),
    "math.bessel_i1": floating(lambda x: special.i1e(x) * ew.exp(K.abs(x))),
})  # fmt: skip
