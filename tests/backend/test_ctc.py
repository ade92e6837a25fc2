"""CTC cost and decoding, against sums over all alignments of small problems."""

from __future__ import annotations

import itertools
from collections import defaultdict
from typing import Any

import numpy as np
import pytest

from kameleon import backend as K
from kameleon.errors import ArgumentError, EvaluationError, ShapeError

pytestmark = pytest.mark.usefixtures("engine")  # on each engine that is installed

Array = np.ndarray[Any, Any]
INF = float("inf")


def distributions(seed: int, samples: int, time: int, classes: int, sharp: float = 1.5) -> Array:
    """What a softmax might give: float64 (samples, time, classes)."""
    scores = np.random.default_rng(seed).normal(0, sharp, (samples, time, classes))
    p = np.exp(scores)
    return np.asarray(p / p.sum(axis=-1, keepdims=True))


def spelled(alignment: tuple[int, ...], blank: int) -> tuple[int, ...]:
    """Repeats merged, blanks dropped."""
    merged = [c for c, before in zip(alignment, (None, *alignment), strict=False) if c != before]
    return tuple(c for c in merged if c != blank)


def all_sequences(p: Array, epsilon: float = 1e-7) -> dict[tuple[int, ...], float]:
    """The probability of every label sequence, summed over alignments; p: (time, classes)."""
    q = (p + epsilon) / (p + epsilon).sum(axis=1, keepdims=True)
    found: dict[tuple[int, ...], float] = defaultdict(float)
    time, classes = q.shape
    for alignment in itertools.product(range(classes), repeat=time):
        chance = float(np.prod([q[t, c] for t, c in enumerate(alignment)]))
        found[spelled(alignment, classes - 1)] += chance
    return found


def cost_of(
    y_true: Any, y_pred: Array, input_length: Any, label_length: Any, dtype: str = "float64"
) -> tuple[Array, Array]:
    """The cost and its gradient, with every size but that of the classes unknown."""
    y = K.placeholder((None, None, y_pred.shape[2]), dtype=dtype)
    labels = K.placeholder((None, None), dtype="int32")
    lengths = [K.placeholder((None, 1), dtype="int32") for _ in range(2)]
    cost = K.ctc_batch_cost(labels, y, *lengths)
    f = K.function([labels, y, *lengths], [cost, *K.gradients(cost, [y])])
    values = f([y_true, y_pred.astype(dtype), *(np.reshape(n, (-1, 1)) for n in
                                                (input_length, label_length))])  # fmt: skip
    return values[0], values[1]


# --- the cost -----------------------------------------------------------------------------------

SEQUENCES = [(), (0,), (1, 1), (0, 1), (2, 0, 2), (1, 1, 1), (0, 1, 2, 0)]


@pytest.mark.parametrize("time", [1, 2, 5])
def test_cost_is_the_sum_over_all_alignments(time: int) -> None:
    p = distributions(time, len(SEQUENCES), time, 4)
    y_true = np.full((len(SEQUENCES), 4), 9)  # what lies behind a sequence is no label
    for row, labels in enumerate(SEQUENCES):
        y_true[row, : len(labels)] = labels
    costs, _ = cost_of(y_true, p, [time] * len(SEQUENCES), [len(s) for s in SEQUENCES])
    assert costs.shape == (len(SEQUENCES), 1)
    for labels, cost, each in zip(SEQUENCES, costs[:, 0], p, strict=True):
        chance = all_sequences(each).get(labels, 0.0)
        np.testing.assert_allclose(cost, -np.log(chance) if chance else INF, rtol=1e-12)


def test_all_sequences_together_have_probability_one() -> None:
    p = distributions(3, 1, 4, 3)
    sequences = [s for n in range(5) for s in itertools.product((0, 1), repeat=n)]
    y_true = np.array([[*s, *[0] * (4 - len(s))] for s in sequences])
    count = len(sequences)
    costs, _ = cost_of(y_true, np.repeat(p, count, 0), [4] * count, [len(s) for s in sequences])
    np.testing.assert_allclose(np.exp(-costs).sum(), 1, rtol=1e-12)


