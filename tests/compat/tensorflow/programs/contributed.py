"""What single libraries of contrib compute: skip-grams, lines of LibSVM, slices that are reduced,
elements at other axes, lists that go round.
"""

import numpy as np
import tensorflow as tf
from recording import case, main, raised, run, told
from tensorflow.contrib.input_pipeline.python.ops import input_pipeline_ops
from tensorflow.contrib.libsvm import decode_libsvm
from tensorflow.contrib.periodic_resample import periodic_resample
from tensorflow.contrib.reduce_slice_ops.python.ops import reduce_slice_ops
from tensorflow.contrib.text import skip_gram_sample

WORDS = ["the", "quick", "brown", "fox", "jumps"]
ROWS = np.array([[1, 20, 3], [400, 5, 60], [70, 8, 900], [1000, 2000, 3000]])
WAYS = [getattr(reduce_slice_ops, f"reduce_slice_{way}") for way in ("sum", "prod", "max", "min")]
# Shapes, and sizes that are multiples, or are not, or take of two axes.
FITTING = [
    ((3, 4), [6, None]),
    ((3, 4), [None, 8]),
    ((3, 4), [5, None]),
    ((3, 4), [7, None]),
    ((2, 3, 4), [4, None, 4]),
    ((2, 3, 4), [3, 6, None]),
    ((1, 4, 4, 4), [1, 8, 8, None]),
]
WRONG = [[2, None], [6, 2], [None, None], [0, None], [6, None, 1], [6, 4], [60, None]]


def refused(function):
    """The class of the error that something raises, and the first line of its message."""
    kind, message = raised(function)
    return [kind, message.split("\n")[0]]


@case
def rearranged():
    found = []
    for shape, wanted in FITTING:
        x = tf.constant(np.arange(np.prod(shape)).reshape(shape), tf.float32)
        y = periodic_resample(x, wanted)
        found += [y, periodic_resample(tf.cast(x, tf.int32), wanted)]
        if np.prod(y.shape.as_list()) == np.prod(shape):  # else what is left is anything
            found += tf.gradients(y * y, x)
    return told(found)


@case
def rearranged_of_any_size():
    values = np.arange(12.0).reshape(3, 4)
    given = [tf.placeholder_with_default(values, shape) for shape in ([None, 4], None)]
    found = [periodic_resample(x, [6, None]) for x in given]
    return [[str(y.shape) for y in found], told(found)]


@case
def not_rearranged():
    x = tf.zeros([3, 4])
    return [refused(lambda sizes=sizes: run(periodic_resample(x, sizes))) for sizes in WRONG]


@case
def slices():
    pairs = [[0, 1], [1, 1], [0, 2], [2, 99], [3, 1]]
    kinds = [tf.float32, tf.int32, tf.uint8, tf.int64, tf.float64]
    given = [tf.cast(ROWS, kind) for kind in kinds]
    found = [run(way(x, pairs, 0)) for way in WAYS for x in given]
    return [[str(x.dtype), x.tolist()] for x in found]


@case
def slices_of_any_size():
    x = tf.placeholder_with_default(np.arange(24.0).reshape(2, 4, 3), None)
    bounds = tf.placeholder_with_default(np.array([0, 1, 3, 4]), None)
    axis = tf.placeholder_with_default(np.array(1, np.int64), [])
    return told([way(x, bounds, axis) for way in WAYS])


@case
def no_slices():
    given = [(ROWS, [[1, 2, 3]]), (ROWS, 1), (1, [[0, 1]]), (ROWS, [[[1, 2]]])]
    return [refused(lambda each=each: WAYS[0](*each, axis=0)) for each in given]


@case
def skip_grams():
    options = [(1, 1), (0, 0, 0, -1, True), (2, 2, 1, 3), (1, 2, 2, 9), (0, 2, 6)]
    return told([pairs for each in options for pairs in skip_gram_sample(WORDS, *each, seed=1)])


@case
def skip_grams_anew():
    tf.set_random_seed(1)
    drawn = skip_gram_sample(tf.range(8), 0, 3, seed=4), skip_gram_sample(tf.range(30), 0, 5)
    with tf.Session() as session:
        return [[x.tolist() for pair in session.run(drawn) for x in pair] for _ in range(3)]


@case
def no_skip_grams():
    wrong = [(-1, 2), (3, 2)]
    return [refused(lambda some=some: run(skip_gram_sample(WORDS, *some))) for some in wrong]


@case
def lines():
    given = ["1 1:3.4 2:0.5 4:0.231", " 1  2:2.5 3:inf\t5:0.503 ", "2 3:2.5 2:-2 1:0.105 1:2"]
    sparse, labels = decode_libsvm(given, 6)
    other, others = decode_libsvm([["1 0:1"], ["2.5"]], 3, tf.int32, tf.float64)
    parts = [labels, others, *[part for x in (sparse, other) for part in (x.indices, x.values)]]
    return told([*parts, sparse.dense_shape, other.dense_shape])


@case
def no_lines():
    wrong = ["", "x 1:2", "1.5 1:2", "+1 1:2", "1 1:z", "1 q:2", "1 2", "1 -1:1", "1 1:2:3", "1 1:"]
    return [refused(lambda line=line: run(decode_libsvm([line], 6)[1])) for line in wrong]


@case
def round_and_round():
    counter = tf.get_variable("counter", [], tf.int64, tf.constant_initializer(-1), trainable=False)
    following = input_pipeline_ops.obtain_next(tf.constant(["a", "b", "c"]), counter)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found = [session.run(following).decode() for _ in range(5)]
        return [found, int(session.run(counter))]


if __name__ == "__main__":
    main()
