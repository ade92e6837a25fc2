"""Random numbers of seeds, which are TensorFlow's own, number for number."""

import tensorflow as tf
from recording import case, error_of, main, run, started

KINDS = [tf.float32, tf.float64, tf.float16]


def twice(*tensors):
    """What two runs of a session give: other numbers each time."""
    session = started()
    return [session.run(list(tensors)) for _ in range(2)]


@case
def even_numbers():
    found = [tf.random_uniform([7], dtype=kind, seed=3) for kind in KINDS]
    return twice(*found, tf.random_uniform([2, 3], -1.0, 2.0, seed=4))


@case
def normal_numbers():
    found = [tf.random_normal([7], dtype=kind, seed=3) for kind in KINDS]
    return twice(*found, tf.random_normal([2, 3], 1.0, 2.0, seed=4))


@case
def truncated_numbers():
    found = [tf.truncated_normal([40], dtype=kind, seed=3) for kind in KINDS]
    return twice(*found, tf.truncated_normal([2, 3], 1.0, 2.0, seed=4))


@case
def many_and_no_truncated_numbers():
    """More than are drawn at a time; the sum tells whether all are as they were."""
    many = tf.truncated_normal([200, 301], seed=3)
    return twice(tf.reduce_sum(many), many[-1, -7:], tf.truncated_normal([0, 3], seed=4))


@case
def whole_numbers():
    one = tf.random_uniform([7], 0, 10, tf.int32, seed=3)
    return twice(one, tf.random_uniform([3], -5, 100000000000, tf.int64, seed=4))


@case
def seeds_of_graphs():
    tf.set_random_seed(5)
    found = [tf.random_uniform([3]), tf.random_normal([3], seed=2), tf.random_shuffle(tf.range(6))]
    return twice(*found, tf.random_crop(tf.range(9), [3]))


@case
def without_a_state():
    makers = [tf.random.stateless_uniform, tf.random.stateless_normal]
    makers.append(tf.random.stateless_truncated_normal)
    found = [make([7], seed=[2, 3], dtype=kind) for make in makers for kind in KINDS]
    found.append(tf.random.stateless_uniform([5], [2, -3], 0, 100, tf.int32))
    return twice(*found, tf.random.stateless_categorical([[0.0, 1.0]], 5, seed=[4, 5]))


@case
def choices():
    weights = tf.log([[0.1, 0.7, 0.2], [1e-9, 0.5, 0.5]])
    return twice(tf.multinomial(weights, 9, seed=3), tf.random.categorical(weights, 4, seed=1))


@case
def initializers():
    makers = [
        tf.glorot_uniform_initializer(seed=1), tf.initializers.he_normal(seed=2),
        tf.random_normal_initializer(0.0, 0.1, seed=4), tf.truncated_normal_initializer(seed=5),
        tf.variance_scaling_initializer(seed=6), tf.keras.initializers.lecun_uniform(seed=7),
    ]  # fmt: skip
    return run([make([3, 2]) for make in makers])


@case
def a_network_of_a_seed():
    tf.set_random_seed(1)
    x = tf.random_normal([4, 3])
    hidden = tf.layers.dense(x, 5, tf.nn.relu)
    hidden = tf.nn.dropout(hidden, rate=0.4)
    loss = tf.reduce_mean(tf.square(tf.layers.dense(hidden, 1)))
    step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    session = started()
    return [session.run([loss, step])[0] for _ in range(4)]


@case
def numbers_in_loops():
    tf.set_random_seed(3)
    total = tf.while_loop(
        lambda i, s: i < 4,
        lambda i, s: (i + 1, s + tf.random_uniform([2], seed=1)),
        [0, tf.zeros([2])],
    )[1]
    way = tf.placeholder(tf.bool, [])
    drawn = tf.cond(way, lambda: tf.random_uniform([], seed=2), lambda: 0.0)
    session = started()
    return [session.run(total), [session.run(drawn, {way: w}) for w in (True, False, True)]]


@case
def numbers_that_tell_sizes():
    n = tf.random_uniform([4], 1, 30, dtype=tf.int32)
    most, session = tf.reduce_max(n), started()
    rows = tf.ones_like(n)[:, None] * tf.range(most)
    masked = tf.cast(rows, tf.float32) * tf.sequence_mask(n, dtype=tf.float32)
    given = [session.run([most, tf.shape(rows), tf.shape(masked)]) for _ in range(3)]
    return [all(a[1] == b[1] == largest for largest, a, b in given), given[0][1][0]]


