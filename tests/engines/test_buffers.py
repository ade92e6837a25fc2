"""Buffers kept for reuse: which one is given, which one makes room, and what is freed."""

from __future__ import annotations

import numpy as np
import pytest
from _support.common import engines_under_test

from kameleon import backend as K
from kameleon.engines._kernels import buffers, memory
from kameleon.engines._kernels.buffers import Buffers


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Buffers:
    """A store for a thousand bytes."""
    monkeypatch.setattr(buffers, "LIMIT", 1000)
    return Buffers()


def test_the_smallest_buffer_that_fits_is_taken(store: Buffers) -> None:
    for size in (130, 100, 110, 300):
        store.keep(size, f"of {size}")
    assert [store.take(s) for s in (101, 101, 101, 301)] == ["of 110", None, None, None]
    assert store.take(99) == "of 100"
    assert store.held == 430


def test_of_equal_buffers_the_one_given_last_is_taken(store: Buffers) -> None:
    for name in ("first", "second"):
        store.keep(100, name)
    assert [store.take(100), store.take(100), store.take(100)] == ["second", "first", None]
    assert store.held == 0


def test_what_was_given_longest_ago_makes_room(store: Buffers) -> None:
    """A program of other sizes finds its buffers again, whatever ran before it."""
    for number in range(10):
        store.keep(100, number)
    store.keep(100, store.take(100))  # the last one is used again
    store.keep(250, "large")
    assert store.held == 950
    assert [store.take(100) for _ in range(8)] == [9, 8, 7, 6, 5, 4, 3, None]
    assert store.take(250) == "large"


def test_what_is_larger_than_the_room_pushes_nothing_out(store: Buffers) -> None:
    store.keep(400, "small")
    store.keep(1001, "large")
    assert (store.held, store.take(1001), store.take(400)) == (400, None, "small")


def test_sizes_of_which_nothing_is_left_are_forgotten(store: Buffers) -> None:
    """Or programs of ever new sizes would make looking one up slower and slower."""
    for size in range(100, 1000):
        store.keep(size, size)
    [inside] = store._there
    assert len(inside._sizes) == len(inside._by_size) == len(inside._buffers) == 1
    store.clear()
    assert (store.held, store.take(999)) == (0, None)


def test_nobody_waits_for_the_store(store: Buffers) -> None:
    """A finalizer or a signal's handler may come while the same thread is at it."""
    store.keep(100, "kept")
    inside = store._away()
    assert store.take(100) is None
    store.keep(100, "another")
    store._there.append(inside)
    assert (store.held, store.take(100)) == (100, "kept")


def test_a_change_that_is_interrupted_leaves_no_half_of_it(
    store: Buffers, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    store.keep(100, "kept")
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(buffers, "insort", interrupted)
        store.keep(200, "another")
    assert (store.held, store.take(100), store.take(200)) == (0, None, None)
    store.keep(200, "later")
    assert (store.held, store.take(200)) == (200, "later")


def test_clearing_the_session_frees_buffers() -> None:
    weight = K.variable(np.zeros((300, 400)))
    run = K.function(
        [], [], [K.update(weight, K.exp(weight) * 0.5 + K.sin(weight))], engine="numpy"
    )
    for _ in range(3):
        run([])
    assert memory.POOL.held > 0
    K.clear_session()
    assert memory.POOL.held == 0


@pytest.mark.parametrize("engine", engines_under_test())
def test_a_buffer_of_its_own_for_what_is_else_written_in_place(engine: str) -> None:
    """Probabilities that are results, too, aren't written over by the gradient of a loss."""
    logits, labels = K.placeholder((512, 3000)), K.placeholder((512,), dtype="int32")
    p = K.softmax(logits)
    loss = K.sum(K.sparse_categorical_crossentropy(labels, logits, from_logits=True))
    run = K.function([logits, labels], [p, *K.gradients(loss, [logits])], engine=engine)
    given = [np.zeros((512, 3000), "float32"), np.arange(512, dtype="int32")]
    share = np.full((512, 3000), 1 / 3000, "float32")
    hot = np.eye(512, 3000, dtype="float32")
    for _ in range(4):
        found, slope = run(given)
        np.testing.assert_allclose(found, share, rtol=1e-5)
        np.testing.assert_allclose(slope, share - hot, rtol=1e-5)


@pytest.mark.parametrize("engine", engines_under_test())
@pytest.mark.parametrize("rows", [40, None])
def test_margins_in_a_buffer_that_was_used_before(engine: str, rows: int | None) -> None:
    x = K.placeholder((rows, 50, 60, 8))
    framed = K.spatial_2d_padding(K.exp(x), ((1, 2), (0, 3)))
    run = K.function([x], [K.sum(framed, axis=3), K.sum(K.square(framed))], engine=engine)
    array = np.random.default_rng(0).normal(size=(40, 50, 60, 8)).astype("float32")
    expected = np.pad(np.exp(array), ((0, 0), (1, 2), (0, 3), (0, 0)))
    for _ in range(4):
        found, total = run([array])
        np.testing.assert_allclose(found, expected.sum(3), rtol=1e-5)
        np.testing.assert_allclose(total, np.square(expected).sum(), rtol=1e-4)
