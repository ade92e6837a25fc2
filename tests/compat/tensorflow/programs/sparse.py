"""Sparse tensors, sets and sequences of labels: values, static shapes, gradients, errors."""

import numpy as np
import tensorflow as tf
from recording import case, error_of, main, started, told

PLACES = np.array([[0, 1], [1, 0], [1, 3], [2, 2]], "int64")
VALUES = np.array([1.5, -2.0, 3.0, 0.5], "float32")
OTHERS = np.array([[0, 0], [1, 0], [1, 3]], "int64")


def sparse(places=PLACES, values=VALUES, sizes=(3, 4), known=True):
    """A sparse tensor whose values are fed, and the feeds."""
    v = tf.placeholder(np.asarray(values).dtype, [None])
    if known:
        return tf.SparseTensor(places, v, sizes), v, {v: values}
    i, s = tf.placeholder(tf.int64, [None, 2]), tf.placeholder(tf.int64, [2])
    return tf.SparseTensor(i, v, s), v, {v: values, i: places, s: sizes}


def check(function, *more, **options):
    """What a function of a sparse tensor tells, with gradients."""
    x, v, feeds = sparse(**options)
    return told(function(x, *more), feeds, [v])


def both(function):
    """What a function of two sparse tensors tells, with the gradients of both."""
    a, v, feeds = sparse()
    b, w, others = sparse(OTHERS, np.array([0.25, 2.5, -3.0], "float32"))
    feeds.update(others)
    return told(function(a, b), feeds, [v, w])


@case
def dense_tensors():
    i, o = tf.placeholder(tf.int64), tf.placeholder(tf.int64, [None])
    feeds = {i: [[0, 2], [1, 1]], o: [2, 3]}
    return [
        told(tf.sparse_to_dense(i, o, [5, 6], -1), feeds),
        told(tf.sparse_to_dense([1, 3], [5], 7.0)),
        told(tf.sparse_to_dense(2, [4], "x", "-")),
        told(tf.sparse_to_dense([[1], [0]], [2], [1, 2], validate_indices=False)),
        check(lambda x: tf.sparse.to_dense(x, 9.0)),
        error_of(lambda: tf.sparse_to_dense([[1], [0]], [2], [1, 2])),
        error_of(lambda: tf.sparse_to_dense([[1], [1]], [2], [1, 2])),
        error_of(lambda: tf.sparse_to_dense([[1], [2]], [2], [1, 2])),
        error_of(lambda: tf.sparse_to_dense([0, 1], [2], [1, 2, 3])),
        told(tf.sparse_tensor_to_dense(tf.SparseTensor([[0, 1]], ["a"], [1, 2]), default_value="")),
    ]


@case
def products():
    b = np.arange(12, dtype="float32").reshape(4, 3) / 4
    dense = tf.placeholder(tf.float32, [None, 3])
    found = []
    for known in (True, False):
        x, v, feeds = sparse(known=known)
        feeds[dense] = b
        y = tf.sparse_tensor_dense_matmul(x, dense)
        z = tf.sparse_tensor_dense_matmul(x, dense, adjoint_a=True, adjoint_b=True)
        found.append(told(y, feeds, [v, dense]))
        feeds[dense] = b[:2]
        found.append(error_of(lambda y=y: y, feeds))
        feeds[dense] = b[:4]
        found.append(error_of(lambda z=z: z, feeds))
        feeds[dense] = np.ones((5, 3), "float32")
        found.append(told(z, feeds, [v, dense]))
    found.append(error_of(lambda: tf.sparse_tensor_dense_matmul(
        tf.SparseTensor([[0, 5]], [1.0], [2, 3]), np.ones((3, 2), "f"))))  # fmt: skip
    halves = tf.cast(np.eye(2) * 2, tf.bfloat16)
    found.append(told(tf.cast(tf.matmul(halves, halves, a_is_sparse=True), tf.float32)))
    found.append(told(tf.matmul(b, b, transpose_a=True, b_is_sparse=True)))
    return found


@case
def with_dense_ones():
    row, x = tf.constant([[1.0, 2.0, 4.0, 8.0]]), tf.SparseTensor(PLACES, VALUES, [3, 4])
    return [
        check(lambda x: x * row), check(lambda x: x / row), told(x * 3.0),
        check(lambda x: tf.raw_ops.SparseDenseCwiseAdd(
            sp_indices=x.indices, sp_values=x.values, sp_shape=x.dense_shape, dense=row)),
        check(lambda x: tf.sparse_add(x, tf.ones([3, 4]))),
        error_of(lambda: x * tf.ones([5, 4])), error_of(lambda: sparse()[0]),
    ]  # fmt: skip


