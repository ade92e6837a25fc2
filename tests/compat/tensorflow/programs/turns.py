"""Loops whose turns the data decide, with gradients and arrays; what is asserted in them."""

import numpy as np
import tensorflow as tf
from recording import case, main, run, started
from tensorflow.contrib import seq2seq

STARTS = (0.4, 3.0, 0.02, 40.0, 0.9, 7.0)


def wave(*shape):
    """Numbers between -0.5 and 0.5."""
    count = int(np.prod(shape))
    return (np.sin(np.arange(count) * 1.7 + count) / 2).reshape(shape).astype("float32")


def while_small(most, body, first):
    """Turns until the second value is large enough, but not for ever."""
    return tf.while_loop(lambda n, y, *rest: tf.logical_and(y < most, n < 40), body, first)


def stepped(build, feeds):
    """What is fetched for each feed, and w after a step on the first of it."""
    x = tf.placeholder(tf.float32, [])
    w = tf.get_variable("w", initializer=1.5)
    outs = build(x, w)
    train = tf.train.GradientDescentOptimizer(1e-3).minimize(outs[0])
    session = started()
    return [[session.run(part, {x: each}) for part in (outs, train, w)] for each in feeds]


# Turns --------------------------------------------------------------------------------------------


@case
def until_large_enough():
    def build(x, w):
        n, y = while_small(30.0, lambda n, y: (n + 1, y * w + x), [0, x])
        return [y, n, *tf.gradients(y, [x, w])]

    return stepped(build, STARTS)


@case
def until_all_rows_are():
    def build(x, w):
        rows = tf.constant(wave(4, 3)) + x

        def body(rows, steps):
            grows = tf.reduce_sum(rows, 1) < 9.0
            grown = tf.where(tf.stack([grows] * 3, 1), tf.tanh(rows) * w + rows + 0.2, rows)
            return grown, steps + tf.cast(grows, tf.int32)

        rows, steps = tf.while_loop(
            lambda rows, steps: tf.logical_and(
                tf.reduce_any(tf.reduce_sum(rows, 1) < 9.0), tf.reduce_max(steps) < 40
            ),
            body,
            [rows, tf.zeros([4], tf.int32)],
        )
        return [tf.reduce_sum(rows), rows, steps, *tf.gradients(rows, [x, w])]

    return stepped(build, STARTS)


@case
def kept_in_an_array():
    def build(x, w):
        def body(n, y, kept):
            return n + 1, y * w + 0.3, kept.write(n, y)

        kept = tf.TensorArray(tf.float32, 0, dynamic_size=True, element_shape=[])
        n, _, kept = while_small(20.0, body, [0, tf.abs(x), kept])
        rows = kept.stack()
        grown = tf.sqrt(rows + 1.0)
        return [tf.reduce_sum(grown), rows, n, *tf.gradients(grown, [x, w])]

    return stepped(build, [each for each in STARTS if each < 20.0])


@case
def by_lengths():
    lengths, w = tf.placeholder(tf.int32, [None]), tf.get_variable("w", initializer=0.7)
    counts = tf.to_float(lengths)

    def body(time, y, done):
        y = tf.where(done, y, y * w + tf.sin(counts))
        return time + 1, y, tf.logical_or(done, time + 1 >= lengths)

    time, y, _ = tf.while_loop(
        lambda time, y, done: tf.logical_not(tf.reduce_all(done)),
        body,
        [0, counts, tf.equal(lengths, 0)],
    )
    outs, session = [y, time, *tf.gradients(y, [w])], started()
    given = ([1, 2, 3], [5, 1], [0, 0], [7, 7, 2, 4], [0, 1], [2], [9, 3])
    return [session.run(outs, {lengths: each}) for each in given]


@case
def with_branches():
    def build(x, w):
        def body(n, y):
            grown = tf.cond(y > 4.0, lambda: y * w, lambda: y + tf.exp(-w))
            return n + 1, grown

        n, y = while_small(25.0, body, [0, x])
        return [y, n, *tf.gradients(y, [x, w])]

    return stepped(build, STARTS)


