"""How often regions are compiled while programs run with other values, in the last ten of forty
times; and how many turns of loops aren't compiled then.

kameleon run compilations.py
"""

import json

import numpy as np
import tensorflow as tf

from kameleon.compat.tensorflow.running import executor, regions

TURNS, LAST = range(1, 41), 31
x, n = tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.int32, [])
rows = tf.placeholder(tf.float32, [None, 4])
labels = tf.placeholder(tf.int32, [None])
texts, lengths = tf.placeholder(tf.int32, [None, None]), tf.placeholder(tf.int32, [None])
images = tf.placeholder(tf.float32, [None, None, None, 1])


def loss_of_images():
    h = tf.layers.conv2d(images, 3, 3, padding="same", activation=tf.nn.relu)
    h = tf.layers.max_pooling2d(tf.layers.batch_normalization(h, training=True), 2, 1)
    return tf.reduce_mean(tf.layers.dense(tf.reduce_mean(h, [1, 2]), 2) ** 2)


def loss_of_rows():
    h = tf.layers.dropout(tf.layers.dense(rows, 5, activation=tf.nn.tanh), 0.5, training=True)
    logits = tf.layers.dense(h, 3)
    scale = tf.reduce_max(tf.abs(logits), axis=1, keepdims=True)
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits / scale)
    return tf.reduce_mean(losses) + tf.reduce_sum(logits - tf.reduce_mean(logits, axis=0))


def loss_of_texts():
    """Of two ways through texts of up to so many words."""
    words = tf.nn.embedding_lookup(tf.get_variable("words", [9, 4]), texts)
    ways = [tf.nn.rnn_cell.GRUCell(4) for _ in range(2)]
    both, _ = tf.nn.bidirectional_dynamic_rnn(*ways, words, lengths, dtype=tf.float32)
    return tf.reduce_mean(tf.concat(both, 2) ** 2)


def sum_of_counted():
    """Of two ways through seven steps, of which a number says how many count."""
    ways = [tf.nn.rnn_cell.BasicRNNCell(3) for _ in range(2)]
    steps, counted = tf.tile(x[:, None], [1, 7, 1]), tf.fill([tf.shape(x)[0]], n % 7 + 1)
    with tf.variable_scope("counted"):
        found, _ = tf.nn.bidirectional_dynamic_rnn(*ways, steps, counted, dtype=tf.float32)
    return tf.reduce_sum(tf.concat(found, 2))


def loss_of_writing():
    """Of writing texts, which attends to what was read."""
    words = tf.nn.embedding_lookup(tf.get_variable("more_words", [9, 4]), texts)
    reader, writer = tf.nn.rnn_cell.GRUCell(4), tf.nn.rnn_cell.GRUCell(4)
    memory, state = tf.nn.dynamic_rnn(reader, words, lengths, dtype=tf.float32)
    seen = tf.contrib.seq2seq.LuongAttention(4, memory, lengths)
    cell = tf.contrib.seq2seq.AttentionWrapper(writer, seen, attention_layer_size=4)
    begun = cell.zero_state(tf.shape(texts)[0], tf.float32).clone(cell_state=state)
    helper = tf.contrib.seq2seq.TrainingHelper(words, lengths)
    decoder = tf.contrib.seq2seq.BasicDecoder(cell, helper, begun, tf.layers.Dense(9))
    out, _, _ = tf.contrib.seq2seq.dynamic_decode(decoder)
    weights = tf.sequence_mask(lengths, dtype=tf.float32)
    return tf.contrib.seq2seq.sequence_loss(out.rnn_output, texts, weights)


def texts_of(size):
    return {texts: np.ones([2, size]), lengths: [size, 1 + size // 2]}


def step(loss):
    return loss, tf.train.AdamOptimizer().minimize(loss)


seen = tf.Variable(0, trainable=False)
kept = tf.Variable(tf.zeros([100, 3]), trainable=False)
places = tf.range(seen, seen + n) % 100
with tf.control_dependencies([tf.scatter_update(kept, places, x * 2.0)]):
    stored = tf.assign(seen, (seen + n) % 100)

PROGRAMS = {
    "rows": (step(loss_of_rows()), lambda i: {rows: np.ones([i, 4]), labels: [0] * i}),
    "sizes of images": (step(loss_of_images()), lambda i: {images: np.ones([3, i + 2, 45 - i, 1])}),
    "parts": (
        [tf.concat([x, x[1:]], 0), x[:-1] * x[1:], tf.gradients(x[1:] * x[:-1], x), tf.shape(x)],
        lambda i: {x: np.ones([i, 3])},
    ),
    "rows in a circle": (stored, lambda i: {n: 2, x: np.ones([2, 3])}),
    "slices": (
        [tf.slice(kept, [n, 0], [5, 2]), kept[n : n + 4, 1:], tf.one_hot(n % 5, 5)],
        lambda i: {n: i},
    ),
    "margins": (tf.pad(x, [[0, n % 3], [n % 2, 0]]), lambda i: {n: i, x: np.ones([2, 3])}),
    "turns": (
        tf.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, y * 0.5), [0, x])[1],
        lambda i: {n: i, x: np.ones([2, 3])},
    ),
    "counted": (step(sum_of_counted()), lambda i: {n: i, x: np.ones([2, 3])}),
    "texts": (step(loss_of_texts()), texts_of),
    "writing": (step(loss_of_writing()), lambda i: texts_of(1 + i % 4)),
}


def counting(owner, name):
    """A list of one number: how often a method is called from now on."""
    count, method = [0], getattr(owner, name)

    def counted(*arguments):
        count[0] += 1
        return method(*arguments)

    setattr(owner, name, counted)
    return count


def main():
    count = counting(regions._Region, "compiled")
    turns = counting(executor.Run, "_turn")
    found = {}
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for name, (fetches, feeds) in PROGRAMS.items():
            for turn in TURNS:
                if turn == LAST:
                    count[0] = turns[0] = 0
                session.run(fetches, feeds(turn))
            found[name] = count[0], turns[0]
    print(json.dumps(found))


if __name__ == "__main__":
    main()
