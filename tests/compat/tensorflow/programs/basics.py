"""A graph, its effects and its loops, and networks that are trained."""

import weakref
from functools import partial

import numpy as np
import tensorflow as tf
from recording import case, error_of, main, raised, run, started, told

# What a tensor is -------------------------------------------------------------------------------


@case
def unknown_rank():
    x = tf.placeholder(tf.float32)
    y = tf.matmul(x, np.arange(6).reshape(2, 3).astype("float32")) + 1.0
    z = tf.reduce_sum(tf.square(x))
    session = tf.Session()
    rows = [session.run([z, tf.rank(x)], {x: np.ones(shape)}) for shape in ((3,), (2, 3, 4))]
    return [session.run(y, {x: [[1.0, 2.0]]}), rows]


@case
def operations_and_names():
    with tf.name_scope("part"):
        x = tf.placeholder(tf.float32, [None, 2], name="x")
    y = tf.add(tf.nn.relu(x), x, name="sum")
    return [y.op.type, [i.name for i in y.op.inputs], x.op.name, y.name, y.shape.as_list()]


@case
def shapes_of_errors():
    x, y = tf.placeholder(tf.float32, [2, 3]), tf.placeholder(tf.float32, [4, 5])
    try:
        tf.matmul(x, y)
    except ValueError as error:
        return [str(error)[:60]]
    return []


@case
def overridden_gradient():
    @tf.RegisterGradient("Doubled")
    def _doubled(op, grad):
        return 2.0 * grad

    x = tf.constant([1.0, -2.0])
    with tf.get_default_graph().gradient_override_map({"Identity": "Doubled"}):
        y = tf.identity(x) * 3.0
    return run(tf.gradients(y, x))


# Effects ----------------------------------------------------------------------------------------


@case
def step_in_a_branch():
    v, count = tf.Variable(1.0), tf.Variable(0)
    way = tf.placeholder(tf.bool, [])

    def step():
        train = tf.train.GradientDescentOptimizer(0.1).minimize(v * v, var_list=[v])
        with tf.control_dependencies([train]):
            return tf.assign_add(count, 1)

    out, session = tf.cond(way, step, lambda: tf.identity(count)), started()
    return [[session.run(out, {way: w}), session.run([v, count])] for w in (True, False, True)]


@case
def assign_in_a_body():
    v = tf.Variable(0.0)

    def body(i, total):
        with tf.control_dependencies([tf.assign_add(v, tf.cast(i, tf.float32))]):
            return i + 1, total * 1.5

    out = tf.while_loop(lambda i, total: i < 5, body, [tf.constant(0), tf.constant(1.0)])
    session = started()
    return [session.run(out), session.run(v)]


@case
def nested_branches():
    v = tf.Variable([1.0, 2.0])
    outer, inner = tf.placeholder(tf.bool, []), tf.placeholder(tf.bool, [])

    def changed():
        return tf.cond(
            inner, lambda: tf.assign(v, v * 2.0) + 0.0, lambda: tf.assign_add(v, [1.0, 1.0]) + 0.0
        )

    out, session = tf.cond(outer, changed, lambda: v + 0.0), started()
    ways = [(True, True), (True, False), (False, True)]
    return [[session.run(out, {outer: a, inner: b}), session.run(v)] for a, b in ways]


@case
def one_of_several():
    v, which = tf.Variable(0.0), tf.placeholder(tf.int32, [])
    pairs = [(tf.equal(which, k), lambda k=k: tf.assign_add(v, 10.0**k) + 0.0) for k in range(3)]
    out, session = tf.case(pairs, default=lambda: tf.constant(-1.0), exclusive=True), started()
    return [[session.run(out, {which: k}), session.run(v)] for k in (2, 0, 5, 1)]


@case
def branch_in_a_loop():
    v = tf.Variable(0.0)

    def body(i):
        odd = tf.equal(i % 2, 1)
        changed = tf.cond(odd, lambda: tf.assign_add(v, 1.0) + 0.0, lambda: tf.constant(0.0))
        with tf.control_dependencies([changed]):
            return i + 1

    out, session = tf.while_loop(lambda i: i < 7, body, [tf.constant(0)]), started()
    return [session.run(out), session.run(v)]


@case
def assertion_before():
    x = tf.placeholder(tf.float32, [])
    with tf.control_dependencies([tf.Assert(x > 0, [x, "must be positive"])]):
        y = tf.sqrt(x)
    session = tf.Session()
    found = [session.run(y, {x: 4.0})]
    try:
        session.run(y, {x: -4.0})
    except tf.errors.InvalidArgumentError as error:
        found.append(str(error.message)[:30])
    return found


