"""Branches and loops: what they give, what they change, their gradients."""

import re
from functools import partial

import numpy as np
import tensorflow as tf
from recording import case, error_of, leaves, main, run, started
from tensorflow.python.ops.control_flow_ops import merge, switch


def both(x, outs, feeds, session=None):
    """What is computed for each feed of x."""
    session = session or started()
    return [session.run(outs, {x: each}) for each in feeds]


# Sizes that are known when it runs ----------------------------------------------------------------


def counter(by_handle):
    """How many rows have come, in a variable."""
    return tf.get_variable("seen", initializer=3, trainable=False, use_resource=by_handle)


@case
def ranges_from_variables():
    first, second = counter(False), tf.get_variable("w", initializer=2, use_resource=True)
    more = tf.placeholder(tf.int32, [])
    made = [tf.range(first, first + more), tf.range(second, second + more), tf.range(first)]
    return both(more, made, (1, 2, 4))


@case
def rows_kept_in_a_circle():
    found = []
    for by_handle in (False, True):
        with tf.variable_scope(str(by_handle)):
            seen, more = counter(by_handle), tf.placeholder(tf.int32, [])
            kept = tf.get_variable("kept", initializer=tf.zeros(10, tf.int32), trainable=False)

            def store(seen=seen, more=more, kept=kept):
                places = tf.range(seen, seen + more) % 10
                with tf.control_dependencies([tf.assert_less(more, 100)]):
                    stored = tf.scatter_update(kept, places, places * 2)
                with tf.control_dependencies([stored]):
                    return tf.assign(seen, (seen + more) % 10)

            now = tf.cond(more > 2, store, lambda seen=seen: tf.identity(seen))
            session, always = started(), store()
            for step, counts in ((now, (1, 4, 5, 2, 9)), (always, (1, 4, 5))):
                found += [
                    [session.run(step, {more: n}), session.run(kept).tolist()] for n in counts
                ]
    return found


# Branches ---------------------------------------------------------------------------------------


@case
def gradients_of_branches():
    x, w = tf.placeholder(tf.float32, []), tf.Variable(3.0)
    y = tf.cond(x > 0, lambda: tf.square(x) * w, lambda: tf.sin(x) + w * w)
    return both(x, [y, *tf.gradients(y, [x, w])], [2.0, -1.0])


@case
def branches_in_a_row():
    x = tf.placeholder(tf.float32, [])
    a = tf.cond(x > 0, lambda: x * 2.0, lambda: x - 1.0)
    b = tf.cond(x > 0, lambda: a * a + x, lambda: tf.exp(a) * x)
    c = tf.cond(b > 3, lambda: b + a, lambda: b * a)
    return both(x, [a, b, c, tf.gradients(c, x)[0]], [2.0, 0.5, -0.5, -3.0])


@case
def several_results():
    x = tf.placeholder(tf.float32, [2, 3])
    few, many, number = tf.cond(
        tf.reduce_sum(x) > 0,
        lambda: (x[0], x * 2.0, tf.constant(1)),
        lambda: (x[1] - 1.0, -x, tf.constant(2)),
    )
    grad = tf.gradients(tf.reduce_sum(few) * 2.0 + tf.reduce_sum(many * many), x)[0]
    rows = np.arange(6.0).reshape(2, 3)
    return both(x, [few, many, number, grad], [rows, -rows])


@case
def sizes_that_differ():
    x = tf.placeholder(tf.float32, [4])
    y = tf.cond(x[0] > 0, lambda: x[:2], lambda: x[1:])
    return both(x, [y, tf.shape(y), tf.gradients(y, x)[0]], [[1, 2, 3, 4], [-1, 2, 3, 4]])