@case
def one_after_the_other():
    def build(x, w):
        n, y = while_small(5.0, lambda n, y: (n + 1, y + w), [0, x])
        m, z = tf.while_loop(lambda m, z: m < n, lambda m, z: (m + 1, z * 0.9 + y), [0, y * x])
        k, u = while_small(200.0, lambda k, u: (k + 2, u * w), [m, z + 1.0])
        return [u, n, m, k, *tf.gradients(u, [x, w])]

    return stepped(build, STARTS)


@case
def one_in_the_other():
    def build(x, w):
        def body(n, y):
            _, inner = while_small(6.0, lambda m, z: (m + 1, z + w), [0, y * 0.5])
            return n + 1, y + inner

        n, y = while_small(30.0, body, [0, x])
        return [y, n, *tf.gradients(y, [x, w])]

    return stepped(build, STARTS)


@case
def in_a_branch():
    def build(x, w):
        def grown():
            return tuple(while_small(9.0, lambda n, y: (n + 1, y * w + 0.1), [0, x]))

        n, y = tf.cond(x < 1.0, grown, lambda: (tf.constant(-1), x * w))
        return [y, n, *tf.gradients(y, [x, w])]

    return stepped(build, STARTS)


@case
def by_a_variable_that_changes():
    limit = tf.get_variable("limit", initializer=4.0, trainable=False, use_resource=True)

    def build(x, w):
        def body(n, y):
            return n + 1, y * w + 0.5

        n, y = tf.while_loop(
            lambda n, y: tf.logical_and(y < limit.read_value(), n < 40), body, [0, tf.abs(x)]
        )
        with tf.control_dependencies([y]):
            more = tf.assign_add(limit, 3.0)
        return [y, n, *tf.gradients(y, [w]), more]

    return stepped(build, STARTS)


@case
def that_change_variables():
    seen = tf.get_variable("seen", initializer=0.0, trainable=False, use_resource=True)

    def build(x, w):
        def body(n, y):
            with tf.control_dependencies([tf.assign_add(seen, y)]):
                return n + 1, y * w + 0.5

        n, y = while_small(12.0, body, [0, tf.abs(x)])
        with tf.control_dependencies([y]):
            total = seen.read_value()
        return [y, n, *tf.gradients(y, [w]), total]

    return stepped(build, STARTS)


@case
def that_draw():
    def build(x, w):
        def body(n, y):
            return n + 1, y * w + tf.random.stateless_uniform([], [3, 4]) + 0.1

        n, y = while_small(30.0, body, [0, tf.abs(x)])
        return [y, n, *tf.gradients(y, [x, w])]

    return stepped(build, STARTS)


@case
def first_values_that_are_trained():
    x, lengths = tf.placeholder(tf.float32, [None, None, 3]), tf.placeholder(tf.int32, [None])
    first = tf.get_variable("first", initializer=wave(1, 4))
    state = tf.tile(first, [tf.shape(x)[0], 1])
    cell = tf.nn.rnn_cell.GRUCell(4, kernel_initializer=tf.constant_initializer(0.2))
    _, last = tf.nn.dynamic_rnn(cell, x, lengths, initial_state=state)
    loss = tf.reduce_sum(tf.square(last))
    slopes = tf.gradients(loss, [first, *cell.trainable_variables])
    session, found = started(), []
    for sizes in ((2, 3), (4, 5), (1, 2), (3, 1)):
        given = {x: wave(*sizes, 3), lengths: np.arange(sizes[0]) % sizes[1] + 1}
        found.append(session.run([loss, *slopes], given))
    return found


def lengthy(build, sizes):
    """Steps of training on texts of many lengths: the loss of each, and what is learnt."""
    x, lengths = tf.placeholder(tf.float32, [None, None, 3]), tf.placeholder(tf.int32, [None])
    loss = tf.reduce_mean(tf.square(build(x, lengths) - 0.25))
    train = tf.train.AdamOptimizer(0.02).minimize(loss)
    session, found = started(), []
    for rows, steps, most in sizes:
        given = {x: wave(rows, steps, 3), lengths: np.arange(rows) * 3 % most + 1}
        found.append(session.run([loss, train], given)[0])
    return found, [session.run(each) for each in tf.trainable_variables()]


