"""TensorFlow 1's functions of single elements: arithmetic, logic, bits, comparisons, casts."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ..backend import surface as K
from ..backend._tensors import as_float, as_number, as_tensor, binary, broadcast_together, promoted
from ..errors import DTypeError
from ..ir.types import as_dtype
from ..prims import elementwise as ew
from ..prims.elementwise import bitcast as read_bits
from ..prims.filling import full_like
from .calling import Leading, called

Unary = Callable[[Any], Any]
Binary = Callable[[Any, Any], Any]


# Conventions ----------------------------------------------------------------------------------


def floating(function: Unary) -> Leading:
    """Of floats; integers are cast to floats."""
    return Leading(1, lambda x, what: function(as_float(x, what)))


def numeric(function: Unary) -> Leading:
    """Of integers or floats."""
    return Leading(1, lambda x, what: function(as_number(x, what)))


def primitive(of: Any) -> Leading:
    """Of two tensors whose shapes broadcast."""
    return Leading(2, lambda x, y, what: binary(of, x, y, what))


def pairwise(function: Binary) -> Leading:
    """Of two tensors of one dtype, whose shapes broadcast by the function itself."""
    return Leading(2, lambda x, y, what: function(*promoted((x, y), what)))


def floats(function: Binary) -> Leading:
    """Of two float tensors of one shape."""

    def call(x: Any, y: Any, what: str) -> Any:
        a, b = promoted((x, y), what)
        return function(*broadcast_together([as_float(a, what), as_float(b, what)], what))

    return Leading(2, call)


def chosen(condition: Any, x: Any, y: Any, what: str = "tf.where") -> Any:
    """x where the condition holds, else y; all three broadcast."""
    a, b = promoted((x, y), what)
    return ew.select(*broadcast_together([as_tensor(condition, what), a, b], what))


# Quotients ------------------------------------------------------------------------------------

# Integers are divided as floats of this dtype.
QUOTIENTS = {1: "float32", 2: "float32", 4: "float64", 8: "float64"}


def _true_quotient(x: Any, y: Any) -> Any:
    if not x.dtype.is_float:
        dtype = QUOTIENTS[x.dtype.itemsize]
        x, y = K.cast(x, dtype), K.cast(y, dtype)
    return x / y


def _older_quotient(x: Any, y: Any) -> Any:
    """Of floats as it is, of integers rounded down."""
    return x / y if x.dtype.is_float else x // y


def _truncated(x: Any, y: Any) -> Any:
    """The quotient of integers, or of floats, rounded towards zero."""
    if x.dtype.is_float:
        q = x / y
        return K.sign(q) * ew.floor(K.abs(q))
    return K.sign(x) * K.sign(y) * (K.abs(x) // K.abs(y))


def _rest(x: Any, y: Any) -> Any:
    """What remains of x, with its sign."""
    if x.dtype.is_float:
        return K.sign(x) * (K.abs(x) % K.abs(y))
    return x - _truncated(x, y) * y


def _guarded(function: Binary) -> Binary:
    """The function of x and y, and 0 where y is 0, also in gradients."""

    def call(x: Any, y: Any) -> Any:
        off = K.equal(y, 0.0)
        safe = chosen(off, full_like(y, 1), y)
        return chosen(off, full_like(x, 0), function(x, safe))

    return call


def _where_x(function: Binary) -> Binary:
    """The function of x and y, and 0 where x is 0, whatever y is."""

    def call(x: Any, y: Any) -> Any:
        off = K.equal(x, 0.0)
        safe = chosen(off, full_like(y, 1), y)
        return chosen(off, full_like(x, 0), function(x, safe))

    return call


def next_after(x1: Any, x2: Any, what: str) -> Any:
    """The float after x1 in the direction of x2."""
    a, b = broadcast_together([as_float(x, what) for x in promoted((x1, x2), what)], what)
    bits = "int64" if a.dtype == "float64" else "int32"
    number = read_bits(a, dtype=as_dtype(bits))
    outwards = K.equal(K.greater(b, a), K.greater(a, 0.0))
    step = chosen(outwards, full_like(number, 1), full_like(number, 1) * -1)
    moved = read_bits(number + step, dtype=a.dtype)
    least = K.constant(np.finfo(a.dtype).smallest_subnormal, a.dtype)
    moved = chosen(K.equal(a, 0.0), K.sign(b) * least, moved)
    following = K.stop_gradient(chosen(K.equal(a, b), b, moved))
    return following + (a - K.stop_gradient(a))


# Others ---------------------------------------------------------------------------------------


def polyval(coeffs: Any, x: Any, what: str) -> Any:
    """The polynomial with the coefficients, the highest power's first."""
    x = as_tensor(x, what)
    items = [as_tensor(c, what) for c in coeffs]
    if not items:
        return full_like(x, 0)
    total = items[0] + full_like(x, 0)
    for c in items[1:]:
        total = c + total * x
    return total