@case
def steps_of_two_optimizers():
    v, w = tf.Variable([1.0, 2.0]), tf.Variable(3.0)
    loss = tf.reduce_sum(v * v) * w
    first, second = tf.train.AdamOptimizer(0.1), tf.train.MomentumOptimizer(0.1, 0.9)
    turn = tf.placeholder(tf.bool, [])
    step = tf.cond(turn, lambda: first.minimize(loss), lambda: second.minimize(loss))
    session, found = started(), []
    for way in (True, False, False, True):
        session.run(step, {turn: way})
        found.append(session.run([v, w]))
    return found


@case
def assigns_on_both_sides():
    x = tf.placeholder(tf.float32, [])
    a, b = tf.Variable(1.0), tf.Variable(10.0, use_resource=True)

    def more():
        with tf.control_dependencies([tf.assign_add(a, x)]):
            return tf.identity(b.assign(a * 2.0))

    def less():
        with tf.control_dependencies([b.assign_sub(x), tf.assign(a, 0.0)]):
            return a + b.read_value()

    y, session = tf.cond(x > 0, more, less), started()
    return [[session.run(y, {x: each}), session.run([a, b])] for each in (2.0, -3.0, 1.0)]


@case
def branch_that_depends():
    x, v = tf.placeholder(tf.float32, []), tf.Variable(1.0)
    changed = tf.assign_add(v, x)
    with tf.control_dependencies([changed]):
        y = tf.cond(v > 3, lambda: tf.assign(v, 0.0) + 100.0, lambda: v + 0.0)
    with tf.control_dependencies([y]):
        z = v.read_value() + 0.0
    session = started()
    return [session.run([y, z], {x: 1.5}) for _ in range(4)]


@case
def first_of_cases():
    x = tf.placeholder(tf.float32, [])
    pairs = [(x > k, lambda k=k: x * k + tf.square(x)) for k in (10.0, 5.0, 1.0)]
    y = tf.case(pairs, default=lambda: -x)
    return both(x, [y, tf.gradients(y, x)[0]], [20.0, 7.0, 2.0, -4.0])


@case
def chosen_at_once():
    x = tf.constant([1.0, 2.0])
    y = tf.cond(tf.constant(True), lambda: x + 1.0, lambda: x - 1.0)
    return run([y, tf.gradients(y, x)[0]])


@case
def what_is_not_taken():
    v = tf.Variable(0.0)
    x = tf.placeholder(tf.bool, [])
    seen = []

    def told(value):
        seen.append(float(value))
        return np.float32(value)

    y = tf.cond(
        x,
        lambda: tf.py_func(told, [tf.assign_add(v, 1.0) + 0.0], tf.float32),
        lambda: tf.constant(-1.0),
    )
    session = started()
    return [[session.run(y, {x: way}), session.run(v)] for way in (False, True, False)] + [seen]


@case
def gradients_behind_the_host():
    x = tf.placeholder(tf.float32, [None])
    found = []
    for long in (tf.size(x) > 2, x[0] > 0):
        y = tf.cond(long, lambda: tf.square(tf.exp(x)), lambda: tf.sin(tf.square(x)))
        z = y * tf.py_func(lambda a: np.cos(a), [y], tf.float32)
        found += [z, tf.gradients(z, x)[0]]
    return both(x, found, [[0.5, 1.0, -1.0], [-0.3, 0.7]])


@case
def sizes_that_differ_behind_the_host():
    x = tf.placeholder(tf.float32, [4])
    y = tf.cond(x[0] > 0, lambda: tf.square(tf.exp(x[:2])), lambda: tf.sin(tf.square(x[1:])))
    z = y * tf.py_func(lambda a: np.cos(a), [y], tf.float32)
    return both(x, [z, tf.gradients(z, x)[0]], [[0.5, 1, 2, 3], [-0.5, 1, 0.2, 3]])


@case
def one_of_three():
    x = tf.placeholder(tf.float32, [])
    low, high = switch(x, x > 0)
    lowest, middle = switch(low + 1.0, x > -2)
    y, way = merge([high * 2.0, tf.square(middle), tf.exp(lowest)])
    return both(x, [y + 1.0, way], [3.0, -0.5, -3.0])