def cell_of(kind, size=4):
    return kind(size, kernel_initializer=tf.constant_initializer(0.1))


MANY = [(4, 3 + 5 * at % 9, 2 + 3 * at % (2 + 5 * at % 9)) for at in range(11)]


@case
def trained_on_many_lengths():
    def build(x, lengths):
        outs, _ = tf.nn.dynamic_rnn(cell_of(tf.nn.rnn_cell.GRUCell), x, lengths, dtype=tf.float32)
        return outs

    return lengthy(build, MANY)


@case
def trained_on_all_steps():
    def build(x, lengths):
        cell = cell_of(tf.nn.rnn_cell.GRUCell)
        outs, last = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)
        return tf.reduce_sum(outs, 1) + last * tf.to_float(lengths[:, None])

    return lengthy(build, MANY)


@case
def trained_both_ways():
    def build(x, lengths):
        cells = [cell_of(tf.nn.rnn_cell.GRUCell) for _ in range(2)]
        (one, other), _ = tf.nn.bidirectional_dynamic_rnn(*cells, x, lengths, dtype=tf.float32)
        return one * other

    return lengthy(build, MANY)


@case
def trained_on_many_batches():
    def build(x, lengths):
        cell = cell_of(tf.nn.rnn_cell.GRUCell)
        return tf.nn.dynamic_rnn(cell, x, lengths, dtype=tf.float32)[0]

    return lengthy(build, [(2 + at % 3, steps, most) for at, (_, steps, most) in enumerate(MANY)])


@case
def lengths_of_one_text():
    def build(x, lengths):
        cell = tf.nn.rnn_cell.MultiRNNCell([cell_of(tf.nn.rnn_cell.GRUCell) for _ in range(2)])
        outs, _ = tf.nn.dynamic_rnn(cell, x, lengths, dtype=tf.float32, time_major=True)
        return outs

    sizes = [(6, 4, most) for most in (6, 3, 2, 5, 4, 1, 6)]
    x, lengths = tf.placeholder(tf.float32, [None, 4, 3]), tf.placeholder(tf.int32, [4])
    outs = build(x, lengths)
    slopes = tf.gradients(tf.sin(outs), [x, *tf.trainable_variables()])
    session = started()
    return [
        session.run([outs, *slopes], {x: wave(steps, rows, 3), lengths: np.arange(rows) % most + 1})
        for steps, rows, most in sizes
    ]


@case
def counted_by_numbers():
    n, x = tf.placeholder(tf.int32, []), tf.placeholder(tf.float32, [])

    def body(i, y, kept):
        return i + 1, y * x + tf.to_float(i), kept.write(n - 1 - i, y)

    kept = tf.TensorArray(tf.float32, n, element_shape=[])
    _, y, kept = tf.while_loop(lambda i, *_: i < n, body, [0, x, kept])
    rows = kept.stack()
    outs, session = [y, rows, *tf.gradients([y, tf.sin(rows)], [x])], started()
    return [session.run(outs, {n: each, x: 0.9 - each / 100}) for each in (3, 5, 1, 8, 2, 13, 4, 7)]


def sliced(part):
    """The sum of parts of x, one for each turn, and its gradients."""
    x, n = tf.placeholder(tf.float32, [4, 5, 3]), tf.placeholder(tf.int32, [])

    def body(i, total):
        return i + 1, total * 1.5 + tf.reduce_sum(tf.sin(part(x, i)))

    _, total = tf.while_loop(lambda i, _: i < n, body, [0, tf.constant(0.1)])
    outs, session = [total, *tf.gradients(total, [x])], started()
    return [session.run(outs, {x: wave(4, 5, 3), n: each}) for each in (3, 2, 0, 1)]


@case
def parts_by_the_turn():
    return [
        sliced(lambda x, i: x[i]),
        sliced(lambda x, i: x[:, i]),
        sliced(lambda x, i: x[1, i]),
        sliced(lambda x, i: x[i, 2:4]),
        sliced(lambda x, i: x[..., i]),
        sliced(lambda x, i: x[i, ..., i]),
        sliced(lambda x, i: x[:, -i - 1, tf.newaxis, ::2]),
        sliced(lambda x, i: x[tf.newaxis, ::-1, i]),
    ]