@case
def gamma_and_poisson():
    shapes, means = [[0.3, 1.0], [2.5, 30.0]], [0.3, 1.0, 9.5, 0.0, 10.0, 33.0, 1000.0]
    drawn = [tf.random_gamma([8], tf.constant(shapes, kind), seed=4, dtype=kind)
             for kind in ("float32", "float64")]  # fmt: skip
    drawn += [tf.random.poisson(means, [6], seed=4, dtype=kind) for kind in (tf.int32, tf.float64)]
    tensors = [tf.distributions.StudentT([3.0, 4.0], 0.0, 1.0).sample(5, seed=2),
               tf.distributions.Dirichlet([1.5, 2.0, 3.0]).sample(5, seed=3)]  # fmt: skip
    with tf.Session() as session:
        return [[x.tolist() for x in session.run(drawn + tensors)] for _ in range(2)]


@case
def classes_that_stand_for_all():
    true, weights = [[0, 3]], [1.0, 2.0, 3.0, 4.0, 10.0]
    kinds = [tf.nn.log_uniform_candidate_sampler, tf.nn.uniform_candidate_sampler]
    drawn = [kind(true, 2, 4, *how, seed=9) for kind in kinds
             for how in ((False, 1000), (True, 13), (True, 4))]  # fmt: skip
    fixed = tf.nn.fixed_unigram_candidate_sampler
    drawn += [fixed(true, 2, 9, False, 5, unigrams=weights, seed=9),
              fixed(true, 2, 3, True, 6, "", 0.75, 1, unigrams=weights, seed=8)]  # fmt: skip
    return twice(*[part for parts in drawn for part in parts])


@case
def parts_of_pictures():
    boxes = [[[0.0, 0.0, 0.5, 0.5], [0.3, 0.6, 0.9, 1.0]]]
    kinds = [([12, 10, 3], [0.75, 1.33], [0.05, 1.0], 0.1),
             ([33, 47, 3], [0.5, 2.0], [0.3, 0.9], 0.5),
             ([8, 60, 3], [0.75, 1.33], [0.01, 1.0], 0.0),
             ([20, 20, 1], [1.0, 1.0], [0.99, 1.0], 0.3)]  # fmt: skip
    parts = [
        tf.image.sample_distorted_bounding_box(
            size, boxes, seed=4, min_object_covered=least, aspect_ratio_range=ratios,
            area_range=areas, max_attempts=20,
        )
        for size, ratios, areas, least in kinds
    ]  # fmt: skip
    session = started()
    return [session.run([list(part) for part in parts]) for _ in range(6)]


@case
def functions_of_datasets():
    """Each begins anew with an iterator, and goes on where its dataset is repeated."""

    def drawn(x):
        return tf.random_uniform([], seed=3) + tf.random_normal([], seed=4)

    few = tf.data.Dataset.range(2)
    whole = few.map(drawn)
    many = tf.data.Dataset.range(9)
    made = [whole.repeat(), few.repeat().map(drawn), many.flat_map(lambda x: whole)]
    made += [few.repeat().map(drawn).map(lambda x: x + drawn(x)), whole.cache().repeat()]
    iterators = [each.make_initializable_iterator() for each in made]
    rows, beside, found = [each.get_next() for each in iterators], drawn(0), []
    session = started()
    for _ in range(2):
        session.run([each.initializer for each in iterators])
        found += [session.run([rows, beside]) for _ in range(3)]
    return found


@case
def classes_that_are_learned():
    true, found = tf.placeholder(tf.int64, [None, 2]), []
    learned = tf.nn.learned_unigram_candidate_sampler
    drawn = [
        learned(true, 2, 5, True, 20, seed=2),
        learned(true, 2, 6, False, 16, seed=3),
        tf.raw_ops.ThreadUnsafeUnigramCandidateSampler(
            true_classes=true, num_true=2, num_sampled=5, unique=True, range_max=8, seed=4, seed2=5
        ),
    ]
    for _ in range(2):
        with tf.Session() as session:
            found += [session.run(drawn, {true: [[1, 3], [3, at]] * (at + 1)}) for at in range(3)]
    small = learned(true, 2, 5, True, 4)
    return [
        [[str(x.shape) for x in each] for each in drawn], *found,
        error_of(lambda: small, {true: [[1, 2]]}),
    ]  # fmt: skip


if __name__ == "__main__":
    main()
