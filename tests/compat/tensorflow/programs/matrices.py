"""Factors, inverses and functions of matrices: values, static shapes, gradients, errors."""

import numpy as np
import tensorflow as tf
from recording import case, error_of, main, run, told

RNG = np.random.RandomState(1)
SQUARE = RNG.randn(2, 3, 3).astype("float32") + 2 * np.eye(3, dtype="float32")
DEFINITE = np.matmul(SQUARE, SQUARE.transpose(0, 2, 1)) + np.eye(3, dtype="float32")
WIDE, RIGHT = RNG.randn(2, 2, 3).astype("float32"), RNG.randn(2, 3, 2).astype("float32")


def given(array, shape=None):
    """An operand whose first size isn't known, and what is fed."""
    return tf.placeholder(array.dtype, shape or [None, *array.shape[1:]]), array


def check(function, *arrays):
    """What a function tells of arrays, with gradients."""
    pairs = [given(array) for array in arrays]
    return told(function(*[x for x, _ in pairs]), dict(pairs), [x for x, _ in pairs])


@case
def inverses():
    return [
        check(tf.linalg.inv, SQUARE),
        check(lambda a: tf.linalg.inv(a, adjoint=True), SQUARE),
        check(tf.linalg.det, SQUARE),
        check(tf.linalg.slogdet, SQUARE),
        check(tf.linalg.logdet, DEFINITE),
        error_of(lambda: tf.linalg.inv(np.ones((2, 2), "f"))),
        error_of(lambda: tf.linalg.inv(np.ones((2, 3), "f"))),
    ]


@case
def solutions():
    return [
        check(tf.linalg.solve, SQUARE, RIGHT),
        check(lambda a, b: tf.linalg.solve(a, b, adjoint=True), SQUARE, RIGHT),
        check(tf.linalg.triangular_solve, SQUARE, RIGHT),
        check(lambda a, b: tf.linalg.triangular_solve(a, b, False, True), SQUARE, RIGHT),
        check(lambda a, b: tf.linalg.cholesky_solve(tf.cholesky(a), b), DEFINITE, RIGHT),
        check(lambda a, b: tf.linalg.lstsq(a, b, 0.1), RIGHT, SQUARE),
        check(lambda a, b: tf.linalg.lstsq(a, b, 0.1), WIDE, WIDE[:, :, :2]),
        told(tf.linalg.lstsq(RIGHT, SQUARE, fast=False)),
        told(tf.linalg.lstsq(WIDE, WIDE[:, :, :2], fast=False)),
        error_of(lambda: tf.linalg.solve(np.ones((2, 2), "f"), np.ones((2, 1), "f"))),
        error_of(lambda: tf.linalg.solve(np.ones((2, 2), "f"), np.ones((3, 1), "f"))),
        error_of(lambda: tf.linalg.triangular_solve(np.zeros((2, 2), "f"), np.ones((2, 1), "f"))),
    ]


@case
def diagonals():
    three, right = RNG.randn(2, 3, 4).astype("float32"), RNG.randn(2, 4, 2).astype("float32")
    three[:, 1] += 4
    ops, a, b = tf.linalg, tf.constant(three), tf.constant(right)
    found = [check(ops.tridiagonal_solve, three, right)]
    found += [told(ops.tridiagonal_solve(a, b, partial_pivoting=False))]
    found += [told(ops.tridiagonal_solve(a[0], b[0]))]
    found += [check(lambda d, b: ops.tridiagonal_matmul(d, b), three, right)]
    return found


@case
def factors():
    def lined(a):
        q, r = tf.linalg.qr(a)
        return [tf.matmul(q, r), tf.abs(r)]

    def whole(a):
        q, r = tf.linalg.qr(a, full_matrices=True)
        return [tf.matmul(q, r), tf.abs(r)]

    def singular(a):
        s, u, v = tf.linalg.svd(a)
        return [s, tf.matmul(u * tf.expand_dims(s, -2), v, adjoint_b=True)]

    def spectral(a):
        e, v = tf.linalg.eigh(a)
        return [e, tf.matmul(v * tf.expand_dims(e, -2), v, adjoint_b=True)]

    return [
        check(tf.linalg.cholesky, DEFINITE),
        error_of(lambda: tf.linalg.cholesky(-np.eye(2, dtype="f"))),
        check(lined, RIGHT), told(lined(tf.constant(WIDE))), told(whole(tf.constant(RIGHT))),
        told(tf.linalg.qr(SQUARE)),
        check(singular, RIGHT), told(tf.linalg.svd(WIDE, compute_uv=False)),
        [x.shape.as_list() for x in tf.linalg.svd(WIDE, full_matrices=True)],
        check(spectral, DEFINITE), told(tf.linalg.eigvalsh(DEFINITE)),
        told(tf.raw_ops.CholeskyGrad(l=tf.cholesky(DEFINITE), grad=tf.constant(SQUARE))),
        told(tf.linalg.lu(SQUARE)), error_of(lambda: tf.linalg.lu(np.ones((2, 2)))),
    ]  # fmt: skip


