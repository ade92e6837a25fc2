"""Decoding by beams: the values are TensorFlow 1.15's."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from kameleon.engines import Engine
from kameleon.tf1.modules import module

tf: Any = module("tensorflow")


def drawn(seed: int, *sizes: int) -> np.ndarray:
    return np.random.RandomState(seed).randn(*sizes).astype("float32")


def dense(weights: np.ndarray) -> Any:
    return tf.layers.Dense(7, kernel_initializer=tf.constant_initializer(weights))


def run(fetches: Any, feeds: Any = None) -> Any:
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches, feeds)


def test_beams_end_at_the_end_token(engine: Engine) -> None:
    tf.reset_default_graph()
    seq2seq = tf.contrib.seq2seq
    start = tf.placeholder(tf.int32, [None])
    cell = tf.nn.rnn_cell.LSTMCell(6, initializer=tf.constant_initializer(0.3))
    decoder = seq2seq.BeamSearchDecoder(
        cell, tf.constant(drawn(0, 7, 5)), start, 3,
        cell.zero_state(tf.shape(start)[0] * 4, tf.float32), 4, dense(drawn(2, 6, 7) * 2),
    )  # fmt: skip
    outputs, state, lengths = seq2seq.dynamic_decode(
        decoder, maximum_iterations=7, output_time_major=True
    )
    found = run(
        [outputs.predicted_ids, outputs.beam_search_decoder_output.parent_ids, lengths,
         state.lengths, state.finished, state.log_probs], {start: [1, 2, 5]},
    )  # fmt: skip
    expected = [
        [[[3, 0, 1, 6], [3, 1, 0, 6], [3, 0, 1, 6]],
         [[3, 3, 3, 2], [3, 3, 3, 3], [3, 3, 3, 2]], np.full((3, 4), 3)],
        [np.zeros((3, 4)), [[0, 2, 3, 1], [0, 1, 2, 3], [0, 2, 1, 3]],
         [[0, 1, 3, 2], [0, 1, 2, 3], [0, 1, 2, 3]]],
        [[1, 2, 3, 2], [1, 2, 2, 2], [1, 2, 2, 3]],
        [[1, 2, 2, 3], [1, 2, 2, 2], [1, 2, 2, 3]],
        np.ones((3, 4)),
    ]  # fmt: skip
    for value, wanted in zip(found, expected, strict=False):
        assert_array_equal(value, np.asarray(wanted))
    assert_allclose(
        found[-1],
        [[-1.81947, -1.95275, -3.61493, -3.82712], [-0.0591614, -4.21598, -4.35344, -5.29874],
         [-0.567169, -2.45002, -2.69619, -4.43313]], rtol=1e-4,
    )  # fmt: skip


def test_beams_pay_attention(engine: Engine) -> None:
    tf.reset_default_graph()
    seq2seq = tf.contrib.seq2seq
    memory, first = seq2seq.tile_batch((tf.constant(drawn(3, 2, 4, 6)), drawn(4, 2, 6)), 3)
    with tf.variable_scope("q", initializer=tf.constant_initializer(0.1)):
        mechanism = seq2seq.LuongAttention(6, memory, seq2seq.tile_batch(tf.constant([4, 2]), 3))
        gru = tf.nn.rnn_cell.GRUCell(6, kernel_initializer=tf.constant_initializer(0.3))
        cell = seq2seq.AttentionWrapper(gru, mechanism, attention_layer_size=6)
        decoder = seq2seq.BeamSearchDecoder(
            cell, tf.constant(drawn(0, 7, 5)), [1, 2], 3,
            cell.zero_state(6, tf.float32).clone(cell_state=first), 3, dense(drawn(2, 6, 7)),
            length_penalty_weight=0.6,
        )  # fmt: skip
        outputs, state, _ = seq2seq.dynamic_decode(decoder, maximum_iterations=5)
    ids, scores, log_probs = run(
        [outputs.predicted_ids, outputs.beam_search_decoder_output.scores, state.log_probs]
    )
    assert_array_equal(
        ids,
        [[[4, 4, 4], [2, 2, 2], [2, 2, 2], [2, 4, 2], [2, 2, 4]],
         [[4, 4, 2], [2, 2, 4], [2, 2, 2], [2, 2, 2], [2, 4, 2]]],
    )  # fmt: skip
    assert_allclose(scores[0, 0], [-1.21929, -1.83506, -2.00024], rtol=1e-4)
    assert_allclose(
        log_probs, [[-7.25192, -7.3336, -7.45608], [-7.32232, -7.60318, -7.61828]], rtol=1e-4
    )


def test_sequences_of_parents() -> None:
    steps = [[[1, 2, 3]], [[4, 5, 6]], [[7, 8, 9]]]
    parents = [[[0, 0, 0]], [[0, 1, 1]], [[2, 1, 2]]]
    found = tf.contrib.seq2seq.gather_tree(steps, parents, [3], 10)
    assert run(found).tolist() == [[[2, 2, 2]], [[6, 5, 6]], [[7, 8, 9]]]
    assert run(tf.contrib.seq2seq.gather_tree(steps, parents, [2], 5)).tolist() == [
        [[1, 2, 2]], [[4, 5, 6]], [[5, 5, 5]],
    ]  # fmt: skip