@case
def parts_of_a_size():
    return [
        sliced(lambda x, i: x[:, i : i + 2]),
        sliced(lambda x, i: tf.slice(x, [i, 0, 0], [1, 2, -1])),
        sliced(lambda x, i: tf.gather(x, [i, 3 - i], axis=1)),
    ]


@case
def arrays_read_and_written():
    x = tf.placeholder(tf.float32, [None, 3])
    count = tf.shape(x)[0]
    given = tf.TensorArray(tf.float32, count, element_shape=[3], clear_after_read=False)
    given = given.unstack(x)

    def body(i, last, found):
        row = given.read(i) * last + given.read(count - 1 - i)
        return i + 1, tf.tanh(row), found.write(i, row)

    found = tf.TensorArray(tf.float32, count, element_shape=[3])
    _, last, found = tf.while_loop(lambda i, *_: i < count, body, [0, tf.ones([3]), found])
    rows = found.stack()
    outs, session = [rows, last, *tf.gradients([tf.sin(rows), last], [x])], started()
    return [session.run(outs, {x: wave(each, 3)}) for each in (2, 5, 3, 4, 7, 6)]


# Decoders -----------------------------------------------------------------------------------------

SIZE, WORDS = 6, 7


def translation():
    """Placeholders and the parts of a network that reads one text and writes another."""
    tf.get_variable_scope().set_initializer(
        lambda shape, dtype=None, partition_info=None: tf.constant(wave(*shape), dtype)
    )
    source, target = (tf.placeholder(tf.int32, [None, None]) for _ in range(2))
    lengths, written = (tf.placeholder(tf.int32, [None]) for _ in range(2))
    words = tf.get_variable("words", [WORDS, SIZE])
    outs, state = tf.nn.dynamic_rnn(
        tf.nn.rnn_cell.GRUCell(SIZE),
        tf.nn.embedding_lookup(words, source),
        lengths,
        dtype=tf.float32,
    )
    attention = seq2seq.BahdanauAttention(SIZE, outs, lengths)
    cell = seq2seq.AttentionWrapper(
        tf.nn.rnn_cell.GRUCell(SIZE), attention, attention_layer_size=SIZE
    )
    begun = cell.zero_state(tf.shape(source)[0], tf.float32).clone(cell_state=state)
    return source, lengths, target, written, words, cell, begun, tf.layers.Dense(WORDS)


def texts(places, rows, read, write):
    """Numbers of words, and how many count in each row; for as many as there are placeholders."""
    source = (np.arange(rows * read) * 5 % WORDS).reshape(rows, read)
    target = (np.arange(rows * write) * 3 % WORDS).reshape(rows, write)
    counts = [size - np.arange(rows) % size for size in (read, write)]
    values = (source, counts[0], target, counts[1])
    return {place: values[at] for at, place in enumerate(places)}


TEXTS = ((3, 4, 5), (3, 4, 5), (2, 6, 3), (4, 3, 7), (1, 5, 4), (3, 7, 6), (3, 8, 2), (5, 9, 8))


@case
def trained_with_attention():
    *places, words, cell, begun, project = translation()
    target, written = places[2:]
    helper = seq2seq.TrainingHelper(tf.nn.embedding_lookup(words, target), written)
    out, _, lengths = seq2seq.dynamic_decode(seq2seq.BasicDecoder(cell, helper, begun, project))
    most = tf.shape(out.rnn_output)[1]
    weights = tf.sequence_mask(written, dtype=tf.float32)
    loss = seq2seq.sequence_loss(out.rnn_output, target[:, :most], weights)
    train = tf.train.AdamOptimizer(1e-2).minimize(loss)
    session, found = started(), []
    for sizes in TEXTS:
        given = texts(places, *sizes)
        found.append([*session.run([loss, out.sample_id, lengths, train], given)[:-1]])
    return found, session.run(words)