@case
def order_and_shape():
    return [
        check(tf.sparse_reorder, places=PLACES[::-1]),
        check(lambda x: tf.sparse_reshape(x, [2, -1])), check(tf.sparse_transpose),
        check(lambda x: tf.sparse_reshape(x, [6, 2]), known=False),
        check(lambda x: tf.sparse_transpose(x, [1, 0]), known=False),
        check(lambda x: tf.sparse_slice(x, [1, 0], [2, 3])),
        check(lambda x: tf.sparse_slice(x, [1, 0], [5, 5]), known=False),
        check(lambda x: tf.sparse_split(sp_input=x, num_split=3, axis=1)),
        check(lambda x: tf.sparse_concat(1, [x, x])),
        check(lambda x: tf.sparse_concat(0, [x, x, x]), known=False),
        both(lambda a, b: tf.sparse_concat(-1, [a, b])),
        error_of(lambda: tf.sparse_reshape(tf.SparseTensor(PLACES, VALUES, [3, 4]), [5, -1])),
        error_of(lambda: tf.sparse_reshape(tf.SparseTensor(PLACES, VALUES, [3, 4]), [5, 2])),
        error_of(lambda: tf.sparse_split(
            sp_input=tf.SparseTensor(PLACES, VALUES, [3, 4]), num_split=7, axis=1)),
        error_of(lambda: tf.sparse_concat(0, [
            tf.SparseTensor(PLACES, VALUES, [3, 4]), tf.SparseTensor(PLACES, VALUES, [3, 5])])),
        check(lambda x: tf.sparse_retain(x, [True, False, True, True])),
        check(lambda x: tf.sparse_reset_shape(x, [4, 5])), check(tf.sparse_reset_shape),
    ]  # fmt: skip


@case
def sums():
    cube = np.array([[0, 0, 1], [0, 2, 1], [1, 1, 0], [1, 1, 1]], "int64")
    options = {"places": cube, "sizes": [2, 3, 2]}
    return [
        both(tf.sparse_add), both(lambda a, b: tf.sparse_add(a, b, 0.6)),
        both(tf.sparse_maximum), both(tf.sparse_minimum),
        error_of(lambda: tf.sparse_add(
            tf.SparseTensor(PLACES, VALUES, [3, 4]), tf.SparseTensor(PLACES, VALUES, [4, 4]))),
        check(tf.sparse_reduce_sum), check(lambda x: tf.sparse_reduce_sum(x, 1, True)),
        check(lambda x: tf.sparse_reduce_sum(x, [0, -1]), **options),
        check(lambda x: tf.sparse_reduce_max(x, [0, 2]), **options),
        check(lambda x: tf.sparse_reduce_max(x, 0), known=False),
        check(lambda x: tf.sparse_reduce_sum_sparse(x, [1], True), **options),
        check(lambda x: tf.sparse_reduce_max_sparse(x, 2), **options),
        error_of(lambda: tf.sparse_reduce_sum(tf.SparseTensor(PLACES, VALUES, [3, 4]), 2)),
        check(tf.sparse_softmax), check(tf.sparse_softmax, **options),
    ]  # fmt: skip


@case
def rows():
    def fill(x):
        found, empty = tf.sparse_fill_empty_rows(x, 7.0)
        return [found, empty]

    places = np.array([[1, 2], [1, 0], [4, 1]], "int64")
    options = {"places": places, "values": VALUES[:3], "sizes": [6, 4]}
    default = tf.placeholder(tf.float32, [])
    x, v, feeds = sparse(places, VALUES[:3], [6, 4])
    feeds[default] = 2.0
    parts = tf.raw_ops.SparseFillEmptyRows(
        indices=x.indices, values=x.values, dense_shape=x.dense_shape, default_value=default
    )
    return [
        check(fill, **options), check(fill, known=False),
        told(list(parts), feeds, [v, default]),
        check(lambda x: tf.sparse_to_indicator(tf.SparseTensor(
            x.indices, tf.constant([3, 0, 2], tf.int64), x.dense_shape), 5), **options),
        check(lambda x: tf.sparse_merge(tf.SparseTensor(
            x.indices, tf.constant([3, 0, 2], tf.int64), x.dense_shape), x, 5), **options),
    ]  # fmt: skip


