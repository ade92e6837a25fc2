"""How often regions are compiled while programs run with other values, forty times.

kameleon run compilations.py
"""

import json

import numpy as np
import tensorflow as tf

from kameleon.compat.tensorflow.running import regions

TURNS = range(1, 41)
x, n = tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.int32, [])
rows = tf.placeholder(tf.float32, [None, 4])
labels = tf.placeholder(tf.int32, [None])
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
}


def main():
    count, compiled = [0], regions._Region.compiled

    def counted(region):
        count[0] += 1
        return compiled(region)

    regions._Region.compiled = counted
    found = {}
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for name, (fetches, feeds) in PROGRAMS.items():
            count[0] = 0
            for turn in TURNS:
                session.run(fetches, feeds(turn))
            found[name] = count[0]
    print(json.dumps(found))


if __name__ == "__main__":
    main()
