"""Sparse tensors: fed, made dense, multiplied, joined; against SciPy and dense arithmetic."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from _support.expansion import expanded_numpy

from kameleon import backend as K
from kameleon.backend.sparse import feed_parts, sparse_concatenate, to_scipy
from kameleon.engines import Engine
from kameleon.engines._kernels.sparse import sparse_dot, sparse_to_dense
from kameleon.errors import EvaluationError, FeedError, MissingLibraryError, ShapeError
from kameleon.runtime.function import Function

pytestmark = pytest.mark.usefixtures("engine")  # on each engine that is installed

Array = np.ndarray[Any, Any]


def matrix(seed: int, rows: int, columns: int, density: float = 0.3) -> Array:
    """A dense float64 matrix with zeros, among them whole rows and columns."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(rows, columns)) * (rng.random((rows, columns)) < density)
    values[rows // 2] = 0
    values[:, columns // 2] = 0
    return np.asarray(values)


A = matrix(0, 7, 9)
FORMATS = ["csr", "csc", "coo", "lil", "dok", "bsr"]


def shuffled(dense: Array, seed: int = 1) -> Any:
    """A COO matrix whose elements come in any order, each in two halves."""
    i, j = np.nonzero(dense)
    i, j = np.tile(i, 2), np.tile(j, 2)
    order = np.random.default_rng(seed).permutation(len(i))
    return sp.coo_matrix((dense[i, j][order] / 2, (i[order], j[order])), shape=dense.shape)


# How the elements of a matrix may come.
ORDERS: dict[str, Any] = {
    "ascending rows": lambda pairs: np.lexsort(pairs[::-1]),
    "ascending columns": np.lexsort,
    "neither": lambda pairs: np.arange(len(pairs[0]))[::-1],
}


# --- what is sparse -----------------------------------------------------------------------------


def test_is_sparse_takes_anything() -> None:
    assert K.is_sparse(K.placeholder((2, 2), sparse=True))
    assert K.is_sparse(K.variable(sp.csr_matrix(A)))
    others = [K.placeholder((2, 2)), K.zeros((2,)), A, sp.csr_matrix(A), None, 3, "x", [K], object]
    assert not any(map(K.is_sparse, others))


def test_attributes() -> None:
    x = K.placeholder((None, 4), dtype="float64", sparse=True, name="text")
    assert (x.shape, K.ndim(x), K.dtype(x)) == ((None, 4), 2, "float64")
    assert K.is_tensor(x) and K.is_placeholder(x) and K.int_shape(x) == (None, 4)
    assert repr(x) == "<kameleon.SparseTensor 'text:0' shape=(None, 4) dtype=float64>"


def test_to_dense_of_a_dense_tensor_is_the_tensor() -> None:
    x = K.placeholder((2, 2))
    assert K.to_dense(x) is x


# --- values -------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["matrix", "array"])
@pytest.mark.parametrize("form", FORMATS)
def test_feeding_any_format(form: str, kind: str) -> None:
    value = (sp.csr_matrix if kind == "matrix" else sp.csr_array)(A).asformat(form)
    x = K.placeholder(A.shape, dtype="float64", sparse=True)
    np.testing.assert_array_equal(K.function([x], [K.to_dense(x)])([value])[0], A)


def test_feeding_a_dense_array() -> None:
    x = K.placeholder((None, None), dtype="float64", sparse=True)
    f = K.function([x], [K.to_dense(x), x])
    dense, same = f([A])
    np.testing.assert_array_equal(dense, A)
    assert same.nnz == np.count_nonzero(A)


def test_fed_elements_come_in_row_major_order_without_duplicates() -> None:
    value = shuffled(A)
    before = value.row.copy(), value.col.copy(), value.data.copy()
    indices, values, shape = feed_parts(value, K.placeholder((7, 9), sparse=True))
    assert indices.tolist() == np.argwhere(A).tolist()
    np.testing.assert_allclose(values, A[np.nonzero(A)])
    assert indices.dtype == shape.dtype == "int64" and shape.tolist() == [7, 9]
    for old, new in zip(before, (value.row, value.col, value.data), strict=True):
        np.testing.assert_array_equal(old, new)


def test_feeding_leaves_an_uncanonical_matrix_alone() -> None:
    value = sp.csr_matrix((np.ones(3), np.array([2, 0, 2]), np.array([0, 3])), shape=(1, 3))
    _, values, _ = feed_parts(value, K.placeholder((1, 3), sparse=True))
    assert values.tolist() == [1, 2]
    assert value.indices.tolist() == [2, 0, 2]


def test_feeds_are_cast_like_dense_ones() -> None:
    x = K.placeholder((7, 9), dtype="float32", sparse=True)
    f = K.function([x], [K.to_dense(x)])
    value = f([sp.csr_matrix(A)])[0]
    assert value.dtype == "float32"
    np.testing.assert_array_equal(value, A.astype("float32"))
    whole = K.placeholder((7, 9), dtype="int32", sparse=True)
    with pytest.raises(FeedError, match="int32"):
        K.function([whole], [K.to_dense(whole)])([sp.csr_matrix(A)])


@pytest.mark.parametrize("value", [sp.csr_matrix(A.T), sp.csr_matrix(A[:6]), A[0]])
def test_feeding_another_shape_is_refused(value: Any) -> None:
    x = K.placeholder((7, 9), sparse=True, name="bag")
    with pytest.raises(FeedError, match=r"'bag:0' has shape \(7, 9\)"):
        K.function([x], [K.to_dense(x)])([value])


def test_an_unfed_placeholder_is_named() -> None:
    x = K.placeholder((7, 9), sparse=True, name="bag")
    with pytest.raises(FeedError, match="bag"):
        K.eval(K.to_dense(x))


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int32", "bool"])
def test_variables(dtype: str) -> None:
    dense = np.round(A * 4).astype(dtype)
    x = K.variable(sp.csr_matrix(np.round(A * 4)), dtype=dtype, name="links")
    assert (x.shape, K.dtype(x)) == ((7, 9), dtype)
    value = K.get_value(x)
    value = value if dtype == "float16" else value.toarray()
    assert value.dtype == dtype
    np.testing.assert_array_equal(value, dense)
    np.testing.assert_array_equal(K.eval(x), dense)
    np.testing.assert_array_equal(K.eval(K.to_dense(x)), dense)
    np.testing.assert_array_equal(x.eval() if dtype == "float16" else x.eval().toarray(), dense)


def test_a_variable_keeps_no_hold_of_the_matrix() -> None:
    value = sp.csr_matrix(A)
    x = K.variable(value, dtype="float64")
    value.data[:] = 0
    np.testing.assert_array_equal(K.eval(x), A)


def test_empty_matrices() -> None:
    for shape in [(3, 4), (0, 4), (3, 0)]:
        x = K.placeholder((None, None), sparse=True)
        y = K.placeholder((None, 2))
        f = K.function([x, y], [x, K.to_dense(x), K.dot(x, y)])
        value, dense, product = f([sp.csr_matrix(shape), np.ones((shape[1], 2))])
        assert value.shape == dense.shape == shape and not dense.any()
        assert product.shape == (shape[0], 2) and not product.any()


def test_other_ranks() -> None:
    cube = np.zeros((2, 3, 4))
    cube[1, 2, 3], cube[0, 0, 1] = 5, 7
    x = K.placeholder((None, 3, 4), sparse=True)
    f = K.function([x], [K.to_dense(x), x])
    for value in f([cube]):
        np.testing.assert_array_equal(value, cube)


def test_without_scipy_values_are_an_error_that_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "scipy.sparse", None)
    parts = (np.array([[0, 1]]), np.ones(1), np.array([2, 2]))
    with pytest.raises(MissingLibraryError, match="pip install scipy"):
        to_scipy(parts)
    x = K.placeholder((7, 9), dtype="float64", sparse=True)
    np.testing.assert_array_equal(K.function([x], [K.to_dense(x)])([A])[0], A)


# --- products -----------------------------------------------------------------------------------


@pytest.mark.parametrize("known", [True, False], ids=["static", "unknown"])
@pytest.mark.parametrize("columns", [1, 5])
def test_dot(columns: int, known: bool) -> None:
    weights = np.random.default_rng(2).normal(size=(9, columns))
    x = K.placeholder(A.shape if known else (None, None), dtype="float64", sparse=True)
    y = K.placeholder(weights.shape if known else (None, None), dtype="float64")
    product = K.dot(x, y)
    assert K.int_shape(product) == ((7, columns) if known else (None, None))
    np.testing.assert_allclose(K.function([x, y], [product])([shuffled(A), weights])[0],
                               A @ weights, rtol=1e-12)  # fmt: skip


def test_dot_of_a_promoted_pair() -> None:
    x = K.variable(sp.csr_matrix(A), dtype="float32")
    product = K.dot(x, K.constant(np.ones((9, 2)), dtype="float64"))
    assert K.dtype(product) == "float64"


@pytest.mark.parametrize("shape", [(8, 2), (9,), (9, 2, 2)])
def test_dot_of_shapes_that_do_not_fit(shape: tuple[int, ...]) -> None:
    with pytest.raises(ShapeError, match=r"dot: .*\(7, 9\)"):
        K.dot(K.placeholder((7, 9), sparse=True), K.zeros(shape))


def test_dot_of_sizes_that_differ_at_run_time() -> None:
    x = K.placeholder((None, None), dtype="float64", sparse=True)
    product = K.dot(x, K.ones((10, 2), dtype="float64"))
    with pytest.raises(EvaluationError, match="columns"):
        K.function([x], [product])([sp.csr_matrix(A)])


def test_gradients_with_respect_to_both_factors() -> None:
    rng = np.random.default_rng(3)
    weights, seed = rng.normal(size=(9, 4)), rng.normal(size=(7, 4))
    x = K.variable(sp.csr_matrix(A), dtype="float64")
    y = K.variable(weights, dtype="float64")
    loss = K.sum(K.dot(x, y) * K.constant(seed, dtype="float64"))
    of_x, of_y = (K.eval(g) for g in K.gradients(loss, [x, y]))
    np.testing.assert_allclose(of_y, A.T @ seed, rtol=1e-12)
    np.testing.assert_allclose(of_x, (seed @ weights.T)[np.nonzero(A)], rtol=1e-12)


def test_second_order_gradient_of_a_product() -> None:
    rng = np.random.default_rng(4)
    weights = rng.normal(size=(9, 3))
    x, y = K.variable(sp.csr_matrix(A), dtype="float64"), K.variable(weights, dtype="float64")
    slope = K.gradients(K.sum(K.square(K.dot(x, y))), [y])[0]  # 2 A'A y
    second = K.eval(K.gradients(K.sum(slope), [y])[0])
    np.testing.assert_allclose(second, 2 * A.T @ A @ np.ones((9, 3)), rtol=1e-10, atol=1e-12)
    of_values = K.eval(K.gradients(K.sum(slope), [x])[0])
    ones = np.ones((9, 3))
    expected = 2 * (A @ weights @ ones.T + A @ ones @ weights.T)
    np.testing.assert_allclose(of_values, expected[np.nonzero(A)], rtol=1e-10)


def test_gradient_through_to_dense() -> None:
    x = K.variable(sp.csr_matrix(A), dtype="float64")
    loss = K.sum(K.square(K.to_dense(x)))
    np.testing.assert_allclose(K.eval(K.gradients(loss, [x])[0]), 2 * A[np.nonzero(A)])


def test_a_model_on_sparse_rows_trains() -> None:
    rng = np.random.default_rng(5)
    rows = sp.random(64, 500, 0.05, format="csr", random_state=6)
    target = rows @ rng.normal(size=(500, 1))
    x = K.placeholder((None, 500), sparse=True)
    t = K.placeholder((None, 1))
    w = K.zeros((500, 1))
    loss = K.mean(K.square(K.dot(x, w) - t))
    step = K.function([x, t], [loss], updates=[(w, w - 1.5 * K.gradients(loss, [w])[0])])
    losses = [float(step([rows, target])[0]) for _ in range(300)]
    assert losses[-1] < 0.02 * losses[0]


# --- the native rules and what they stand for ---------------------------------------------------


def test_expansions_agree_with_the_native_rules() -> None:
    weights = np.random.default_rng(7).normal(size=(9, 4))
    for shape in [A.shape, (None, None)]:
        x = K.placeholder(shape, dtype="float64", sparse=True)
        y = K.placeholder((None, 4), dtype="float64")
        outputs = [K.to_dense(x), K.dot(x, y), *K.gradients(K.sum(K.dot(x, y) ** 2), [x, y])]
        feeds = [*feed_parts(shuffled(A), x), weights]
        engine = expanded_numpy("sparse_to_dense", "sparse_dense_dot")
        native = Function([*x.parts, y], outputs)(feeds)
        plain = Function([*x.parts, y], outputs, engine=engine)(feeds)
        for a, b in zip(native, plain, strict=True):
            assert a.dtype == b.dtype
            np.testing.assert_allclose(a, b, rtol=1e-12)


@pytest.mark.parametrize("scipy", [True, False], ids=["SciPy's kernel", "without SciPy"])
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("rows, columns, width, count", [
    (3, 40, 200, 90), (500, 30, 3, 700), (50, 50, 40_000, 60), (1000, 1000, 70, 4000), (4, 3, 1, 9),
    (5, 5, 0, 3), (5, 5, 2, 0), (0, 5, 2, 0),
])  # fmt: skip
def test_the_embedded_product(
    monkeypatch: pytest.MonkeyPatch, rows: int, columns: int, width: int, count: int,
    order: str, scipy: bool,
) -> None:  # fmt: skip
    if not scipy:
        monkeypatch.setattr("kameleon.engines._kernels.sparse.compiled", lambda: None)
    rng = np.random.default_rng(8)
    pairs = [rng.integers(0, size, count if size else 0) for size in (rows, columns)]
    indices = np.stack(pairs, axis=1)[ORDERS[order](pairs)]
    values, y = rng.normal(size=count), rng.normal(size=(columns, width))
    dense = sparse_to_dense(indices, values, (rows, columns))
    np.testing.assert_allclose(
        dense, sp.coo_matrix((values, tuple(indices.T)), shape=(rows, columns)).toarray()
    )
    product = sparse_dot(indices, values, y, rows)
    assert product.shape == (rows, width) and product.dtype == "float64"
    np.testing.assert_allclose(product, dense @ y, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32", "int64"])
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("width", [1, 3])
def test_what_is_stored_counts_and_nothing_else(order: str, width: int, dtype: str) -> None:
    """A stored 0 times NaN is NaN, what isn't stored times NaN is nothing."""
    pairs = [np.array([0, 0, 1, 3]), np.array([1, 2, 2, 0])]
    at = ORDERS[order](pairs)
    values = np.array([0, 2, 3, -1], dtype)
    worst = np.nan if np.dtype(dtype).kind == "f" else 7
    y = np.stack([[1, worst, 5, worst]] * width, axis=1).astype(dtype)
    sparse = K.placeholder((4, 4), dtype=dtype, sparse=True)
    dense = K.placeholder((4, width), dtype=dtype)
    f = Function([*sparse.parts, dense], [K.dot(sparse, dense)])
    (got,) = f([np.stack(pairs, 1)[at], values[at], np.array([4, 4]), y])
    first = 0 * worst + 10
    np.testing.assert_array_equal(got, np.stack([[first, 15, 0, -1]] * width, axis=1))
    assert got.dtype == dtype


@pytest.mark.parametrize("bad", [[0, 3], [2, 0], [-1, 0], [0, -1]])
@pytest.mark.parametrize("native", [True, False], ids=["native", "expanded"])
def test_indices_outside_are_refused(bad: list[int], native: bool) -> None:
    engine = None if native else expanded_numpy("sparse_to_dense", "sparse_dense_dot")
    x = K.placeholder((2, 3), sparse=True)
    product = K.dot(x, K.ones((3, 2)))
    feeds = [np.array([[0, 1], bad]), np.ones(2, "float32"), np.array([2, 3])]
    with pytest.raises(EvaluationError, match="out of range"):
        Function(list(x.parts), [product], engine=engine)(feeds)


# --- joining ------------------------------------------------------------------------------------


@pytest.mark.parametrize("axis", [0, 1, -1, -2])
@pytest.mark.parametrize("known", [True, False], ids=["static", "unknown"])
def test_concatenate(axis: int, known: bool) -> None:
    blocks = [matrix(9, 4, 4), matrix(10, 4, 4), matrix(11, 4, 4)]
    tensors = [
        K.placeholder((4, 4) if known else (None, None), dtype="float64", sparse=True)
        for _ in blocks
    ]
    joined = K.concatenate(tensors, axis=axis)
    assert K.is_sparse(joined)
    expected = np.concatenate(blocks, axis)
    assert joined.shape == (expected.shape if known else (None, None))
    f = K.function(tensors, [joined, K.to_dense(joined), K.dot(joined, K.ones(
        (expected.shape[1], 2), dtype="float64"))])  # fmt: skip
    value, dense, product = f([sp.csr_matrix(b) for b in blocks])
    np.testing.assert_array_equal(value.toarray(), expected)
    np.testing.assert_array_equal(dense, expected)
    np.testing.assert_allclose(product[:, 0], expected.sum(axis=1), atol=1e-12)


def test_concatenate_what_does_not_fit() -> None:
    x, y = (K.placeholder(s, sparse=True) for s in ((3, 4), (2, 5)))
    with pytest.raises(ShapeError, match="concatenate"):
        K.concatenate([x, y], axis=0)
    with pytest.raises(ShapeError, match="concatenate"):
        sparse_concatenate([x, K.placeholder((1, 3, 4), sparse=True)], 0)
    with pytest.raises(ShapeError, match="axis 2"):
        sparse_concatenate([x, x], 2)
    a, b = (K.placeholder((None, None), sparse=True) for _ in range(2))
    with pytest.raises(EvaluationError, match="differ in the size"):
        K.function([a, b], [K.concatenate([a, b], axis=0)])([np.eye(3), np.eye(4)])


def test_gradient_through_concatenate() -> None:
    x, y = (K.variable(sp.csr_matrix(matrix(s, 4, 4)), dtype="float64") for s in (12, 13))
    weights = np.arange(16.0).reshape(8, 2)
    loss = K.sum(K.dot(K.concatenate([x, y], axis=1), K.constant(weights, dtype="float64")))
    for tensor, rows, dense in zip(
        (x, y), np.split(weights, 2), map(K.get_value, (x, y)), strict=True
    ):
        slope = K.eval(K.gradients(loss, [tensor])[0])
        np.testing.assert_allclose(slope, rows.sum(axis=1)[dense.tocoo().col])


# --- other functions ----------------------------------------------------------------------------


def test_casting_keeps_the_elements() -> None:
    x = K.variable(sp.csr_matrix(A), dtype="float64")
    narrow = K.cast(x, "float32")
    assert K.is_sparse(narrow) and K.dtype(narrow) == "float32"
    np.testing.assert_array_equal(K.eval(narrow), A.astype("float32"))


def test_functions_of_dense_tensors_say_what_to_do() -> None:
    with pytest.raises(ValueError, match="to_dense"):
        K.exp(K.placeholder((2, 2), sparse=True))


# --- how long rows are -----------------------------------------------------------------------

LENGTHS = {
    "even": [3] * 40,
    "one is long": [0, 1, 5000, 2, 0, 7],
    "all are long": [700, 900],
    "falling and rising": [*range(30), *range(60, 0, -2)],
    "none but the last": [0] * 20 + [1],
}


@pytest.mark.parametrize("width", [1, 5, 70])
@pytest.mark.parametrize("name", LENGTHS)
def test_products_of_rows_of_all_lengths(engine: Engine, name: str, width: int) -> None:
    """In any order, with elements that occur more than once."""
    rng = np.random.default_rng(len(name) + width)
    rows = np.repeat(np.arange(len(LENGTHS[name])), LENGTHS[name])
    columns = rng.integers(0, 300, len(rows))
    values = rng.normal(size=len(rows)).astype("float32")
    dense = rng.normal(size=(300, width)).astype("float32")
    whole = np.zeros((len(LENGTHS[name]), 300))
    np.add.at(whole, (rows, columns), values.astype("float64"))
    x, y = K.placeholder((None, 300), sparse=True), K.placeholder((300, width))
    product = K.dot(x, y)
    run = K.function([x, y], [product, *K.gradients(K.sum(K.square(product)), [y])])
    for order in (np.arange(len(rows)), rng.permutation(len(rows))):
        parts = values[order], (rows[order], columns[order])
        got, slope = run([sp.coo_matrix(parts, whole.shape), dense])
        want = whole @ dense
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-3)
        np.testing.assert_allclose(slope, 2 * whole.T @ want, rtol=1e-3, atol=0.02)