@case
def segments():
    data = np.arange(12, dtype="float32").reshape(4, 3) / 3
    x = tf.placeholder(tf.float32, [None, 3])
    found = []
    for kind in ("sum", "mean", "sqrt_n"):
        function = getattr(tf, "sparse_segment_" + kind)
        found += [
            told(function(x, [3, 1, 1, 0], [0, 0, 2, 3]), {x: data}, [x]),
            told(function(x, [3, 1], [1, 1], num_segments=4), {x: data}, [x]),
            told(function(x, tf.zeros([0], tf.int32), tf.zeros([0], tf.int32)), {x: data}),
            error_of(lambda function=function: function(data, [0, 4], [0, 1])),
            error_of(lambda function=function: function(data, [0, 3], [1, 0])),
        ]
    return found


@case
def embeddings():
    table = tf.placeholder(tf.float32, [None, 2])
    feeds = {table: np.arange(10, dtype="float32").reshape(5, 2) / 4}
    ids = tf.SparseTensor([[0, 0], [0, 1], [2, 0], [3, 2]], tf.constant([1, 3, 3, 0]), [5, 3])
    weights = tf.SparseTensor(ids.indices, tf.constant([0.5, 1.0, 2.0, -1.0]), ids.dense_shape)
    look = tf.nn.embedding_lookup_sparse
    safe = tf.contrib.layers.safe_embedding_lookup_sparse
    found = []
    for combiner in ("sum", "mean", "sqrtn"):
        found.append(told(look(table, ids, None, combiner=combiner), feeds, [table]))
        found.append(told(look(table, ids, weights, combiner=combiner), feeds, [table]))
    variables = [tf.get_variable(n, [3, 2], initializer=tf.ones_initializer()) for n in "ab"]
    found.append(told(safe(variables, ids, combiner="sum"), None, variables))
    found.append(told(safe(variables, ids, weights, default_id=2), None, variables))
    return found


@case
def sets():
    a = np.array([[5, 2, 2, 7], [1, 1, 3, 0]], "int64")
    b = np.array([[2, 9], [0, 1]], "int64")
    some = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], tf.constant([2, 5, 8], tf.int64), [2, 2])
    words = np.array([["b", "a"]], object), np.array([["c", "b"]], object)
    unknown = tf.placeholder(tf.int64)
    return [
        told(tf.sets.intersection(a, b)), told(tf.sets.difference(a, b)),
        told(tf.sets.difference(a, b, aminusb=False)), told(tf.sets.union(a, b)),
        told(tf.sets.union(a, some)), told(tf.sets.intersection(some, a)),
        told(tf.sets.difference(some, some)), told(tf.sets.size(some)),
        told(tf.sets.union(*words)), told(tf.sets.union(unknown, b), {unknown: a}),
        error_of(lambda: tf.sets.union(a, b[:1])),
        error_of(lambda: tf.sets.union(a, tf.SparseTensor(
            [[1, 0], [0, 1]], tf.constant([2, 5], tf.int64), [2, 2]))),
        error_of(lambda: tf.sets.union(a, tf.SparseTensor(
            [[0, 0]], tf.constant([2], tf.int64), [3, 2]))),
    ]  # fmt: skip


@case
def distances():
    def letters(rows):
        places = [(0, r, c) for r, word in enumerate(rows) for c in range(len(word))]
        return tf.SparseTensor(places, list("".join(rows)), [1, len(rows), 5])

    one, other = letters(["ab", "", "xyz", "q"]), letters(["abc", "k", "xz"])
    return [told(tf.edit_distance(one, other)), told(tf.edit_distance(other, one, False)),
            told(tf.edit_distance(one, one))]  # fmt: skip


