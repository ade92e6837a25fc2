"""Builds, freezes and runs larger networks, of made-up weights, in TensorFlow 1.15.

    python networks.py FOLDER NAME ...

Writes `NAME.pb` and `NAME.npz` (arrays by `in|tensor`, `out|tensor`). It runs on TensorFlow 1.15,
and by `kameleon run`.
"""

import os
import sys

import numpy as np
import tensorflow as tf


def freeze(path, outputs, feeds, session):
    """Write a graph, its variables as constants, and what it gives."""
    names = [output.op.name for output in outputs]
    frozen = tf.graph_util.convert_variables_to_constants(
        session, session.graph.as_graph_def(), names
    )
    with open(f"{path}.pb", "wb") as file:
        file.write(frozen.SerializeToString())
    values = session.run(outputs, feeds)
    given = {f"in|{hole.name}": value for hole, value in feeds.items()}
    found = {f"out|{output.name}": v for output, v in zip(outputs, values)}  # noqa: B905
    np.savez(f"{path}.npz", **given, **found)


def application(path, make, size):
    """A network of `tf.keras.applications`."""
    backend = tf.keras.backend
    backend.clear_session()
    backend.set_learning_phase(0)
    model = make(weights=None, input_shape=(size, size, 3))
    numbers = np.random.RandomState(0)
    made_up = [w + 0.1 * numbers.randn(*w.shape) if w.ndim == 1 else w for w in model.get_weights()]
    model.set_weights([w.clip(0.05) if w.ndim == 1 else w for w in made_up])
    images = numbers.uniform(size=(2, size, size, 3)).astype("float32")
    freeze(path, [model.output], {model.input: images}, backend.get_session())


def detector(path):
    """Boxes at places of a grid, of which those are kept that overlap with no better one.

    Once for the first image, as many as there are; and for all images, as many for each.
    """
    images = tf.placeholder(tf.uint8, (None, None, None, 3), name="images")
    h = tf.image.resize_bilinear(tf.cast(images, tf.float32), (96, 96)) / 127.5 - 1.0
    for place, filters in enumerate((8, 16, 32)):
        h = tf.layers.conv2d(h, filters, 3, 2, "same", activation=tf.nn.relu6)
        h = tf.layers.batch_normalization(h, name=f"norm{place}")
    count = tf.shape(h)[0]
    moved = tf.reshape(tf.layers.conv2d(h, 4, 3, padding="same"), [count, -1, 4])
    scores = tf.reshape(tf.layers.conv2d(h, 4, 3, padding="same"), [count, -1, 4])
    scores = tf.nn.softmax(scores * 20.0)[..., 1:]
    rows, columns = tf.meshgrid(tf.range(12), tf.range(12), indexing="ij")
    grid = (tf.cast(tf.reshape(tf.stack([rows, columns], -1), [-1, 2]), tf.float32) + 0.5) / 12.0
    center, half = grid + moved[..., :2] * 0.1, tf.exp(moved[..., 2:]) * 0.12
    boxes, best = tf.concat([center - half, center + half], -1), tf.reduce_max(scores, -1)
    kept = tf.image.non_max_suppression(boxes[0], best[0], 20, 0.4, score_threshold=0.3)

    def of_one(pair):
        chosen = tf.image.non_max_suppression(pair[0], pair[1], 10, 0.4)
        return tf.pad(tf.gather(pair[0], chosen), [[0, 10 - tf.shape(chosen)[0]], [0, 0]])

    each = tf.map_fn(of_one, (boxes, best), dtype=tf.float32)
    outputs = [
        tf.gather(boxes[0], kept, name="boxes"),
        tf.gather(best[0], kept, name="scores"),
        tf.gather(tf.argmax(scores[0], -1), kept, name="classes"),
        tf.identity(tf.shape(kept)[0], name="count"),
        tf.identity(each, name="each"),
    ]
    given = np.random.RandomState(1).randint(0, 256, (2, 120, 100, 3)).astype("uint8")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        freeze(path, outputs, {images: given}, session)


NETWORKS = {
    "inception": lambda path: application(path, tf.keras.applications.InceptionV3, 128),
    "mobilenet": lambda path: application(path, tf.keras.applications.MobileNet, 96),
    "detector": detector,
}

if __name__ == "__main__":
    for name in sys.argv[2:]:
        tf.reset_default_graph()
        tf.set_random_seed(1)
        NETWORKS[name](os.path.join(sys.argv[1], name))
