"""Functions of elements on tensors of other shapes and dtypes, and chains of functions."""

UNARY = "abs square exp sin tanh sigmoid floor cos negative erf log1p atan".split()
BINARY = "add subtract multiply maximum minimum squared_difference floordiv floormod".split()
COMPARED = "equal not_equal greater greater_equal less less_equal".split()
CASES = [
    *("tf.%s(%s)" % (f, a) for f in UNARY for a in ("t", "v", "x[0, 0]") if not (f == "log1p" and a != "p")),
    *("tf.%s(%s)" % (f, a) for f in BINARY for a in ("t, p", "v, 2.0", "whole, long[0, 0] * 0 + 2")
      if "long" not in a),
    *("tf.%s(%s)" % (f, a) for f in COMPARED for a in ("t, m", "whole, 1", "v, w", "d, 0.0")),
    *("tf.concat([%s], %d)" % (a, i) for a, i in (("m, m", 0), ("m, q", 1), ("t, t", 2), ("v, w", 0))),
    *("tf.reduce_sum(tf.%s(m) * q, %d)" % (f, i) for f in UNARY if f != "log1p" for i in (0, 1)),
    *("tf.nn.softmax(tf.matmul(m, n) * %s)" % c for c in ("1.0", "0.1", "10.0")),
    *("tf.transpose(t, %s)" % p for p in ("[0, 2, 1]", "[1, 0, 2]", "[2, 1, 0]", "[1, 2, 0]")),
    *("tf.reshape(m, %s)" % p for p in ("[4, 3]", "[-1]", "[2, -1]", "[1, 12, 1]")),
    *("tf.map_fn(lambda a: a * %s, m)" % c for c in ("2.0", "a", "tf.reduce_sum(a)")),
    *("tf.scan(lambda a, b: %s, m)" % c for c in ("a + b", "a * 0.5 + b", "tf.maximum(a, b)")),
    *("tf.foldl(lambda a, b: %s, v)" % c for c in ("a + b", "a * 0.5 + b", "a - b")),
    "tf.cond(tf.reduce_sum(m) > 0.0, lambda: m, lambda: q)",
    "tf.cond(tf.reduce_sum(m) > 100.0, lambda: m * 2.0, lambda: q * m)",
    "tf.case([(tf.reduce_sum(m) > 100.0, lambda: m)], default=lambda: q)",
    "tf.while_loop(lambda i, a: i < 3, lambda i, a: [i + 1, a * a], [0, unit])[1]",
    "tf.while_loop(lambda i, a: tf.reduce_sum(a) < 50.0, lambda i, a: [i + 1, a * 2.0], [0, p])",
]  # fmt: skip
ERRORS = ["tf.map_fn(lambda a: a, 3)", "tf.cond(True, m, m)"]
