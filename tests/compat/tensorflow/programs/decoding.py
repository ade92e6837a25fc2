"""Decoders of sequences: what is taught, what is taken greedily, beams."""

import numpy as np
import tensorflow as tf
from recording import case, error_of, main, started
from tensorflow.contrib import seq2seq

WORDS, UNITS, END = 5, 4, 0


def parts():
    """A cell, and what makes its outputs scores of words."""
    return tf.nn.rnn_cell.GRUCell(UNITS), tf.layers.Dense(WORDS, use_bias=False)


def words():
    """A vector for each word."""
    return tf.sin(tf.reshape(tf.range(WORDS * 3.0), [WORDS, 3]))


def begun():
    """A session whose variables have values that differ."""
    session = started()
    for place, v in enumerate(tf.trainable_variables()):
        shape = v.shape.as_list()
        v.load(np.sin(np.arange(np.prod(shape)) * 1.7 + place).reshape(shape) * 1.5, session)
    return session


@case
def taught():
    x, lengths = tf.placeholder(tf.int32, [None, None]), tf.placeholder(tf.int32, [None])
    cell, scores = parts()
    helper = seq2seq.TrainingHelper(tf.nn.embedding_lookup(words(), x), lengths)
    state = cell.zero_state(tf.shape(x)[0], tf.float32)
    outs, last, _ = seq2seq.dynamic_decode(seq2seq.BasicDecoder(cell, helper, state, scores))
    mask = tf.sequence_mask(lengths, dtype=tf.float32)
    loss = seq2seq.sequence_loss(outs.rnn_output, x[:, : tf.reduce_max(lengths)], mask)
    slopes, session = tf.gradients(loss, tf.trainable_variables()), begun()
    fed = [([[1, 2, 3], [4, 1, 0]], [3, 2]), ([[2, 2, 1, 3]], [4])]
    return [session.run([loss, last, *slopes], {x: ids, lengths: n}) for ids, n in fed]


@case
def greedy():
    start, most = tf.placeholder(tf.int32, [None]), tf.placeholder(tf.int32, [])
    cell, scores = parts()
    helper = seq2seq.GreedyEmbeddingHelper(words(), start, END)
    state = cell.zero_state(tf.shape(start)[0], tf.float32)
    decoder = seq2seq.BasicDecoder(cell, helper, state, scores)
    outs, _, lengths = seq2seq.dynamic_decode(decoder, maximum_iterations=most)
    session, fetched = begun(), [outs.rnn_output, outs.sample_id, lengths]
    return [session.run(fetched, {start: s, most: n}) for s, n in (([1, 2, 3], 6), ([4, 0], 2))]


@case
def beams():
    start = tf.placeholder(tf.int32, [2])
    cell, scores = parts()
    state = seq2seq.tile_batch(tf.ones([2, UNITS]), 3)
    decoder = seq2seq.BeamSearchDecoder(cell, words(), start, END, state, 3, scores)
    outs, _, lengths = seq2seq.dynamic_decode(decoder, maximum_iterations=5)
    found = begun().run([outs.predicted_ids, lengths], {start: [1, 3]})
    return [str(outs.predicted_ids.shape), *found]


@case
def beams_followed_back():
    rng = np.random.RandomState(0)
    ids, parents = (rng.randint(0, most, (5, 3, 3)).astype("int32") for most in (4, 3))
    x = tf.placeholder(tf.int32, [None, 3, 3])
    tree = seq2seq.gather_tree(x, parents, [5, 2, 7], 3)
    wrong = error_of(lambda: seq2seq.gather_tree(ids, parents + 2, [5, 2, 7], 3))
    return [str(tree.shape), started().run(tree, {x: ids}), wrong]


if __name__ == "__main__":
    main()
