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
    "strings": ("a turn of while_loop that writes, joins and cuts strings", "µs"),
    "calls": ("a turn of while_loop that calls Python (py_func)", "µs"),
    "exchange": ("a turn of while_loop that puts into a queue, and takes from it", "µs"),
    "words": ("a run: 16 texts split, looked up in a table and embedded", "µs"),
    "lines": ("a line of CSV, read in Dataset.map, in batches of 32", "µs"),
    "elements": ("a number, computed with in Dataset.map and filter, in batches of 32", "µs"),
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


def turn_seconds(tf: Any, body: Any, first: Any) -> float:
    """What a turn of a loop takes, given what one makes of the last one's value."""
    begun, count = [tf.constant(0), first], 300
    out = tf.while_loop(lambda i, _: i < count, lambda i, x: (i + 1, body(i, x)), begun)
    return run_seconds(tf, out) / count


def host_seconds(tf: Any, np: Any) -> dict[str, float]:
    """What strings, tables, queues, Python functions and datasets take, by name."""
    found, rng, words = {}, np.random.RandomState(0), [f"word{at}" for at in range(200)]

    def written(i: Any, x: Any) -> Any:
        return tf.strings.substr(tf.strings.join([x, tf.as_string(i)]), 0, 20)

    def called(_: Any, x: Any) -> Any:
        y = tf.py_func(lambda value: value + np.float32(1), [x], tf.float32)
        y.set_shape([])
        return y

    with tf.Graph().as_default():
        queue = tf.FIFOQueue(9, tf.float32, shapes=[[]])

        def exchanged(_: Any, x: Any) -> Any:
            with tf.control_dependencies([queue.enqueue(x)]):
                return queue.dequeue() + 1.0

        found["strings"] = turn_seconds(tf, written, tf.constant(""))
        found["calls"] = turn_seconds(tf, called, tf.constant(0.0))
        found["exchange"] = turn_seconds(tf, exchanged, tf.constant(0.0))

    with tf.Graph().as_default():
        texts = tf.placeholder(tf.string, [None])
        table = tf.contrib.lookup.index_table_from_tensor(words, num_oov_buckets=1)
        known = table.lookup(tf.sparse.to_dense(tf.string_split(texts), default_value=""))
        embedded = tf.nn.embedding_lookup(tf.get_variable("vectors", [201, 16]), known)
        given = [" ".join(rng.choice(words, 10)) for _ in range(16)]
        found["words"] = run_seconds(tf, tf.reduce_mean(embedded, 1), {texts: given})

    def fields(line: Any) -> Any:
        number, other, text = tf.decode_csv(line, [[0], [0.0], [""]])
        return number + 1, other * 2.0, tf.strings.join([text, "!"])

    with tf.Graph().as_default():
        lines = [f"{at},{at * 2},text {at}" for at in range(1000)]
        rows = tf.data.Dataset.from_tensor_slices(lines).repeat().map(fields)
        numbers = tf.data.Dataset.range(2**40).map(lambda x: tf.cast(x, tf.float32) * 2.0 + 1.0)
        numbers = numbers.filter(lambda x: x > 0.0)
        for name, dataset in (("lines", rows), ("elements", numbers)):
            following = dataset.batch(32).make_one_shot_iterator().get_next()
            found[name] = run_seconds(tf, following) / 32
    return found


def one_thread(tf: Any) -> Any:
    """What lets a session compute with one thread."""
    return tf.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)


def run_seconds(tf: Any, fetches: Any, feeds: Any = None) -> float:
    """The best of some runs, as steps of training are."""
    with tf.Session(config=one_thread(tf)) as session:
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        took = []
        for _ in range(WARM + STEPS):
            began = time.perf_counter()
            session.run(fetches, feeds)
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
        found["convolutions"] = run_seconds(tf, train, feeds)

    with tf.Graph().as_default():
        given = tf.placeholder(tf.float32, [None, 50, 64])
        train = recurrent(tf, 128, inputs=given)
        found["recurrent"] = run_seconds(tf, train, {given: rng.rand(32, 50, 64)})

    with tf.Graph().as_default():
        places, train = translation(tf)
        texts = [rng.randint(50, size=(8, 10)) for _ in range(2)]
        given = [*texts, [10] * 8, [10] * 8]
        feeds = {place: given[at] for at, place in enumerate(places)}
        found["translation"] = run_seconds(tf, train, feeds)

    with tf.Graph().as_default():
        found["lengths"] = lengths_seconds(tf, np)
    found.update(host_seconds(tf, np))
    tf.compat.v1.enable_control_flow_v2()
    with tf.Graph().as_default():
        found["functions"] = lengths_seconds(tf, np)
    return found


if __name__ == "__main__":
    if sys.argv[1:] == ["--measure"]:
        print(json.dumps(measure()))
    else:
        main()
