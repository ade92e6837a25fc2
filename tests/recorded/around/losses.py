"""Losses and streaming metrics."""

import numpy as np

LOSSES = {
    "absolute": "absolute_difference(y, p{})",
    "squared": "mean_squared_error(y, p{})",
    "huber": "huber_loss(y, p{}, delta=0.5)",
    "log": "log_loss(tf.sigmoid(y), tf.sigmoid(p){})",
    "hinge": "hinge_loss(b, p{})",
    "sigmoid": "sigmoid_cross_entropy(b, p{})",
    "sigmoid smooth": "sigmoid_cross_entropy(b, p{}, label_smoothing=0.1)",
}
OF_ROWS = {
    "cosine": "cosine_distance(tf.nn.l2_normalize(y, 1), tf.nn.l2_normalize(p, 1), 1{})",
}
OF_SAMPLES = {
    "softmax": "softmax_cross_entropy(o, p{})",
    "softmax smooth": "softmax_cross_entropy(o, p{}, label_smoothing=0.2)",
    "sparse": "sparse_softmax_cross_entropy(c, p{})",
    "sparse column": "sparse_softmax_cross_entropy(c[:, tf.newaxis], p{})",
}
WEIGHTS = {
    "": "",
    " weighted": ", weights=w",
    " rows": ", weights=r",
    " number": ", weights=0.3",
    " zero": ", weights=0.0",
    " none": ", weights=r, reduction='none'",
    " sum": ", weights=r, reduction=tf.losses.Reduction.SUM",
    " mean": ", weights=r, reduction=tf.losses.Reduction.MEAN",
    " batch": ", weights=r, reduction=tf.losses.Reduction.SUM_OVER_BATCH_SIZE",
}


def weighted(losses, weights):
    """Each loss with each kind of weights."""
    return [
        (name + kind, "tf.losses." + source.format(w))
        for name, source in losses.items()
        for kind, w in weights.items()
    ]


def only(*kinds, **other):
    """Some kinds of weights, with other names for `r`."""
    return {k: WEIGHTS[k].replace("=r", "=" + other.get("r", "r")) for k in kinds}