@case
def temporal_classification():
    scores = np.sin(1.3 * np.arange(60)).reshape(5, 3, 4).astype("float32") * 2
    x = tf.placeholder(tf.float32, [None, 3, 4])
    places = [[0, 0], [0, 1], [1, 0], [1, 1], [2, 0]]
    labels = tf.SparseTensor(places, tf.constant([1, 1, 0, 2, 2]), [3, 2])
    fewer = tf.SparseTensor(places[:4], tf.constant([1, 1, 0, 2]), [3, 2])
    found = []
    for options in ({}, {"ctc_merge_repeated": False}, {"preprocess_collapse_repeated": True}):
        found.append(told(tf.nn.ctc_loss(labels, x, [5, 4, 1], **options), {x: scores}, [x]))
    costs = tf.nn.ctc_loss(labels, x, [5, 1, 3], ignore_longer_outputs_than_inputs=True)
    found.append(told(costs, {x: scores}, [x]))
    found.append(told(tf.nn.ctc_loss(labels, x, [2, 2, 3]), {x: scores}, [x]))
    found.append(error_of(lambda: tf.nn.ctc_loss(labels, x, [1, 5, 5]), {x: scores}))
    for steps in ([5, 5, 5], [5, 5, 0]):
        found.append(error_of(lambda steps=steps: tf.nn.ctc_loss(fewer, x, steps), {x: scores}))
        found.append(error_of(lambda steps=steps: tf.nn.ctc_loss(
            fewer, x, steps, ignore_longer_outputs_than_inputs=True), {x: scores}))  # fmt: skip
    found.append(error_of(lambda: tf.nn.ctc_loss(labels, x, [5, 5, 0]), {x: scores}))
    wrong = tf.SparseTensor([[0, 0]], tf.constant([3]), [3, 1])
    found.append(error_of(lambda: tf.nn.ctc_loss(wrong, x, [5, 5, 5]), {x: scores}))
    found.append(error_of(lambda: tf.nn.ctc_loss(labels, x, [6, 5, 5]), {x: scores}))
    for merges in (True, False):
        paths, total = tf.nn.ctc_greedy_decoder(x, [5, 3, 0], merges)
        found.append(told([paths, total], {x: scores}))
        paths, total = tf.nn.ctc_beam_search_decoder(x, [5, 3, 4], 8, 3, merges)
        found.append(told([paths, total], {x: scores}))
    return found


@case
def types_of_sums():
    found = []
    for kind in (tf.int32, tf.int64, tf.int8, tf.float64):
        x = tf.SparseTensor(PLACES, tf.cast(tf.range(len(PLACES)), kind), [3, 4])
        found.append([told(tf.sparse.reduce_sum(x, 1)), told(tf.sparse.add(x, x))])
    return found


@case
def order_of_places_outside():
    return [told(tf.sparse.reorder(tf.SparseTensor([[0, 3], [0, 1]], [1, 2], [1, 3])))]


@case
def outside_of_the_shape():
    """What is put in order may lie outside; parts leave it out."""
    places = np.array([[2, 0], [0, -1], [0, 5], [0, 1]], "int64")
    x = tf.SparseTensor(places, VALUES, (3, 4))
    return [
        *told(tf.sparse.reorder(x)),
        *told(tf.sparse.slice(tf.sparse.reorder(x), [0, 0], [3, 4])),
    ]


@case
def weights_of_unknown_words():
    words = tf.SparseTensor([[0, 0], [0, 1], [2, 0]], ["x", "none", "q"], [3, 2])
    weights = tf.SparseTensor([[0, 0], [0, 1], [2, 0]], [0.5, 2.0, 1.0], [3, 2])
    column = tf.feature_column.categorical_column_with_vocabulary_list("words", ["x", "y", "q"])
    weighted = tf.feature_column.weighted_categorical_column(column, "weights")
    indicator = tf.feature_column.indicator_column(weighted)
    x = tf.feature_column.input_layer({"words": words, "weights": weights}, [indicator])
    with tf.Session() as session:
        session.run(tf.tables_initializer())
        return [str(x.shape), session.run(x)]


@case
def sizes_that_follow_from_what_is_known():
    words = tf.constant([["x", ""], ["y", "z"], ["", ""]])
    places = tf.where(tf.not_equal(words, ""))
    flags = tf.where(tf.constant([True, True, False, True]))
    rows = tf.unique(tf.constant([4, 2, 4]))[0]
    shapes = [tf.cast(each, tf.int32) for each in (tf.reshape(places, [-1]), flags[:, 0], rows)]
    found = [str(tf.zeros(each).shape) for each in shapes]
    x = tf.SparseTensor(places, tf.gather_nd(words, places), tf.shape(words, out_type=tf.int64))
    filled, empty = tf.sparse.fill_empty_rows(tf.sparse.reshape(x, [3, -1]), "")
    return [*found, str(filled.indices.shape), str(empty.shape)]


