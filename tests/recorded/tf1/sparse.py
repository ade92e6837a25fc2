"""Sparse tensors: made, made dense, reordered, cut, joined, added, multiplied, looked up."""

A = "tf.SparseTensor([[0, 1], [1, 0], [1, 3], [2, 2]], v[:4], [3, 4])"
B = "tf.SparseTensor(indices=[[0, 1], [1, 1], [2, 2]], values=w[:3], dense_shape=[3, 4])"
LOOSE = "tf.SparseTensor([[2, 2], [0, 3], [1, 0], [0, 1]], v[2:], [3, 4])"
CUBE = "tf.SparseTensor([[0, 0, 1], [0, 2, 3], [1, 1, 1]], v[:3], [2, 3, 4])"
IDS = "tf.SparseTensor([[0, 0], [0, 1], [2, 0]], [1, 0, 2], [3, 2])"
CASES = [
    A, CUBE, "tf.sparse.from_dense(tf.nn.relu(m))", "tf.sparse.from_dense(whole)", "tf.sparse.eye(3)", "tf.sparse.eye(2, 4, tf.float64)",
    *("tf.sparse_tensor_to_dense(%s%s)" % (x, o) for x in (A, CUBE) for o in ("", ", 9.0")), "tf.sparse.to_dense(%s, default_value=-1.0)" % B,
    *("tf.sparse_to_dense(%s)" % a for a in (
        "[[0, 1], [2, 0]], [3, 4], v[:2]", "[1, 3], [5], [7.0, 8.0], default_value=-1.0", "2, [4], 1", "[[0, 1], [1, 0]], [2, 2], 1.0", "counts[:1], [6], [2]")),
    *("tf.sparse_reorder(%s)" % x for x in (LOOSE, A)), *("tf.sparse_transpose(%s)" % a for a in (A, LOOSE, CUBE + ", [1, 2, 0]")),
    *("tf.sparse_reshape(%s, %s)" % a for a in ((A, "[4, 3]"), (A, "[12]"), (CUBE, "[-1, 4]"), (A, "[2, -1, 2]"))),
    *("tf.sparse.expand_dims(%s%s)" % (A, o) for o in ("", ", 0", ", axis=1")), "tf.sparse_retain(%s, [True, False, True, True])" % A,
    *("tf.sparse_slice(%s, %s)" % a for a in ((A, "[0, 1], [2, 3]"), (A, "[1, 0], [5, 2]"), (CUBE, "[0, 1, 0], [2, 2, 4]"))),
    "tf.sparse_split(sp_input=%s, num_split=2, axis=1)" % A, "tf.sparse_split(sp_input=%s, num_split=2, axis=0)[1]" % A,
    *("tf.sparse_concat(%d, [%s, %s])" % (i, A, B) for i in (0, 1)), "tf.sparse.concat(axis=-1, sp_inputs=[%s, %s])" % (A, B),
    "tf.sparse_reset_shape(%s)" % A, "tf.sparse_reset_shape(%s, [5, 6])" % A,
    *("tf.sparse_add(%s, %s)" % a for a in ((A, B), (A, "m"), ("m", A), (A, A))), "tf.sparse_add(%s, %s, 0.5)" % (A, B),
    *("tf.sparse_%s(%s, %s)" % (f, A, B) for f in ("maximum", "minimum")),
    *("tf.sparse_reduce_%s(%s%s)" % (f, x, o) for f in ("sum", "max") for x in (A, CUBE) for o in ("", ", 1", ", axis=[0, 1]", ", 0, keepdims=True", ", -1")),
    *("tf.sparse_reduce_%s_sparse(%s%s)" % (f, A, o) for f in ("sum", "max") for o in (", 0", ", 1")),
    *("tf.sparse_softmax(%s)" % x for x in (A, CUBE)),
    *("tf.sparse_tensor_dense_matmul(%s)" % a for a in (A + ", n", B + ", n", A + ", m, adjoint_a=True", A + ", m, adjoint_b=True", "tf.sparse.from_dense(m), n")),
    "tf.sparse.matmul(%s, n)" % A, "tf.sparse_matmul(m, n)", "tf.sparse_matmul(m, q, transpose_b=True)",
    "tf.sparse_to_indicator(%s, 4)" % IDS, "tf.sparse_fill_empty_rows(%s, 7)" % IDS, "tf.sparse_merge(%s, tf.SparseTensor([[0, 0], [0, 1], [2, 0]], v[:3], [3, 2]), 5)" % IDS,
    *("tf.nn.embedding_lookup_sparse(m, %s, %s)" % (IDS, o) for o in ("None", "None, combiner='sum'", "None, combiner='sqrtn'",
      "tf.SparseTensor([[0, 0], [0, 1], [2, 0]], r[:3], [3, 2])", "tf.SparseTensor([[0, 0], [0, 1], [2, 0]], r[:3], [3, 2]), combiner='sum'")),
    "tf.sets.size(tf.SparseTensor([[0, 0], [0, 1], [2, 0]], [1, 0, 2], [3, 2]))", "tf.shape(%s)" % A, "tf.cast(%s, tf.float64)" % A,
]  # fmt: skip
ERRORS = [
    "tf.SparseTensor([0, 1], [1.0, 2.0], [3])",
    "tf.sparse_tensor_to_dense(m)",
    "tf.sparse_reorder(m)",
    "tf.nn.embedding_lookup_sparse(m, %s, None, combiner='max')" % IDS,
]