# Loops ------------------------------------------------------------------------------------------


@case
def turns_that_data_tell():
    x = tf.placeholder(tf.float32, [])
    n, last = tf.while_loop(
        lambda n, a: tf.abs(a) > 1.0, lambda n, a: (n + 1, a / 2.0), [tf.constant(0), x]
    )
    return both(x, [n, last], [100.0, 0.5, -7.0])


@case
def gradient_of_turns_that_data_tell():
    x = tf.placeholder(tf.float32, [])
    n, last = tf.while_loop(
        lambda n, a: a < 100.0, lambda n, a: (n + 1, a * a + 1.0), [tf.constant(0), x]
    )
    return both(x, [n, last, tf.gradients(last, x)[0]], [1.5, 200.0, 3.0])


@case
def loop_in_a_loop():
    x = tf.Variable([0.3, 0.5])

    def outer(i, total):
        _, inner = tf.while_loop(
            lambda j, a: j < 3,
            lambda j, a: (j + 1, a * x + tf.cast(i, tf.float32) * 0.1),
            [0, total],
        )
        return i + 1, tf.tanh(inner)

    _, y = tf.while_loop(lambda i, total: i < 4, outer, [0, x * 0.5])
    return run([y, tf.gradients(y, x)[0]])


@case
def branch_in_a_loop_and_its_gradient():
    x = tf.Variable([0.5, -1.0, 2.0])

    def body(i, a):
        return i + 1, tf.cond(
            tf.reduce_sum(a) > 1.0, lambda: a * x - 0.5, lambda: tf.exp(a) * 0.5 + x
        )

    _, y = tf.while_loop(lambda i, a: i < 5, body, [0, x])
    return run([y, tf.gradients(tf.reduce_sum(y * y), x)[0]])


@case
def loop_in_a_branch():
    x, way = tf.Variable(1.1), tf.placeholder(tf.bool, [])

    def many():
        return tf.while_loop(lambda i, a: i < 6, lambda i, a: (i + 1, a * x), [0, x])[1]

    y = tf.cond(way, many, lambda: tf.sqrt(x))
    return both(way, [y, tf.gradients(y, x)[0]], [True, False])


@case
def assigns_in_nested_loops():
    v, w = tf.Variable(0.0), tf.Variable([1.0, 1.0], use_resource=True)

    def inner(j):
        with tf.control_dependencies([tf.assign_add(v, 1.0), w.assign(w * 1.5)]):
            return j + 1

    def outer(i):
        with tf.control_dependencies([tf.while_loop(lambda j: j < i, inner, [tf.constant(0)])]):
            return i + 1

    out, session = tf.while_loop(lambda i: i < 4, outer, [tf.constant(0)]), started()
    return [session.run(out), session.run([v, w])]


@case
def steps_in_a_loop():
    v = tf.Variable([1.0, -2.0])
    optimizer = tf.train.MomentumOptimizer(0.1, 0.5)

    def body(i):
        step = optimizer.minimize(tf.reduce_sum(tf.square(v.read_value())), var_list=[v])
        with tf.control_dependencies([step]):
            return i + 1

    out, session = tf.while_loop(lambda i: i < 5, body, [tf.constant(0)]), started()
    return [session.run(out), session.run(v), session.run(out), session.run(v)]


@case
def last_read_in_the_condition():
    v = tf.Variable(1.0, use_resource=True)

    def body(i):
        with tf.control_dependencies([v.assign_add(v * 0.5)]):
            return i + 1

    out = tf.while_loop(lambda i: v.read_value() < 10.0, body, [tf.constant(0)])
    session = started()
    return [session.run(out), session.run(v)]


