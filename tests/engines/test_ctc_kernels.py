"""CTC decoding of the embedded engine, held against enumeration and a search with plain loops."""

from __future__ import annotations

from itertools import groupby, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kameleon.engines._kernels import ctc

LOG_ZERO = -np.inf


def random_scores(seed: int, *shape: int, spread: float = 1.5) -> Any:
    return np.random.default_rng(seed).normal(size=shape) * spread


def normalised(scores: Any) -> Any:
    return scores - np.log(np.exp(scores).sum(axis=-1, keepdims=True))


def sequences(padded: Any) -> list[list[int]]:
    """Rows without their filling, which may stand at the end alone."""
    rows = []
    for row in padded.tolist():
        labels = [label for label in row if label != -1]
        assert row == labels + [-1] * (len(row) - len(labels))
        rows.append(labels)
    return rows


def spelled(alignment: Any, blank: int) -> tuple[int, ...]:
    return tuple(label for label, _ in groupby(alignment) if label != blank)


# Greedy -------------------------------------------------------------------------------------------


@given(
    st.integers(0, 4), st.integers(0, 6), st.integers(1, 4), st.integers(0, 2**32 - 1), st.data()
)
@settings(max_examples=150)
def test_greedy(batch: int, steps: int, classes: int, seed: int, data: Any) -> None:
    """Few different scores: ties happen, and the first of them is taken."""
    scores = np.random.default_rng(seed).integers(-3, 1, (batch, steps, classes)).astype("float32")
    lengths = np.array(data.draw(st.lists(st.integers(-1, steps), min_size=batch, max_size=batch)))
    lengths = lengths.astype("int32")
    labels, cost = ctc.greedy_decode(scores, lengths)
    expected, sums = [], []
    for row, length in zip(scores.tolist(), lengths.tolist(), strict=True):
        best = [step.index(max(step)) for step in row[: max(0, length)]]
        expected.append(list(spelled(best, classes - 1)))
        sums.append(-sum(max(step) for step in row[: max(0, length)]))
    assert labels.dtype == np.int64
    assert labels.shape == (batch, max(map(len, expected), default=0))
    assert sequences(labels) == expected
    assert (cost.shape, cost.dtype) == ((batch, 1), np.dtype("float32"))
    np.testing.assert_array_equal(cost[:, 0], np.array(sums, "float32"))
    assert not np.signbit(cost).any()


def test_greedy_merges_repeats_but_not_across_a_blank() -> None:
    path = [0, 0, 2, 0, 1, 1, 2, 2, 1]
    scores = np.log(np.full((1, 9, 3), 0.1))
    scores[0, np.arange(9), path] = np.log(0.8)
    labels, cost = ctc.greedy_decode(scores, np.array([9]))
    assert labels.tolist() == [[0, 0, 1, 1]]
    np.testing.assert_allclose(cost, [[-9 * np.log(0.8)]])


def test_greedy_shows_nan() -> None:
    scores = np.zeros((2, 2, 3))
    scores[0, 1, 1] = np.nan
    labels, cost = ctc.greedy_decode(scores, np.array([2, 2]))
    assert labels.tolist() == [[0, 1], [0, -1]]
    np.testing.assert_array_equal(cost, [[np.nan], [0]])


# Beam search: exact where the beam is wide --------------------------------------------------------


