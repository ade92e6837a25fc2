"""Trees that are grown by boosting: their operations, and the estimators above them."""

import os
import tempfile

import numpy as np
import tensorflow as tf
from recording import case, main
from tensorflow.core.kernels.boosted_trees import boosted_trees_pb2
from tensorflow.python.ops import boosted_trees_ops as B
from tensorflow.python.ops import gen_boosted_trees_ops as G

FOLDER = tempfile.mkdtemp()
RNG = np.random.RandomState(0)
X = RNG.randn(40, 2).astype("float32")
Y = (X[:, :1] * 2.0 - X[:, 1:] + 0.5).astype("float32")
LABELS = (Y > 0).astype("int32")
LETTERS = np.array(list("abcde"))[RNG.randint(0, 5, 40)][:, None]
LIMITS = [-1.0, -0.3, 0.2, 1.0]


def settings(name):
    """What an estimator is told, so that it's the same each time."""
    return tf.estimator.RunConfig(model_dir=os.path.join(FOLDER, name), tf_random_seed=1)


def feeding(labels, repeats=1, batch=40):
    """A function that gives batches in order."""
    features = {"s": X[:, :1], "t": X[:, 1:], "c": LETTERS}
    dataset = tf.data.Dataset.from_tensor_slices
    return lambda: dataset((features, labels)).repeat(repeats).batch(batch)


def numbers(name):
    return tf.feature_column.numeric_column(name)


def buckets(name):
    return tf.feature_column.bucketized_column(numbers(name), LIMITS)


def letters():
    column = tf.feature_column.categorical_column_with_vocabulary_list("c", list("abcde"))
    return tf.feature_column.indicator_column(column)


def learnt(estimator, labels, steps=20, batch=40):
    """How good an estimator is after some steps, and what it predicts."""
    estimator.train(feeding(labels, None, batch), max_steps=steps)
    key = "logits" if "Classifier" in type(estimator).__name__ else "predictions"
    predicted = [each[key] for each in estimator.predict(feeding(labels))]
    return [estimator.evaluate(feeding(labels)), predicted[:5]]


def message(data):
    """What a serialized ensemble holds."""
    found = boosted_trees_pb2.TreeEnsemble.FromString(data)
    nodes = [
        [
            [node.bucketized_split.feature_id, node.bucketized_split.threshold],
            [node.bucketized_split.left_id, node.bucketized_split.right_id],
            [node.leaf.scalar, node.metadata.gain, node.metadata.original_leaf.scalar],
        ]
        for tree in found.trees
        for node in tree.nodes
    ]
    told = [
        [each.num_layers_grown, each.is_finalized, len(each.post_pruned_nodes_meta)]
        for each in found.tree_metadata
    ]
    growing = found.growing_metadata
    return [nodes, told, growing.num_trees_attempted, growing.num_layers_attempted]


def grown(pruning, complexity, depth, centers):
    """An ensemble after some steps that take up where the last one left off."""
    rng, count = np.random.RandomState(2), 30
    features = [rng.randint(0, 4, count).astype("int32") for _ in range(2)]
    wanted = (features[0] * 0.5 - features[1] + rng.randn(count) * 0.1).astype("float32")[:, None]
    ensemble = B.TreeEnsemble("ensemble")
    handle = ensemble.resource_handle
    trees, nodes = tf.placeholder(tf.int32, [count]), tf.placeholder(tf.int32, [count])
    before = tf.placeholder(tf.float32, [count, 1])
    more, following, places = B.training_predict(handle, trees, nodes, features, 1)
    logits = more + before
    slopes, curves = logits - wanted, tf.ones_like(logits)
    sums = B.make_stats_summary(places, slopes, curves, features, max_splits=8, num_buckets=4)
    best = B.calculate_best_gains_per_feature(
        ensemble.get_states()[4], tf.unstack(sums), 0.1, 0.2, complexity, 0.0, max_splits=8
    )
    update = B.update_ensemble(handle, [0, 1], *best, depth, 0.5, pruning_mode=pruning)
    means = [tf.reduce_mean(each, 0, keepdims=True) for each in (slopes, curves)]
    center = B.center_bias(handle, *means, 0.0, 0.1)
    told = [*ensemble.get_states(), B.predict(handle, features, 1)]
    found = []

    def fed(state):
        return {trees: state[0], nodes: state[1], before: state[2]}

    with tf.Session() as session:
        session.run(ensemble.initializer)
        found.append(session.run([ensemble.is_initialized(), *told]))
        state = [np.zeros(count, "int32"), -np.ones(count, "int32"), np.zeros((count, 1), "f")]
        for _ in range(3 if centers else 0):
            found.append(session.run(center, fed(state)))
        for _ in range(7):
            feeds = fed(state)
            logits_now, *state = session.run([logits, following, places], feeds)
            session.run(update, feeds)
            state.append(logits_now)
            found += [
                [each[:10] for each in state],
                session.run(told[:-1]),
                session.run(told[-1])[:10],
            ]
        stamp, data = session.run(ensemble.serialize())
        other = B.TreeEnsemble("other")
        session.run(other.initializer)
        session.run(other.deserialize(stamp, data))
        predicted = B.predict(other.resource_handle, features, 1)
        found += [message(data), session.run([predicted, *other.get_states()])]
    return found


