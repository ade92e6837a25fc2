"""How often regions are compiled while programs run with other values, forty times.

kameleon run compilations.py
"""

import json

import numpy as np
import tensorflow as tf

from kameleon.compat.tensorflow.running import regions

TURNS = range(1, 41)
x, n = tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.int32, [])
seen = tf.Variable(0, trainable=False)
kept = tf.Variable(tf.zeros([100, 3]), trainable=False)
places = tf.range(seen, seen + n) % 100
with tf.control_dependencies([tf.scatter_update(kept, places, x * 2.0)]):
    stored = tf.assign(seen, (seen + n) % 100)

PROGRAMS = {
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