@case
def growing_sizes():
    i, rows = tf.while_loop(
        lambda i, a: i < 4,
        lambda i, a: (i + 1, tf.concat([a, a[-1:] * 2.0 + 1.0], 0)),
        [tf.constant(0), tf.ones([1, 2])],
        shape_invariants=[tf.TensorShape([]), tf.TensorShape([None, 2])],
    )
    return run([i, rows])


@case
def limits_that_are_fed():
    n = tf.placeholder(tf.int32, [])
    x = tf.Variable([0.9, 1.1])
    i, y = tf.while_loop(lambda i, a: i < n, lambda i, a: (i + 2, a * x), [tf.constant(0), x])
    return both(n, [i, y, tf.gradients(y, x)[0]], [5, 0, 2, 9, 5])


@case
def at_most_so_many():
    x = tf.constant(1.0)
    y = tf.while_loop(lambda a: a < 1000.0, lambda a: a * 2.0, [x], maximum_iterations=4)
    return run([y, tf.gradients(y, x)[0]])


# Arrays of tensors ------------------------------------------------------------------------------


@case
def arrays_written_in_any_order():
    x = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    order = tf.constant([2, 0, 1])
    array = tf.TensorArray(tf.float32, 3, element_shape=[2])
    _, array = tf.while_loop(
        lambda i, a: i < 3,
        lambda i, a: (i + 1, a.write(order[i], x[i] * tf.cast(i + 1, tf.float32))),
        [0, array],
    )
    y = array.stack()
    return run([y, tf.gradients(y * y, x)[0]])


@case
def arrays_read_while_written():
    x = tf.Variable([1.0, 2.0])
    array = tf.TensorArray(tf.float32, 6, clear_after_read=False, element_shape=[2])
    array = array.write(0, x).write(1, x * 0.5)
    _, array = tf.while_loop(
        lambda i, a: i < 6,
        lambda i, a: (i + 1, a.write(i, a.read(i - 1) + a.read(i - 2) * 0.9)),
        [2, array],
    )
    return run(array.stack())


@case
def arrays_that_grow():
    array = tf.TensorArray(tf.float32, 0, dynamic_size=True)
    _, array = tf.while_loop(
        lambda i, a: i < 5, lambda i, a: (i + 1, a.write(i, tf.cast(i * i, tf.float32))), [0, array]
    )
    return run([array.stack(), array.size()])


@case
def arrays_of_strings():
    nothing = tf.TensorArray(tf.string, 0, element_shape=[])
    partly = tf.TensorArray(tf.string, 3, element_shape=[]).write(1, "x")
    mapped = tf.map_fn(tf.strings.upper, tf.placeholder(tf.string, [None]))
    feeds = {mapped.op.graph.get_tensor_by_name("Placeholder:0"): []}
    return [run([nothing.stack(), mapped], feeds), error_of(partly.stack)]


@case
def arrays_that_grow_as_data_say():
    n, at = tf.placeholder(tf.int32, []), tf.placeholder(tf.int32, [])
    array = tf.TensorArray(tf.float32, 0, dynamic_size=True, element_shape=[])
    _, ends, array = tf.while_loop(
        lambda i, s, a: s < tf.cast(n, tf.float32),
        lambda i, s, a: (i + 1, s + 1.5, a.write(i, s * s)),
        [0, tf.constant(0.5), array],
    )
    placed = tf.TensorArray(tf.float32, 1, dynamic_size=True).write(at, 2.0).write(0, 1.0)
    outs = [array.stack(), array.size(), ends, placed.stack(), placed.size()]
    return [run(outs, {n: end, at: 1}) for end in (3, 7, 1)]


@case
def arrays_without_loops():
    x = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    array = tf.TensorArray(tf.float32, 2).unstack(x)
    pair = array.read(0) * array.read(1)
    parts = tf.TensorArray(tf.float32, 2, infer_shape=False).split(
        tf.concat([x, x], 0)[:, 0], [1, 3]
    )
    return run([pair, tf.gradients(pair, x)[0], parts.concat()])


