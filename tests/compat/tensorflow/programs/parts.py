"""Assignments to parts of variables, and of tensors."""

import numpy as np
import tensorflow as tf
from recording import case, error_of, main, started

START = np.arange(12.0).reshape(3, 4)


def variable(by_handle=False):
    return tf.get_variable("v", initializer=START, use_resource=by_handle)


def after(by_handle, *assign):
    """A variable's values after each of some assignments."""
    v = variable(by_handle)
    steps = [make(v) for make in assign]
    session, found = started(), []
    for step in steps:
        session.run(step)
        found.append(session.run(v).tolist())
    return found


ASSIGNMENTS = (
    lambda v: v[1].assign([9.0, 8, 7, 6]),
    lambda v: v[:, ::-2].assign(np.arange(6.0).reshape(3, 2)),
    lambda v: v[0:2, 1].assign([-1.0, -2]),
    lambda v: v[..., tf.newaxis, 2].assign(np.full((3, 1), 5.0)),
    lambda v: v[1, -1].assign(tf.constant(100.0, tf.float64)),
    lambda v: v[tf.constant(2)].assign(tf.zeros(4, tf.float64)),
)


@case
def parts_of_references():
    return after(False, *ASSIGNMENTS)


@case
def parts_by_handle():
    return after(True, *ASSIGNMENTS)


@case
def what_they_give():
    v = variable()
    step = v[0].assign(tf.ones(4, tf.float64))
    return [str(step.shape), started().run(step).tolist()]


@case
def parts_in_branches():
    v, chosen = variable(), tf.placeholder(tf.bool, ())
    with tf.control_dependencies(
        [tf.cond(chosen, lambda: v[0].assign(START[1]), lambda: v[1].assign(START[0]))]
    ):
        read = tf.identity(v)
    session = started()
    return [session.run(read, {chosen: way}).tolist() for way in (True, False)]


@case
def parts_in_loops():
    v = variable(True)

    def body(i):
        with tf.control_dependencies([v[i, i].assign(tf.constant(-1.0, tf.float64))]):
            return i + 1

    session, turns = started(), tf.while_loop(lambda i: i < 3, body, [0])
    return [int(session.run(turns)), session.run(v).tolist()]


@case
def faults_of_parts():
    return [
        error_of(lambda: variable()[0:2].assign(tf.constant(7.0, tf.float64))),
        error_of(lambda: tf.constant(START)[0].assign(START[1])),
    ]


@case
def extrema_of_what_is_not_a_number():
    old = np.array([np.nan, np.nan, 0.0, 1.0, 1.0, -0.0], "f")
    new = np.array([1.0, np.nan, np.nan, 2.0, 0.0, 0.0], "f")
    found = []
    for by_handle in (False, True):
        for change in (tf.scatter_max, tf.scatter_min):
            x = tf.Variable(old, use_resource=by_handle)
            session = started()
            session.run(change(x, np.arange(6), new))
            found.append(1 / session.run(x))
    return [[str(each) for each in row] for row in found]


if __name__ == "__main__":
    main()
