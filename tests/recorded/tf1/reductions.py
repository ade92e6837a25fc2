"""Reductions, products, choices by index: functions with axes."""

REDUCTIONS = "sum mean max min prod logsumexp".split()
TRUTHS = "any all".split()
AXES = ["", ", 0", ", 1", ", -1", ", axis=[0, 1]", ", 1, True", ", axis=-1, keepdims=True"]
OLDER = [", reduction_indices=0", ", 0, keep_dims=True"]
CASES = [
    *("tf.reduce_%s(m%s)" % (f, axis) for f in REDUCTIONS for axis in AXES + OLDER),
    *("tf.reduce_%s(t%s)" % (f, axis) for f in REDUCTIONS for axis in AXES),
    *("tf.reduce_%s(d%s)" % (f, axis) for f in REDUCTIONS for axis in AXES[:4]),
    *("tf.reduce_%s(whole%s)" % (f, axis) for f in REDUCTIONS[:5] for axis in AXES if f != "mean"),
    *("tf.reduce_%s(yes%s)" % (f, axis) for f in TRUTHS for axis in AXES + OLDER),
    *("tf.math.reduce_%s(m%s)" % (f, axis) for f in ("std", "variance") for axis in AXES),
    *("tf.%s(m%s)" % (f, axis) for f in ("argmax", "argmin") for axis in ("", ", 1", ", axis=-1")),
    *("tf.%s(t, %d, output_type=tf.int32)" % (f, i) for f in ("argmax", "argmin") for i in range(3)),
    *("tf.argmax(m, dimension=1)", "tf.argmin(whole, 1)", "tf.argmax(counts)"),
    *("tf.%s(m%s)" % (f, o) for f in ("cumsum", "cumprod") for o in ("", ", 1", ", axis=-1")),
    *("tf.count_nonzero(whole%s)" % axis for axis in ("", ", 0", ", axis=1", ", 1, True")),
    *("tf.matmul(%s)" % a for a in (
        "m, n", "t, u", "m, q, transpose_b=True", "m, q, True", "s, s", "square, right",
        "tf.transpose(m), m", "definite, right", "d, tf.transpose(d)")),
    *("tf.tensordot(%s)" % a for a in ("m, n, 1", "t, u, [[0, 2], [0, 1]]", "v, w, 1", "v, w, 0",
                                       "t, n, [[2], [0]]")),
    *("tf.einsum('%s', %s)" % a for a in (
        ("ij,jk->ik", "m, n"), ("bij,bjk->bik", "t, u"), ("ij->ji", "m"), ("ij->", "m"),
        ("i,i->", "v, w"), ("i,j->ij", "v, w"), ("bij->bj", "t"), ("bij,jk->bik", "t, n"))),
    *("tf.norm(m%s)" % o for o in ("", ", 1", ", axis=1", ", axis=0, keepdims=True", ", ord=1, axis=1")),
    *("tf.add_n(%s)" % a for a in ("[m, q]", "[m]", "[m, q, m * 2.0]", "[whole, whole]")),
    *("tf.nn.l2_normalize(m%s)" % o for o in (", 1", ", axis=0", ", dim=-1", ", [0, 1]", ", 1, 0.5")),
    *("tf.nn.moments(m, %s)" % o for o in ("[0]", "[1]", "axes=[0, 1]", "[0], keep_dims=True")),
    *("tf.nn.moments(x, [0, 1, 2])", "tf.nn.l2_loss(m)", "tf.accumulate_n([m, q])"),
    *("tf.gather(%s)" % a for a in (
        "m, [0, 2]", "m, [[0, 1], [2, 0]]", "m, 1", "m, [3, 0], axis=1", "t, [1], axis=2", "v, six",
        "whole, [1]", "params=t, indices=[0], axis=0")),
    *("tf.gather_nd(%s)" % a for a in ("m, [[0, 2], [1, 1]]", "m, [[1], [0]]", "t, [[1, 2, 3]]",
                                       "t, [[[0, 1]], [[1, 0]]]")),
    *("tf.boolean_mask(%s)" % a for a in ("m, yes", "v, no", "m, [True, False, True]", "whole, whole > 0")),
    *("tf.where(%s)" % a for a in ("yes", "no", "yes, m, q", "no, v, w", "whole > 0", "m > 0.0, m, -m")),
    *("tf.one_hot(%s)" % a for a in ("six, 3", "counts, 4", "[1, 2], 3, 5.0, -1.0", "whole, 4",
                                     "six, 3, dtype=tf.int32", "six, depth=5, on_value=2.0")),
    *("tf.nn.top_k(%s)" % a for a in ("m", "m, 2", "v, 3", "t, k=2")),
    *("tf.argsort(%s)" % a for a in ("m", "m, 0", "v, direction='DESCENDING'", "t, axis=1")),
    *("tf.scatter_nd(%s)" % a for a in ("[[1], [3], [1]], m, [5, 4]", "[[0, 1], [2, 2]], [1.0, 2.0], [3, 4]")),
    *("tf.segment_sum(m, ids)", "tf.unsorted_segment_sum(m, [3, 0, 3], 5)", "tf.diag(v)", "tf.linspace(1.0, 4.0, 7)"),
]  # fmt: skip
ERRORS = [
    "tf.reduce_sum(m, 2)", "tf.reduce_mean(m, -3)", "tf.matmul(m, m)", "tf.gather(m, [0], axis=4)",
    "tf.argmax(m, 5)", "tf.einsum('ij,jk', m)", "tf.tensordot(m, m, 1)",
]  # fmt: skip