def test_steps_and_labels_beyond_the_lengths_do_not_matter() -> None:
    p = distributions(4, 2, 6, 4)
    other = p.copy()
    other[0, 4:], other[1, 2:] = distributions(5, 1, 2, 4)[0], distributions(6, 1, 4, 4)[0]
    costs, slope = cost_of([[0, 1, 2], [2, 0, 0]], p, [4, 2], [2, 1])
    same, _ = cost_of([[0, 1, -7], [2, 99, 3]], other, [4, 2], [2, 1])
    np.testing.assert_array_equal(costs, same)
    assert not slope[0, 4:].any() and not slope[1, 2:].any()
    assert slope[0, :4].all() and slope[1, :2].all()
    for row, (labels, n) in enumerate([((0, 1), 4), ((2,), 2)]):
        chance = all_sequences(p[row, :n])[labels]
        np.testing.assert_allclose(costs[row, 0], -np.log(chance), rtol=1e-12)


def test_empty_input() -> None:
    costs, slope = cost_of([[0], [0]], distributions(7, 2, 3, 3), [0, 0], [0, 1])
    assert costs.ravel().tolist() == [0, INF]
    assert not slope.any()


def test_no_labels_at_all() -> None:
    p = distributions(8, 2, 3, 3)
    costs, _ = cost_of(np.zeros((2, 0)), p, [3, 2], [0, 0])
    blanks = [p[0, :, -1].prod(), p[1, :2, -1].prod()]
    np.testing.assert_allclose(costs[:, 0], -np.log(blanks), rtol=1e-5)


def test_steps_are_normalised() -> None:
    p = distributions(9, 2, 4, 3)
    factors = np.random.default_rng(0).uniform(0.5, 2, (2, 4, 1))
    args = ([[0, 1], [1, 1]], [4, 4], [2, 2])
    costs, _ = cost_of(args[0], p, *args[1:])
    scaled, _ = cost_of(args[0], p * factors, *args[1:])
    np.testing.assert_allclose(scaled, costs, rtol=1e-6)


@pytest.mark.parametrize("dtype, tolerance", [("float16", 2e-3), ("float32", 1e-5)])
def test_dtypes(dtype: str, tolerance: float) -> None:
    p = distributions(10, 3, 6, 5).astype(dtype)
    args = ([[0, 1, 1], [3, 2, 0], [2, 0, 0]], [6, 5, 6], [3, 2, 1])
    costs, slope = cost_of(args[0], p, *args[1:], dtype=dtype)
    exact, exact_slope = cost_of(args[0], p.astype("float64"), *args[1:])
    assert costs.dtype == slope.dtype == dtype
    np.testing.assert_allclose(costs, exact, rtol=tolerance)
    np.testing.assert_allclose(slope, exact_slope, rtol=10 * tolerance, atol=10 * tolerance)


def test_long_inputs_neither_underflow_nor_drift() -> None:
    p = distributions(11, 2, 1500, 20, sharp=3)
    y_true = np.random.default_rng(1).integers(0, 19, (2, 200))
    costs, slope = cost_of(y_true, p, [1500, 1400], [200, 3], dtype="float32")
    exact, exact_slope = cost_of(y_true, p, [1500, 1400], [200, 3])
    assert exact.min() > 1000  # probabilities far below the smallest float32
    np.testing.assert_allclose(costs, exact, rtol=1e-5)
    live = np.abs(exact_slope) > 1e-2
    np.testing.assert_allclose(slope[live], exact_slope[live], rtol=0.05)


def test_certain_and_impossible_predictions_stay_finite() -> None:
    p = np.eye(4)[[[0, 3, 1], [2, 2, 2]]]
    costs, slope = cost_of([[0, 1], [0, 1]], p, [3, 3], [2, 2], dtype="float32")
    np.testing.assert_allclose(costs[0], 0, atol=1e-5)
    assert 30 < costs[1, 0] < 3 * 17
    assert np.isfinite(slope).all()


# --- its gradient -------------------------------------------------------------------------------

CASE = (
    np.array([[0, 1, 1], [2, 2, 0], [1, 0, 0]]),
    distributions(12, 3, 5, 4),
    np.array([5, 4, 5]),
    np.array([3, 2, 0]),
)