@case
def order_by_control():
    v = tf.Variable(1.0, use_resource=True)  # a reference's value may be changed behind its reader
    with tf.control_dependencies([tf.assign(v, v * 3.0)]):
        after = v.read_value()
        with tf.control_dependencies([tf.assign_add(v, after)]):
            last = v.read_value()
    session = started()
    return [session.run([after, last]), session.run(v)]


@case
def without_a_value():
    v = tf.Variable([1.0])
    try:
        tf.Session().run(v)
    except tf.errors.FailedPreconditionError as error:
        return [str(error.message)[:42]]
    return []


# Loops and their gradients ----------------------------------------------------------------------


@case
def gradient_of_a_loop():
    x, turns = tf.placeholder(tf.float32, []), tf.placeholder(tf.int32, [])
    w = tf.Variable(2.0)
    _, y = tf.while_loop(
        lambda i, a: i < turns, lambda i, a: (i + 1, tf.sin(a) * w + a), [tf.constant(0), x]
    )
    wanted, session = [y, *tf.gradients(y, [x, w])], started()
    return [session.run(wanted, {x: 0.3, turns: n}) for n in (4, 1, 0)]


@case
def arrays_of_tensors():
    x = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    y = tf.map_fn(lambda row: tf.reduce_prod(row) + row, x)
    z = tf.scan(lambda total, row: total * 0.5 + row, x)
    w = tf.foldl(lambda total, row: total + row * row, x)
    return run([y, z, w, tf.gradients(tf.reduce_sum(z * z) + tf.reduce_sum(w), x)[0]])


@case
def recurrent():
    rng = np.random.RandomState(0)
    x, n = tf.placeholder(tf.float32, [None, None, 3]), tf.placeholder(tf.int32, [None])
    cell = tf.nn.rnn_cell.BasicLSTMCell(4)
    out, state = tf.nn.dynamic_rnn(cell, x, sequence_length=n, dtype=tf.float32)
    loss = tf.reduce_sum(tf.square(out)) + tf.reduce_sum(state.c)
    train, session = tf.train.AdamOptimizer(0.05).minimize(loss), started()
    for v in tf.trainable_variables():
        v.load(rng.uniform(-0.3, 0.3, v.shape.as_list()).astype("float32"), session)
    fed = {x: rng.randn(2, 6, 3), n: [6, 4]}
    return [session.run([loss, train], fed)[0] for _ in range(3)]


# Networks ---------------------------------------------------------------------------------------


@case
def optimizers():
    rng = np.random.RandomState(0)
    data = rng.randn(64, 3).astype("float32")
    answers = data.dot(np.array([[1.0], [2.0], [3.0]], "float32")) + 0.5
    found = []
    for kind in (
        lambda: tf.train.GradientDescentOptimizer(0.1),
        lambda: tf.train.AdamOptimizer(0.1),
        lambda: tf.train.MomentumOptimizer(0.05, 0.9, use_nesterov=True),
        lambda: tf.train.RMSPropOptimizer(0.05, momentum=0.5),
        lambda: tf.train.AdagradOptimizer(0.5),
    ):
        with tf.Graph().as_default():
            x, y = tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.float32, [None, 1])
            w = tf.Variable(tf.zeros([3, 1]))
            b = tf.get_variable("b", [1], initializer=tf.zeros_initializer(), use_resource=True)
            loss = tf.reduce_mean(tf.square(tf.matmul(x, w) + b - y))
            count = tf.train.get_or_create_global_step()
            train, session = kind().minimize(loss, global_step=count), started()
            losses = [session.run([train, loss], {x: data, y: answers})[1] for _ in range(10)]
            found.append([losses, session.run([w, b, count])])
    return found


@case
def convolutions():
    rng = np.random.RandomState(0)
    x, y = tf.placeholder(tf.float32, [None, 8, 8, 1]), tf.placeholder(tf.int64, [None])
    h = tf.layers.conv2d(x, 4, 3, activation=tf.nn.relu, padding="same")
    h = tf.layers.batch_normalization(h, training=True)
    h = tf.layers.average_pooling2d(tf.layers.max_pooling2d(h, 2, 2), 2, 1)
    logits = tf.layers.dense(tf.layers.flatten(h), 10)
    loss = tf.losses.sparse_softmax_cross_entropy(y, logits)
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        train = tf.train.MomentumOptimizer(1e-2, 0.9).minimize(loss)
    session = started()
    for v in tf.trainable_variables():
        if "kernel" in v.name:
            v.load(rng.uniform(-0.3, 0.3, v.shape.as_list()).astype("float32"), session)
    fed = {x: rng.rand(16, 8, 8, 1), y: rng.randint(0, 10, 16)}
    return [session.run([train, loss], fed)[1] for _ in range(4)]


