"""What `tf.contrib`, older names and the tutorials' helpers compute."""

import numpy as np

PREFIX = """
slim = tf.contrib.slim
def start(shape, dtype=None, partition_info=None):
    count = int(np.prod([int(n) for n in shape]))
    return tf.constant(np.sin(1.0 + np.arange(count)).reshape([int(n) for n in shape]) / 2, dtype)
def begun():
    session = tf.Session()
    session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
    return session
def names(variables):
    return np.array(sorted(v.name for v in variables), 'S')
def finish(y):
    slopes = tf.gradients(tf.reduce_sum(tf.sin(y)), [x] + tf.trainable_variables())
    found = begun().run([y] + [g for g in slopes if g is not None])
    return found + [names(tf.global_variables()), names(slim.get_model_variables())]
"""
LAYERS = {
    "separable": "y = slim.separable_conv2d(x, 3, [2, 3], 2, weights_initializer=start)",
    "separable normalized": "y = slim.separable_conv2d(x, None, 3, depth_multiplier=2, stride=2,"
    " weights_initializer=start, activation_fn=None, normalizer_fn=slim.batch_norm, scope='deep')",
    "groups": "y = tf.contrib.layers.group_norm(x, groups=2)",
    "groups in order": "y = tf.contrib.layers.group_norm(tf.transpose(x, [0, 3, 1, 2]), groups=1,"
    " channels_axis=-3, reduction_axes=(-2, -1), scale=False)",
    "unit": "y = slim.unit_norm(x, 3)",
    "bias": "y = slim.bias_add(x, initializer=start, activation_fn=tf.nn.relu)",
    "maxout": "y = tf.contrib.layers.maxout(x, 2)",
    "places": "y = tf.contrib.layers.spatial_softmax(x)",
    "scoped": "with slim.arg_scope([slim.conv2d, slim.fully_connected], weights_initializer=start):\n"
    "    y = slim.fully_connected(slim.flatten(slim.conv2d(x, 3, [3, 3], scope='c')), 2)",
    "own": "@slim.add_arg_scope\n"
    "def conv2d(x, factor=2.0):\n"
    "    return x * factor\n"
    "with slim.arg_scope([conv2d], factor=3.0):\n"
    "    y = slim.conv2d(conv2d(x), 2, 2, weights_initializer=start)",
}
SEQUENCES = {
    "embedded": "y = tf.contrib.layers.embed_sequence(tf.constant(ids), 5, 3, initializer=start)",
    "mean of words": "y = tf.contrib.layers.bow_encoder(tf.constant(ids), 5, 3, initializer=start)",
}
LOSSES = {
    "softmax_cross_entropy": "(z, hot, weights=[0.5, 2.0], label_smoothing=0.1)",
    "sparse_softmax_cross_entropy": "(z, tf.constant([[1], [3]]))",
    "sigmoid_cross_entropy": "(z, hot, 2.0)",
    "mean_squared_error": "(z, hot)",
    "absolute_difference": "(z, hot, weights=0.5)",
    "log_loss": "(tf.sigmoid(z), hot)",
    "cosine_distance": "(z, hot, 1)",
    "hinge_loss": "(z, hot)",
}
PROGRAMS = {
    "total loss": "z = tf.constant(m); slim.losses.add_loss(tf.reduce_sum(z))\n"
    "slim.losses.mean_squared_error(z, tf.zeros_like(z))\n"
    "slim.fully_connected(z, 2, weights_initializer=start,"
    " weights_regularizer=slim.l2_regularizer(0.1))\n"
    "result = begun().run([slim.losses.get_total_loss()] + slim.losses.get_losses())",
    "chosen variables": "x = tf.constant(i)\n"
    "with tf.variable_scope('a'): slim.conv2d(x, 2, 2, normalizer_fn=slim.batch_norm)\n"
    "with tf.variable_scope('b'): slim.conv2d(x, 2, 2); slim.local_variable(0.0, name='count')\n"
    "slim.model_variable('own', [2], initializer=start)\n"
    "result = [names(slim.get_variables_to_restore(include=['a', 'own'], exclude=['a/Conv/Ba'])),\n"
    "    names(slim.get_variables_by_suffix('weights')), names(slim.get_model_variables('b')),\n"
    "    names(slim.get_trainable_variables('a')), names(slim.get_variables_by_name('biases')),\n"
    "    names(slim.get_variables('b')), names([slim.get_unique_variable('b/Conv/weights')]),\n"
    "    names(slim.filter_variables(tf.global_variables(), ['Conv'], ['beta', 'bias']))]",
    "assigned values": "slim.variable('v', [2], initializer=start); w = tf.get_variable('w', [2, 1])\n"
    "s = begun()\n"
    "slim.assign_from_values_fn({'w': np.array([[1.0], [2.0]]), 'v': np.array([3.0, 4.0])})(s)\n"
    "result = s.run(tf.global_variables())",
    "train op": "x = tf.constant(m); y = slim.fully_connected(x, 3, activation_fn=None, "
    "weights_initializer=start, normalizer_fn=slim.batch_norm)\n"
    "loss = tf.reduce_sum(tf.exp(y + tf.trainable_variables()[0][0]))\n"
    "op = slim.learning.create_train_op(loss, tf.train.GradientDescentOptimizer(0.1),"
    " clip_gradient_norm=0.5, gradient_multipliers={'fully_connected/weights': 2.0})\n"
    "s = begun(); result = [s.run(op) for _ in range(3)] + s.run(tf.global_variables())",
    "a whole training": "x = tf.constant(m); y = slim.fully_connected(x, 1, activation_fn=None,"
    " weights_initializer=start)\n"
    "slim.losses.mean_squared_error(y, tf.ones_like(y))\n"
    "op = slim.learning.create_train_op(slim.losses.get_total_loss(),"
    " tf.train.MomentumOptimizer(0.05, 0.9))\n"
    "result = [slim.learning.train(op, None, number_of_steps=4)]",
    "optimized": "x = tf.constant(m); w = tf.get_variable('w', [4, 1], initializer=start)\n"
    "step = tf.train.get_or_create_global_step()\n"
    "op = tf.contrib.layers.optimize_loss(tf.reduce_mean(tf.square(tf.matmul(x, w))), step, 0.1,"
    " 'SGD', clip_gradients=0.3, learning_rate_decay_fn=lambda r, n:"
    " tf.train.exponential_decay(r, n, 2, 0.5))\n"
    "s = begun(); result = [s.run(op) for _ in range(3)] + s.run([w, step])\n"
    "result.append(names(tf.global_variables()))",
    "metrics": "a, b = tf.constant([1, 0, 1]), tf.constant([1, 1, 1])\n"
    "values, updates = slim.metrics.aggregate_metric_map({'right': slim.metrics.streaming_accuracy("
    "a, b), 'mean': slim.metrics.streaming_mean(tf.constant([1.0, 4.0]))})\n"
    "s = begun(); s.run(list(updates.values())); result = s.run(values)",
    "moving average": "if hasattr(tf.python, 'training'): averages = tf.python.training.moving_averages\n"
    "else: from tensorflow.python.training import moving_averages as averages\n"
    "v = tf.get_variable('v', [4], initializer=start); m = tf.placeholder(tf.float32, [4])\n"
    "w = tf.get_variable('w', [4], initializer=start)\n"
    "a = averages.assign_moving_average(v, m, 0.9)\n"
    "b = averages.assign_moving_average(w, m, 0.9, zero_debias=False)\n"
    "s = begun(); result = [s.run([a, b], {m: given_arrays['m'][k]}) for k in (0, 1, 1)]\n"
    "result += [names(tf.global_variables())]",
    "steps": "step = tf.Variable(0, name='global_step', trainable=False)\n"
    "w = tf.get_variable('w', [2], initializer=start)\n"
    "op = tf.train.GradientDescentOptimizer(0.5).minimize(tf.reduce_sum(w * w),"
    " tf.train.get_global_step())\n"
    "s = begun(); result = [s.run([op, step, w])[1:] for _ in range(3)]\n"
    "result += s.run([step, step.assign_add(5)]) + [s.run([step], {step: 3})]",
    "words": "p = tf.contrib.learn.preprocessing.VocabularyProcessor(5, min_frequency=1)\n"
    "texts = [\"it 's a co-op, a GREATShow\", 'a co-op it 5', 'one a']\n"
    "result = list(p.fit_transform(texts)) + list(p.transform(['a new co-op']))\n"
    "result += [len(p.vocabulary_), np.array(list(p.reverse([[1, 2, 0]])), 'S')]",
    "digits": "DataSet = tf.contrib.learn.datasets.mnist.DataSet\n"
    "d = DataSet(np.arange(28).reshape(7, 2, 2, 1), np.arange(7), seed=3)\n"
    "result = [d.next_batch(3) for _ in range(4)] + [d.epochs_completed]",
    "sizes of features": "f = tf.sparse_placeholder(tf.float32, tf.constant([3, 4], tf.int64))\n"
    "y = tf.sparse_tensor_dense_matmul(f, tf.constant(m.T))\n"
    "given = tf.SparseTensorValue(np.array([[0, 1], [2, 3]]), [2.0, 3.0], [3, 4])\n"
    "result = [np.array(y.get_shape().as_list()), tf.Session().run(y, {f: given})]",
}
CASES = dict(
    [(name, PREFIX + "x = tf.constant(i)\n" + s + "\nresult = finish(y)") for name, s in LAYERS.items()]
    + [
        (name, PREFIX + source + "\nresult = begun().run(y)") for name, source in SEQUENCES.items()
    ]
    + [
        (
            name,
            PREFIX + "x = z = tf.constant(m); hot = tf.constant([[0.0, 1, 0, 0], [0, 0, 0, 1]])\n"
            "y = tf.contrib.losses." + name + call + "\nresult = finish(y)",
        )
        for name, call in LOSSES.items()
    ]
    + [(name, PREFIX + source) for name, source in PROGRAMS.items()]
)  # fmt: skip


def given():
    """The arrays of the programs."""
    rng = np.random.RandomState(3)
    return {
        "m": rng.randn(2, 4).astype("float32"),
        "i": rng.randn(2, 5, 4, 2).astype("float32"),
        "ids": np.array([[0, 3, 3], [4, 1, 0]], "int32"),
    }