@case
def labels_that_end_with_blanks():
    scores = np.random.RandomState(3).randn(5, 2, 4).astype("float32")
    x = tf.placeholder(tf.float32, [5, 2, 4])

    def labels(*rows):
        return tf.contrib.layers.dense_to_sparse(tf.constant(rows), -1)

    found = told(tf.nn.ctc_loss(labels([0, 3, 3], [1, 2, 5]), x, [4, 5]), {x: scores}, [x])
    for rows in ([0, 3, 1], [1, 2, 0]), ([0, -2, 1], [1, 2, 0]):
        found.append(
            error_of(lambda rows=rows: tf.nn.ctc_loss(labels(*rows), x, [4, 5]), {x: scores})
        )
    return found


@case
def crosses_of_old_columns():
    from tensorflow.contrib.layers.python.ops import sparse_feature_cross_op as cross

    words = tf.SparseTensor([[0, 0], [1, 0], [1, 1]], ["a", "b", "c"], [2, 2])
    given = [words, tf.constant([["x", "y"], ["z", "w"]]), tf.constant([[1], [2]], tf.int64)]
    key = cross.SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY
    found = [cross.sparse_feature_cross(given)]
    for taken in (given, given[:2]):
        for buckets in (0, 100):
            found += [
                cross.sparse_feature_cross(taken, True, buckets, hash_key=k) for k in (None, key)
            ]
    layers = tf.contrib.layers
    columns = [layers.sparse_column_with_hash_bucket(name, 10) for name in "ab"]
    crossed = layers.crossed_column(columns, hash_bucket_size=20)
    features = {"a": words, "b": tf.SparseTensor([[0, 0], [1, 1]], ["p", "q"], [2, 2])}
    sums = layers.weighted_sum_from_feature_columns(features, [crossed, *columns], 1)[0]
    session = started()
    for each in tf.trainable_variables():
        each.load(np.arange(each.shape.num_elements()).reshape(each.shape), session)
    return [told(found), session.run(sums)]


@case
def no_axes_and_complex_matrices():
    x, v, feeds = sparse()
    found = []
    for keep in (False, True):
        both = [f(x, [], keep) for f in (tf.sparse_reduce_sum, tf.sparse_reduce_max)]
        found.append(told(both, feeds))
        both = [f(x, [], keep) for f in (tf.sparse_reduce_sum_sparse, tf.sparse_reduce_max_sparse)]
        found.append(told(both, feeds))
    found.append(told(tf.sparse_reduce_sum(x, []), feeds, [v]))
    turned, _, feeds = sparse(values=(VALUES * (1 + 2j)).astype("complex64"))
    for across in (False, True):
        b = np.full((3 if across else 4, 2), 1 + 1j, "complex64")
        products = [
            tf.sparse_tensor_dense_matmul(turned, b, adjoint_a=across),
            tf.sparse_tensor_dense_matmul(turned, b.T, adjoint_a=across, adjoint_b=True),
        ]
        found.append([[y.real.tolist(), y.imag.tolist()] for y in started().run(products, feeds)])
    return found


@case
def what_sparse_tensors_refuse():
    x = tf.SparseTensor(PLACES, VALUES, (3, 4))
    outside = tf.SparseTensor([[0, 9]], [1.0], (3, 4))
    size = tf.placeholder(tf.int64)
    packed = tf.zeros([0, 3], tf.string)
    example = tf.train.Example().SerializeToString()
    return [
        error_of(lambda: tf.sparse_add(x, tf.ones([3, 5]))),
        error_of(lambda: tf.sparse_add(x, tf.ones([4]))),
        told(tf.sparse_add(x, outside)),
        *(error_of(lambda at=at: tf.sparse_slice(x, at, [1, 1])) for at in ([0], [0, 0, 0])),
        *(error_of(lambda to=to: tf.sparse_reshape(x, to)) for to in ([-2, 6], [5, -1], [-1, -1])),
        *(
            error_of(lambda: tf.sparse_reshape(x, size), {size: to})
            for to in ([[2, 6]], [0, -1], [-2, 6], [5, -1], [-1, -1], [2, 2])
        ),
        *(
            error_of(
                lambda default=default: tf.sparse_to_dense(size, [5], 1.0, default), {size: at}
            )
            for at, default in (([1], [2.0]), ([[[1]]], 0.0), ([[1, 3]], 0.0))
        ),
        error_of(lambda: tf.deserialize_many_sparse(packed, tf.float32)),
        error_of(lambda: tf.parse_example([example], {"m": tf.FixedLenFeature([0], tf.float32)})),
    ]


if __name__ == "__main__":
    main()
