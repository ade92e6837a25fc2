"""Clusters: the nearest centers, and the choice of the first ones."""

import numpy as np
import tensorflow as tf
from recording import case, error_of, main, run
from tensorflow.contrib.factorization.python.ops import gen_factorization_ops as factorizing
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


@case
def factors_of_a_matrix():
    places = np.array([[i, j] for i in range(6) for j in range(5) if i * j % 3 != 1])
    values, found = np.cos(np.arange(len(places), dtype="float32")), []
    for weights in 1.0, None, [[1.0, 2.0, 0.5, 1.0, 1.0, 3.0], [2.0, 1.0, 1.0, 0.1, 1.0]]:
        rows, columns = weights if isinstance(weights, list) else (weights, weights)
        with tf.Graph().as_default(), tf.Session() as session:
            model = tf.contrib.factorization.WALSModel(
                6, 5, 2, unobserved_weight=0.1, regularization=0.01, row_init=POINTS[:6],
                col_init=POINTS[6:11], row_weights=rows, col_weights=columns,
            )  # fmt: skip
            given = tf.SparseTensor(places, values, [6, 5])
            turned = tf.sparse.transpose(given)
            by_rows, by_columns = (
                update(sp_input=part, transpose_input=is_turned)
                for update, part, is_turned in (
                    (model.update_row_factors, given, False),
                    (model.update_col_factors, turned, True),
                )
            )
            session.run(model.initialize_op)
            session.run(model.worker_init)
            for _ in range(2):
                session.run(model.row_update_prep_gramian_op)
                session.run(model.initialize_row_update_op)
                session.run(by_rows[1])
                session.run(model.col_update_prep_gramian_op)
                session.run(model.initialize_col_update_op)
                session.run(by_columns[1])
            told = [*model.row_factors, *model.col_factors, *by_columns[2:]]
            found.append(session.run(told))
    return found


@case
def sides_of_weighted_least_squares():
    places, values = [[0, 0], [0, 3], [2, 1], [2, 2]], [1.0, 2.0, 3.0, -1.0]
    of_rows, of_columns, entries = [0.5, 1.0, 2.0], [1.0, 2.0, 3.0, 0.5], [1.0, 0.5, 2.0, 3.0]

    def sides(of_columns, of_rows, entries, is_turned=False):
        at = [place[::-1] for place in places] if is_turned else places
        parts = [tf.constant(each, tf.float32) for each in (of_columns, of_rows, values, entries)]
        made = factorizing.wals_compute_partial_lhs_and_rhs(
            POINTS[:4], parts[0], 0.1, parts[1], at, parts[2], parts[3], 3, is_turned
        )
        return [str(each.shape) for each in made], run(made)

    refused = [([1.0], of_rows, []), (of_columns, of_rows, entries), ([], [], entries[:2])]
    a, b = POINTS[:3], POINTS[:4].T
    picked = [
        factorizing.masked_matmul(x, y, [[0, 1], [2, 3], [1, 1]], x is not a, y is not b)
        for x in (a, a.T) for y in (b, b.T)
    ]  # fmt: skip
    return [
        sides(of_columns, of_rows, []), sides(of_columns, of_rows, [], True),
        sides([], [], entries), [error_of(lambda each=each: sides(*each)) for each in refused],
        [str(picked[0].shape), *run(picked)],
    ]  # fmt: skip


if __name__ == "__main__":
    main()