def clip_by_value(t: Any, clip_value_min: Any, clip_value_max: Any, what: str) -> Any:
    x = as_tensor(t, what)
    low = binary(ew.minimum, x, clip_value_max, what)
    return binary(ew.maximum, low, clip_value_min, what)


def cast(x: Any, dtype: Any, what: str) -> Any:
    return K.cast(x if K.is_sparse(x) else as_tensor(x, what), dtype)


def casting(dtype: str) -> Leading:
    return Leading(1, lambda x, what: cast(x, dtype, what))


def saturate_cast(value: Any, dtype: Any, what: str) -> Any:
    """Cast, with values out of the dtype's range at its ends."""
    x, to = as_tensor(value, what), as_dtype(dtype)
    if to.is_float or to.is_bool:
        return K.cast(x, to)
    ends = np.iinfo(to)
    if x.dtype.is_float:
        return _saturated_floats(x, to)
    own = np.iinfo(x.dtype)
    low, high = max(own.min, ends.min), min(own.max, ends.max)
    return K.cast(K.minimum(K.maximum(x, low), high), to)


def _saturated_floats(x: Any, to: Any) -> Any:
    """The largest float within the range is cast, but what reaches its end becomes the end."""
    ends = np.iinfo(to)
    high = np.asarray(ends.max, x.dtype)
    if int(high) > ends.max:
        high = np.nextafter(high, np.zeros_like(high))
    within = K.cast(K.minimum(K.maximum(x, float(ends.min)), float(high)), to)
    return chosen(K.greater(x, float(high)), K.constant(ends.max, to), within)


def bitcast(input: Any, type: Any, what: str) -> Any:
    """The same bits as another dtype of the same width."""
    x, to = as_tensor(input, what), as_dtype(type)
    if x.dtype.itemsize != to.itemsize:
        raise DTypeError(f"{what}: {x.dtype} and {to} differ in width; only equal widths are there")
    return read_bits(x, dtype=to)


def real_only(function: Unary) -> Leading:
    """Of complex numbers in TensorFlow; all numbers here are real."""
    return Leading(1, lambda x, what: function(as_tensor(x, what)))


def _zeros(x: Any) -> Any:
    return full_like(x, 0)


def squared_difference(x: Any, y: Any) -> Any:
    return K.square(x - y)


# Integers are rounded already.
def _rounding(function: Unary) -> Leading:
    def call(x: Any, what: str) -> Any:
        x = as_tensor(x, what)
        return function(x) if x.dtype.is_float else x

    return Leading(1, call)


def scalar_mul(scalar: Any, x: Any, what: str) -> Any:
    return as_tensor(x, what) * scalar


def _logical_xor(x: Any, y: Any) -> Any:
    return K.not_equal(x, y)


