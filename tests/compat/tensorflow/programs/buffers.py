"""What was read of a variable is its buffer: who takes it later sees what was assigned since."""

import numpy as np
import tensorflow as tf
from recording import case, main, run, started


def variable(value=1.0, **options):
    """A variable of the old kind."""
    return tf.Variable(value, name="v", use_resource=False, **options)


def after(operation, make):
    """What's made is computed after an operation."""
    with tf.control_dependencies([operation]):
        return make()


@case
def read_assigned_and_added():
    v = variable([1.0, 2.0])
    p = tf.placeholder(tf.float32, [2])
    total = after(tf.assign(v, p), lambda: v + 10.0)
    return [run(total, {p: [5.0, 6.0]}), run(v)]


@case
def identity_before():
    v = variable()
    before = tf.identity(v)
    step = after(before, lambda: tf.assign_add(v, 2.0))
    return run([after(step, lambda: before * 1.0), after(step, lambda: tf.identity(before))])


@case
def sum_before():
    v = variable()
    before = v + 0.0
    step = after(before, lambda: tf.assign_add(v, 2.0))
    return run([after(step, lambda: before * 1.0), after(step, lambda: v * 1.0)])


@case
def stopped_gradients_before():
    v = variable([1.0, 2.0])
    before = tf.stop_gradient(v)
    step = after(before, lambda: tf.scatter_update(v, [1], [7.0]))
    return run(after(step, lambda: before * 2.0))


@case
def fetched_with_steps():
    v = variable()
    session = started()
    step = tf.assign_sub(v, 0.25)
    train = tf.train.GradientDescentOptimizer(0.5).minimize(v * v, var_list=[v])
    found = [session.run([step, after(step, lambda: v * 1.0)]) for _ in range(2)]
    return [found, session.run(after(train, lambda: tf.identity(v)))]


@case
def resources_give_values():
    v = tf.Variable(1.0, use_resource=True)
    before = v.read_value()
    step = after(before, lambda: v.assign_add(2.0, read_value=False))
    return run([after(step, lambda: before * 1.0), after(step, lambda: v.read_value())])


@case
def moving_averages():
    v = variable([1.0, -1.0])
    average = tf.train.ExponentialMovingAverage(0.5)
    op = average.apply([v])
    session = started()
    moved = after(op, lambda: average.average(v) + 0.0)
    found = [session.run([moved, after(tf.assign_add(v, [1.0, 1.0]), lambda: v + 0.0)])[1:]]
    return [found, session.run(moved), session.run(moved)]


@case
def in_branches():
    v, way = variable(), tf.placeholder(tf.bool, [])
    before = tf.identity(v)
    chosen = tf.cond(way, lambda: after(tf.assign(v, 8.0), lambda: before + 0.0),
                     lambda: before - 1.0)  # fmt: skip
    session = started()
    return [session.run(chosen, {way: False}), session.run(chosen, {way: True}), session.run(v)]


@case
def buffers_that_are_replaced():
    kept, new = tf.Variable([1.0, 2.0], validate_shape=False), tf.placeholder(tf.float32, [None])
    old = kept.value()
    with tf.control_dependencies([old]):
        assigned = tf.assign(kept, new, validate_shape=False)
    with tf.control_dependencies([assigned]):
        before = old * 1.0
    found = []
    with tf.Session() as session:
        for value in ([5.0, 6.0, 7.0], [8.0]):
            session.run(kept.initializer)
            found += [session.run(before, {new: value}).tolist(), session.run(kept).tolist()]
    return found


@case
def arrays_that_grow():
    part = tf.placeholder(tf.float32, [None])
    value, update = tf.contrib.metrics.streaming_concat(part)
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        for turn in range(4):
            session.run(update, {part: np.arange(6) + 10.0 * turn})
        return session.run(value).tolist()


if __name__ == "__main__":
    main()
