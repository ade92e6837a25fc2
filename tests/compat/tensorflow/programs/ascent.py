"""Stochastic dual coordinate ascent: its operations, and linear estimators that learn by it.

The original draws the order of examples anew each time, so what depends on it is told roughly.
"""

import os
import tempfile

import numpy as np
import tensorflow as tf
from recording import case, error_of, main
from tensorflow.python.ops import gen_sdca_ops as S

FOLDER = tempfile.mkdtemp()
RNG = np.random.RandomState(0)
X = RNG.randn(40, 3).astype("float32")
Y = (X[:, :1] * 2.0 - X[:, 1:2] + 0.5).astype("float32")
LOSSES = ["logistic_loss", "squared_loss", "hinge_loss", "smooth_hinge_loss", "poisson_loss"]


def stepped(**changes):
    """A step with one example, which has features of both kinds."""
    told = {
        "sparse_example_indices": [tf.constant([0, 0], tf.int64)],
        "sparse_feature_indices": [tf.constant([5, 2], tf.int64)],
        "sparse_feature_values": [tf.constant([0.5, 2.0])],
        "dense_features": [tf.constant([[1.8, 0.4, 0.1]])],
        "example_weights": [1.5],
        "example_labels": [1.0],
        "sparse_indices": [tf.constant([2, 5], tf.int64)],
        "sparse_weights": [tf.constant([0.3, -0.7])],
        "dense_weights": [tf.constant([0.9, -0.2, 0.05])],
        "example_state_data": [[0.2, 0.0, 0.0, 0.0]],
        "loss_type": "logistic_loss",
        "l1": 0.0,
        "l2": 1.0,
        "num_loss_partitions": 1,
        "num_inner_iterations": 1,
        "adaptive": False,
    }
    return S.sdca_optimizer_v2(**{**told, **changes})


def value(fetches):
    """What they are, in a session of their own."""
    with tf.Session() as session:
        return session.run(fetches)


@case
def one_step():
    found = []
    for loss in LOSSES:
        for way in ({}, {"l1": 0.3, "l2": 0.5, "num_loss_partitions": 3}, {"adaptive": True}):
            step = stepped(loss_type=loss, **way)
            found.append([str(each.shape) for each in tf.nest.flatten(step)])
            found.append(tf.nest.flatten(value(step)))
    return found


@case
def what_is_refused():
    changes = [
        {},
        {"example_labels": [0.5]},
        {"example_state_data": [[0.0, 0.0, 0.0]]},
        {"sparse_feature_indices": [tf.constant([5, 9], tf.int64)]},
        {"sparse_feature_indices": [tf.constant([5, 5], tf.int64)]},
        {"dense_weights": [tf.ones([2])]},
    ]
    return [error_of(lambda each=each: list(stepped(**each))) for each in changes]


@case
def shrunk():
    v, w = tf.Variable([1.0, -2.0, 0.1]), tf.Variable([[3.0]])
    shrink = S.sdca_shrink_l1([v, w], l1=0.5, l2=1.0)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(shrink)
        return session.run([v, w])


@case
def fingerprints():
    names = tf.placeholder(tf.string, [None])
    found = S.sdca_fprint(names)
    sizes = [*range(40), 63, 64, 65, 127, 128, 143, 144, 145, 160, 200, 271, 272, 273, 400, 600]
    with tf.Session() as session:
        texts = [("abcdefghij" * 60)[:size] for size in sizes]
        return [str(found.shape), session.run(found, {names: texts}).astype(str).tolist()]


@case
def linear_estimators():
    rows = np.arange(40).astype(str)
    batches = lambda y: lambda: ({"x": tf.constant(X), "id": tf.constant(rows)}, tf.constant(y))  # noqa: E731
    column, found = tf.feature_column.numeric_column("x", (3,)), []
    ways = [(tf.estimator.LinearRegressor, Y), (tf.estimator.LinearClassifier, (Y > 0).astype("f"))]
    for make, labels in ways:
        optimizer = tf.estimator.experimental.LinearSDCA("id", symmetric_l2_regularization=1.0)
        config = tf.estimator.RunConfig(os.path.join(FOLDER, make.__name__), tf_random_seed=1)
        estimator = make([column], optimizer=optimizer, config=config)
        estimator.train(batches(labels), steps=30)
        evaluated = estimator.evaluate(batches(labels), steps=1)
        weights = estimator.get_variable_value("linear/linear_model/x/weights")
        found += [round(float(evaluated["average_loss"]), 2), np.round(weights, 1)]
    return found


if __name__ == "__main__":
    main()