@case
def functions_over_rows():
    x = tf.Variable([[1.0, 2.0, 3.0], [0.1, 0.2, 0.3]])
    one = tf.map_fn(lambda row: tf.reduce_sum(tf.exp(row)) + row[0], x)
    two = tf.scan(lambda a, row: a * 0.5 + row * row, x, initializer=tf.zeros([3]))
    three = tf.scan(lambda a, row: a + row, x, reverse=True)
    four = tf.foldr(lambda a, row: a * row[1] + row, x)
    outs = [one, two, three, four]
    loss = tf.add_n([tf.reduce_sum(tf.sin(out)) for out in outs])
    return run([*outs, tf.gradients(loss, x)[0]])


@case
def rows_written_backwards():
    x = tf.Variable([[1.0, 2.0], [0.5, -1.0], [3.0, 0.1]])
    scanned = tf.scan(
        lambda kept, row: row[1] + row[0] * kept, (x, tf.sin(x)), tf.zeros(2), reverse=True
    )
    kept = tf.TensorArray(tf.float32, 3)
    _, kept = tf.while_loop(
        lambda i, _: i >= 0, lambda i, rows: (i - 1, rows.write(i, x[i] * x[0])), (2, kept)
    )
    outs = [scanned, kept.stack()]
    slopes = [tf.gradients(tf.sin(out), x)[0] for out in outs]
    return run([*outs, *slopes])


@case
def second_gradients():
    x = tf.Variable([0.5, 1.5])
    _, y = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * a * x), [0, x])
    [g] = tf.gradients(y, x)
    return run([y, g])


# Recurrent networks -----------------------------------------------------------------------------


def _trained(cell, feeds, **options):
    rng = np.random.RandomState(0)
    x = tf.placeholder(tf.float32, [None, None, 3])
    out, _ = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32, **options)
    loss = tf.reduce_mean(tf.square(out - 0.1))
    train, session = tf.train.GradientDescentOptimizer(0.5).minimize(loss), started()
    for v in tf.trainable_variables():
        v.load(rng.uniform(-0.3, 0.3, v.shape.as_list()).astype("float32"), session)
    shape = (2, 5, 3)
    data = rng.randn(*shape).astype("float32")
    return [session.run([loss, train], {x: data[:, :n], **feeds})[0] for n in (5, 3, 5)]


@case
def recurrent_units():
    return _trained(tf.nn.rnn_cell.GRUCell(4), {})


@case
def lengths_that_are_fed():
    n = tf.placeholder(tf.int32, [None])
    return _trained(tf.nn.rnn_cell.LSTMCell(4), {n: [2, 3]}, sequence_length=n)


@case
def layers_of_cells():
    cells = [tf.nn.rnn_cell.BasicRNNCell(3), tf.nn.rnn_cell.GRUCell(2)]
    return _trained(tf.nn.rnn_cell.MultiRNNCell(cells), {})


@case
def both_directions():
    rng = np.random.RandomState(0)
    x = tf.placeholder(tf.float32, [2, 4, 3])
    n = tf.placeholder(tf.int32, [2])
    cells = [tf.nn.rnn_cell.GRUCell(2, name=name) for name in ("f", "b")]
    outs, _ = tf.nn.bidirectional_dynamic_rnn(*cells, x, n, dtype=tf.float32)
    y = tf.concat(outs, 2)
    grad = tf.gradients(tf.reduce_sum(y * y), x)[0]
    session = started()
    for v in tf.trainable_variables():
        v.load(rng.uniform(-0.3, 0.3, v.shape.as_list()).astype("float32"), session)
    return session.run([y, grad], {x: rng.randn(2, 4, 3), n: [4, 2]})


