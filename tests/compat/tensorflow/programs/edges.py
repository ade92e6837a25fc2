"""What networks, matrices and random numbers give at their edges, and what they refuse there."""

import numpy as np
import tensorflow as tf
from recording import case, main, run, started, told
from tensorflow.python.ops import gen_nn_ops, random_ops, stateful_random_ops

RNG = np.random.RandomState(7)


def numbers(*shape):
    return np.asarray(RNG.randint(-8, 9, shape) / 4, "float32")


def refused(function, *arrays):
    """The class of the error for known arrays and for fed ones, and the first line it says."""
    found = []
    for known in (True, False):
        given = [tf.constant(each) if known else tf.placeholder(each.dtype) for each in arrays]
        try:
            run(function(*given), {} if known else {x: arrays[at] for at, x in enumerate(given)})
            found.append("none")
        except Exception as error:
            found.append([type(error).__name__, str(error).split("\n")[0].split(" for '")[0]])
    return found


@case
def across_channels():
    """The largest of channels side by side."""
    x = tf.constant(numbers(2, 3, 2, 4))
    sizes = tf.placeholder(tf.int32)
    by_inputs = gen_nn_ops.max_pool_v2(x, sizes, sizes, "SAME")
    return [
        told(tf.nn.max_pool(x, [1, 1, 1, 2], [1, 1, 1, 2], "SAME")),
        told(gen_nn_ops.max_pool_v2(x, [1, 1, 1, 4], [1, 1, 1, 4], "VALID")),
        run(by_inputs, {sizes: [1, 1, 1, 2]}), run(by_inputs, {sizes: [1, 2, 2, 1]}),
    ]  # fmt: skip


@case
def pools_that_are_refused():
    x, wide = numbers(2, 3, 3, 4), numbers(2, 3, 3, 3, 4)
    found = [
        refused(lambda x, pool=pool, size=size, step=step: pool(x, size, step, "VALID"), x)
        for pool in (tf.nn.max_pool, tf.nn.avg_pool)
        for size, step in (
            ([1, 1, 1, 2], [1, 1, 1, 1]), ([1, 1, 1, 3], [1, 1, 1, 3]),
            ([1, 2, 1, 2], [1, 1, 1, 2]), ([2, 1, 1, 1], [1, 1, 1, 1]), ([1, 5, 5, 1], [1] * 4),
        )
    ]  # fmt: skip
    found += [
        refused(lambda x, pool=pool, size=size: pool(x, size, [1] * 5, "VALID"), wide)
        for pool in (tf.nn.max_pool3d, tf.nn.avg_pool3d)
        for size in ([1, 1, 1, 1, 2], [2, 1, 1, 1, 1], [1, 5, 1, 1, 1])
    ]

    def slope(x):
        return tf.gradients(tf.nn.max_pool(x, [1, 1, 1, 2], [1, 1, 1, 2], "SAME"), x)

    return [*found, refused(slope, x)]


@case
def convolutions_that_are_refused():
    x, kernel, plain = numbers(2, 3, 3, 4), numbers(2, 2, 4, 4), [1, 1, 1, 1]
    tries = [
        (kernel, [2, 1, 1, 1], "VALID", plain), (kernel, [1, 1, 1, 2], "VALID", plain),
        (kernel, plain, "SAME", [2, 1, 1, 1]), (numbers(2, 2, 2, 4), plain, "SAME", plain),
        (numbers(2, 2, 3, 4), plain, "SAME", plain), (numbers(5, 5, 4, 1), plain, "VALID", plain),
        (kernel, plain, [[0, 1], [0, 0], [0, 0], [0, 0]], plain),
        (kernel, plain, [[0, 0], [0, -1], [0, 0], [0, 0]], plain),
    ]  # fmt: skip
    return [
        refused(lambda x, w, how=how: tf.nn.conv2d(x, w, how[0], how[1], dilations=how[2]), x, w)
        for w, *how in tries
    ]


@case
def equal_maxima():
    """In three dimensions the gradient goes to all of them."""
    x = tf.constant(numbers(1, 4, 3, 2, 2).round())
    found = tf.nn.max_pool3d(x, [1, 2, 2, 1, 1], [1, 1, 2, 1, 1], "SAME")
    return told(found, over=[x])


@case
def normalized_halves():
    x = np.asarray(numbers(2, 3, 2, 2), "float16")
    scale, offset = tf.constant(numbers(2)), tf.constant(numbers(2))
    known, fed = tf.constant(x), tf.placeholder("float16", [None, None, None, 2])
    found = []
    for given in (known, fed):
        y, mean, variance = tf.nn.fused_batch_norm(given, scale, offset)
        found.append(told([y, mean, variance], {fed: x}, [given, scale, offset]))
    return found