@case
def functions():
    return [
        check(tf.linalg.expm, SQUARE / 3),
        told(tf.linalg.sqrtm(DEFINITE)),
        told(tf.real(tf.linalg.logm(DEFINITE.astype("complex64")))),
        check(tf.linalg.cross, RIGHT.transpose(0, 2, 1), WIDE),
        error_of(lambda: tf.linalg.cross(np.ones((2, 2)), np.ones((2, 2)))),
    ]


@case
def complex_numbers():
    a = (SQUARE + 1j * SQUARE.transpose(0, 2, 1)).astype("complex64")
    b = a[:, :, :1]
    h = tf.matmul(a, a, adjoint_b=True) + tf.cast(tf.eye(3), tf.complex64)
    parts = [tf.linalg.inv(a), tf.linalg.solve(a, b, adjoint=True), tf.linalg.det(a)]
    parts += [tf.linalg.cholesky(h), tf.linalg.eigvalsh(h), tf.linalg.svd(a, compute_uv=False)]
    return [told([tf.real(x), tf.imag(x)]) for x in parts]


@case
def sizes_that_are_unknown():
    x, y = tf.placeholder(tf.float32), tf.placeholder(tf.float32, [None, None, 4])
    found = [tf.cholesky(x), tf.matrix_inverse(y), tf.matrix_determinant(y), tf.qr(y)[1],
             tf.matrix_solve(x, y), tf.matrix_solve(y, x), tf.svd(y)[1], tf.svd(x)[0],
             tf.linalg.slogdet(x)[0], tf.self_adjoint_eig(y)[0], tf.matrix_triangular_solve(y, y),
             tf.linalg.lu(y)[1]]  # fmt: skip
    return [str(each.shape) for each in found]


@case
def half_precision():
    a, b = np.array([[4, 1], [1, 3]], "float16"), np.array([[1, 2], [3, 5]], "float16")
    found = []
    for x in (tf.constant(a), tf.placeholder_with_default(a, [None, 2])):
        solved = tf.linalg.triangular_solve(x, b)
        results = [tf.linalg.inv(x), tf.cholesky(x), tf.linalg.eigvalsh(x), solved]
        results += tf.gradients(results, x)
        results += [tf.svd(x, compute_uv=False), tf.matmul(*tf.linalg.qr(x))]
        found += [[y.dtype.name, told(tf.round(10.0 * tf.cast(y, tf.float32)))] for y in results]
    return found


@case
def order_of_rows():
    given = (tf.constant(SQUARE), tf.placeholder_with_default(SQUARE, [None, 3, 3]))
    orders = run([tf.linalg.lu(x, kind) for x in given for kind in (tf.int32, tf.int64)])
    return [[order.dtype.name, order] for _, order in orders]


@case
def parts_of_complex_numbers():
    real, imaginary = np.array([1.0, np.inf, -0.0, -0.0]), np.array([np.inf, 1.0, -0.0, 2.0])
    given = tf.placeholder(tf.float64, [4])
    z = tf.complex(given, imaginary)
    found = run(
        [tf.real(z), tf.angle(z), tf.imag(tf.roll(z, 1, 0)), tf.angle(z * 0.5)], {given: real}
    )
    return [[str(each) for each in row] for row in found]


@case
def sums_by_equations():
    """Of matrices that are fed, with known sizes and without, and of known ones."""

    def found(equation, *shapes):
        arrays = [np.asarray(RNG.randn(*shape), "float32") for shape in shapes]
        fed = [tf.placeholder("float32", shape) for shape in shapes]
        wide = [tf.placeholder("float32") for shape in shapes]
        sums = [
            tf.raw_ops.Einsum(inputs=each, equation=equation)
            for each in (fed, [tf.constant(each) for each in arrays], wide)
        ]
        given = {each: arrays[at] for many in (fed, wide) for at, each in enumerate(many)}
        return [[str(each.shape) for each in sums], run(sums, given)]

    return [
        found("ij,jk->ik", (2, 3), (3, 4)), found("bij,bjk->kb", (2, 3, 4), (2, 4, 2)),
        found("...ij,...jk->i...k", (2, 1, 3, 4), (5, 4, 2)), found("ii->i", (3, 3)),
        found("aab,b->a", (3, 3, 2), (2,)), found("ij->ji", (2, 3)), found("ijk->j", (2, 3, 2)),
        found("i,j->ji", (2,), (3,)), found("abc,cd->bd", (2, 3, 4), (4, 2)), found(",->", (), ()),
        found("...a,...a->...", (2, 3), (2, 3)), error_of(lambda: found("ij,jk", (2, 3), (3, 4))),
        error_of(lambda: found("ij,jk->ik", (2, 3), (4, 4))),
        error_of(lambda: found("ij->ik", (2, 3))), error_of(lambda: found("ij,j,j->i", (2, 3))),
    ]  # fmt: skip


if __name__ == "__main__":
    main()
