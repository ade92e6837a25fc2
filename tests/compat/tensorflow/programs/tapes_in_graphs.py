"""Tapes over the operations of a graph."""

import numpy as np
import tensorflow as tf
from recording import case, main, raised, run, started


def variable(value):
    """A variable that tapes follow."""
    return tf.Variable(value, use_resource=True)


@case
def gradients_of_gradients():
    x = tf.constant(3.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = x**3
        slope = inner.gradient(y, x)
    return run([slope, outer.gradient(slope, x)])


@case
def what_is_followed():
    x, other, v = tf.constant([1.0, 2.0]), tf.constant(1.0), variable([3.0, 4.0])
    before = x * 5.0
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x * v
        z = tf.reduce_sum(y) + other + tf.reduce_sum(before)
        with tape.stop_recording():
            constant = x * 7.0
        w = tf.reduce_sum(constant * x)
    found = run([*tape.gradient(z, [x, v]), tape.gradient(z, y), tape.gradient(w, x)])
    missing = [tape.gradient(z, each) is None for each in (other, before)]
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        y = x * v
    return [found, missing, tape.gradient(y, v) is None, raised(lambda: tape.gradient(y, v))[0]]


@case
def weights_and_jacobians():
    x = tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = tf.nn.relu(x - 2.0) * 3.0
        sums = tf.reduce_sum(x * x, axis=1)
        pairs = tf.stack([sums, x[:, 0] * x[:, 1]], axis=1)
    weights = tf.constant([[1.0, 2.0, 3.0], [1.0, 1.0, 2.0]])
    found = [tape.gradient(y, x, output_gradients=weights), tape.jacobian(sums, x)]
    return run([*found, tape.batch_jacobian(pairs, x)])


@case
def a_step_of_training():
    w, b = variable(0.0), variable(0.0)
    x = np.arange(5.0, dtype="float32")
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(w * x + b - (2 * x + 1)))
    pairs = zip(tape.gradient(loss, [w, b]), [w, b])  # noqa: B905
    step = tf.train.GradientDescentOptimizer(0.05).apply_gradients(pairs)
    session = started()
    for _ in range(50):
        session.run(step)
    return session.run([w, b])


@case
def unknown_sizes():
    x = tf.placeholder(tf.float32, [None, 2])
    with tf.GradientTape() as tape:
        tape.watch(x)
        one, other = tf.split(tf.exp(x), 2, 1)
    slope = tape.gradient(one, x)
    return run([slope, tf.shape(other)], {x: np.ones((3, 2))})


@case
def variables_by_reference():
    with tf.GradientTape() as tape:
        y = tf.Variable(2.0, use_resource=False) * 3.0
    return [raised(lambda: tape.gradient(y, tf.Variable(1.0, use_resource=False)))[0]]


if __name__ == "__main__":
    main()
