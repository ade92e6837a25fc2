"""Programs whose inputs come in ever new sizes: what they give for some of them, one by one."""

import numpy as np
import tensorflow as tf
from recording import case, main, started
from tensorflow.contrib import crf, seq2seq

SIZES = (5, 6, 7, 8, 9, 2, 1, 12, 3, 11, 5)
BUILDERS = {}


def wave(*shape):
    """Numbers between 0 and 1."""
    count = int(np.prod(shape))
    return ((np.sin(np.arange(count) * 1.7 + count) + 1) / 2).reshape(shape).astype("float32")


def whole(most, *shape):
    """Whole numbers below a limit."""
    return (wave(*shape) * most).astype("int32") % most


def floats(*shape):
    """Where numbers are fed."""
    return tf.placeholder(tf.float32, shape)


def integers(*shape):
    """Where whole numbers are fed."""
    return tf.placeholder(tf.int32, shape)


def brief(found):
    """Of each part of what was fetched its shape, its sum, and another one that knows places."""
    if isinstance(found, (list, tuple)):
        return [x for part in found for x in brief(part)]
    x = np.asarray(found, np.float64)
    return [list(x.shape), x.sum(), (x.ravel() * wave(x.size)).sum()]


def sized(build):
    """A program: what gives its fetches, and its feeds by size."""
    BUILDERS[build.__name__] = build

    def runs():
        tf.set_random_seed(3)
        fetches, feeds = build()
        session = started()
        session.run(tf.local_variables_initializer())
        return [brief(session.run(fetches, feeds(size))) for size in SIZES]

    runs.__name__ = build.__name__
    return runs


def step(loss):
    """The loss, and a step that clips gradients."""
    optimizer = tf.train.AdamOptimizer(0.01)
    slopes, variables = zip(*optimizer.compute_gradients(loss))  # noqa: B905 (Python 3.7)
    slopes, norm = tf.clip_by_global_norm(slopes, 1.0)
    with tf.control_dependencies(
        [optimizer.apply_gradients(zip(slopes, variables))]  # noqa: B905
    ):
        return [tf.identity(loss), tf.identity(norm)]


