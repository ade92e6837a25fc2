"""What programs of TensorFlow 1 cost here, against TensorFlow 1.15 itself, run in turns.

    python benchmarks/tensorflow1.py --engine numpy torch jax
    python benchmarks/tensorflow1.py --engine torch --original ~/tensorflow-1.15/bin/python

The program is the second half of this file, which knows nothing of Kameleon's. One thread each.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from typing import Any

from fresh import told

TURNS = 3  # processes of each side; the best of them counts
WARM, STEPS = 3, 15
WORDS = {
    "import": ("import tensorflow", "s"),
    "build": ("an operation of a graph", "µs"),
    "network": ("building that of the next row, with what it loads", "s"),
    "convolutions": ("a step of Adam: two convolutions, pooling, two dense layers, batch 64", "ms"),
    "recurrent": ("a step of SGD: dynamic_rnn of 128 units over 50 steps, batch 32", "ms"),
}


def main() -> None:
    """Print a table: an engine's figures, TensorFlow 1.15's, and the ratios."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--engine", nargs="+", default=["numpy"])
    parser.add_argument("--original", metavar="PYTHON", help="a Python that has TensorFlow 1.15")
    asked = parser.parse_args()
    here = [__file__, "--measure"]
    sides = {
        engine: [sys.executable, "-m", "kameleon", "run", "--engine", engine, *here]
        for engine in asked.engine
    }
    if asked.original:
        sides["original"] = [asked.original, *here]
    best: dict[str, dict[str, float]] = {}
    for _ in range(TURNS):
        for side, command in sides.items():
            found = told(command)
            known = best.setdefault(side, found)
            best[side] = {name: min(known[name], value) for name, value in found.items()}
    theirs = best.pop("original", None)
    for engine, found in best.items():
        for name, value in found.items():
            what, unit = WORDS[name]
            scale = {"s": 1.0, "ms": 1e3, "µs": 1e6}[unit]
            ratio = f"{value / theirs[name]:8.2f} x" if theirs else ""
            print(f"{engine:12} {name:13} {value * scale:9.2f} {unit} {ratio}   {what}")


# The program -----------------------------------------------------------------------------------


def step_seconds(tf: Any, train: Any, feeds: Any) -> float:
    """The best of some steps of training."""
    options = tf.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)
    with tf.Session(config=options) as session:
        session.run(tf.global_variables_initializer())
        took = []
        for _ in range(WARM + STEPS):
            began = time.perf_counter()
            session.run(train, feeds)
            took.append(time.perf_counter() - began)
    return min(took[WARM:])


def measure() -> dict[str, float]:
    """Seconds, by name."""
    found = {}
    if "KAMELEON_ENGINE" in os.environ:
        import kameleon.backend  # noqa: F401  # what the engine takes isn't counted
    began = time.perf_counter()
    import tensorflow as tf

    found["import"] = time.perf_counter() - began
    import numpy as np

    rng = np.random.RandomState(0)
    began = time.perf_counter()
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [None, 8])
        for _ in range(500):
            x = tf.tanh(tf.add(tf.multiply(x, x), x))
        found["build"] = (time.perf_counter() - began) / len(graph.get_operations())

    began = time.perf_counter()
    with tf.Graph().as_default():
        images = tf.placeholder(tf.float32, [None, 28, 28, 1])
        labels = tf.placeholder(tf.int64, [None])
        h = tf.layers.conv2d(images, 32, 3, activation=tf.nn.relu)
        h = tf.layers.conv2d(h, 64, 3, activation=tf.nn.relu)
        h = tf.layers.flatten(tf.layers.max_pooling2d(h, 2, 2))
        scores = tf.layers.dense(tf.layers.dense(h, 128, tf.nn.relu), 10)
        loss = tf.losses.sparse_softmax_cross_entropy(labels, scores)
        train = tf.train.AdamOptimizer().minimize(loss)
        found["network"] = time.perf_counter() - began
        feeds = {images: rng.rand(64, 28, 28, 1), labels: rng.randint(10, size=64)}
        found["convolutions"] = step_seconds(tf, train, feeds)

    with tf.Graph().as_default():
        given = tf.placeholder(tf.float32, [None, 50, 64])
        outputs, _ = tf.nn.dynamic_rnn(tf.nn.rnn_cell.LSTMCell(128), given, dtype=tf.float32)
        loss = tf.reduce_mean(tf.square(outputs))
        train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
        found["recurrent"] = step_seconds(tf, train, {given: rng.rand(32, 50, 64)})
    return found


if __name__ == "__main__":
    if sys.argv[1:] == ["--measure"]:
        print(json.dumps(measure()))
    else:
        main()