def differences(f: Any, x: Array, step: float = 1e-5) -> Array:
    """The gradient of a scalar function by central differences."""
    slope = np.zeros_like(x)
    for at in np.ndindex(x.shape):
        ahead, behind = x.copy(), x.copy()
        ahead[at] += step
        behind[at] -= step
        slope[at] = (f(ahead) - f(behind)) / (2 * step)
    return slope


def test_gradient_matches_differences() -> None:
    y_true, p, steps, counts = CASE
    _, slope = cost_of(y_true, p, steps, counts)
    by_differences = differences(lambda y: cost_of(y_true, y, steps, counts)[0].sum(), p)
    np.testing.assert_allclose(slope, by_differences, rtol=1e-6, atol=1e-6)


def test_second_order_gradient_matches_differences() -> None:
    y_true, p, steps, counts = CASE
    weights = np.random.default_rng(2).normal(size=p.shape)
    y = K.placeholder((None, None, 4), dtype="float64")
    lengths = [K.constant(n.reshape(-1, 1), dtype="int32") for n in (steps, counts)]
    cost = K.ctc_batch_cost(K.constant(y_true, dtype="int32"), y, *lengths)
    along = K.sum(K.gradients(cost, [y])[0] * K.constant(weights, dtype="float64"))
    f = K.function([y], [along])
    (second,) = K.function([y], K.gradients(along, [y]))([p])
    by_differences = differences(lambda x: f([x])[0], p)
    np.testing.assert_allclose(second, by_differences, rtol=1e-5, atol=1e-5)


def test_impossible_samples_cost_inf_and_leave_the_others_alone() -> None:
    p = distributions(13, 3, 3, 4)
    y_true = [[0, 0], [0, 1], [2, 2]]
    costs, slope = cost_of(y_true, p, [2, 2, 1], [2, 2, 2])  # 0 0 takes three steps
    assert costs[0, 0] == costs[2, 0] == INF
    assert not slope[0].any() and not slope[2].any()
    alone, alone_slope = cost_of(y_true[1:2], p[1:2], [2], [2])
    assert costs[1] == alone[0]
    np.testing.assert_array_equal(slope[1], alone_slope[0])


def test_a_model_learns_to_spell() -> None:
    logits = K.variable(np.zeros((1, 6, 4)))
    labels = K.constant([[2, 0, 0]], dtype="int32")
    lengths = [K.constant([[n]], dtype="int32") for n in (6, 3)]
    y = K.softmax(logits)
    cost = K.ctc_batch_cost(labels, y, *lengths)
    slope = K.gradients(cost, [logits])[0]
    (path,), _ = K.ctc_decode(y, K.constant([6], dtype="int32"))
    train = K.function([], [cost], updates=[(logits, logits - slope)])
    first, *_, last = (float(train([])[0][0, 0]) for _ in range(100))
    assert first > 3 and last < 0.1
    np.testing.assert_array_equal(K.eval(path), [[2, 0, 0]])


# --- wrong arguments ----------------------------------------------------------------------------

P = distributions(14, 2, 3, 4)


@pytest.mark.parametrize(
    "y_true, steps, counts, message",
    [
        ([[3, 0], [0, 1]], [3, 3], [2, 2], "label of y_true"),
        ([[0, -1], [0, 1]], [3, 3], [2, 2], "label of y_true"),
        ([[0, 1], [0, 1]], [4, 3], [2, 2], "input_length"),
        ([[0, 1], [0, 1]], [3, -1], [2, 2], "input_length"),
        ([[0, 1], [0, 1]], [3, 3], [3, 2], "label_length"),
        ([[0, 1], [0, 1]], [3, 3], [2, -2], "label_length"),
    ],
)
def test_values_out_of_range_are_named(y_true: Any, steps: Any, counts: Any, message: str) -> None:
    with pytest.raises(EvaluationError, match=f"ctc_batch_cost: .*{message}"):
        cost_of(y_true, P, steps, counts)


