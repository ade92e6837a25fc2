"""Linear operators; and values that are known before a graph runs."""

KINDS = [
    "tf.linalg.LinearOperatorDiag(p[:, :3])",
    "tf.linalg.LinearOperatorFullMatrix(definite)",
    "tf.linalg.LinearOperatorFullMatrix(square, is_non_singular=True)",
    "tf.linalg.LinearOperatorLowerTriangular(definite)",
    "tf.linalg.LinearOperatorScaledIdentity(3, p[0])",
    "tf.linalg.LinearOperatorIdentity(3)",
    "tf.linalg.LinearOperatorComposition([tf.linalg.LinearOperatorLowerTriangular(definite[0]),"
    " tf.linalg.LinearOperatorDiag(p[0, :3])])",
    "tf.linalg.LinearOperatorAdjoint(tf.linalg.LinearOperatorLowerTriangular(definite[0]))",
    "tf.linalg.LinearOperatorInversion(tf.linalg.LinearOperatorFullMatrix(definite,"
    " is_non_singular=True))",
    "tf.linalg.LinearOperatorLowRankUpdate(tf.linalg.LinearOperatorDiag(p[0, :3],"
    " is_positive_definite=True), s[:, :2], tf.exp(v[:2]), is_diag_update_positive=True)",
]
ASKED = [
    "to_dense()", "matmul(tf.eye(3) + 0.5)", "matmul(s, adjoint=True, adjoint_arg=True)", "matvec(s[0])",
    "solve(tf.eye(3) + 0.5)", "solve(tf.eye(3) - 0.5, adjoint=True)", "solvevec(s[1])", "determinant()",
    "log_abs_determinant()", "trace()", "diag_part()", "add_to_tensor(s)", "shape_tensor()",
    "batch_shape_tensor()", "domain_dimension_tensor()", "range_dimension_tensor()",
    "tensor_rank_tensor()", "H.to_dense()", "H.matvec(s[0])",
]  # fmt: skip
CASES = [
    "%s.%s" % (kind, asked)
    for kind in KINDS
    for asked in ASKED
    if not ("Composition" in kind and asked.startswith("H."))
    and not (kind == KINDS[1] and asked == "determinant()")  # slopes of 20 differ by rounding
] + [
    "tf.linalg.LinearOperatorFullMatrix(definite, is_positive_definite=True, is_self_adjoint=True)"
    ".cholesky().to_dense()",
    "tf.linalg.LinearOperatorDiag(p[0]).inverse().to_dense()",
    "tf.linalg.LinearOperatorDiag(p[0]).matmul(tf.linalg.LinearOperatorFullMatrix(q[:, :1] * v[:4]"
    " + tf.eye(4)[:3, :1] + tf.zeros([3, 4]), is_square=False).H).to_dense()",
    "tf.one_hot(ids, 3, tf.exp(v[0]), v[1])", "tf.one_hot(ids, 3, axis=0)",
    "tf.one_hot([[0, 2], [1, -1]], 3, axis=1)", "tf.one_hot(ids, 3, 5, dtype=tf.float64)",
    "tf.one_hot(ids, 2, True, False)", "tf.one_hot(ids, 2, 7, -1)",
    "tf.reduce_sum(t, tf.range(1, 3))", "tf.gather(m, [1, 0], axis=tf.constant(1))",
    "tf.concat([[], tf.constant([3, 4])], 0)",
    "tf.convert_to_tensor(tf.TensorShape([]))", "tf.convert_to_tensor(tf.TensorShape([2, 3]))",
    "tf.transpose(t, tf.concat([tf.range(1, 3), [0]], 0))",
]  # fmt: skip
ERRORS = [
    "tf.linalg.LinearOperatorDiag(p[0], is_positive_definite=True, is_non_singular=False)",
    "tf.linalg.LinearOperatorFullMatrix(definite, is_non_singular=True, is_square=False)",
    "tf.linalg.LinearOperatorFullMatrix(m[:, :3], is_non_singular=False).solve(s)",
]