@case
def layer_by_layer():
    return grown(0, 0.0, 2, False)


@case
def pruned_before_and_centered():
    return grown(1, 0.4, 2, True)


@case
def pruned_afterwards():
    return grown(2, 0.6, 3, False)


@case
def statistics():
    rng, count, found = np.random.RandomState(1), 20, []
    for settings in ([0.0, 0.0, 0.0, 0.0], [0.3, 0.1, 0.05, 0.0], [0.0, 1.0, 0.0, 9.0]):
        nodes = rng.randint(0, 3, count).astype("int32")
        slopes, curves = rng.randn(count, 1).astype("f"), rng.rand(count, 1).astype("f")
        features = [rng.randint(0, 4, count).astype("int32") for _ in range(2)]
        sums = B.make_stats_summary(nodes, slopes, curves, features, max_splits=4, num_buckets=4)
        best = B.calculate_best_gains_per_feature([0, 3], tf.unstack(sums), *settings, max_splits=4)
        with tf.Session() as session:
            found += [str(sums.shape), [str(each.shape) for each in tf.nest.flatten(best)]]
            found.append(session.run([sums, best]))
    return found


@case
def quantiles():
    rng, found = np.random.RandomState(0), []
    ways = [(50, 0.01, 4, False), (50, 0.1, 4, False), (7, 0.01, 10, False), (300, 0.05, 8, False),
            (300, 0.01, 5, True), (5, 0.2, 3, True), (1, 0.1, 3, False)]  # fmt: skip
    for count, epsilon, parts, equal in ways:
        for weights in (np.ones(1, "f"), rng.rand(count).astype("f") + 0.1):
            x = rng.randn(count).astype("f").round(1)
            handle = G.boosted_trees_quantile_stream_resource_handle_op("", f"q{len(found)}")
            told = B.get_bucket_boundaries(handle, 1)
            summary = B.make_quantile_summaries([x], weights, epsilon)
            doubled = B.make_quantile_summaries([x * 2], weights, epsilon)
            with tf.Session() as session:
                session.run(B.create_quantile_stream_resource(handle, epsilon, 1))
                found += session.run([B.is_quantile_resource_initialized(handle), told])
                for each in (summary, doubled):
                    session.run(B.quantile_add_summaries(handle, each))
                session.run(B.quantile_flush(handle, parts, generate_quantiles=equal))
                limits = session.run(told)
                found += [session.run(summary[0])[::7], limits]
                found.append(session.run(B.boosted_trees_bucketize([x[:40]], limits)))
    return found


@case
def regression():
    columns = [buckets("s"), buckets("t")]
    estimator = tf.estimator.BoostedTreesRegressor(
        columns, 1, n_trees=3, max_depth=2, center_bias=True, config=settings("regression")
    )
    found = learnt(estimator, Y)
    explained = list(estimator.experimental_predict_with_explanations(feeding(Y)))[:3]
    return [*found, [[each["bias"], sorted(each["dfc"].items())] for each in explained]]


@case
def classification():
    estimator = tf.estimator.BoostedTreesClassifier(
        [buckets("s"), buckets("t"), letters()], 1, n_trees=3, max_depth=2, learning_rate=0.3,
        l2_regularization=0.1, config=settings("classification"),
    )  # fmt: skip
    found = learnt(estimator, LABELS)
    shares = estimator.experimental_feature_importances(normalize=True)
    return [*found, [[name, float(share)] for name, share in shares.items()]]


@case
def several_batches_for_a_layer():
    columns = [buckets("s"), buckets("t")]
    estimator = tf.estimator.BoostedTreesRegressor(
        columns, 4, n_trees=2, max_depth=2, config=settings("batches")
    )
    return learnt(estimator, Y, 30, 10)


@case
def columns_of_numbers():
    estimator = tf.estimator.BoostedTreesRegressor(
        [numbers("s"), numbers("t"), letters()], 1, n_trees=3, max_depth=2,
        quantile_sketch_epsilon=0.1, config=settings("numbers"),
    )  # fmt: skip
    return learnt(estimator, Y)


if __name__ == "__main__":
    main()
