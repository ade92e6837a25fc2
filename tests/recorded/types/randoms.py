"""Random numbers by seeds that are given; sizes and types of the others."""

KINDS = ("float16", "float32", "float64")
CASES = [
    *("tf.random.stateless_%s([3, 5], seed=[%s], dtype=tf.%s)" % (f, s, k) for f in ("uniform", "normal", "truncated_normal") for k in KINDS for s in ("1, -7", "0, 0")),
    *("tf.random.stateless_uniform([3, 7], seed=tf.constant([5, 2], tf.int64), minval=-5, maxval=%s, dtype=tf.%s)" % (m, k) for m in ("10", "-4", "1000000") for k in ("int32", "int64")),
    "tf.random.stateless_normal(tf.stack([2, tf.shape(m)[0]]), seed=[1, 2], mean=3.0, stddev=m[0, :3])", "tf.random.stateless_uniform([2, 3], seed=counts[:2], minval=m[0, 0], maxval=m[0, 1] + 4.0)",
    "tf.random.stateless_categorical(m, 6, seed=[3, 4])", "tf.random.stateless_categorical(d * 3.0, 4, seed=[30, 40], dtype=tf.int32)", "tf.random.stateless_uniform([], [1, 1])", "tf.random.stateless_uniform([0, 3], [1, 1])",
    "tf.random_uniform([2, 3])[:0]", "tf.random_uniform([2, tf.shape(m)[0]])[:0]", "tf.random_normal([4], dtype=tf.float64)[:0]", "tf.truncated_normal([4, 1], dtype=tf.float16)[:, :0]", "tf.random_uniform([4], 2, 3, dtype=tf.int64)", "tf.random_uniform([2], 0, 1, tf.int32)",
    "tf.random_gamma([2], p)[:0]", "tf.random_gamma([0, 2], p, beta=p)", "tf.random_poisson(p, [2, 1])[:0]", "tf.random_poisson(p, [0], dtype=tf.float64)", "tf.random_poisson(0.0, [3])", "tf.multinomial([[0.0, -1e9], [-1e9, 0.0]], 3)", "tf.random.categorical(m, 3)[:, :0]",
    "tf.random.shuffle(tf.ones([3, 2]))", "tf.random_crop(tf.ones([4, 3]), [2, 3])", "tf.raw_ops.NonDeterministicInts(shape=[2, 3])[:0]", "tf.raw_ops.ParameterizedTruncatedNormal(shape=[2, 4], means=[0.0, 5.0], stdevs=[1.0], minvals=[-1.0, 4.0], maxvals=[1.0, 6.0])[:, :0]",
    "tf.nn.dropout(m, rate=0.0)", "tf.nn.dropout(tf.zeros_like(m), 0.4)", "tf.keras.initializers.Zeros()([2, 3])", "tf.random_normal([3], mean=m[0, :3], stddev=0.0)",
]  # fmt: skip
ERRORS = [
    "tf.random_uniform([2, -3])", "tf.random_uniform([2], 3, 3, dtype=tf.int32)", "tf.random_uniform([2], dtype=tf.int32)", "tf.random_uniform([2], dtype=tf.uint8)", "tf.random_normal([[2]])", "tf.random.stateless_uniform([2], [1])", "tf.random.stateless_uniform([2], [1, 2, 3])",
    "tf.random.stateless_uniform([2], [1, 2], 3, 3, dtype=tf.int32)", "tf.multinomial(v, 3)", "tf.multinomial(m, -1)", "tf.random_gamma([2, -1], p)", "tf.random_poisson(p, [-1])", "tf.random_crop(m, [4, 4])", "tf.random_crop(m, [5, 1])",
]  # fmt: skip