PLAIN = called({
    # One operand
    "abs": numeric(K.abs), "sign": numeric(K.sign), "square": numeric(K.square),
    "negative": numeric(operator.neg), "exp": floating(ew.exp), "expm1": floating(ew.expm1),
    "log": floating(ew.log), "log1p": floating(ew.log1p), "sqrt": floating(ew.sqrt),
    "rsqrt": floating(lambda x: 1.0 / ew.sqrt(x)), "sin": floating(ew.sin),
    "cos": floating(ew.cos), "tan": floating(lambda x: ew.sin(x) / ew.cos(x)),
    "reciprocal": numeric(lambda x: full_like(x, 1) / x),
    "floor": _rounding(ew.floor), "ceil": _rounding(ew.ceil), "round": _rounding(ew.round),
    "rint": _rounding(ew.round), "is_nan": floating(ew.is_nan),
    "is_inf": floating(lambda x: K.equal(K.abs(x), np.inf)),
    "is_finite": floating(lambda x: K.less(K.abs(x), np.inf)),
    "math.reciprocal_no_nan": floating(lambda x: _guarded(operator.truediv)(full_like(x, 1), x)),
    "real": real_only(lambda x: x), "conj": real_only(lambda x: x),
    "imag": real_only(_zeros), "angle": real_only(_zeros),
    # Two operands
    "add": primitive(ew.add), "subtract": primitive(ew.sub), "multiply": primitive(ew.mul),
    "maximum": primitive(ew.maximum), "minimum": primitive(ew.minimum), "pow": primitive(ew.pow),
    "floordiv": primitive(ew.floor_div), "floormod": primitive(ew.mod),
    "floor_div": primitive(ew.floor_div),
    "truediv": pairwise(_true_quotient), "realdiv": pairwise(operator.truediv),
    "divide": pairwise(_true_quotient), "div": pairwise(_older_quotient),
    "truncatediv": pairwise(_truncated), "truncatemod": pairwise(_rest),
    "squared_difference": pairwise(squared_difference),
    "div_no_nan": floats(_guarded(operator.truediv)),
    "math.multiply_no_nan": floats(_guarded(operator.mul)),
    "math.xdivy": floats(_where_x(operator.truediv)),
    "math.xlogy": floats(_where_x(lambda x, y: x * ew.log(y))),
    "math.nextafter": next_after,
    # Comparisons and logic
    "equal": Leading(2, lambda x, y, what: K.equal(x, y)),
    "not_equal": Leading(2, lambda x, y, what: K.not_equal(x, y)),
    "greater": Leading(2, lambda x, y, what: K.greater(x, y)),
    "greater_equal": Leading(2, lambda x, y, what: K.greater_equal(x, y)),
    "less": Leading(2, lambda x, y, what: K.less(x, y)),
    "less_equal": Leading(2, lambda x, y, what: K.less_equal(x, y)),
    "logical_and": primitive(ew.logical_and), "logical_or": primitive(ew.logical_or),
    "logical_not": Leading(1, lambda x, what: ew.logical_not(as_tensor(x, what))),
    "logical_xor": pairwise(_logical_xor),
    # Bits
    "bitwise.bitwise_and": primitive(ew.bit_and), "bitwise.bitwise_or": primitive(ew.bit_or),
    "bitwise.bitwise_xor": primitive(ew.bit_xor),
    "bitwise.invert": Leading(1, lambda x, what: ew.bit_not(as_tensor(x, what))),
    "bitwise.left_shift": primitive(ew.shift_left),
    "bitwise.right_shift": primitive(ew.shift_right),
    # Others
    "math.polyval": polyval, "clip_by_value": clip_by_value, "scalar_mul": scalar_mul,
    "cast": cast, "saturate_cast": saturate_cast, "bitcast": bitcast,
    "to_float": casting("float32"), "to_double": casting("float64"),
    "to_int32": casting("int32"), "to_int64": casting("int64"),
    "to_bfloat16": casting("bfloat16"),
})  # fmt: skip
