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
    "lengths": (
        "the same of 32 units, batch 8, each batch of another length, 5 to 60",
        "ms",
    ),
    "functions": ("the same where loops are functions (control flow of version 2)", "ms"),
    "translation": ("a step of Adam: GRU, attention, dynamic_decode; batch 8, 10 words", "ms"),
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


def recurrent(tf: Any, units: int, **sizes: Any) -> Any:
    """What trains a recurrent network."""
    outputs, _ = tf.nn.dynamic_rnn(tf.nn.rnn_cell.LSTMCell(units), dtype=tf.float32, **sizes)
    return tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_mean(tf.square(outputs)))


def lengths_seconds(tf: Any, np: Any) -> float:
    """The median of steps on texts of many lengths, once a few were trained on."""
    texts, counts = tf.placeholder(tf.float32, [None, None, 16]), tf.placeholder(tf.int32, [None])
    train, rng = recurrent(tf, 32, inputs=texts, sequence_length=counts), np.random.RandomState(0)
    took = []
    with tf.Session(config=one_thread(tf)) as session:
        session.run(tf.global_variables_initializer())
        for _ in range(80):
            most = rng.randint(5, 61)
            feeds = {texts: rng.randn(8, most, 16), counts: rng.randint(1, most + 1, size=8)}
            began = time.perf_counter()
            session.run(train, feeds)
            took.append(time.perf_counter() - began)
    return float(np.median(took[20:]))


def translation(tf: Any) -> Any:
    """Placeholders, and what trains a network that reads texts and writes others."""
    from tensorflow.contrib import seq2seq

    source, target = (tf.placeholder(tf.int32, [None, None]) for _ in range(2))
    read, written = (tf.placeholder(tf.int32, [None]) for _ in range(2))
    words = tf.get_variable("words", [50, 32])
    outputs, state = tf.nn.dynamic_rnn(
        tf.nn.rnn_cell.GRUCell(32), tf.nn.embedding_lookup(words, source), read, dtype=tf.float32
    )
    attention = seq2seq.BahdanauAttention(32, outputs, read)
    cell = seq2seq.AttentionWrapper(tf.nn.rnn_cell.GRUCell(32), attention, attention_layer_size=32)
    begun = cell.zero_state(tf.shape(source)[0], tf.float32).clone(cell_state=state)
    helper = seq2seq.TrainingHelper(tf.nn.embedding_lookup(words, target), written)
    decoder = seq2seq.BasicDecoder(cell, helper, begun, tf.layers.Dense(50))
    out, _, _ = seq2seq.dynamic_decode(decoder)
    weights = tf.sequence_mask(written, dtype=tf.float32)
    loss = seq2seq.sequence_loss(out.rnn_output, target, weights)
    return (source, target, read, written), tf.train.AdamOptimizer().minimize(loss)


def one_thread(tf: Any) -> Any:
    """What lets a session compute with one thread."""
    return tf.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)


def step_seconds(tf: Any, train: Any, feeds: Any) -> float:
    """The best of some steps of training."""
    with tf.Session(config=one_thread(tf)) as session:
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
        train = recurrent(tf, 128, inputs=given)
        found["recurrent"] = step_seconds(tf, train, {given: rng.rand(32, 50, 64)})

    with tf.Graph().as_default():
        places, train = translation(tf)
        texts = [rng.randint(50, size=(8, 10)) for _ in range(2)]
        given = [*texts, [10] * 8, [10] * 8]
        feeds = {place: given[at] for at, place in enumerate(places)}
        found["translation"] = step_seconds(tf, train, feeds)

    with tf.Graph().as_default():
        found["lengths"] = lengths_seconds(tf, np)
    tf.compat.v1.enable_control_flow_v2()
    with tf.Graph().as_default():
        found["functions"] = lengths_seconds(tf, np)
    return found


if __name__ == "__main__":
    if sys.argv[1:] == ["--measure"]:
        print(json.dumps(measure()))
    else:
        main()
