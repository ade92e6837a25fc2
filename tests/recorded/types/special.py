"""Single elements: special functions at their edges, bits, quotients."""

R = "tf.raw_ops."
EDGES = "np.array([0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 10.0, -10.0, 50.0, -50.0, 1e-8, np.inf, -np.inf, np.nan], 'float%d')"
ONE = (
    "Acos Acosh Asin Asinh Atan Atanh BesselI0e BesselI1e Cos Cosh Digamma Erf Erfc Exp Expm1"
    " Inv Lgamma Log1p Reciprocal Sigmoid Sin Sinh Softplus Softsign Tan Tanh Elu Selu Relu Relu6"
    " Floor Ceil Rint Round Sign Square Rsqrt Sqrt Log IsNan IsInf IsFinite Abs Neg"
).split()
FIRST = {"Elu", "Selu", "Relu", "Relu6", "Softplus", "Softsign"}
TWO = "Atan2 Igamma Igammac Zeta Polygamma NextAfter Xdivy Xlogy DivNoNan MulNoNan Pow Mod FloorMod FloorDiv TruncateMod RealDiv SquaredDifference Maximum Minimum".split()
PAIRS = (
    "np.array([0.5, 1.0, 2.0, 3.5, 10.0, 60.0, 0.0, 1.0], 'float64')",
    "np.array([1.5, 0.0, 7.0, 0.25, 12.0, 50.0, 2.0, -1.0], 'float64')",
)
CASES = [
    *("%s%s(%s=%s)" % (R, n, "features" if n in FIRST else "x", EDGES % w) for n in ONE for w in (32, 64)),
    *("%s%s(%s=%s)" % (R, n, "features" if n in FIRST else "x", "half") for n in ONE),
    *("%s%s(%s=v[:, tf.newaxis] * 0.2 + 0.3)" % (R, n, "features" if n in FIRST else "x") for n in ONE),
    *("%s%s(%s)" % (R, n, ("a=%s, x=%s" if n in ("Igamma", "Igammac", "Polygamma") else "x1=%s, x2=%s"
      if n == "NextAfter" else "x=%s, q=%s" if n == "Zeta" else "y=%s, x=%s" if n == "Atan2" else "x=%s, y=%s") % PAIRS)
      for n in TWO),
    *("%s%s(%s)" % (R, n, ("a=p + 1., x=p[0] * 2. + 1." if n in ("Igamma", "Igammac") else "x1=m, x2=q[0]"
      if n == "NextAfter" else "a=tf.constant(2.0), x=p" if n == "Polygamma" else "x=p + 1.5, q=p[0] * 2."
      if n == "Zeta" else "y=m, x=q[0]" if n == "Atan2" else "x=p, y=p[0] * 0.7")) for n in TWO),
    R + "Betainc(a=p[0] * 3., b=p[1] * 2., x=p[2] / 1.2)", R + "Betainc(a=tf.constant(2.0), b=tf.constant(3.0), x=unit * 0.5 + 0.5)",
    R + "Betainc(a=np.array([0.0, 1.0, 2.0, 40.0]), b=np.array([1.0, 2.0, 0.5, 60.0]), x=np.array([0.5, 0.0, 1.0, 0.4]))",
    R + "IgammaGradA(a=p + 0.5, x=p[0] * 3.)", R + "IgammaGradA(a=np.array([0.3, 2.0, 15.0]), x=np.array([0.2, 3.0, 11.0]))",
    R + "RandomGammaGrad(alpha=p + 0.5, sample=p[0] * 3.)",
    R + "ApproximateEqual(x=m, y=m + 1e-6)", R + "ApproximateEqual(x=m, y=tf.round(m), tolerance=0.2)",
    R + "PopulationCount(x=whole)", R + "PopulationCount(x=bytes)", R + "PopulationCount(x=long * 12345)",
    R + "Mod(x=whole, y=tf.constant([3, -3, 5]))", R + "Mod(x=long, y=tf.constant(4, tf.int64))",
    R + "TruncateDiv(x=whole, y=tf.constant([3, -3, 5]))", R + "Div(x=whole, y=tf.constant([3, -3, 5]))",
    R + "FloorDiv(x=bytes, y=tf.constant([3, 7, 5], tf.uint8))", R + "FloorMod(x=whole, y=tf.constant([3, -3, 5]))",
    R + "CompareAndBitpack(input=tf.tile(m, [1, 2]), threshold=0.1)", R + "CompareAndBitpack(input=tf.concat([yes, yes], 1), threshold=True)",
    R + "Bucketize(input=m, boundaries=[-1.0, 0.0, 0.5])", R + "Bucketize(input=whole, boundaries=[-2.0, 1.0, 5.0])",
    R + "Cross(a=tf.reshape(m, [4, 3]), b=tf.reshape(q, [4, 3]))", R + "Cross(a=whole, b=whole * 2 + 1)",
    R + "GuaranteeConst(input=m)", R + "DeepCopy(x=m)", R + "Snapshot(input=m)",
    "tf.clip_by_value(half, -0.5, 0.5)", R + "ClipByValue(t=m, clip_value_min=-0.3, clip_value_max=0.4)",
    R + "LeakyRelu(features=m, alpha=0.3)", R + "LeakyReluGrad(gradients=m, features=q, alpha=0.3)",
    R + "BiasAddV1(value=t, bias=m[0])", R + "LinSpace(start=v[0], stop=v[1], num=5)", R + "LinSpace(start=1.0, stop=4.0, num=1)",
    R + "Range(start=tf.cast(p[0, 0], tf.int32), limit=6, delta=2)", R + "Range(start=0.5, limit=2.0, delta=0.4)",
    R + "Bitcast(input=bytes[:, :2], type=tf.uint16)", R + "Bitcast(input=whole, type=tf.uint8)", R + "Bitcast(input=d, type=tf.float32)",
    R + "Bitcast(input=m, type=tf.int16)", R + "Cast(x=m * 100., DstT=tf.int8)", R + "Cast(x=m * 300., DstT=tf.uint8)",
    R + "Cast(x=m, DstT=tf.bfloat16)", "tf.cast(tf.cast(m, tf.bfloat16), tf.float32)", R + "Cast(x=whole, DstT=tf.int64)",
    R + "Cast(x=d * 3.7, DstT=tf.int32, Truncate=True)", R + "LeftShift(x=whole, y=tf.constant([1, 2, 3]))",
    R + "RightShift(x=long, y=tf.constant([1, 2], tf.int64))", R + "Invert(x=bytes)", R + "LogicalNot(x=yes)",
]  # fmt: skip
ERRORS = [
    R + "Cross(a=m, b=m)", R + "Betainc(a=p, b=p[:2], x=p)", R + "CompareAndBitpack(input=m, threshold=0.1)",
    R + "Igamma(a=m, x=n)", R + "LinSpace(start=v, stop=1.0, num=3)", R + "LinSpace(start=0.0, stop=1.0, num=0)",
    R + "Range(start=0, limit=5, delta=0)", R + "Range(start=5, limit=0, delta=1)", R + "Range(start=[0], limit=5, delta=1)",
    R + "Bitcast(input=bytes, type=tf.uint16)", R + "Bitcast(input=bytes[:, 0], type=tf.float32)", R + "BiasAddV1(value=t, bias=m)",
]  # fmt: skip