@pytest.mark.parametrize(
    "y_true, y_pred, steps, counts",
    [
        ([[0, 1]], P, [3, 3], [2, 2]),
        ([[0, 1], [0, 1]], P, [3], [2, 2]),
        ([[0, 1], [0, 1]], P, [3, 3], [2]),
        ([[0, 1], [0, 1]], P[:1], [3, 3], [2, 2]),
    ],
)
def test_numbers_of_samples_that_differ_are_refused(
    y_true: Any, y_pred: Array, steps: Any, counts: Any
) -> None:
    with pytest.raises(ValueError, match=r"differ|shape"):
        cost_of(y_true, y_pred, steps, counts)
    lengths = [K.constant(np.reshape(n, (-1, 1)), dtype="int32") for n in (steps, counts)]
    with pytest.raises(ShapeError, match="numbers of samples differ"):
        K.ctc_batch_cost(K.constant(y_true), K.constant(y_pred), *lengths)


def test_wrong_axes_are_named() -> None:
    y_true, y_pred = K.zeros((2, 2), dtype="int32"), K.constant(P)
    column, row = K.ones((2, 1), dtype="int32"), K.ones((2,), dtype="int32")
    for arguments, name in [
        ((y_pred, y_pred, column, column), "y_true"),
        ((y_true, y_true, column, column), "y_pred"),
        ((y_true, y_pred, row, column), "input_length"),
        ((y_true, y_pred, column, y_true), "label_length"),
    ]:
        with pytest.raises(ShapeError, match=f"ctc_batch_cost: {name} must have shape"):
            K.ctc_batch_cost(*arguments)
    with pytest.raises(ShapeError, match=r"input_length must have shape \(samples,\)"):
        K.ctc_decode(y_pred, column)


# --- decoding -----------------------------------------------------------------------------------


def decoded(
    p: Array, lengths: Any, **options: Any
) -> tuple[list[list[tuple[int, ...]]], Array, list[Array]]:
    """The sequences without their filling, the scores, and the arrays as they came."""
    y = K.placeholder((None, None, p.shape[2]), dtype=str(p.dtype))
    n = K.placeholder((None,), dtype="int32")
    paths, scores = K.ctc_decode(y, n, **options)
    *arrays, values = K.function([y, n], [*paths, scores])([p, lengths])
    sequences = [[tuple(row[row >= 0].tolist()) for row in a] for a in arrays]
    return sequences, values, arrays


def test_greedy_spells_the_best_path() -> None:
    p, lengths = distributions(15, 6, 8, 4), [8, 3, 0, 1, 8, 5]
    (sequences,), scores, (array,) = decoded(p, lengths)
    expected = [
        spelled(tuple(row[:n].argmax(axis=1).tolist()), 3)
        for row, n in zip(p, lengths, strict=True)
    ]
    assert sequences == expected
    assert array.shape == (6, max(map(len, expected)))
    sums = [-np.log(row[:n].max(axis=1) + 1e-7).sum() for row, n in zip(p, lengths, strict=True)]
    np.testing.assert_allclose(scores[:, 0], sums, rtol=1e-12)


def test_a_wide_beam_is_exact() -> None:
    p, lengths = distributions(16, 4, 5, 3), [5, 5, 4, 3]
    sequences, scores, _ = decoded(p, lengths, greedy=False, beam_width=400, top_paths=3)
    for row, n in enumerate(lengths):
        ranked = sorted(all_sequences(p[row, :n]).items(), key=lambda item: -item[1])[:3]
        assert [each[row] for each in sequences] == [labels for labels, _ in ranked]
        np.testing.assert_allclose(np.exp(scores[row]), [c for _, c in ranked], rtol=1e-9)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("greedy", [True, False])
def test_decoding_gives_int64_and_the_dtype_of_the_prediction(dtype: str, greedy: bool) -> None:
    p = distributions(17, 2, 4, 3).astype(dtype)
    _, scores, arrays = decoded(p, [4, 4], greedy=greedy)
    assert scores.dtype == dtype
    assert [a.dtype for a in arrays] == ["int64"]