def read_texts():
    """Two texts, their lengths, their words as vectors, and what is fed for a size."""
    texts, lengths = integers(None, None), integers(None)
    words = tf.nn.embedding_lookup(tf.get_variable("words", [9, 4]), texts)
    feeds = lambda n: {texts: whole(9, 2, n), lengths: [n, 1 + n // 2]}  # noqa: E731
    return texts, lengths, words, feeds


# Parts, order, sums -------------------------------------------------------------------------------


@case
@sized
def parts():
    x, n, ids = floats(None, 3), integers(), integers(None)
    found = [x[::2], x[n:], x[:n, 1:], x[-n:], x[n], x[::-1], x[1:-1] * x[2:], x[None, :, 1]]
    found += tf.split(x, [n, tf.shape(x)[0] - n])
    found += tf.split(x, [-1, n])
    found += tf.split(x, 2)
    found += [tf.slice(x, [n, 0], [-1, 2]), tf.slice(x, [0, 1], [n, -1]), tf.concat([x, x[1:]], 0)]
    found += [tf.reverse(x, [0]), tf.roll(x, n, 0), tf.roll(x, [1, n], [1, 0]), tf.tile(x, [n, 1])]
    found += [tf.range(n), tf.linspace(0.0, 1.0, n), tf.eye(n), tf.fill([n, 2], 1.5)]
    found += [tf.one_hot(ids, n), tf.reshape(x, [-1]), tf.pad(x, [[0, n], [n, 0]]), tf.shape(x)]
    loss = tf.add_n([tf.reduce_sum(tf.sin(y)) for y in found[:15] if y.dtype == tf.float32])
    return [found, tf.gradients(loss, x)], lambda size: {
        x: wave(2 * size, 3),
        n: size,
        ids: whole(size, 3),
    }


@case
@sized
def rows_in_a_circle():
    seen = tf.Variable(0, trainable=False)
    kept = tf.Variable(tf.zeros([100, 3]), trainable=False)
    x, n = floats(None, 3), integers()
    places = tf.range(seen, seen + n) % 100
    with tf.control_dependencies([tf.scatter_update(kept, places, x * 2.0)]):
        stored = tf.assign(seen, (seen + n) % 100)
    with tf.control_dependencies([stored]):
        return [tf.reduce_sum(kept + 0.0), stored], lambda size: {n: size, x: wave(size, 3)}


@case
@sized
def picked():
    x, v = floats(None, 3), floats(None)
    mask = tf.boolean_mask(x, v > 0.5)
    places = tf.where(v > 0.2)
    rows = tf.gather_nd(x, places)
    found = [mask, places, rows, *tf.dynamic_partition(x, tf.cast(v > 0.3, tf.int32), 2)]
    found += [*tf.nn.top_k(v, tf.minimum(3, tf.size(v))), tf.sort(x, axis=0), tf.argsort(v)]
    found += [tf.scatter_nd(places, rows, tf.shape(x, out_type=tf.int64))]
    loss = tf.reduce_sum(mask**2) + tf.reduce_sum(rows[:, 0] * tf.sort(v)[: tf.shape(rows)[0]])
    return [found, tf.gradients(loss, [x, v])], lambda n: {x: wave(n, 3), v: wave(n)}


@case
@sized
def sums_by_number():
    x, ids = floats(None, 3), integers(None)
    numbers, at = tf.unique(ids)
    means = tf.unsorted_segment_mean(x, at, tf.size(numbers))
    sums = tf.segment_sum(x, tf.sort(ids % 4))
    return [sums, numbers, means, tf.gradients(means**2, x)], lambda n: {
        x: wave(n, 3),
        ids: np.r_[0:3, whole(9, n)][:n],
    }


@case
@sized
def sparse_rows():
    at, values = tf.placeholder(tf.int64, [None, 2]), floats(None)
    x = tf.SparseTensor(at, values, tf.stack([tf.size(values, out_type=tf.int64), 5]))
    found = tf.sparse_tensor_dense_matmul(x, tf.get_variable("w", [5, 3]))
    return step(tf.reduce_sum(found**2)), lambda n: {
        at: [[i, i % 5] for i in range(n)],
        values: wave(n),
    }


@case
@sized
def hardest_of_three():
    """The loss of the hardest triplets (Hermans, Beyer and Leibe 2017)."""
    x, labels = floats(None, 3), integers(None)
    y = tf.nn.l2_normalize(tf.layers.dense(x, 4), 1)
    apart = tf.reduce_sum((y[:, None] - y[None]) ** 2, 2)
    same = tf.equal(labels[:, None], labels[None])
    others = tf.logical_and(same, tf.logical_not(tf.cast(tf.eye(tf.shape(x)[0]), tf.bool)))
    far = tf.reduce_max(tf.where(others, apart, tf.zeros_like(apart)), 1)
    near = tf.reduce_min(tf.where(same, tf.fill(tf.shape(apart), 10.0), apart), 1)
    loss = tf.reduce_mean(tf.nn.relu(far - near + 0.2))
    corner = tf.matrix_diag_part(tf.matrix_set_diag(apart, tf.reduce_sum(x, 1)))
    return [step(loss), corner, tf.matrix_diag(corner)], lambda n: {
        x: wave(n + 2, 3),
        labels: whole(3, n + 2),
    }


# Networks -----------------------------------------------------------------------------------------


@case
@sized
def classes():
    rows, labels = floats(None, 4), integers(None)
    h = tf.layers.dropout(tf.layers.dense(rows, 5, tf.nn.tanh), 0.5, training=True)
    logits = tf.layers.dense(h, 3)
    scale = tf.reduce_max(tf.abs(logits), axis=1, keepdims=True)
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits / scale)
    loss = tf.reduce_mean(losses) + tf.reduce_sum(logits - tf.reduce_mean(logits, axis=0))
    return step(loss), lambda n: {rows: wave(n, 4), labels: whole(3, n)}


@case
@sized
def images():
    x = floats(None, None, None, 2)
    h = tf.layers.conv2d(x, 3, 3, padding="same", activation=tf.nn.relu)
    h = tf.layers.max_pooling2d(tf.layers.batch_normalization(h, training=True), 2, 1)
    return step(tf.reduce_mean(tf.layers.dense(tf.reduce_mean(h, [1, 2]), 2) ** 2)), lambda n: {
        x: wave(3, n + 2, 45 - n, 2)
    }


@case
@sized
def strided_images():
    x, n = floats(None, None, None, 1), integers()
    h = tf.image.resize_bilinear(x, [n + 2, 2 * n + 1])
    seen = [
        tf.layers.conv2d(h, 2, 3, 2, "same"),
        tf.layers.separable_conv2d(h, 2, 3, 2, "same"),
        tf.layers.conv2d(h, 2, 3, dilation_rate=2, padding="same")[:, ::2, ::2],
        tf.nn.max_pool(h, [1, 3, 3, 1], [1, 2, 2, 1], "SAME"),
        tf.nn.avg_pool(h, [1, 3, 3, 1], [1, 2, 2, 1], "SAME"),
    ]
    y = tf.layers.conv2d_transpose(tf.concat(seen, 3), 1, 3, 2, "same")
    size = tf.shape(h)
    y = y[:, : size[1], : size[2]]
    ends = [tf.image.resize_image_with_crop_or_pad(h, 4, 4), tf.space_to_depth(h[:, :2, :2], 2)]
    return [step(tf.reduce_mean((y - h) ** 2)), ends], lambda size: {
        x: wave(2, size + 3, 45 - size, 1),
        n: size,
    }


@case
@sized
def attention():
    """A layer of a transformer with masks, over words and their places."""
    texts, lengths, words, feeds = read_texts()
    size = tf.shape(texts)[1]
    place = tf.cast(tf.range(size), tf.float32)[:, None] / tf.pow(100.0, tf.range(4.0) / 4)[None]
    h = words + tf.sin(place)[None]
    q, k, v = [tf.layers.dense(h, 4) for _ in range(3)]
    split = lambda y: tf.transpose(tf.reshape(y, [-1, size, 2, 2]), [0, 2, 1, 3])  # noqa: E731
    before = tf.matrix_band_part(tf.ones([size, size]), -1, 0)
    mask = tf.sequence_mask(lengths, size, tf.float32)
    weights = tf.matmul(split(q), split(k), transpose_b=True)
    weights = tf.nn.softmax(weights + (before * mask[:, None] - 1.0)[:, None] * 1e9)
    weights = tf.layers.dropout(weights, 0.1, training=True)
    seen = tf.reshape(tf.transpose(tf.matmul(weights, split(v)), [0, 2, 1, 3]), [-1, size, 4])
    logits = tf.layers.dense(tf.contrib.layers.layer_norm(h + seen, begin_norm_axis=-1), 9)
    told = tf.one_hot(texts, 9) * 0.9 + 0.01
    losses = tf.nn.softmax_cross_entropy_with_logits_v2(labels=told, logits=logits)
    return step(tf.reduce_sum(losses * mask) / tf.reduce_sum(mask)), feeds


@case
@sized
def over_words():
    _, _, words, feeds = read_texts()
    y = tf.layers.conv1d(words, 3, 3, padding="same")
    top, _ = tf.nn.top_k(tf.transpose(y, [0, 2, 1]), tf.shape(y)[1] // 2 + 1)
    spread = [tf.nn.moments(y, [0, 1]), tf.contrib.distributions.percentile(y, 50.0)]
    return [step(tf.reduce_mean(tf.reduce_max(y, 1) ** 2)), spread, tf.sort(y, axis=1), top], feeds


@case
@sized
def some_classes():
    ids = integers(None)
    w, b = tf.get_variable("w", [20, 4]), tf.get_variable("b", [20])
    h = tf.nn.embedding_lookup(tf.get_variable("words", [9, 4]), ids)
    labels = tf.cast(ids, tf.int64)[:, None]
    some = tf.nn.sampled_softmax_loss(w, b, labels, h, 5, 20, seed=4)
    noise = tf.nn.nce_loss(w, b, labels, h, 5, 20)
    return step(tf.reduce_mean(some) + tf.reduce_mean(noise)), lambda n: {ids: whole(9, n)}


@case
@sized
def policy():
    x, gains, actions = floats(None, 3), floats(None), integers(None)
    logs = tf.nn.log_softmax(tf.layers.dense(x, 2))
    back = tf.scan(lambda total, gain: total * 0.9 + gain, gains, initializer=0.0, reverse=True)
    better = (back - tf.reduce_mean(back)) / (tf.math.reduce_std(back) + 1e-6)
    chosen = tf.gather_nd(logs, tf.stack([tf.range(tf.shape(x)[0]), actions], 1))
    loss = -tf.reduce_mean(chosen * tf.stop_gradient(better))
    return [step(loss), back], lambda n: {x: wave(n, 3), gains: wave(n), actions: whole(2, n)}


# Turns --------------------------------------------------------------------------------------------


@case
@sized
def turns():
    x, n = floats(None, 3), integers()
    halved = tf.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, y * 0.5), [0, x])[1]
    return [halved, tf.gradients(halved, x)], lambda size: {n: size, x: wave(2, 3)}