@case
def written_greedily():
    source, lengths, _, _, words, cell, begun, project = translation()
    starts = tf.fill([tf.shape(source)[0]], 1)
    helper = seq2seq.GreedyEmbeddingHelper(words, starts, 0)
    decoder = seq2seq.BasicDecoder(cell, helper, begun, project)
    out, _, written = seq2seq.dynamic_decode(decoder, maximum_iterations=2 * tf.shape(source)[1])
    loss = tf.reduce_sum(tf.square(out.rnn_output))
    slopes = tf.gradients(loss, tf.trainable_variables()[-1:])
    session = started()
    places = (source, lengths)
    return [
        session.run([out.sample_id, written, loss, *slopes], texts(places, *sizes))
        for sizes in TEXTS
    ]


# Assertions ---------------------------------------------------------------------------------------


def asserting(build, feeds):
    """What is fetched for each feed, or the error; and a variable after it."""
    x = tf.placeholder(tf.float32, [None])
    v = tf.get_variable("v", initializer=1.0)
    outs, session = build(x, v), started()
    found = []
    for each in feeds:
        try:
            found.append(session.run(outs, {x: each}))
        except tf.errors.InvalidArgumentError as error:
            found.append(str(error).splitlines()[0])
        found.append(session.run(v))
    return found


SIGNS = ([1.0, 2.0], [3.0, -1.0], [4.0], [-2.0], [0.5, 0.25])


@case
def asserted_in_turns():
    def build(x, v):
        def body(n, y):
            with tf.control_dependencies([tf.assert_positive(x - tf.to_float(n), [x, n])]):
                return n + 1, y + tf.reduce_sum(x)

        n, y = tf.while_loop(lambda n, y: tf.logical_and(n < 3, y < 5.0), body, [0, v])
        return [tf.assign(v, y), n]

    return asserting(build, SIGNS)


@case
def asserted_in_branches():
    def build(x, v):
        def checked():
            with tf.control_dependencies([tf.Assert(tf.reduce_min(x) > 0.0, ["small", x])]):
                return tf.reduce_sum(x) * 2.0

        y = tf.cond(tf.size(x) > 1, checked, lambda: tf.reduce_sum(x))
        return [tf.assign_add(v, y)]

    return asserting(build, SIGNS)


@case
def asserted_after_a_change():
    def build(x, v):
        with tf.control_dependencies([tf.assign_add(v, tf.reduce_sum(x))]):
            check = tf.Assert(v.read_value() < 6.0, ["v is", v.read_value()])
        with tf.control_dependencies([check]):
            return [tf.assign_add(v, 0.125)]

    return asserting(build, SIGNS)


@case
def asserted_for_what_is_trained():
    def build(x, v):
        with tf.control_dependencies([tf.assert_greater(x, 0.0, message="all of x")]):
            loss = tf.reduce_sum(tf.square(x * v))
        return [loss, tf.train.GradientDescentOptimizer(0.01).minimize(loss)]

    return asserting(build, SIGNS)


@case
def asserted_of_shapes():
    def build(x, v):
        with tf.control_dependencies([tf.assert_equal(tf.shape(x)[0], 2, message="two rows")]):
            return [tf.assign(v, tf.reduce_sum(x))]

    return asserting(build, SIGNS)


@case
def what_all_turns_of_an_inner_loop_take_of_the_outer():
    w = tf.get_variable("w", initializer=[0.5, 0.3])

    def step(state, x):
        rows = tf.map_fn(lambda row: row * 0.75 + tf.tanh(x), w)
        return state * 0.75 + tf.tanh(tf.reduce_mean(rows))

    y = tf.scan(step, w, w)
    return run([y, tf.gradients(y, w)])


@case
def gradients_that_wait_for_what_comes_out_of_their_loops():
    x = tf.constant([0.3, 0.5])

    def body(i, y):
        def inner(j, u):
            with tf.control_dependencies([tf.py_func(lambda a: a, [u], tf.float32)]):
                return j + 1, tf.tanh(u) * 0.9

        return i + 1, tf.while_loop(lambda j, u: j < 2, inner, (0, y * 1.5))[1]

    y = tf.while_loop(lambda i, y: i < 3, body, (0, x))[1]
    slope = tf.cond(tf.reduce_mean(y) > 0.0, lambda: tf.gradients(y, x)[0], lambda: x)
    return run([y, slope])


if __name__ == "__main__":
    main()
