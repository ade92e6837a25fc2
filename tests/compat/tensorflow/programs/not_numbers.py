"""What isn't a number, what is infinite, nothing at all, and the ends of whole numbers."""

from functools import partial

import numpy as np
import tensorflow as tf
from recording import case, error_of, main, raised, run

NAN, INF = float("nan"), float("inf")
EDGES = np.array([NAN, INF, -INF, 0.0, 1.0, -2.0])
KINDS = ("float16", "float32", "float64")
TABLE = np.array([[1, NAN, 3], [NAN, 2, 2], [NAN, NAN, NAN], [-INF, NAN, -5]])
WHOLE = np.array([2**31 - 1, -(2**31), 0, 1, -1, 5, -7])


def of(function, *arrays, kinds=KINDS):
    """What a function of constants gives, and of fed ones, for each type."""
    found = []
    for kind in kinds:
        arrays = [np.asarray(each, kind) for each in arrays]
        fed = [tf.placeholder(kind, each.shape) for each in arrays]
        known = [tf.constant(each) for each in arrays]
        found.append(
            run(
                [function(*known), function(*fed)],
                {fed[at]: each for at, each in enumerate(arrays)},
            )
        )
    return found


@case
def choices():
    """The first operand stays unless the second one is beyond it."""
    a, b = EDGES[:, None], EDGES[None]
    return [of(choose, *pair) for choose in (tf.maximum, tf.minimum) for pair in ((a, b), (a, NAN))]


@case
def clipped():
    return [
        of(partial(tf.clip_by_value, clip_value_min=low, clip_value_max=high), EDGES)
        for low, high in [(-1.0, 0.5), (NAN, 0.5), (-1.0, NAN)]
    ]


@case
def extrema():
    """Of what is a number; a single element stays what it is."""
    return [
        of(partial(function, axis=axis), values)
        for function in (tf.reduce_max, tf.reduce_min)
        for values in (TABLE, TABLE[:1], TABLE[2:3, :1], TABLE[:0])
        for axis in (0, 1, None)
    ]


@case
def places():
    functions = (tf.argmax, tf.argmin)
    found = [of(partial(function, axis=axis), TABLE) for function in functions for axis in (0, 1)]
    rows = [[-INF, -3.4028235e38, NAN], [INF, INF, 3.4028235e38]]
    return [found, of(lambda x: tf.argmax(x, 1), rows), of(lambda x: tf.argmin(x, 1), rows)]


@case
def places_in_nothing():
    empty = tf.placeholder("float32", [None, None])
    return raised(lambda: run(tf.argmax(empty, 1), {empty: np.zeros((2, 0))}))[0]


@case
def dilations():
    image = np.where(np.isinf(TABLE), NAN, TABLE).reshape(1, 4, 3, 1)
    cells = tf.zeros([2, 2, 1]), [1, 1, 1, 1], [1, 1, 1, 1], "SAME"
    return of(lambda x: tf.nn.dilation2d(x, *cells), image, kinds=["float32"])


@case
def rows_and_groups():
    values = np.array([NAN, 1, NAN, 2, NAN, 0, 0])
    return [
        of(lambda x: tf.raw_ops.Bucketize(input=x, boundaries=[0.0, 1.0]), values, kinds=KINDS[1:]),
        of(lambda x: tf.unique_with_counts(x), values, kinds=KINDS[1:]),
        of(lambda x: tf.segment_max(x, [0, 0, 1, 2, 2, 3, 4]), values),
    ]


@case
def angles():
    numbers = np.array([INF, -INF, 0.0, -0.0, 1.0, -2.0])
    a, b = (each.ravel() for each in np.meshgrid(numbers, numbers))
    return of(tf.atan2, a, b, kinds=KINDS[1:])


@case
def steps_by_what_is_no_number():
    weights = tf.Variable([1.0, 2.0])
    optimizer = tf.contrib.opt.AdaMaxOptimizer(0.1)
    step = optimizer.apply_gradients([(tf.constant([NAN, 1.0]), weights)])
    session = tf.Session()
    session.run(tf.global_variables_initializer())
    session.run(step)
    return session.run(optimizer.get_slot(weights, "v"))


@case
def whole_numbers_cut():
    a, b = (each.ravel() for each in np.meshgrid(WHOLE, [3, -3, 7, -(2**31)]))
    return [of(cut, a, b, kinds=["int32"]) for cut in (tf.truncatediv, tf.truncatemod)]


@case
def whole_powers():
    given = tf.placeholder("int32", [2])
    return [
        raised(lambda: run(tf.pow(given, given), {given: [2, -1]}))[1].split("\n")[0],
        error_of(lambda: [tf.pow(given, given)], {given: [2, -1]}),
    ]


if __name__ == "__main__":
    main()