@case
@sized
def over_rows():
    x = floats(None, 3)
    squares = tf.map_fn(lambda row: row**2, x)
    found = [tf.map_fn(lambda row: row * tf.reduce_sum(row), x), tf.scan(tf.add, x), squares]
    found += [tf.foldl(lambda a, row: a * 0.5 + row, x), tf.scan(tf.add, x, reverse=True)]
    return [found, tf.gradients(squares, x), tf.gradients(found[0], x)], lambda n: {x: wave(n, 3)}


@case
@sized
def joined_in_pairs():
    """A tree: each turn joins two that were made before."""
    x = floats(None, 3)
    count, w = tf.shape(x)[0], tf.get_variable("w", [6, 3])
    rows = tf.TensorArray(tf.float32, count * 2, clear_after_read=False, element_shape=[3])
    _, rows = tf.while_loop(
        lambda i, rows: i < count, lambda i, rows: (i + 1, rows.write(i, x[i])), [0, rows]
    )

    def join(i, rows):
        pair = tf.concat([rows.read(2 * i), rows.read(2 * i + 1)], 0)[None]
        return i + 1, rows.write(count + i, tf.tanh(tf.matmul(pair, w)[0]))

    _, rows = tf.while_loop(lambda i, rows: i < count - 1, join, [0, rows])
    return step(tf.reduce_sum(rows.read(2 * count - 2) ** 2)), lambda n: {x: wave(n + 1, 3)}