LABELLED = {
    "mean": "mean(p)",
    "mean weighted": "mean(p, w)",
    "mean rows": "mean(p, r)",
    "mean tensor": "mean_tensor(p)",
    "mean tensor weighted": "mean_tensor(p, w)",
    "accuracy": "accuracy(c, d)",
    "accuracy weighted": "accuracy(c, d, weights=v)",
    "absolute error": "mean_absolute_error(y, p)",
    "absolute error weighted": "mean_absolute_error(y, p, w)",
    "squared error": "mean_squared_error(y, p)",
    "root squared error": "root_mean_squared_error(y, p, w)",
    "relative error": "mean_relative_error(y, p, tf.abs(y))",
    "cosine": "mean_cosine_distance(tf.nn.l2_normalize(y, 1), tf.nn.l2_normalize(p, 1), 1)",
    "percentage": "percentage_below(p, 0.3)",
    "true positives": "true_positives(b > 0.5, p > 0.0)",
    "true negatives": "true_negatives(b > 0.5, p > 0.0)",
    "false positives": "false_positives(b > 0.5, p > 0.0, w)",
    "false negatives": "false_negatives(b > 0.5, p > 0.0, w)",
    "precision": "precision(b > 0.5, p > 0.0)",
    "precision weighted": "precision(b > 0.5, p > 0.0, w)",
    "recall": "recall(b > 0.5, p > 0.0)",
    "recall weighted": "recall(b > 0.5, p > 0.0, w)",
    "true positives by threshold": "true_positives_at_thresholds(b, tf.sigmoid(p), [0.3, 0.6])",
    "false positives by threshold": "false_positives_at_thresholds(b, tf.sigmoid(p), [0.3, 0.6])",
    "true negatives by threshold": "true_negatives_at_thresholds(b, tf.sigmoid(p), [0.3, 0.6])",
    "false negatives by threshold":
        "false_negatives_at_thresholds(b, tf.sigmoid(p), [0.3, 0.6], w)",
    "precision by threshold": "precision_at_thresholds(b, tf.sigmoid(p), [0.3, 0.6, 1.5])",
    "recall by threshold": "recall_at_thresholds(b, tf.sigmoid(p), [0.3, 0.6], w)",
    "auc": "auc(b, tf.sigmoid(p))",
    "auc weighted": "auc(b, tf.sigmoid(p), w, num_thresholds=50)",
    "auc precision": "auc(b, tf.sigmoid(p), curve='PR', summation_method='careful_interpolation')",
    "auc trapezoidal precision": "auc(b, tf.sigmoid(p), curve='PR', num_thresholds=20)",
    "auc minoring": "auc(b, tf.sigmoid(p), summation_method='minoring')",
    "auc majoring": "auc(b, tf.sigmoid(p), summation_method='majoring')",
    "sensitivity": "sensitivity_at_specificity(b, tf.sigmoid(p), 0.6)",
    "specificity": "specificity_at_sensitivity(b, tf.sigmoid(p), 0.6)",
    "intersection over union": "mean_iou(c, d, 4)",
    "intersection over union weighted": "mean_iou(c, d, 4, v)",
    "accuracy by class": "mean_per_class_accuracy(c, d, 3)",
    "precision at k": "precision_at_k(tf.cast(c, tf.int64), p, 2)",
    "recall at k": "recall_at_k(tf.cast(c, tf.int64), p, 2)",
    "recall at k column": "recall_at_k(tf.cast(c, tf.int64)[:, tf.newaxis], p, 1, weights=v)",
    "precision at k of a class": "precision_at_k(tf.cast(c, tf.int64), p, 2, class_id=1)",
    "recall at k of a class": "recall_at_k(tf.cast(c, tf.int64), p, 1, class_id=1)",
    "precision at k of several":
        "precision_at_k(tf.constant([[0, 1], [2, 0], [1, 2], [2, 1]], tf.int64), p, 2)",
    "recall at k of several":
        "recall_at_k(tf.constant([[0, 1], [2, 0], [1, 2], [2, 1]], tf.int64), p, 2)",
}  # fmt: skip
# Two batches, one after the other.
STREAMED = """
arrays = {name: (array, array[::-1]) for name, array in given_arrays.items()}
fed = {name: tf.placeholder(array.dtype, array.shape) for name, array in given_arrays.items()}
globals().update(fed)
value, update = tf.metrics.METRIC
result = []
with tf.Session() as session:
    session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
    result.append(session.run(value))
    for i in range(2):
        feeds = {fed[name]: arrays[name][i] * (0.5 if name in 'py' and i else 1) for name in fed}
        feeds = {x: array.astype(x.dtype.as_numpy_dtype) for x, array in feeds.items()}
        result += [session.run(update, feeds), session.run(value)]
    result.append(len(tf.local_variables()))
"""
PROGRAMS = {
    "losses collected": """
first = tf.losses.mean_squared_error(y, p)
second = tf.losses.absolute_difference(y, p, scope='second')
other = tf.losses.huber_loss(y, p, loss_collection='others')
third = tf.get_variable('v', [2, 2], initializer=tf.ones_initializer(),
                        regularizer=tf.contrib.layers.l2_regularizer(0.3))
total = tf.losses.get_total_loss()
alone = tf.losses.get_total_loss(add_regularization_losses=False)
result = [len(tf.losses.get_losses()), len(tf.get_collection('others'))]
result.append(len(tf.losses.get_losses(scope='second')))
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    result += session.run([total, alone, tf.losses.get_regularization_loss()])
""",
    "regularizers": """
l1, l2 = tf.contrib.layers.l1_regularizer(0.1), tf.contrib.layers.l2_regularizer(0.2)
both = tf.contrib.layers.l1_l2_regularizer(0.3, 0.4)
total = tf.contrib.layers.sum_regularizer([l1, l2])
x = tf.constant(p)
with tf.Session() as session:
    result = session.run([l1(x), l2(x), both(x), total(x)])
    result.append(session.run(tf.contrib.layers.apply_regularization(l2, [x, x])))
    result.append(len(tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)))
""",
    "initializers": """
c = tf.constant_initializer
made = [tf.zeros_initializer()([2, 3]), tf.ones_initializer()([2], tf.int32)]
made += [c(0.5)([2, 2]), c([1, 2, 3, 4])([2, 2]), c([1.5, 2])([5]), c(3)([2], tf.int64)]
made += [tf.initializers.identity(2.0)([2, 3]), tf.zeros_initializer(tf.float64)([2])]
made += [tf.zeros_initializer()([2], dtype=tf.float16)]
with tf.Session() as session:
    result = session.run(made)
""",
    "names of metrics": """
tf.metrics.mean(p)
tf.metrics.accuracy(c, d, name='own')
tf.metrics.precision(c, d)
result = [np.array(sorted(v.name for v in tf.local_variables()), 'S')]
result.append(np.array(sorted(v.name for v in tf.get_collection('metric_variables')), 'S'))
""",
}

CASES = dict(
    weighted(LOSSES, WEIGHTS)
    + weighted(OF_ROWS, only("", " number", " rows", " none", " sum", " mean", " batch"))
    + weighted(
        OF_SAMPLES, only("", " number", " rows", " zero", " none", " sum", " mean", " batch", r="v")
    )
    + [
        ("pairs", "tf.losses.mean_pairwise_squared_error(y, p)"),
        ("pairs rows", "tf.losses.mean_pairwise_squared_error(y, p, weights=r)"),
        ("weighted loss", "tf.losses.compute_weighted_loss(y, w)"),
    ]
    + [("metric " + k, STREAMED.replace("METRIC", v)) for k, v in LABELLED.items()],
    **PROGRAMS,
)


def given():
    """The arrays of the programs."""
    rng = np.random.RandomState(2)
    arrays = {
        "y": rng.randn(4, 3).astype("float32"),
        "p": rng.randn(4, 3).astype("float32"),
        "b": rng.randint(0, 2, (4, 3)).astype("float32"),
        "w": np.abs(rng.randn(4, 3)).astype("float32") * (rng.rand(4, 3) > 0.3),
        "r": np.array([[0.5], [0], [2], [1]], "float32"),
        "v": np.array([0.5, 0, 2, 1], "float32"),
        "o": np.eye(3, dtype="float32")[[0, 2, 1, 1]],
        "c": np.array([0, 2, 1, 1], "int32"),
        "d": np.array([0, 1, 1, 2], "int32"),
    }
    return dict(arrays, w=arrays["w"].astype("float32"))
