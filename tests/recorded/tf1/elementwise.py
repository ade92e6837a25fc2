"""Single elements: arithmetic, logic, bits, comparisons, casts, special functions."""

FLOATS = (
    "abs sign square negative exp expm1 log1p sin cos tan floor ceil round rint is_nan is_inf"
    " is_finite sigmoid tanh log_sigmoid atan asinh sinh cosh erf erfc reciprocal real conj"
    " math.bessel_i0 math.bessel_i1 math.bessel_i0e math.bessel_i1e math.softplus math.softsign"
    " math.reciprocal_no_nan"
).split()
POSITIVE = "log sqrt rsqrt lgamma digamma".split()
INSIDE = "asin acos atanh".split()
BINARY = (
    "add subtract multiply maximum minimum squared_difference equal not_equal greater"
    " greater_equal less less_equal floordiv floormod mod truediv divide div realdiv div_no_nan"
    " atan2 math.multiply_no_nan math.xdivy math.nextafter floor_div"
).split()
INTEGERS = (
    "add subtract multiply maximum minimum squared_difference equal not_equal greater"
    " greater_equal less less_equal floordiv floormod mod truediv divide div truncatediv"
    " truncatemod floor_div"
).split()
BITS = "bitwise_and bitwise_or bitwise_xor".split()

CASES = [
    *("tf.%s(m)" % name for name in FLOATS),
    *("tf.%s(d)" % name for name in FLOATS if name not in ("real", "conj")),
    *("tf.%s(p)" % name for name in POSITIVE),
    *("tf.%s(unit)" % name for name in INSIDE),
    *("tf.%s(m, q)" % name for name in BINARY),
    *("tf.%s(m, 0.5)" % name for name in BINARY),
    *("tf.%s(t, m)" % name for name in BINARY),
    *("tf.%s(whole, 3)" % name for name in INTEGERS),
    *("tf.%s(whole, whole[:, :1] * 2 + 1)" % name for name in INTEGERS),
    *("tf.bitwise.%s(counts, 5)" % name for name in BITS),
    *("tf.bitwise.%s(whole, whole * 3)" % name for name in BITS),
    *("tf.%s(no, tf.reverse(no, [0]))" % n for n in ("logical_and", "logical_or", "logical_xor")),
    "tf.logical_not(yes)", "tf.bitwise.invert(whole)", "tf.bitwise.invert(bytes)",
    "tf.bitwise.left_shift(counts, 2)", "tf.bitwise.right_shift(whole, 1)",
    *("tf.%s(whole)" % n for n in ("abs", "sign", "square", "negative", "round")),
    "tf.acosh(p + 1.0)", "tf.zeta(p + 2.0, 3.0 * p)", "tf.polygamma(tf.round(3.0 * p), p + 0.5)",
    "tf.lgamma(-2.3 * p)", "tf.digamma(-1.5 - p / 3.0)", "tf.lbeta(p)", "tf.lgamma(d * 4.0)",
    "tf.igamma(p * 3.0, p + 1.0)", "tf.igammac(p, p + 0.3)", "tf.betainc(p, p + 1.0, p / 1.2)",
    "tf.pow(p, m)", "tf.pow(m, 2.0)", "tf.pow(whole, 2)", "tf.pow(p, 0.5)",
    "tf.math.xlogy(p, p + 1.0)", "tf.math.xlogy(tf.zeros([3, 4]), m * 0.0)",
    "tf.div_no_nan(m, tf.zeros_like(m))", "tf.math.divide_no_nan(m, tf.floor(p))",
    "tf.math.multiply_no_nan(m / 0.0, m * 0.0)", "tf.math.reciprocal_no_nan(tf.floor(p))",
    "tf.truncatediv(whole, -2)", "tf.truncatemod(m, 0.4)", "tf.truncatemod(whole, 4)",
    "tf.is_nan(m / tf.zeros_like(m) * 0.0)", "tf.is_inf(m / 0.0)", "tf.is_finite(m / 0.0)",
    "tf.math.polyval([1.0, -2.0, 3.0], m)", "tf.math.polyval([m, q, 2.0 * m], q)",
    "tf.clip_by_value(m, -0.5, 0.7)", "tf.clip_by_value(whole, -1, 4)", "tf.scalar_mul(2.0, m)",
    "tf.clip_by_value(m, q - 1.0, q + 1.0)", "tf.clip_by_value(m, v[:4] - 1.0, 1.0)",
    "tf.cast(m * 5.0, tf.int32)", "tf.cast(whole, tf.float64)", "tf.cast(yes, tf.float32)",
    "tf.cast(counts, tf.bool)", "tf.cast(m, tf.float16)", "tf.to_float(whole)", "tf.to_int32(d)",
    "tf.to_double(m)", "tf.to_int64(m * 3.0)", "tf.cast(whole, tf.uint8)",
    "tf.saturate_cast(whole * 100, tf.uint8)", "tf.saturate_cast(m * 1e12, tf.int32)",
    "tf.saturate_cast(m * 300.0, tf.int8)", "tf.dtypes.saturate_cast(long * 10**9, tf.int32)",
    "tf.bitcast(m, tf.int32)", "tf.bitcast(whole, tf.float32)", "tf.bitcast(d, tf.int64)",
    "tf.exp(half)", "tf.sqrt(tf.abs(half))", "tf.add(half, 1.5)", "tf.square(half)",
    "tf.angle(m)", "tf.imag(m)", "tf.math.sign(x=m)", "tf.math.log(x=p, name='z')",
    "m + q", "m * 2.0", "1.0 / p", "2.0 - m", "m // 0.3", "m % 0.3", "-m", "abs(m)", "m ** 2.0",
    "whole + 1", "whole // 2", "whole % 3", "whole / 2", "m > 0.0", "m <= q", "~yes", "yes & yes",
    "yes | yes", "2.0 ** m", "3 - whole", "whole * whole", "m / q",
]  # fmt: skip
ERRORS = [
    "tf.add(m, n)", "tf.exp()", "tf.exp(m, m, m)", "tf.exp(y=m)",
    "tf.logical_and(m, m)", "tf.logical_not(m)", "tf.bitwise.bitwise_and(m, m)",
    "tf.add(m, 'a')", "tf.cast(m, 'nothing')", "tf.add(m)",
    "tf.equal(m, n)", "tf.clip_by_value(m)", "tf.exp(None)",
]  # fmt: skip