@case
@sized
def growing():
    x, n = floats(None, 3), integers()
    longer = lambda i, t: (i + 1, tf.concat([t, t[-1:] * 0.5], 0))  # noqa: E731
    shapes = [tf.TensorShape([]), tf.TensorShape([None, 3])]
    _, found = tf.while_loop(lambda i, t: i < n, longer, [0, x], shape_invariants=shapes)
    return [found, tf.shape(found)], lambda size: {n: size, x: wave(size, 3)}


@case
@sized
def branches():
    x, n = floats(None, 3), integers()
    three = [(n < 5, lambda: tf.reduce_sum(x)), (n > 20, lambda: tf.reduce_max(x))]
    some = tf.cond(tf.shape(x)[0] > 7, lambda: x[:7], lambda: x * 2.0)
    return [
        tf.case(three, default=lambda: tf.reduce_mean(x)),
        some,
        tf.gradients(some, x),
    ], lambda size: {x: wave(size, 3), n: size}


# Texts --------------------------------------------------------------------------------------------


@case
@sized
def both_ways():
    _, lengths, words, feeds = read_texts()
    ways = [tf.nn.rnn_cell.GRUCell(4) for _ in range(2)]
    both, _ = tf.nn.bidirectional_dynamic_rnn(*ways, words, lengths, dtype=tf.float32)
    return step(tf.reduce_mean(tf.concat(both, 2) ** 2)), feeds


@case
@sized
def counted():
    """Two ways through seven steps, of which a number says how many count."""
    x, n = floats(None, 3), integers()
    ways = [tf.nn.rnn_cell.BasicRNNCell(3) for _ in range(2)]
    steps, lengths = tf.tile(x[:, None], [1, 7, 1]), tf.fill([tf.shape(x)[0]], n % 7 + 1)
    found, _ = tf.nn.bidirectional_dynamic_rnn(*ways, steps, lengths, dtype=tf.float32)
    return step(tf.reduce_sum(tf.concat(found, 2))), lambda size: {n: size, x: wave(2, 3)}