@case
def no_regular_matrices():
    nan = np.full((2, 2), np.nan, "float32")
    roots = run(tf.linalg.sqrtm(np.stack([np.zeros((2, 2)), np.eye(2) * 4]).astype("float32")))
    return [
        np.isfinite(roots).all((1, 2)).tolist(),
        [refused(each, nan) for each in (tf.linalg.inv, tf.linalg.lu, tf.linalg.eigh)],
        refused(lambda a: tf.linalg.solve(a, a), nan),
        [refused(lambda a, b=b: tf.linalg.band_part(a, *b), nan) for b in ((3, 0), (0, 3), (2, 2))],
    ]


@case
def means_of_whole_numbers():
    """Sums are of their type, and the mean of none is 0; along no axis everything stays."""
    x = np.array([[200, 100, -3], [7, 90, 0]])
    return [
        [
            told(function(tf.constant(x.astype(kind)), *axes))
            for axes in ([], [0], [[]])
            for function in (tf.reduce_mean, tf.math.reduce_euclidean_norm)
        ] + [told(tf.reduce_mean(tf.zeros([2, 0], kind), 1))]
        for kind in ("uint8", "int32", "float32")
    ]  # fmt: skip


@case
def brain_floats():
    x = tf.cast(numbers(3, 3), tf.bfloat16)
    found = [x @ x, x[None] @ x[None], tf.math.unsorted_segment_max(x, [0, 2, 0], 3)]
    found.append(tf.math.unsorted_segment_min(x, [0, 2, 0], 3))
    return [told(tf.cast(each, "float32")) for each in found] + [told(tf.argmax(x, 1))]


@case
def shapes_below_zero():
    """What is drawn of them is no number; and nothing is drawn forever."""
    shapes = [-2.0, -0.5, 0.0, 3.0]
    drawn = tf.random.gamma([4], shapes, seed=3)
    bounds = [(3.0, 2.0), (0.0, 0.0), (-np.inf, np.inf)]
    return [
        run(drawn),
        [
            refused(lambda low=low, high=high: random_ops.parameterized_truncated_normal(
                [2], minvals=low, maxvals=high, seed=3
            ))
            for low, high in bounds
        ],
        run([tf.math.igamma([-1.0, 0.0, 2.0], 0.0), tf.math.igammac([2.0, 3.0], 0.0)]),
    ]  # fmt: skip


@case
def binomial_numbers():
    """Of counts and chances by row, or of one for all; and of another state."""
    tries = [
        ([4], [10.0, 20.0, 3.0, 5.0], [0.1, 0.5, 0.9, 0.3]), ([2, 3], [100.0, 900.0], [0.9, 0.2]),
        ([9], 400.0, 0.06), ([4], [0.0, 20.0, 3.0, 5.0], [0.1, 0.0, 1.0, -1.0]),
    ]  # fmt: skip
    found = []
    for shape, counts, chances in tries:
        generator = stateful_random_ops.Generator(state=[7, 8, 9], alg=1)
        drawn = generator.binomial(shape, counts, chances)
        session = started()
        first = run(drawn, None, session)
        session.run(generator.state.assign([3, 8, 9]))
        session.run(generator.state.assign_add([1, 0, 0]))
        found.append([str(drawn.shape), first, run(drawn, None, session)])
    return found


@case
def other_arguments():
    x, boxes = numbers(2, 4), np.array([[[0.1, 0.1, 0.5, 1.5]]], "float32")
    sampler = tf.random.uniform_candidate_sampler
    lengths = np.array([2, 4], "int32")
    whole = np.array([[[0.1, 0.1, 0.5, 0.9]]], "float32")

    def part(box, **how):
        return tf.image.sample_distorted_bounding_box([9, 9, 3], box, 1, **how)[0]

    return [
        refused(lambda x: tf.quantization.quantize(
            x, -1.0, 1.0, tf.quint8, "MIN_FIRST", "HALF_TO_EVEN"
        ).output, x),
        refused(lambda true: sampler(true, 2, 2, True, 9).sampled_candidates, np.ones((2, 3), int)),
        refused(lambda x, n: tf.nn.ctc_greedy_decoder(x, n)[1], numbers(3, 2, 4), lengths),
        refused(lambda box: part(box), boxes),
        refused(lambda box: part(box, area_range=[0.5, 2.0]), whole),
        refused(lambda x: tf.image.resize_area(x, [2, 2]), np.zeros((1, 0, 2, 1), "float32")),
        told(tf.nn.erosion2d(
            np.arange(18).reshape(1, 3, 3, 2), np.arange(8).reshape(2, 2, 2),
            [1] * 4, [1] * 4, "VALID",
        )),
    ]  # fmt: skip


if __name__ == "__main__":
    main()
