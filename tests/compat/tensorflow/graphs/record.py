"""Writes small graphs, and what TensorFlow 1.15 gives for them, beside this file.

    python3.7 record.py                     # with TensorFlow 1.15 installed

`recorded.npz` holds arrays by `graph|in|tensor`, `graph|out|tensor`; and of the one that is trained
the variables before some steps and after them.
"""

import os
import shutil

import numpy as np
import tensorflow as tf
from tensorflow.python.framework import function
from tensorflow.python.ops import cond_v2

FOLDER = os.path.dirname(os.path.abspath(__file__))
recorded = {}


def normal(*shape):
    return numbers.standard_normal(shape).astype("float32")


def keep(graph, session, outputs, feeds):
    """Record what outputs are for some feeds."""
    recorded.update({f"{graph}|in|{hole.name}": value for hole, value in feeds.items()})
    values = session.run(outputs, feeds)
    pairs = zip(outputs, values)  # noqa: B905
    recorded.update({f"{graph}|out|{output.name}": value for output, value in pairs})


def freeze(graph, outputs, feeds, ending="pb"):
    """Record, and write the graph with its variables as constants."""
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        keep(graph, session, outputs, feeds)
        names = [output.op.name for output in outputs]
        frozen = tf.graph_util.convert_variables_to_constants(
            session, session.graph.as_graph_def(), names
        )
    tf.io.write_graph(frozen, FOLDER, f"{graph}.{ending}", as_text=ending == "pbtxt")


def convolutions():
    """A network of which the number of images is open."""
    x = tf.placeholder(tf.float32, (None, 9, 7, 3), "x")
    h = tf.layers.conv2d(x, 4, 3, 2, "same", activation=tf.nn.relu, name="conv1")
    h = tf.layers.batch_normalization(h, name="norm")
    h = tf.layers.separable_conv2d(h, 5, 3, padding="same", activation=tf.nn.leaky_relu)
    h = tf.concat([tf.layers.max_pooling2d(h, 2, 1), tf.layers.average_pooling2d(h, 2, 1)], -1)
    flat = tf.layers.flatten(h)
    chances = tf.nn.softmax(tf.layers.dense(flat, 3), name="chances")
    outputs = [
        chances,
        tf.nn.log_softmax(tf.reduce_mean(h, [1, 2]), name="means"),
        tf.image.resize_nearest_neighbor(h, tf.shape(h)[1:3] * 2, name="wide"),
        tf.reshape(h, [tf.shape(h)[0], -1], name="rows"),
        tf.identity(h[:, 0, ..., -2:], name="part"),
        tf.identity(h[-1], name="last"),
        tf.identity(tf.unstack(h, axis=1)[0], name="first"),
        tf.tile(tf.reduce_max(h, [1, 2]), [1, 2], name="twice"),
        tf.add(tf.fill([tf.shape(x)[0], 2], 3.0), tf.zeros_like(h)[:, 0, 0, :2], name="filled"),
        tf.one_hot(tf.argmax(chances, 1), 3, name="best"),
    ]
    freeze("convolutions", outputs, {x: normal(3, 9, 7, 3)})


def sizes():
    """A network of which all sizes are open."""
    x = tf.placeholder(tf.float32, (None, None, None, 2), "x")
    h = tf.layers.conv2d(x, 3, 3, 2, "same", name="conv")
    wide = tf.image.resize_bilinear(h, tf.shape(x)[1:3], name="wide")
    back = tf.layers.conv2d_transpose(wide, 2, 3, 2, "same", name="back")
    mean = tf.reduce_mean(wide, [1, 2], name="mean")
    top = tf.nn.top_k(mean, 2, name="top")
    freeze("sizes", [wide, back, mean, top.values, top.indices], {x: normal(2, 5, 6, 2)})


def boxes():
    """The best of overlapping boxes, and those above a threshold: as many as the data say."""
    corners = tf.placeholder(tf.float32, (None, 4), "corners")
    scores = tf.placeholder(tf.float32, (None,), "scores")
    chosen = tf.image.non_max_suppression(corners, scores, 4, 0.3, name="best")
    kept = tf.gather(corners, chosen, name="kept")
    above = tf.gather_nd(scores, tf.where(scores > 0.5), name="above")
    given = numbers.uniform(size=(12, 4)).astype("float32")
    given[:, 2:] = given[:, :2] + 0.5
    marks = numbers.uniform(size=12).astype("float32")
    freeze("boxes", [chosen, kept, above], {corners: given, scores: marks}, "pbtxt")