@case
@sized
def last_of_layers():
    _, lengths, words, feeds = read_texts()
    cells = [tf.nn.rnn_cell.LSTMCell(4) for _ in range(2)]
    outs, _ = tf.nn.dynamic_rnn(
        tf.nn.rnn_cell.MultiRNNCell(cells), words, lengths, dtype=tf.float32
    )
    last = tf.gather_nd(outs, tf.stack([tf.range(tf.shape(outs)[0]), lengths - 1], 1))
    return step(tf.reduce_mean(last**2)), feeds


@case
@sized
def writing():
    """A decoder that attends to what was read."""
    texts, lengths, words, feeds = read_texts()
    memory, state = tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(4), words, lengths, dtype=tf.float32)
    seen = seq2seq.LuongAttention(4, memory, lengths)
    cell = seq2seq.AttentionWrapper(tf.nn.rnn_cell.GRUCell(4), seen, attention_layer_size=4)
    begun = cell.zero_state(tf.shape(texts)[0], tf.float32).clone(cell_state=state)
    helper = seq2seq.TrainingHelper(words, lengths)
    decoder = seq2seq.BasicDecoder(cell, helper, begun, tf.layers.Dense(9))
    out, _, _ = seq2seq.dynamic_decode(decoder)
    weights = tf.sequence_mask(lengths, dtype=tf.float32)
    return step(seq2seq.sequence_loss(out.rnn_output, texts, weights)), feeds


