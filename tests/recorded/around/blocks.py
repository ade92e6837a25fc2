"""Loops, blocks and gradients as programs nest them."""

import numpy as np

PREFIX = """
def begun():
    session = tf.Session()
    session.run(tf.global_variables_initializer())
    return session
"""
PROGRAMS = {
    "grown in a bounded loop": "x = tf.constant(m)\n"
    "result = begun().run(tf.while_loop(lambda i, y: i < 9, lambda i, y: (i + 1, tf.concat([y, x *"
    " tf.cast(i, tf.float32)], 1)), (0, x[:, :0]), (tf.TensorShape([]), tf.TensorShape([2, None])),"
    " maximum_iterations=3))",
    "grown in a bounded loop of one": "x = tf.constant(m)\n"
    "result = begun().run([tf.while_loop(lambda y: True, lambda y: tf.concat([y, y[:1] + 1.0], 0),"
    " [x], tf.TensorShape([None, 3]), maximum_iterations=2)])",
    "begun in a block": "p = tf.placeholder(tf.float32, [2])\n"
    "v = tf.get_variable('v', [2], initializer=tf.ones_initializer())\n"
    "with tf.control_dependencies([tf.assign(v, p)]):\n"
    "    w = tf.get_variable('w', [2], initializer=lambda shape, dtype=None, partition_info=None:"
    " v.initialized_value() + tf.ones(shape), regularizer=lambda w: tf.reduce_sum(w * w))\n"
    "    u = tf.Variable(lambda: 2.0 * v.initialized_value(), name='u')\n"
    "    after = v + w + u\n"
    "s = begun(); loss = tf.losses.get_regularization_loss()\n"
    "result = [s.run(loss)] + s.run([v, w, u]) + [s.run(after, {p: [5.0, 6.0]})]",
    "waiting for nothing": "v = tf.get_variable('v', [], initializer=tf.zeros_initializer())\n"
    "with tf.control_dependencies([tf.assign_add(v, 1.0)]):\n"
    "    with tf.control_dependencies(None): x = tf.constant(1.0) * 3.0\n"
    "    with tf.init_scope(): y = tf.constant(1.0) * 4.0\n"
    "    z = tf.identity(v)\n"
    "s = begun(); result = [s.run([x, y]), s.run(v), s.run(z), s.run(v)]",
    "names of penalties": "with tf.variable_scope('a', regularizer=tf.contrib.layers.l2_regularizer("
    "0.5)), tf.name_scope('b'):\n"
    "    tf.get_variable('v', [2]); tf.get_variable('w', [2], regularizer=lambda w: 2.0 *"
    " tf.reduce_sum(w))\n"
    "found = [x.name for x in tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)]\n"
    "result = [np.array([name.rpartition('/')[0] for name in found], 'S')]",
    "weights of more axes": "x = tf.constant(m); y = tf.reshape(tf.exp(x * 0.5), [3, 2])\n"
    "result = begun().run(tf.gradients(y, x, tf.constant(m.reshape(1, 3, 2))))",
}
CASES = {name: PREFIX + source for name, source in PROGRAMS.items()}


def given():
    """The arrays of the programs."""
    return {"m": np.random.RandomState(3).randn(2, 3).astype("float32")}
