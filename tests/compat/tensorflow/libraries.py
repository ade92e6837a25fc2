"""A program that loads all of `tf.contrib`, then feeds a frame, and scores clusters.

It prints, as JSON, which libraries the former loaded, and what the latter gave.
"""

import json
import sys

import tensorflow as tf


def main() -> None:
    learn, losses = tf.contrib.learn, tf.contrib.losses.metric_learning
    loaded = sorted({"pandas", "requests", "sklearn", "yaml"}.intersection(sys.modules))
    import pandas

    read = learn.extract_pandas_data(pandas.DataFrame({"a": [1.0, 2.0]})).tolist()
    points = tf.constant([[0.0], [0.1], [5.0]])
    with tf.Session() as session:
        loss = session.run(losses.cluster_loss(tf.constant([0, 0, 1]), points, 1.0))
    print(json.dumps({"loaded": loaded, "read": read, "loss": float(loss)}))


if __name__ == "__main__":
    main()