def control():
    """Branches and loops as Switch, Merge, Enter, Exit."""
    x, n = tf.placeholder(tf.float32, (4, 3), "x"), tf.placeholder(tf.int32, (), "n")
    chosen = tf.cond(tf.reduce_sum(x) > 0, lambda: x * 2.0, lambda: tf.exp(x))
    looped = tf.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, tf.tanh(a) + x), (0, x))[1]
    cell = tf.nn.rnn_cell.GRUCell(2)
    outputs = [
        tf.identity(chosen, name="chosen"),
        tf.identity(looped, name="looped"),
        tf.identity(tf.scan(lambda a, row: a * 0.5 + row, x), name="scanned"),
        tf.identity(tf.map_fn(tf.nn.softmax, x), name="mapped"),
        tf.identity(tf.nn.dynamic_rnn(cell, x[None], dtype=tf.float32)[0], name="states"),
    ]
    freeze("control", outputs, {x: normal(4, 3), n: np.int32(3)})


def functions():
    """Functions of a library; branches and loops that call some."""

    @function.Defun(tf.float32, tf.float32)
    def both(a, b):
        return a * b + 1.0, a - b

    x = tf.placeholder(tf.float32, (None, 2), "x")
    product, difference = both(x, x * 2)
    chosen = cond_v2.cond_v2(
        tf.reduce_sum(x) > 0, lambda: product + 1, lambda: difference, name="if"
    )
    tf.compat.v1.enable_control_flow_v2()
    step = lambda i, a: (i + 1, a * a * 0.5 + x)  # noqa: E731
    looped = tf.while_loop(lambda i, a: i < 3, step, (0, x))[1]
    tf.compat.v1.disable_control_flow_v2()
    called = tf.function(lambda z: tf.sin(z) + 1.0)(x)
    named = {"product": product, "difference": difference, "chosen": chosen, "looped": looped}
    outputs = [tf.identity(value, name=name) for name, value in named.items()]
    freeze("functions", [*outputs, tf.identity(called, name="called")], {x: normal(3, 2)})


def trained():
    """A network that was trained: a SavedModel, and a meta graph beside a checkpoint."""
    x, y = (tf.placeholder(tf.float32, (None, n), name) for n, name in ((3, "x"), (1, "y")))
    hidden = tf.layers.dense(x, 4, tf.nn.tanh, name="hidden")
    with tf.variable_scope("out", use_resource=True):
        out = tf.layers.dense(hidden, 1, name="dense")
    steps = tf.train.get_or_create_global_step()
    loss = tf.reduce_mean(tf.square(out - y), name="loss")
    train = tf.train.AdamOptimizer(0.05).minimize(loss, steps, name="train")
    feeds = {x: normal(5, 3), y: normal(5, 1)}
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(2):
            session.run(train, feeds)
        path = os.path.join(FOLDER, "trained", "model.ckpt")
        tf.train.Saver().save(session, path, write_state=False)
        shutil.rmtree(os.path.join(FOLDER, "saved"), ignore_errors=True)
        told = {"features": x}, {"prediction": out}
        tf.saved_model.simple_save(session, os.path.join(FOLDER, "saved"), *told)
        keep("trained", session, [out, loss], feeds)
        for when in ("before", "after"):
            values = {v.op.name: session.run(v) for v in tf.global_variables()}
            recorded.update({f"trained|{when}|{name}": value for name, value in values.items()})
            for _ in range(3):
                session.run(train, feeds)


def tables():
    """A SavedModel whose table is filled when it's loaded."""
    numbers_of = tf.placeholder(tf.int64, (None,), "numbers")
    pairs = tf.lookup.KeyValueTensorInitializer(tf.constant([1, 2], tf.int64), [0.5, 0.25])
    table = tf.lookup.StaticHashTable(pairs, -1.0)
    found = tf.identity(table.lookup(numbers_of), name="found")
    folder = os.path.join(FOLDER, "tables")
    shutil.rmtree(folder, ignore_errors=True)
    with tf.Session() as session:
        session.run(tf.tables_initializer())
        keep("tables", session, [found], {numbers_of: np.array([2, 7, 1])})
        builder = tf.saved_model.builder.SavedModelBuilder(folder)
        start = tf.tables_initializer()
        builder.add_meta_graph_and_variables(session, ["serve"], main_op=start)
        builder.save()


if __name__ == "__main__":
    for make in (convolutions, sizes, boxes, control, functions, trained, tables):
        tf.reset_default_graph()
        tf.set_random_seed(1)
        numbers = np.random.RandomState(0)
        make()
    np.savez_compressed(os.path.join(FOLDER, "recorded.npz"), **recorded)
