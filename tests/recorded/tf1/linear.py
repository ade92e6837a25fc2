"""Matrices: inverses, determinants, solutions, triangles."""

CASES = [
    *("tf.%s(%s)" % (f, a) for f in ("matrix_inverse", "cholesky", "trace")
      for a in ("definite", "definite[1]")),
    "tf.linalg.inv(definite)", "tf.matrix_inverse(definite, adjoint=True)", "tf.linalg.det(definite / 5.0)", "tf.matrix_determinant(definite[1] / 4.0)",
    "tf.matrix_solve(definite, right)", "tf.linalg.solve(definite[0], right[0])",
    "tf.matrix_solve(definite, right, True)", "tf.linalg.logdet(definite)",
    *("tf.matrix_band_part(m, %s)" % a for a in ("0, 0", "-1, 0", "0, -1", "1, 1", "-1, -1")),
    "tf.linalg.band_part(t, 1, 0)", "tf.trace(m)", "tf.linalg.trace(t)",
    "tf.matrix_set_diag(definite, s)", "tf.linalg.matvec(s, s[0])", "tf.linalg.matvec(m, s[0], transpose_a=True)",
    "tf.cross(s, s * s)", "tf.linalg.cross(s[0], s[1])",
]  # fmt: skip
ERRORS = ["tf.matrix_inverse(v)", "tf.cross(m)", "tf.trace()"]