@case
def a_loop_behind_another_on_the_host():
    x, way = tf.placeholder(tf.float32, [None]), tf.placeholder(tf.int32, [])

    def scanned():
        first = tf.scan(lambda sum_, a: sum_ * 0.5 + a, x, initializer=tf.constant(0.0))
        pairs = (x, tf.greater(first, 1.0))
        second = tf.scan(
            lambda kept, pair: tf.where(pair[1], pair[0], kept) + 1.0,
            pairs,
            initializer=tf.constant(0.0),
        )
        doubled = tf.py_func(lambda a: a * 2, [second], tf.float32)
        doubled.set_shape([None])
        return doubled[: tf.cast(doubled[0], tf.int32) + way]

    result, session = tf.cond(way > 0, scanned, lambda: x), started()
    return [session.run(result, {way: n, x: [1.0, 2.0, 0.1, 0.5]}).tolist() for n in (1, 0, 2)]


@case
def raw_loops():
    cell = tf.nn.rnn_cell.BasicRNNCell(2)
    inputs = tf.TensorArray(tf.float32, 3).unstack(tf.reshape(tf.range(12.0) * 0.1, [3, 2, 2]))

    def step(time, output, state, kept):
        state = cell.zero_state(2, tf.float32) if output is None else state
        done = time >= 3
        following = tf.cond(done, lambda: tf.zeros([2, 2]), lambda: inputs.read(time))
        return tf.fill([2], done), following, state, output, None

    outs, last, _ = tf.nn.raw_rnn(cell, step)
    session = started()
    for v in tf.trainable_variables():
        v.load(np.full(v.shape.as_list(), 0.2, "float32"), session)
    return session.run([outs.stack(), last])


@case
def variables_that_grow():
    """What was compiled for one shape doesn't hold for the next."""
    found = []
    for in_loop in (False, True):
        v = tf.Variable(tf.zeros([0, 2]), validate_shape=False)
        count = tf.shape(v)[0]

        def step(i, v=v, count=count):
            row = tf.fill([1, 2], tf.cast(count, tf.float32))
            new = tf.cond(tf.equal(count, 0), lambda: row + 1, lambda: tf.concat([v, row], 0))
            with tf.control_dependencies([tf.assign(v, new, validate_shape=False)]):
                return i + 1

        op = tf.while_loop(lambda i: i < 1, step, [0]) if in_loop else step(tf.constant(0))
        session = started()
        found += [[session.run(op), session.run(v), session.run(count)] for _ in range(3)]
        session.run(v.initializer)
        found += [[session.run(op), session.run(v), session.run(count)] for _ in range(2)]
    return found


@case
def arrays_that_refuse():
    rows, line = tf.reshape(tf.range(6.0), [3, 2]), tf.range(6.0)
    array = lambda **how: tf.TensorArray(tf.float32, **dict({"size": 3}, **how))  # noqa: E731
    way = tf.placeholder_with_default(False, [])
    return [
        [error_of(lambda make=make: make()) for make in (
            lambda: array().write(3, 1.0).stack(), lambda: array().write(-1, 1.0).stack(),
            lambda: array().write(0, 1.0).write(0, 2.0).read(0),
            lambda: array(size=2).unstack(rows).stack(),
            lambda: array(size=2).split(line, [2, 2, 2]).concat(),
            lambda: array().split(line, [1, 2, 3]).concat(),
            lambda: array().split(line, [2, 2, 1]).concat(),
            lambda: array(dynamic_size=True).write(4, 1.0).size(),
            lambda: tf.map_fn(lambda x: tf.cast(x, tf.int32), rows),
            lambda: tf.cond(way, lambda: array().write(7, 1.0).size(), lambda: 1),
        )],
        [str(array().unstack(rows).gather([2, 0]).shape), str(array().unstack(rows).stack().shape)],
        run(tf.TensorArray(tf.string, 3).unstack(["a", "", "ccc"]).stack()),
        run(tf.TensorArray(tf.string, 2).write(0, ["a"]).write(1, ["bc"]).concat()),
        run(array(infer_shape=False).split(line, [1, 2, 3]).read(2)),
        error_of(lambda: tf.cond(tf.constant([True]), lambda: 1, lambda: 2)),
    ]  # fmt: skip


