"""Layers with fixed weights: values, gradients, names of variables."""

import numpy as np

# The weights of all layers: numbers that depend on the place alone.
PREFIX = """
def start(shape, dtype=None, partition_info=None):
    count = int(np.prod([int(n) for n in shape]))
    return tf.constant(np.sin(1.0 + np.arange(count)).reshape([int(n) for n in shape]) / 2, dtype)
def finish(y, *more):
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        slopes = tf.gradients(tf.reduce_sum(tf.sin(y)), [x] + tf.trainable_variables())
        found = session.run([y] + [g for g in slopes if g is not None] + list(more))
    names = sorted(v.name for v in tf.global_variables())
    losses = tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)
    return found + [np.array(names, 'S'), len(losses), np.array(y.get_shape().as_list())]
"""
K = "kernel_initializer=start, bias_initializer=start"
LAYERS = {
    "dense": "x = tf.constant(m); y = tf.layers.dense(x, 3, {K})",
    "dense activated": "x = tf.constant(m); y = tf.layers.dense(x, 3, tf.nn.relu, {K}, name='fc')",
    "dense without bias": "x = tf.constant(m); y = tf.layers.dense(x, 3, None, False, start)",
    "dense of three axes": "x = tf.constant(s); y = tf.layers.dense(x, 2, tf.tanh, {K})",
    "dense regularized": "x = tf.constant(m); y = tf.layers.dense(x, 3, {K},"
    " kernel_regularizer=tf.contrib.layers.l2_regularizer(0.1))",
    "dense twice": "x = tf.constant(m); y = tf.layers.dense(tf.layers.dense(x, 3, {K}), 2, {K})",
    "dense as a class": "x = tf.constant(m); f = tf.layers.Dense(3, {K}); y = f(x) + f(x)",
    "dense shared": "x = tf.constant(m)\n"
    "with tf.variable_scope('net'): a = tf.layers.dense(x, 3, {K}, name='one')\n"
    "with tf.variable_scope('net', reuse=True): y = a * tf.layers.dense(x, 3, {K}, name='one')",
    "dense shared by default": "x = tf.constant(m)\n"
    "def net(x):\n"
    "    with tf.variable_scope('net', reuse=tf.AUTO_REUSE):\n"
    "        return tf.layers.dense(tf.layers.dense(x, 4, {K}), 4, {K})\n"
    "y = net(x) * net(2.0 * x)",
    "dense reused": "x = tf.constant(m); a = tf.layers.dense(x, 3, {K}, name='one')\n"
    "y = a + tf.layers.dense(x, 3, {K}, name='one', reuse=True)",
    "conv1d": "x = tf.constant(s); y = tf.layers.conv1d(x, 2, 3, {K})",
    "conv1d same": "x = tf.constant(s); y = tf.layers.conv1d(x, 2, 3, 2, 'same', {K})",
    "conv1d dilated": "x = tf.constant(s); y = tf.layers.conv1d(x, 2, 2, dilation_rate=2, {K})",
    "conv2d": "x = tf.constant(i); y = tf.layers.conv2d(x, 3, 2, {K})",
    "conv2d same": "x = tf.constant(i)\n"
    "y = tf.layers.conv2d(x, 3, (3, 2), (2, 2), 'SAME', activation=tf.nn.elu, {K})",
    "conv2d without bias": "x = tf.constant(i)\n"
    "y = tf.layers.conv2d(x, 3, 3, use_bias=False, kernel_initializer=start, name='c')",
    "conv3d": "x = tf.constant(v); y = tf.layers.conv3d(x, 2, 2, {K})",
    "conv2d transposed": "x = tf.constant(i); y = tf.layers.conv2d_transpose(x, 3, 3, 2, {K})",
    "conv2d transposed same": "x = tf.constant(i)\n"
    "y = tf.layers.conv2d_transpose(x, 3, 4, (2, 2), 'same', {K})",
    "conv3d transposed": "x = tf.constant(v)\ny = tf.layers.conv3d_transpose(x, 2, 2, 2, {K})",
    "separable": "x = tf.constant(i)\ny = tf.layers.separable_conv2d(x, 3, 2, {S})",
    "separable deep": "x = tf.constant(i)\n"
    "y = tf.layers.separable_conv2d(x, 3, 3, 2, 'same', depth_multiplier=2, {S})",
    "separable steps": "x = tf.constant(s); y = tf.layers.separable_conv1d(x, 3, 2, {S})",
    "max pooling": "x = tf.constant(i); y = tf.layers.max_pooling2d(x, 2, 2)",
    "max pooling same": "x = tf.constant(i);"
    " y = tf.layers.max_pooling2d(x, (3, 2), (2, 1), 'same')",
    "mean pooling": "x = tf.constant(i); y = tf.layers.average_pooling2d(x, 2, 2, 'same')",
    "max pooling of steps": "x = tf.constant(s); y = tf.layers.max_pooling1d(x, 2, 2)",
    "mean pooling of steps": "x = tf.constant(s); y = tf.layers.average_pooling1d(x, 3, 1, 'same')",
    "max pooling of volumes": "x = tf.constant(v); y = tf.layers.max_pooling3d(x, 2, 1)",
    "mean pooling of volumes": "x = tf.constant(v); y = tf.layers.average_pooling3d(x, 2, 2)",
    "flatten": "x = tf.constant(i); y = tf.layers.flatten(x)",
    "flatten a row": "x = tf.constant(m[0]); y = tf.layers.flatten(x)",
    "dropout in testing": "x = tf.constant(m); y = tf.layers.dropout(x, 0.5)",
    "dropout of none": "x = tf.constant(m); y = tf.layers.dropout(x, 0.0, training=True)",
    "normalization in testing": "x = tf.constant(i); y = tf.layers.batch_normalization(x)",
    "normalization with weights": "x = tf.constant(m)\n"
    "y = tf.layers.batch_normalization(x, beta_initializer=start, gamma_initializer=start,"
    " moving_mean_initializer=start, training=False)",
    "normalization bare": "x = tf.constant(m)\n"
    "y = tf.layers.batch_normalization(x, center=False, scale=False, training=True, name='bn')",
    "contrib fully connected": "x = tf.constant(m)\n"
    "y = tf.contrib.layers.fully_connected(x, 3, weights_initializer=start,"
    " biases_initializer=start)",
    "contrib linear": "x = tf.constant(m)\n"
    "y = tf.contrib.layers.linear(x, 3, weights_initializer=start, scope='l')",
    "contrib convolution": "x = tf.constant(i)\n"
    "y = tf.contrib.layers.conv2d(x, 3, [3, 3], stride=2, weights_initializer=start,"
    " weights_regularizer=tf.contrib.layers.l2_regularizer(0.1))",
    "contrib convolution normalized": "x = tf.constant(i)\n"
    "y = tf.contrib.layers.conv2d(x, 3, 2, padding='VALID', activation_fn=None,"
    " weights_initializer=start, normalizer_fn=tf.contrib.layers.batch_norm,"
    " normalizer_params=dict(scale=True, is_training=False))",
    "contrib transposed": "x = tf.constant(i)\n"
    "y = tf.contrib.layers.conv2d_transpose(x, 3, 3, 2, weights_initializer=start)",
    "contrib pooling": "x = tf.constant(i); y = tf.contrib.layers.max_pool2d(x, [2, 2])",
    "contrib mean pooling": "x = tf.constant(i); y = tf.contrib.layers.avg_pool2d(x, 2, 1, 'SAME')",
    "contrib flatten": "x = tf.constant(i); y = tf.contrib.layers.flatten(x)",
    "contrib layer norm": "x = tf.constant(i); y = tf.contrib.layers.layer_norm(x)",
    "contrib layer norm of rows": "x = tf.constant(m)\n"
    "y = tf.contrib.layers.layer_norm(x, center=False, activation_fn=tf.nn.relu)",
    "contrib instance norm": "x = tf.constant(i); y = tf.contrib.layers.instance_norm(x)",
    "contrib dropout": "x = tf.constant(m)\n"
    "y = tf.contrib.layers.dropout(x, 0.5, is_training=False)",
    "contrib softmax": "x = tf.constant(m); y = tf.contrib.layers.softmax(x)",
    "contrib one hot": "x = tf.constant(m); y = x + tf.contrib.layers.one_hot_encoding([0, 3], 4)",
    "contrib stack": "x = tf.constant(m)\n"
    "y = tf.contrib.layers.stack(x, tf.contrib.layers.fully_connected, [3, 2],"
    " weights_initializer=start)",
    "contrib arguments of a scope": "x = tf.constant(m)\n"
    "layers = tf.contrib.layers\n"
    "with tf.contrib.framework.arg_scope([layers.fully_connected], activation_fn=tf.tanh,"
    " weights_initializer=start):\n"
    "    y = layers.fully_connected(layers.fully_connected(x, 3), 2, activation_fn=None)",
    "slim": "x = tf.constant(i)\n"
    "slim = tf.contrib.slim\n"
    "with slim.arg_scope([slim.conv2d, slim.fully_connected], weights_initializer=start):\n"
    "    y = slim.repeat(x, 2, slim.conv2d, 3, [2, 2], scope='c')\n"
    "    y = slim.fully_connected(slim.flatten(slim.max_pool2d(y, [2, 2])), 2, scope='out')",
}  # fmt: skip
S = "depthwise_initializer=start, pointwise_initializer=start, bias_initializer=start"
TRAINED = """
x = tf.constant(ARRAY)
y = tf.layers.batch_normalization(x, training=TRAINING, momentum=0.9OPTIONS)
updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
moving = tf.global_variables()
result = [len(updates), np.array([v.name for v in moving], 'S')]
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for flag in (True, False, True):
        feeds = {training: flag} if 'placeholder' in "TRAINING" else None
        result += session.run([y, tf.gradients(tf.reduce_sum(tf.sin(y)), x)[0]], feeds)
        session.run(updates, feeds)
        result += session.run(moving)
"""
TRAINING = {
    "normalization of rows": ("m", "True", ""),
    "normalization of images": ("i", "True", ""),
    "normalization of images, not fused": ("i", "True", ", fused=False"),
    "normalization of steps": ("s", "True", ""),
    "normalization of channels first": ("m", "True", ", axis=1"),
}
FLAGGED = {
    "normalization by a flag": ("i", ""),
    "normalization of rows by a flag": ("m", ""),
}


