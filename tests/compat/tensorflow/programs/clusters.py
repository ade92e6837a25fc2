"""Clusters: the nearest centers, and the choice of the first ones."""

import numpy as np
import tensorflow as tf
from recording import case, error_of, main, run
from tensorflow.python.ops import gen_clustering_ops as made_by

POINTS = np.random.RandomState(0).randn(12, 2).astype("float32")
BLOBS = np.concatenate([POINTS * 0.1, POINTS * 0.1 + [5, 0], POINTS * 0.1 + [0, 5]])
BLOBS = BLOBS.astype("float32")


@case
def nearest_centers():
    k = tf.placeholder(tf.int64, [])
    found = made_by.nearest_neighbors(points=POINTS, centers=BLOBS[::7], k=k)
    return [[str(x.shape) for x in found], *[run(found, {k: many}) for many in (1, 3, 99)]]


@case
def first_centers():
    far = np.float32([[0, 0], [0, 0], [9, 9], [9, 9], [-9, 9]])
    made = made_by.kmeans_plus_plus_initialization(
        points=far, num_to_sample=3, seed=3, num_retries_per_sample=2
    )
    return [str(made.shape), sorted(run(made).tolist())]


@case
def too_many_centers():
    return error_of(
        lambda: made_by.kmeans_plus_plus_initialization(
            points=POINTS, num_to_sample=13, seed=3, num_retries_per_sample=2
        )
    )


@case
def a_chain():
    made = made_by.kmc2_chain_initialization(distances=[0.0, 0.0, 4.0, 0.0], seed=3)
    return [str(made.shape), int(run(made)) in range(4)]


@case
def trained_clusters():
    found = []
    for first in ("kmeans_plus_plus", "kmc2"):
        model = tf.contrib.factorization.KMeans(tf.constant(BLOBS), 3, first, random_seed=1)
        _, at, _, ready, begin, train = model.training_graph()
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            while not session.run(ready):
                session.run(begin)
            for _ in range(4):
                session.run(train)
            found.append([np.sort(np.bincount(session.run(at)[0])).tolist()])
    return found


if __name__ == "__main__":
    main()