def fault_in(make):
    """What a run fails with, but for numbers that depend on an order; else the shapes it gives."""
    try:
        return [list(np.shape(each)) for each in run(leaves(make()))]
    except tf.errors.OpError as error:
        text = re.sub("Array(_[0-9]+)+|index [0-9]", "", error.message.split("\n")[0])
        return [type(error).__name__, text.partition(" [[")[0]]


@case
def elements_that_are_read_twice():
    x, n = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), tf.placeholder_with_default(3, [])
    yes = tf.placeholder_with_default(True, [])

    def then(first, second, array=None):
        array = array or tf.TensorArray(tf.float32, n).unstack(x)
        with tf.control_dependencies([first(array)]):
            return [second(array)]

    def looped(array, read, start=0):
        return tf.while_loop(
            lambda i, y: i < n, lambda i, y: (i + 1, y + read(array, i)), (start, tf.zeros([2]))
        )[1]

    read, stack, at_0 = (lambda array, i: array.read(i)), (lambda array: array.stack()), (
        lambda array: array.read(0))  # fmt: skip
    either = lambda array, i: tf.cond(i > 1, lambda: array.read(i), lambda: array.read(i) * 2.0)  # noqa: E731
    both = lambda array, i: array.read(i) + tf.cond(yes, lambda: array.read(i), lambda: x[0])  # noqa: E731
    loop, known = (lambda array: looped(array, read)), (
        lambda **how: tf.TensorArray(tf.float32, 3, **how).unstack(x))  # fmt: skip
    kept = lambda: known(clear_after_read=False)  # noqa: E731
    closing = lambda array: array.close()  # noqa: E731
    growing = lambda: known(dynamic_size=True)  # noqa: E731
    return [fault_in(make) for make in (
        lambda: then(at_0, at_0), lambda: then(at_0, at_0, kept()), lambda: then(stack, stack),
        lambda: then(at_0, stack, known()), lambda: then(stack, at_0, known()),
        lambda: then(lambda a: a.concat(), lambda a: a.concat()), lambda: [known().gather([0, 0])],
        lambda: [kept().gather([0, 0])], lambda: then(loop, stack), lambda: then(loop, loop),
        lambda: then(loop, loop, kept()), lambda: then(loop, loop, known()),
        lambda: then(at_0, lambda a: looped(a, read, 1)), lambda: then(at_0, loop),
        lambda: [looped(known(), lambda a, i: a.read(0))], lambda: [looped(known(), either)],
        lambda: [looped(known(), both)], lambda: [looped(kept(), both)],
        lambda: then(lambda a: tf.cond(yes, lambda: a.read(0), lambda: a.read(0)), at_0),
        lambda: then(at_0, lambda a: a.write(0, x[0]).flow, kept()),
        lambda: then(closing, at_0), lambda: then(closing, lambda a: a.size(), growing()),
        lambda: then(closing, closing),
        lambda: tf.gradients(looped(known(), read), x),
    )]  # fmt: skip