def test_static_types_of_decoding() -> None:
    y, n = K.placeholder((5, 7, 4)), K.placeholder((None,), dtype="int32")
    paths, scores = K.ctc_decode(y, n, greedy=False, top_paths=2)
    assert [K.int_shape(p) for p in paths] == [(None, None)] * 2
    assert K.int_shape(scores) == (5, 2)
    assert {K.dtype(p) for p in paths} == {"int64"}


@pytest.mark.parametrize("shape", [(5, 7, 4), (1, 6, 2), (0, 5, 3), (2, 0, 3), (3, 4, 1)])
def test_repeats_of_beams_are_merged(shape: tuple[int, int, int]) -> None:
    p, lengths = distributions(9, *shape), np.full(shape[0], shape[1])
    (sequences,), _, _ = decoded(p, lengths, greedy=False, beam_width=20)
    _, _, (merged,) = decoded(p, lengths, greedy=False, beam_width=20, merge_repeated=True)
    rows = [[label for label, _ in itertools.groupby(row)] for row in sequences]
    longest = max(map(len, rows), default=0)
    assert merged.dtype == "int64"
    assert merged.shape == (shape[0], longest)
    assert merged.tolist() == [[*row, *[-1] * (longest - len(row))] for row in rows]


def test_the_best_path_heeds_no_repeats() -> None:
    p, lengths = distributions(9, 5, 7, 4), np.full(5, 7)
    (path,), _, _ = decoded(p, lengths)
    (same,), _, _ = decoded(p, lengths, merge_repeated=True)
    assert same == path


@pytest.mark.parametrize("options", [{"top_paths": 3, "beam_width": 2}, {"top_paths": 0},
                                     {"beam_width": 2.5}])  # fmt: skip
def test_wrong_beams_are_refused(options: Any) -> None:
    with pytest.raises(ArgumentError, match=r"ctc_decode: .*beam_width"):
        K.ctc_decode(K.constant(P), K.ones((2,), dtype="int32"), greedy=False, **options)


def test_decoding_beyond_the_input_is_refused() -> None:
    with pytest.raises(EvaluationError, match="beyond the 3 time steps"):
        decoded(P, [3, 4])


# --- labels as a sparse tensor ------------------------------------------------------------------


def test_dense_labels_to_sparse() -> None:
    labels = K.placeholder((None, 3), dtype="int32")
    lengths = K.placeholder((None,), dtype="int32")
    sparse = K.ctc_label_dense_to_sparse(labels, lengths)
    assert K.is_sparse(sparse) and K.dtype(sparse) == "int32" and sparse.shape == (None, 3)
    rows = [[5, 0, 7], [1, 2, 3], [4, 4, 4], [8, 9, 9]]
    f = K.function([labels, lengths], [*sparse.parts, K.to_dense(sparse), sparse])
    indices, values, shape, dense, matrix = f([rows, [2, 0, 5, 1]])
    assert indices.tolist() == [[0, 0], [0, 1], [2, 0], [2, 1], [2, 2], [3, 0]]
    assert indices.dtype == shape.dtype == "int64" and values.dtype == "int32"
    assert values.tolist() == [5, 0, 4, 4, 4, 8]
    assert shape.tolist() == [4, 3]
    expected = [[5, 0, 0], [0, 0, 0], [4, 4, 4], [8, 0, 0]]
    assert dense.tolist() == matrix.toarray().tolist() == expected


def test_labels_in_a_single_column() -> None:
    labels, lengths = K.constant([[4], [5]], dtype="int32"), K.constant([1, 0], dtype="int32")
    assert K.eval(K.ctc_label_dense_to_sparse(labels, lengths)).tolist() == [[4], [0]]


def test_wrong_labels_are_refused() -> None:
    with pytest.raises(ShapeError, match="labels must have shape"):
        K.ctc_label_dense_to_sparse(K.zeros((2, 2, 2)), K.ones((2,), dtype="int32"))
    with pytest.raises(ShapeError, match="label_lengths must have shape"):
        K.ctc_label_dense_to_sparse(K.zeros((2, 2)), K.ones((2, 1), dtype="int32"))
    with pytest.raises(ShapeError, match="numbers of samples differ"):
        K.ctc_label_dense_to_sparse(K.zeros((2, 2)), K.ones((3,), dtype="int32"))