def enumerated(scores: Any) -> list[tuple[tuple[int, ...], float]]:
    """Every label sequence with its log-probability, from all alignments; the best first."""
    steps, classes = scores.shape
    log_p = normalised(scores)
    sums: dict[tuple[int, ...], float] = {}
    for alignment in product(range(classes), repeat=steps):
        labels = spelled(alignment, classes - 1)
        score = log_p[np.arange(steps), list(alignment)].sum()
        sums[labels] = np.logaddexp(sums.get(labels, LOG_ZERO), score)
    return sorted(sums.items(), key=lambda item: -item[1])


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize(("steps", "classes"), [(1, 2), (1, 4), (2, 3), (4, 2), (5, 3), (4, 4)])
def test_a_wide_beam_finds_the_exact_probabilities(steps: int, classes: int, seed: int) -> None:
    scores = random_scores(seed, 1, steps, classes)
    exact = enumerated(scores[0])
    paths, totals = ctc.beam_search(scores, np.array([steps]), 500, len(exact))
    assert [tuple(sequences(path)[0]) for path in paths] == [labels for labels, _ in exact]
    np.testing.assert_allclose(totals[0], [score for _, score in exact], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(np.exp(totals).sum(), 1, rtol=1e-12)


def test_one_step_too_many_paths() -> None:
    scores = random_scores(0, 2, 3, 3)
    every = len(enumerated(scores[1, :2]))
    ctc.beam_search(scores, np.array([3, 2]), 100, every)
    with pytest.raises(ValueError, match=rf"row 1 has only {every} possible"):
        ctc.beam_search(scores, np.array([3, 2]), 100, every + 1)


# Beam search: a narrow beam, by plain loops -------------------------------------------------------


class Prefix:
    """A node of the tree of label sequences; `now` and `before` hold (blank, label)."""

    def __init__(self, parent: Prefix | None = None, label: int = -1) -> None:
        self.parent, self.label = parent, label
        self.children: dict[int, Prefix] = {}
        self.now = self.before = (LOG_ZERO, LOG_ZERO)

    @property
    def total(self) -> float:
        return float(np.logaddexp(*self.now))

    def labels(self) -> list[int]:
        return [] if self.parent is None else [*self.parent.labels(), self.label]

    def onto(self, label: int) -> float:
        """What reaches a child: a repeated label is a new one only after a blank."""
        blank, _ = self.before
        return blank if label == self.label else float(np.logaddexp(*self.before))

    def drop(self) -> None:
        self.now = (LOG_ZERO, LOG_ZERO)


def searched(scores: Any, beam_width: int, top_paths: int) -> tuple[list[list[int]], list[float]]:
    """A beam of limited size into which children are put one after the other."""
    root = Prefix()
    root.now = (0.0, LOG_ZERO)
    beam = [root]
    for log_p in normalised(scores):
        ranked = sorted(beam, key=lambda prefix: -prefix.total)
        for prefix in ranked:
            prefix.before = prefix.now
        alive = set(map(id, ranked))
        for prefix in ranked:
            blank = np.logaddexp(*prefix.before) + log_p[-1]
            label = prefix.before[1]
            if prefix.parent is not None and id(prefix.parent) in alive:
                label = np.logaddexp(label, prefix.parent.onto(prefix.label))
            prefix.now = (blank, label + log_p[prefix.label])
        beam = list(ranked)
        for prefix in ranked:
            _grow(prefix, log_p, beam, beam_width)
    best = sorted(beam, key=lambda prefix: -prefix.total)[:top_paths]
    return [prefix.labels() for prefix in best], [prefix.total for prefix in best]


def _grow(prefix: Prefix, log_p: Any, beam: list[Prefix], beam_width: int) -> None:
    """Put the children of a prefix into the beam as far as they're good enough."""

    def enters(score: float) -> bool:
        return len(beam) < beam_width or score > min(other.total for other in beam)

    if np.logaddexp(*prefix.before) == LOG_ZERO or not enters(np.logaddexp(*prefix.before)):
        return
    for label, own in enumerate(log_p[:-1]):
        child = prefix.children.setdefault(label, Prefix(prefix, label))
        if child in beam:
            continue
        child.now = (LOG_ZERO, prefix.onto(label) + own)
        if child.total > LOG_ZERO and enters(child.total):
            if len(beam) == beam_width:
                last = min(beam, key=lambda other: other.total)
                beam.remove(last)
                last.drop()
            beam.append(child)
        else:  # pushed out of the beam or never in it: this step, it doesn't grow either
            child.drop()
            child.before = child.now


def check_against_search(scores: Any, beam_width: int, top_paths: int) -> None:
    labels, totals = searched(scores, beam_width, top_paths)
    paths, got = ctc.beam_search(scores[None], np.array([len(scores)]), beam_width, len(labels))
    assert [sequences(path)[0] for path in paths] == labels
    np.testing.assert_allclose(got[0], totals, rtol=1e-10, atol=1e-12)


@given(
    st.integers(1, 14),
    st.integers(2, 7),
    st.integers(1, 9),
    st.sampled_from([0.5, 1.0, 3.0]),
    st.integers(0, 2**32 - 1),
)
@settings(max_examples=250)
def test_a_narrow_beam(steps: int, classes: int, width: int, spread: float, seed: int) -> None:
    check_against_search(random_scores(seed, steps, classes, spread=spread), width, min(width, 4))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("steps", "classes", "width"), [(60, 5, 6), (30, 9, 30), (6, 400, 3), (4, 300, 20)]
)
def test_long_sequences_and_large_alphabets(
    steps: int, classes: int, width: int, seed: int
) -> None:
    check_against_search(random_scores(seed, steps, classes), width, 3)