@case
def arrays_of_no_elements():
    none, places = tf.zeros([0, 2]), tf.zeros([0], tf.int32)
    counts = tf.placeholder_with_default(np.zeros([0], np.int32), [None])
    shapes = [None, [], [2], [None], [None, 3], [0], [2, None]]
    made = [
        partial(tf.TensorArray, kind, 0, dynamic_size=grows, element_shape=shape)
        for kind, grows in ((tf.float32, False), (tf.float32, True), (tf.string, False))
        for shape in shapes
    ]
    read = [
        lambda array: array.stack(), lambda array: array.concat(),
        lambda array: array.gather(places), lambda array: array.size(),
    ]  # fmt: skip
    filled = [
        lambda array: array.unstack(none).stack(),
        lambda array: array.scatter(places, none).stack(),
        lambda array: array.split(none, counts).concat(),
        lambda array: tf.gradients(array.unstack(none).stack(), none),
    ]
    uneven = tf.TensorArray(tf.float32, 2, infer_shape=False).write(0, [[1.0]])
    found = [fault_in(lambda make=make, use=use: use(make())) for make in made for use in read]
    found += [
        fault_in(lambda make=make, use=use: use(make()))
        for make in made[:7]
        if make.keywords["element_shape"] in (None, [2], [None])
        for use in filled
    ]
    return found + [fault_in(make) for make in (
        lambda: uneven.write(1, [[1.0, 2.0]]).stack(), lambda: uneven.write(1, [2.0]).concat(),
        lambda: uneven.write(1, [[2.0], [3.0]]).concat(), lambda: uneven.write(1, 2.0).concat(),
        lambda: uneven.write(1, [[2.0], [3.0]]).stack(),
    )]  # fmt: skip


@case
def elements_that_each_turn_takes():
    x = tf.placeholder(tf.float32, [3])
    kept = tf.TensorArray(tf.float32, 3, clear_after_read=False).unstack(x)

    def turn(i, y):
        return i + 1, y + kept.read(1) * kept.read(i) + tf.reduce_sum(kept.gather([0, i]))

    y = tf.while_loop(lambda i, y: i < 3, turn, [0, 0.0])[1]
    found = run([y, *tf.gradients(y, x)], {x: [1.0, 2.0, 3.0]})
    for outside in kept.read(3), kept.read(-1), kept.gather([0, 5]):
        try:
            run(outside, {x: [1.0, 2.0, 3.0]})
        except tf.errors.InvalidArgumentError as error:
            found.append(error.message.splitlines()[0].partition(" [[")[0])
    return [np.asarray(each).tolist() for each in found]


@case
def gradients_of_a_loop_in_a_branch():
    x, lengths = tf.placeholder(tf.float32, [None, None, 2]), tf.placeholder(tf.int32, [None])
    w = tf.get_variable("w", initializer=[[0.5, -1.0], [0.25, 2.0]])

    def turns():
        return tf.while_loop(
            lambda i, y: i < tf.reduce_max(lengths),
            lambda i, y: (i + 1, tf.tanh(tf.matmul(y, w) + x[:, i])),
            [0, x[:, 0]],
        )[1]

    y = tf.cond(tf.equal(tf.shape(x)[1], 1), lambda: x[:, 0] * w[0], turns)
    session, slopes = started(), tf.gradients(y, [x, w])
    feeds = [{x: np.ones([2, n, 2]) * 0.3, lengths: [n - 1, n]} for n in (3, 1, 4)]
    return [session.run([y, *slopes], each) for each in feeds]


@case
def gradients_made_after_their_loop():
    x, n = tf.placeholder(tf.float32, []), tf.placeholder(tf.int32, [])
    number, y = tf.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, y * x), [0, x])
    z = tf.while_loop(lambda i, z: i < number, lambda i, z: (i + 1, z + y), [0, x])[1]
    found = []
    for before in (number, y, z):
        with tf.control_dependencies([tf.identity(before)]):
            found += [tf.gradients(z, x)[0], tf.gradients(y, x)[0]]
            found.append(tf.function(lambda: tf.gradients(z, x)[0], autograph=False)())
    with tf.control_dependencies([number]):
        mixed = tf.gradients(y, x)[0]
    with tf.Session() as session:
        try:
            session.run(mixed, {x: 2.0, n: 3})
        except tf.errors.InvalidArgumentError as error:
            told = error.message.partition("has inputs from different frames")[2]
        runs = [session.run([*found, z], {x: 2.0, n: turns}) for turns in (3, 0, 1)]
    return [*runs, "while_context" in told, "''" in told]


if __name__ == "__main__":
    main()