def program(array, training, options):
    """Batch normalization over three steps."""
    source = TRAINED.replace("ARRAY", array).replace("OPTIONS", options)
    return source.replace("TRAINING", training)


def flagged(array, options):
    """The same, with a placeholder that says whether it's training."""
    source = "training = tf.placeholder(tf.bool)\n" + TRAINED.replace('"TRAINING"', "'placeholder'")
    source = source.replace("ARRAY", array).replace("OPTIONS", options)
    return source.replace("TRAINING", "training")


PROGRAMS = {
    "updates before a step": """
x = tf.constant(m)
y = tf.layers.batch_normalization(x, training=True, momentum=0.5)
loss = tf.reduce_mean(tf.square(y - 1.0))
with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    session.run(train)
    session.run(train)
    result = session.run(tf.global_variables())
""",
    "a layer of the program's own": """
class Scale(tf.layers.Layer):
    def build(self, input_shape):
        self.w = self.add_variable('w', shape=[int(input_shape[-1])],
                                   initializer=tf.constant_initializer(2.0))
        super(Scale, self).build(input_shape)
    def call(self, inputs):
        return inputs * self.w
layer = Scale(name='own')
y = layer(tf.constant(m)) + layer(tf.constant(m))
result = [np.array([v.name for v in layer.variables], 'S'), len(layer.trainable_variables)]
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    result.append(session.run(y))
""",
    "contrib normalization in training": """
x = tf.constant(i)
y = tf.contrib.layers.batch_norm(x, decay=0.8, is_training=True, scale=True)
updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
result = [len(updates), np.array(sorted(v.name for v in tf.global_variables()), 'S')]
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    result.append(session.run(y))
    session.run(updates)
    result += session.run(sorted(tf.global_variables(), key=lambda v: v.name))
""",
}

CASES = dict(
    [
        (name, PREFIX + source.replace("{K}", K).replace("{S}", S) + "\nresult = finish(y)")
        for name, source in LAYERS.items()
    ]
    + [("training " + name, program(*parts)) for name, parts in TRAINING.items()]
    + [("training " + name, flagged(*parts)) for name, parts in FLAGGED.items()],
    **PROGRAMS,
)


def given():
    """The arrays of the programs."""
    rng = np.random.RandomState(3)
    return {
        "m": rng.randn(2, 4).astype("float32"),
        "s": rng.randn(2, 5, 3).astype("float32"),
        "i": rng.randn(2, 5, 4, 2).astype("float32"),
        "v": rng.randn(1, 3, 4, 3, 2).astype("float32"),
    }