@case
@sized
def aligned():
    """Labels that are aligned with what was heard (CTC)."""
    _, lengths, words, feeds = read_texts()
    labels = integers(None, None)
    told = tf.contrib.layers.dense_to_sparse(labels, eos_token=0)
    heard = tf.transpose(tf.layers.dense(words, 6), [1, 0, 2])
    losses = tf.nn.ctc_loss(told, heard, lengths, ignore_longer_outputs_than_inputs=True)
    return step(tf.reduce_mean(losses)), lambda n: {
        **feeds(n + 3),
        labels: 1 + whole(4, 2, 1 + n // 4),
    }


# What isn't compiled for all sizes at once, yet.


@case
@sized
def likely():
    """How likely tags of words are, by a conditional random field."""
    texts, lengths, words, feeds = read_texts()
    found, _ = crf.crf_log_likelihood(words, tf.minimum(texts, 3), lengths)
    return [step(-tf.reduce_mean(found)), found], feeds


# Loops in loops and in branches -------------------------------------------------------------------


def halved():
    """A matrix of weights."""
    return tf.get_variable("halved", initializer=np.eye(3, dtype="float32") / 2)


@case
@sized
def rows_of_rows():
    x, w = floats(None, None, 3), halved()
    of_row = lambda row: tf.tanh(tf.tensordot(row, w, 1))  # noqa: E731
    found = tf.map_fn(lambda rows: tf.map_fn(of_row, rows), x)
    return [step(tf.reduce_mean(found**2)), found], lambda n: {x: wave(n, 1 + n // 2, 3)}


@case
@sized
def sums_of_rows():
    x, w = floats(None, None, 3), halved()
    add = lambda a, row: tf.tanh(tf.tensordot(a, w, 1) + row)  # noqa: E731
    found = tf.map_fn(lambda rows: tf.scan(add, rows), x)
    return [step(tf.reduce_mean(found**2)), found], lambda n: {x: wave(1 + n // 2, n, 3)}


@case
@sized
def sums_or_products():
    """Which loop runs is said by a size."""
    x, w = floats(None, 3), halved()
    sums = lambda: tf.scan(lambda a, row: tf.tanh(tf.tensordot(a, w, 1) + row), x)  # noqa: E731
    products = lambda: tf.map_fn(lambda row: row * tf.reduce_sum(w), x)  # noqa: E731
    found = tf.cond(tf.shape(x)[0] % 2 > 0, sums, products)
    return [step(tf.reduce_mean(found**2)), found], lambda n: {x: wave(n, 3)}


@case
@sized
def until_small():
    """Which loop runs, and how long, is said by values."""
    x, w = floats(None, 3), halved()
    is_large = lambda s: tf.reduce_max(tf.abs(s)) > 0.05  # noqa: E731
    smaller = lambda: tf.while_loop(is_large, lambda s: tf.tanh(tf.matmul(s, w)), [x])  # noqa: E731
    found = tf.cond(tf.reduce_sum(x) > 6, smaller, lambda: x * w[0, 0])
    return [step(tf.reduce_mean(found**2)), found], lambda n: {x: wave(n, 3)}


@case
@sized
def as_often_as_told():
    """How long a loop in a branch runs is fed."""
    x, times, w = floats(None, 3), integers(), halved()
    again = lambda i, s: (i + 1, tf.tanh(tf.matmul(s, w)))  # noqa: E731
    loop = lambda: tf.while_loop(lambda i, s: i < times, again, [0, x])[1]  # noqa: E731
    found = tf.cond(tf.reduce_sum(x) > 6, loop, lambda: x * w[0, 0])
    return [step(tf.reduce_mean(found**2)), found], lambda n: {x: wave(n, 3), times: 1 + n // 2}


@case
@sized
def branches_in_a_loop():
    x, times, w = floats(None, 3), integers(), halved()

    def body(i, s):
        is_large = tf.reduce_sum(s) > 0
        smaller = lambda: s - tf.sigmoid(s)  # noqa: E731
        return i + 1, tf.cond(is_large, lambda: tf.tanh(tf.matmul(s, w)), smaller)

    found = tf.while_loop(lambda i, s: i < times, body, [0, x - 0.5])[1]
    return [step(tf.reduce_mean(found**2)), found], lambda n: {x: wave(3, 3), times: 1 + n // 2}


@case
@sized
def at_most_so_many():
    """Another bound than a size, and one that's a size but for a few."""
    x = floats(None, 3)
    few = tf.while_loop(
        lambda i, a: i < tf.minimum(tf.shape(x)[0], 6), lambda i, a: (i + 1, a + x[i]), [0, x[0]]
    )
    behind = tf.while_loop(
        lambda i, a: i <= tf.shape(x)[0], lambda i, a: (i + 1, a * 0.9 + x[i - 1]), [2, x[0]]
    )
    count = tf.while_loop(lambda i: i < 2 * tf.shape(x)[0] - 3, lambda i: i + 2, [0])
    grads = tf.gradients([few[1], behind[1]], x)
    return [few, behind, count, grads], lambda n: {x: wave(n, 3)}


@case
@sized
def rows_of_constants():
    """Elements of a dataset that is a constant, turned around one by one."""
    rows = tf.data.Dataset.from_tensor_slices(wave(50, 4, 3)).repeat()
    turned = rows.map(lambda row: tf.reverse(row, [0]) * 2)
    return turned.make_one_shot_iterator().get_next(), lambda size: {}


@case
def tagged():
    """Tags of words, by a conditional random field."""
    tf.set_random_seed(3)
    texts, lengths, words, feeds = read_texts()
    likely, between = crf.crf_log_likelihood(words, tf.minimum(texts, 3), lengths)
    best, _ = crf.crf_decode(words, between, lengths)
    fetches, session = [step(-tf.reduce_mean(likely)), best], started()
    return [brief(session.run(fetches, feeds(size))) for size in SIZES]


@case
def growing_back():
    """The gradient of a loop whose rows grow in number."""
    x = floats(None, 3)
    longer = lambda i, t: (i + 1, tf.concat([t, t[-1:] * 0.5], 0))  # noqa: E731
    shapes = [tf.TensorShape([]), tf.TensorShape([None, 3])]
    _, found = tf.while_loop(lambda i, t: i < 3, longer, [0, x], shape_invariants=shapes)
    fetches, session = [tf.shape(found), tf.gradients(found**2, x)], started()
    return [brief(session.run(fetches, {x: wave(size, 3)})) for size in SIZES]


@case
def pairs_of_rows():
    """A loop in a loop."""
    x = floats(None, 3)

    def inner(i):
        add = lambda j, b: (j + 1, b + tf.reduce_sum(x[i] * x[j]))  # noqa: E731
        return tf.while_loop(lambda j, b: j < i, add, [0, 0.0])[1]

    _, found = tf.while_loop(
        lambda i, a: i < tf.shape(x)[0], lambda i, a: (i + 1, a + inner(i)), [0, 0.0]
    )
    fetches, session = [found, tf.gradients(found, x)], started()
    return [brief(session.run(fetches, {x: wave(size, 3)})) for size in SIZES[:8]]


if __name__ == "__main__":
    main()