@case
def slices_and_their_gradients():
    x = tf.reshape(tf.range(60.0), [3, 4, 5])
    parts = [x[1], x[:, ::2, -1], x[..., tf.newaxis, 3:1:-1], x[::-1, 1:3]]
    return run(parts + tf.gradients([tf.reduce_sum(p * p) for p in parts], x))


@case
def frozen_and_imported():
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    v = tf.Variable([[1.0], [2.0]])
    y = tf.identity(tf.matmul(x, v), name="y")
    session = started()
    frozen = tf.graph_util.convert_variables_to_constants(session, session.graph_def, ["y"])
    with tf.Graph().as_default():
        [out] = tf.import_graph_def(frozen, {"x": tf.constant([[3.0, 4.0]])}, ["y:0"], name="in")
        return [out.name, run(out)] if y is not None else []


@case
def integers_that_are_known():
    found = []
    for kind in ("int32", "int64", "int16", "uint8"):
        given = np.array([[1, 7, 90], [-3, 8, 110]]).astype(kind)
        for x in (tf.constant(given), tf.placeholder_with_default(given, [None, 3])):
            found += [tf.cumsum(x, 1), tf.cumprod(x, exclusive=True), tf.nn.relu6(x)]
    return told(found)


@case
def functions_of_numpy():
    x = tf.constant([[2.0, 0.0], [0.0, 1.0]])
    return run([tf.py_func(np.sum, [x], tf.float32), tf.py_func(np.linalg.svd, [x], [x.dtype] * 3)])


@case
def what_nobody_takes_any_more_goes():
    """Of a chain's arrays few live at once: by itself, in a turn of a loop, in a dataset's map."""
    made, counts = [], []

    def added(x):
        result = np.array(x) + 1.0
        made.append(weakref.ref(result))
        counts.append(sum(each() is not None for each in made))
        return result

    def chain(number):
        x = tf.fill([300000], tf.cast(number, tf.float64))
        for _ in range(9):
            x = tf.py_func(added, [x], tf.float64)
        return tf.reduce_sum(x)

    once = chain(tf.placeholder_with_default(0, []))
    turns = tf.while_loop(lambda i, s: i < 2, lambda i, s: (i + 1, s + chain(s)), [0, once])
    rows = tf.compat.v1.data.make_one_shot_iterator(tf.data.Dataset.range(2).map(chain))
    return [[run(each), max(counts) < 4] for each in (once, turns, rows.get_next())]


@case
def round_integers():
    given = np.array([3, -7], "int32")
    fed = tf.placeholder_with_default(given, [None])
    return told([tf.raw_ops.Round(x=x) for x in (tf.constant(given), fed)])


@case
def shapes_of_choices():
    sizes = [[2], [None], [2, 3], [None, 3], [None, None]]
    conditions = [tf.placeholder(tf.bool, shape) for shape in sizes]
    parts = [tf.placeholder(tf.float32, shape) for shape in sizes]
    pairs = [(x, y) for x in conditions for y in parts if y.shape.ndims >= x.shape.ndims]
    return [str(tf.where(x, y, y).shape) for x, y in pairs if x.shape.ndims in (1, y.shape.ndims)]


@case
def windows_without_a_place():
    ops, x, one = tf.raw_ops, np.ones([1, 4, 4, 1], "float32"), [1, 1]

    def patches(rows, step):
        sizes, steps = [1, rows, *one], [1, step, *one]
        return ops.ExtractImagePatches(
            images=x, ksizes=sizes, strides=steps, rates=one * 2, padding="VALID"
        )

    def deep_patches(rows, step):
        sizes, steps, deep = [1, rows, 1, *one], [1, step, 1, *one], x[..., np.newaxis]
        return ops.ExtractVolumePatches(input=deep, ksizes=sizes, strides=steps, padding="VALID")

    def dilated(rows, step):
        kernel, steps = np.ones([rows, 1, 1], "float32"), [1, step, *one]
        return ops.Dilation2D(input=x, filter=kernel, strides=steps, rates=one * 2, padding="VALID")

    found = []
    for make in (patches, deep_patches, dilated):
        found.append([told(make(5, 1)), told(make(5, 2)), told(make(7, 2))])
        found.append([error_of(partial(make, *sizes)) for sizes in ((6, 1), (8, 2))])
    return found


@case
def slopes_that_are_hidden():
    x, y = tf.placeholder(tf.float32, [4]), tf.constant([0.0, 4.0, -1.0, 0.25])
    found = []
    for function in (tf.sqrt, tf.rsqrt, tf.math.reciprocal):
        for tensor in (x, y):
            value = tf.where(tensor > 0.0, function(tensor), tf.zeros([4]))
            slope = tf.gradients(value, tensor)[0]
            found += [slope, tf.gradients(slope, tensor)[0]]
    with tf.Session() as session:
        return [value.tolist() for value in session.run(found, {x: [0.0, 4.0, -1.0, 0.25]})]


