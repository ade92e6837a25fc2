"""Factors of matrices, norms, elements put at places, histograms, signals."""

CASES = [
    *("tf.matmul(*tf.qr(%s))" % a for a in ("square", "right", "t", "definite")), "tf.abs(tf.qr(square)[1])",
    "tf.abs(tf.qr(right).r)", "tf.linalg.qr(input=square * 2.0).r ** 2",
    *("tf.matrix_triangular_solve(definite, right%s)" % a for a in ("", ", lower=False", ", adjoint=True", ", False, True")),
    "tf.linalg.triangular_solve(definite[0], right[0])", "tf.cholesky_solve(tf.cholesky(definite), right)",
    "tf.linalg.cholesky_solve(tf.linalg.cholesky(definite), rhs=right)",
    *("tf.matrix_solve_ls(%s)" % a for a in (
        "definite, right", "tf.transpose(t, [0, 2, 1]), tf.transpose(t, [0, 2, 1])[..., :2], 0.1", "t, t[..., :2], l2_regularizer=0.5", "t, t[..., 1:3]")),
    "tf.linalg.lstsq(square, right, fast=False)",
    *("tf.self_adjoint_eig(definite)[%d]" % i for i in (0,)), "tf.abs(tf.self_adjoint_eig(definite)[1])", "tf.self_adjoint_eigvals(definite)",
    "tf.linalg.eigvalsh(definite[0])", "tf.linalg.eigh(definite)[0]",
    *("tf.svd(%s, compute_uv=False)" % a for a in ("square", "t", "right", "tf.transpose(t, [0, 2, 1])")),
    "tf.svd(square)[0]", "tf.abs(tf.svd(square)[1])", "tf.abs(tf.svd(right)[2])", "tf.abs(tf.svd(t)[1])",
    "tf.square(tf.svd(tf.transpose(t, [0, 2, 1]))[2])", "tf.svd(t, full_matrices=True)[0]", "tf.linalg.svd(square)[0]",
    *("tf.linalg.%s(%s)" % c for c in (
        ("slogdet", "square"), ("slogdet", "definite"), ("slogdet", "-definite"), ("logdet", "definite"), ("expm", "square"), ("expm", "square * 3.0) * tf.constant(1e-3"),
        ("expm", "tf.zeros_like(square)"), ("pinv", "square"), ("pinv", "t"), ("pinv", "right"), ("matrix_rank", "square"), ("matrix_rank", "t * [1., 1., 0., 0.]"),
        ("normalize", "m"), ("normalize", "m, axis=1"), ("normalize", "m, 1, 0"))),
    *("tf.norm(%s)" % a for a in (
        "m", "m, axis=1", "m, 1", "m, ord=1, axis=0", "m, np.inf, 1", "m, 3, axis=0", "t, 'fro', [1, 2]", "t, 1, [1, 2]", "t, np.inf, (1, 2)",
        "t, 2, [1, 2]", "t, 'euclidean', [0, 2], keepdims=True", "m, 2.5", "t, axis=[-2, -1], ord=1, keep_dims=True")),
    *("tf.math.cumulative_logsumexp(%s)" % a for a in ("m", "m, 1", "t, axis=2, exclusive=True", "m, 0, False, True", "m, axis=1, exclusive=True, reverse=True")),
    *("tf.tensor_scatter_%s(m, [[2], [0]], q[:2])" % f for f in ("update", "nd_update", "add", "nd_add", "sub", "nd_sub")),
    *("tf.tensor_scatter_%s(m, [[2, 1], [0, 3], [0, 0]], v[:3])" % f for f in ("update", "add", "sub")),
    "tf.tensor_scatter_add(m, [[1], [1]], q[:2])", "tf.tensor_scatter_update(whole, [[1, 1]], [9])", "tf.tensor_scatter_add(t, [[1, 2], [0, 1]], m[:2])",
    "tf.scatter_nd([[1], [3]], q[:2], [5, 4])",
    "tf.dynamic_stitch([[0, 2], [1, 3]], [m[:2], q[:2]])", "tf.dynamic_stitch([0, [[2, 1], [1, 3]]], [v[0], tf.reshape(w[:4], [2, 2])])",
    "tf.dynamic_stitch([ids[:1], [1, 2]], [m[:1], q[:2]])",
    *("tf.%s(%s)" % (f, a) for f in ("unsorted_segment_mean", "unsorted_segment_sqrt_n", "math.unsorted_segment_mean")
      for a in ("v, six, 3", "tf.transpose(t, [1, 0, 2]), ids, 4", "m, ids, num_segments=3")),
    *("tf.sparse_segment_%s(m, [0, 2, 1], [0, 0, 1]%s)" % (f, a) for f in ("sum", "mean", "sqrt_n") for a in ("", ", num_segments=4")),
    *("tf.arg_%s(%s)" % (f, a) for f in ("max", "min") for a in ("m, 0", "m, dimension=1", "m, 1, tf.int32")),
    *("tf.searchsorted(%s)" % a for a in ("tf.sort(m), q", "tf.sort(m), q, side='right'", "[1, 3, 3, 8], [[0, 3, 9]][0]", "[1, 3, 3, 8], counts, 'right', tf.int64")),
    "tf.unravel_index(counts, [2, 3])", "tf.unravel_index([5, 22], dims=tf.constant([3, 4, 2]))", "tf.unravel_index(7, [3, 4])",
    *("tf.histogram_fixed_width%s(%s)" % (f, a) for f in ("", "_bins") for a in (
        "v, [-1.0, 1.0], 4", "m, [-2.0, 2.0], nbins=5", "p, [0.0, 1.0]", "v, [-1.0, 1.0], 4, dtype=tf.int64")),
    *("tf.where_v2(%s)" % a for a in ("yes, m, q", "no, v, 0.0", "yes", "m > 0.0, m, q[0]", "tf.constant(True), v, w")),
    *("tf.%s(%s)" % (f, a) for f in ("is_non_decreasing", "is_strictly_increasing") for a in ("v", "tf.sort(v)", "[1, 2, 2]", "[1, 2, 3]")),
    "tf.debugging.is_strictly_increasing([3.0])", *("tf.math.reduce_euclidean_norm(%s)" % a for a in ("m", "m, 1", "t, [0, 2], True")),
    "tf.tuple([m, v * 2.0])", "tf.switch_case(counts[0], [lambda: m, lambda: q, lambda: m * 2.0, lambda: q * 3.0])",
    "tf.switch_case(counts[5], [lambda: m, lambda: q], default=lambda: m * q)", "tf.vectorized_map(lambda a: a * a, m)",

    *("tf.signal.frame(%s)" % a for a in ("m, 2, 1", "v, 3, 2", "v, 3, 2, pad_end=True", "m, 3, 2, True, 9.0", "t, 2, 1, axis=1", "v, 4, 4, True")),
    *("tf.signal.overlap_and_add(%s)" % a for a in ("m, 2", "t, 1", "t, 4", "t, 5")),
    *("tf.signal.%s_window(%s)" % (f, a) for f in ("hann", "hamming") for a in ("1", "6", "7", "8, periodic=False", "7, False, tf.float64")),
    *("tf.signal.%s(%s)" % (f, a) for f in ("dct", "idct") for a in (
        "m", "t, norm='ortho'", "m, 3", "m, type=3, norm='ortho'", "m, 1", "m, 2, norm='ortho'")),
    "tf.signal.dct(m, n=3)", "tf.signal.dct(m, n=6)", "tf.spectral.dct(m)",
    *("tf.signal.linear_to_mel_weight_matrix(%s)" % a for a in ("", "5, 17, 8000, 80.0, 3000.0", "num_mel_bins=10, num_spectrogram_bins=65, sample_rate=16000, dtype=tf.float64")),
    "tf.signal.mfccs_from_log_mel_spectrograms(t)",
]  # fmt: skip
ERRORS = [
    "tf.matrix_triangular_solve(definite, m)",
    "tf.qr(v)",
    "tf.svd(v)",
    "tf.norm(m, 'other')",
    "tf.norm(m, -1)",
    "tf.searchsorted([1, 2], [1], side='middle')",
    "tf.signal.dct(m, 7)",
    "tf.signal.dct(m, axis=0)",
    "tf.signal.linear_to_mel_weight_matrix(20, 129, 8000, 125.0, 9000.0)",
    "tf.assert_proper_iterable(m)",
    "tf.tuple([])",
    "tf.assert_same_float_dtype([m, d])",
    "tf.where_v2(yes, m)",
]