@pytest.mark.parametrize(
    ("steps", "classes", "width", "seed"), [(20, 4, 5, 20), (25, 3, 20, 187), (60, 4, 8, 70)]
)
def test_a_prefix_without_a_turn_costs_its_children_none(
    steps: int, classes: int, width: int, seed: int
) -> None:
    """Rare cases: a prefix pushed out of the beam whose parent lost its own turn to grow."""
    check_against_search(random_scores(seed, 1, steps, classes)[0], width, 3)


def test_candidates_left_out_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a large alphabet the search looks at the labels that can matter alone."""
    scores, lengths = random_scores(0, 3, 8, 120, spread=3), np.array([8, 5, 7])
    found = []
    for whole in (0, 10**6):
        monkeypatch.setattr(ctc, "_WHOLE_ALPHABET", whole)
        found.append(ctc.beam_search(scores, lengths, 20, 10))
    (paths, totals), (all_paths, all_totals) = found
    assert [p.tolist() for p in paths] == [p.tolist() for p in all_paths]
    np.testing.assert_array_equal(totals, all_totals)


# Figures of TensorFlow 1.15 -----------------------------------------------------------------------

P = np.array(
    [
        [
            [0.0372488, 0.2447978, 0.1515538, 0.5663996],
            [0.0173015, 0.4680826, 0.0040300, 0.5105859],
            [0.2043489, 0.6792576, 0.0621406, 0.0542529],
            [0.0632354, 0.0323922, 0.7215734, 0.1827990],
            [0.0045067, 0.0974939, 0.6072204, 0.2907790],
            [0.5838104, 0.1253977, 0.0133988, 0.2773931],
            [0.0071742, 0.7411383, 0.2467999, 0.0048876],
        ],
        [
            [0.1015837, 0.0784978, 0.3511164, 0.4688020],
            [0.0159768, 0.2474898, 0.1901280, 0.5464055],
            [0.7866256, 0.0305008, 0.1039921, 0.0788816],
            [0.7666834, 0.0814416, 0.0587749, 0.0931001],
            [0.0095889, 0.8598011, 0.0309836, 0.0996264],
            [0.0126777, 0.9080741, 0.0662319, 0.0130164],
            [0.1239257, 0.2626070, 0.3097290, 0.3037383],
        ],
    ],
    "float32",
)

FIGURES: dict[str, tuple[int, list[int], list[list[list[int]]], list[list[float]]]] = {
    # width, lengths, paths, log-probabilities
    "wide": (
        100,
        [7, 7],
        [[[1, 2, 0, 1], [2, 0, 1]], [[1, 2, 1], [0, 1]]],
        [[-1.7534347, -2.0763268], [-1.8507035, -2.2454262]],
    ),
    "narrow": (
        10,
        [7, 4],
        [[[1, 2, 0, 1], [2, 0]], [[1, 2, 1], [0]]],
        [[-1.7618034, -2.0764296], [-1.2279083, -1.6328359]],
    ),
    # Here a prefix that was pushed out of the beam loses its turn to grow.
    "very narrow": (
        5,
        [7, 7],
        [[[1, 2, 0, 1], [2, 0, 1]], [[1, 2, 1], [2, 0, 1, 2]], [[1, 2, 0, 2], [0, 1]]],
        [[-1.8197438, -2.1372612, -2.9193528], [-1.8653, -2.3417683, -2.4061928]],
    ),
}


@pytest.mark.parametrize("name", FIGURES)
def test_figures(name: str) -> None:
    width, lengths, paths, totals = FIGURES[name]
    got, scores = ctc.beam_search(np.log(P + 1e-7), np.array(lengths), width, len(paths))
    assert [sequences(path) for path in got] == paths
    assert scores.dtype == np.float32
    np.testing.assert_allclose(scores, totals, rtol=1e-6)


# Batches, edges, errors ---------------------------------------------------------------------------


def test_rows_of_different_lengths_come_out_as_alone() -> None:
    scores = random_scores(5, 6, 9, 5)
    lengths = np.array([3, 9, 0, 5, 9, 1], "int32")
    paths, totals = ctc.beam_search(scores, lengths, 7, 1)
    for i, length in enumerate(lengths):
        alone, total = ctc.beam_search(scores[i : i + 1, :length], lengths[i : i + 1], 7, 1)
        assert sequences(paths[0])[i] == sequences(alone[0])[0]
        np.testing.assert_array_equal(totals[i], total[0])
    assert totals[2] == 0
    assert paths[0].shape[1] == max(map(len, sequences(paths[0])))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(0, 3, 3), (2, 0, 3), (2, 3, 1)], ids=str)
def test_nothing_to_spell(shape: tuple[int, int, int], dtype: str) -> None:
    scores, lengths = np.zeros(shape, dtype), np.full(shape[0], shape[1])
    (path,), totals = ctc.beam_search(scores, lengths)
    assert (path.shape, path.dtype) == ((shape[0], 0), np.dtype("int64"))
    assert (totals.shape, totals.dtype) == ((shape[0], 1), np.dtype(dtype))
    assert not totals.any()


def test_a_row_with_nan_leaves_the_others_alone() -> None:
    scores = random_scores(2, 3, 4, 3)
    clean, clean_totals = ctc.beam_search(scores, np.array([4, 4, 2]), 10, 2)
    scores[1, 2, 0] = np.nan
    scores[2, 3, 0] = np.nan  # beyond the length: not in use
    paths, totals = ctc.beam_search(scores, np.array([4, 4, 2]), 10, 2)
    for path, before in zip(paths, clean, strict=True):
        assert sequences(path)[1] == []
        assert [sequences(path)[i] for i in (0, 2)] == [sequences(before)[i] for i in (0, 2)]
    assert np.isnan(totals[1]).all()
    np.testing.assert_array_equal(totals[[0, 2]], clean_totals[[0, 2]])


def test_impossible_labels_are_never_spelled() -> None:
    scores = random_scores(3, 1, 6, 4)
    scores[..., 1] = -np.inf
    paths, totals = ctc.beam_search(scores, np.array([6]), 20, 8)
    assert all(1 not in sequences(path)[0] for path in paths)
    without, expected = ctc.beam_search(np.delete(scores, 1, axis=2), np.array([6]), 20, 8)
    renamed = [np.where(path == 1, 2, path).tolist() for path in without]
    assert [path.tolist() for path in paths] == renamed
    np.testing.assert_allclose(totals, expected, rtol=1e-12, atol=1e-12)


def test_ties_go_to_the_smaller_label() -> None:
    (first, second, third), totals = ctc.beam_search(np.zeros((1, 1, 4)), np.array([1]), 5, 3)
    assert [first.tolist(), second.tolist(), third.tolist()] == [[[]], [[0]], [[1]]]
    np.testing.assert_allclose(np.exp(totals), 0.25)


def test_operands_stay_as_they_are() -> None:
    scores, lengths = random_scores(0, 2, 5, 4), np.array([5, 3])
    before = scores.copy()
    scores.flags.writeable = lengths.flags.writeable = False
    ctc.beam_search(scores, lengths, 4, 2)
    ctc.greedy_decode(scores, lengths)
    np.testing.assert_array_equal(scores, before)


@pytest.mark.parametrize("decode", [ctc.greedy_decode, ctc.beam_search])
def test_errors_of_both(decode: Any) -> None:
    scores = np.zeros((2, 3, 4))
    with pytest.raises(ValueError, match=r"lengths\[1\] = 4 goes beyond the 3 time steps"):
        decode(scores, np.array([3, 4]))
    with pytest.raises(ValueError, match=r"shape \(2, 3, 4\) with lengths of shape \(3,\)"):
        decode(scores, np.array([3, 3, 3]))
    with pytest.raises(ValueError, match="expected \\(batch, time, classes"):
        decode(scores[0], np.array([3, 3]))
    with pytest.raises(ValueError, match="classes >= 1"):
        decode(scores[..., :0], np.array([3, 3]))


@pytest.mark.parametrize(("width", "paths"), [(1, 3), (0, 0), (5, 0)])
def test_paths_must_fit_the_beam(width: int, paths: int) -> None:
    with pytest.raises(ValueError, match=rf"top_paths={paths} must lie between 1 and"):
        ctc.beam_search(np.zeros((1, 3, 4)), np.array([3]), width, paths)