@case
def read_behind_an_assignment():
    """A variable whose shape isn't known: its first value doesn't say that it gets another one."""
    first = tf.placeholder_with_default(tf.constant([[1.0, 2.0], [3.0, 4.0]]), [None, None])
    v = tf.Variable(first, validate_shape=False)
    op = v.assign(v * 2.0 + 10.0)
    with tf.control_dependencies([op]):
        rows = [v.value()[at, :] for at in range(2)]
        y = tf.stack([row * row for row in rows])
    session = started()
    return [str(v.shape), run(y, session=session), run([y, op], session=session)]


@case
def runs_in_parts():
    a, b, c = (tf.placeholder(tf.float32, [], name) for name in "abc")
    total, drawn = a + b, a + tf.random_uniform([])
    product, later = total * c, drawn * b
    steps = tf.get_variable("steps", initializer=0.0, use_resource=True)
    with tf.control_dependencies([steps.assign_add(1.0)]):
        step = steps.read_value() + a
    session = started()

    def parts(fetches, feeds, *given):
        handle = session.partial_run_setup(fetches, feeds)
        try:
            return [session.partial_run(handle, *part) for part in given]
        except tf.errors.InvalidArgumentError as error:
            return [error.message]

    first, second = parts([drawn, later], [a, b], (drawn, {a: 1}), (later, {b: 3}))
    both, feeds = [total, product], [a, b, c]
    train = tf.train.GradientDescentOptimizer(1.0).minimize(steps * b)
    return [
        abs(second - 3 * first) < 1e-5,
        *parts([total, train], [a, b], (total, {a: 1, b: 2})),
        *parts([step, step * b], [a, b], (step, {a: 1})),
        session.run(steps),
        *parts(both, feeds, (total, {a: 1, b: 2}), (product, {c: 5})),
        *parts(both, feeds, (both, {a: 1, b: 2, c: 4}))[0],
        *parts(both, feeds, (product, {a: 1, c: 2})),
        *parts(both, feeds, (total, {a: 1, b: 2}), (total, {})),
        *parts(both, feeds, (total, {a: 1, b: 2}), (product, {a: 1, c: 2})),
        *parts(both, feeds, (both, {a: 1, b: 2, c: 4}), (product, {c: 2})),
        *parts([total], [a, b], (total, {a: 1, c: 2})),
        *parts([total], feeds, (product, {a: 1, b: 2})),
    ]


@case
def bits_of_a_number():
    x = tf.placeholder_with_default(1.0, [])
    kinds = [tf.int32, tf.uint8]
    return told([tf.bitcast(each, kind) for each in (1.0, x) for kind in kinds])


@case
def what_is_left_of_nothing():
    """Of a reshape's sizes one is left open, where there are no elements."""
    none = np.zeros([2, 0, 4], "float32")
    given = [tf.constant(none), tf.placeholder_with_default(none, [None, None, 4])]
    sizes = ([-1, 0, 2, 2], [0, -1], [-1, 4], [0, -1, 4], [-1], [2, -1])
    found = [tf.reshape(x, each) for each in sizes for x in given]
    return [[x.shape.as_list(), each.shape] for x, each in zip(found, run(found))]  # noqa: B905


@case
def variables_that_begin_with_zeros():
    made = [tf.get_variable(name, [2, 3], tf.float64, use_resource=name == "b") for name in "ab"]
    begin, session = [tf.contrib.framework.zero_initializer(w).op for w in made], tf.Session()
    session.run(begin)
    again = [raised(lambda each=each: session.run(each)) for each in begin]
    return session.run(made), [[kind, message.splitlines()[0]] for kind, message in again]


@case
def who_changes_what_was_fetched_changes_nothing_else():
    x, given = tf.placeholder(tf.float32, [2]), np.array([1.0, 2.0], "float32")
    chosen = tf.cond(x[0] > 0, lambda: tf.identity(x), lambda: x * 2.0)
    numbers, words = tf.constant([3.0, 4.0]), tf.constant(["a", "b"])
    rows = np.arange(6.0).reshape(3, 2)
    datasets = [tf.data.Dataset.from_tensor_slices(rows) for _ in range(2)]
    datasets[1] = datasets[1].map(tf.identity).cache()
    parts = [each.repeat().make_one_shot_iterator().get_next() for each in datasets]
    kept = np.zeros(2)
    told = tf.identity(tf.py_func(lambda: kept, [], tf.float64))
    session = started()
    for fetched in (tf.identity(x), chosen, numbers, told, *parts * 3):
        session.run(fetched, {x: given})[:] = 7.0
    session.run(words)[0] = b"other"
    again = [session.run(each) for each in (numbers, numbers + 1.0, words, *parts * 3)]
    return [given, kept, again]


if __name__ == "__main__":
    main()
