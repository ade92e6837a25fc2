"""Writes the files beside this one, on TensorFlow 1.15: `python write.py`."""

import os

import numpy as np
import tensorflow as tf

FOLDER = os.path.dirname(os.path.abspath(__file__))


def model():
    """A small net, and a table of words."""
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    words = tf.placeholder(tf.string, [None], name="words")
    with tf.variable_scope("net", partitioner=tf.fixed_size_partitioner(2)):
        w = tf.get_variable("w", [3, 4], initializer=tf.initializers.random_uniform(-1, 1, seed=5))
    b = tf.get_variable("b", initializer=np.arange(4, dtype="float32"), use_resource=True)
    y = tf.nn.softmax(tf.matmul(x, w) + b, name="y")
    tf.get_variable("vocabulary", initializer=["a", "bc"], trainable=False)
    keys = tf.contrib.lookup.KeyValueTensorInitializer(["a", "bc"], np.array([4, 7], "int64"))
    found = tf.contrib.lookup.HashTable(keys, -1).lookup(words)
    loss = tf.reduce_mean(tf.square(y))
    train = tf.train.AdamOptimizer(0.1).minimize(loss, tf.train.get_or_create_global_step())
    return x, words, y, found, train


def main():
    """Write checkpoints of both versions, whole and in parts, and a saved model."""
    x, words, y, found, train = model()
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        for _ in range(3):
            session.run(train, {x: np.eye(3)})
        tf.train.Saver().save(session, os.path.join(FOLDER, "second"))
        tf.train.Saver(sharded=True).save(session, os.path.join(FOLDER, "sharded"),
                                          write_meta_graph=False)  # fmt: skip
        old = tf.train.Saver(write_version=tf.train.SaverDef.V1)
        old.save(session, os.path.join(FOLDER, "first"), write_meta_graph=False)
        tf.saved_model.simple_save(
            session, os.path.join(FOLDER, "model"), {"x": x, "words": words},
            {"y": y, "found": found}, legacy_init_op=tf.tables_initializer(),
        )  # fmt: skip
        v = tf.get_variable("object", initializer=[1.5, 2.5], use_resource=True)
        session.run(v.initializer)
        with session.as_default():
            tf.train.Checkpoint(v=v).write(os.path.join(FOLDER, "objects"))
    os.remove(os.path.join(FOLDER, "checkpoint"))


if __name__ == "__main__":
    main()
