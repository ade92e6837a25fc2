"""Functions of graphs: calls, their effects, gradients; branches and loops that are functions."""

import numpy as np
import tensorflow as tf
from recording import case, main, run, started
from tensorflow.python.framework import function
from tensorflow.python.ops import functional_ops


def counter():
    """A variable of the new kind, and a function that adds to it and doubles."""
    v = tf.get_variable("v", initializer=1.0, use_resource=True)

    @function.Defun(tf.float32, func_name="counting")
    def counting(x):
        with tf.control_dependencies([v.assign_add(x)]):
            return tf.identity(x) * 2.0

    return v, counting


@case
def call_by_name():
    @function.Defun(tf.float32, tf.float32, func_name="both")
    def both(x, y):
        return x * y + 1.0, x - y

    a, b = both(tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0]))
    return [a.op.type, a.shape.ndims, run([a, b])]


@case
def gradient_of_what_lies_beside_others():
    """Where operations run is said by names that aren't there in a gradient's graph."""
    x, c = tf.constant([1.0, 2.0]), tf.constant(3.0)
    v = tf.get_variable("v", initializer=[2.0], use_resource=True)

    @function.Defun(tf.float32)
    def product(x):
        with tf.colocate_with(c, ignore_existing=True):
            return tf.sin(x) * c * v

    y = product(x)
    found = tf.gradients(y, [x, c, *y.op.inputs[1:]])
    return [[str(each.shape) for each in found], run([y, *found])]


@case
def gradient_of_a_call():
    @function.Defun(tf.float32, tf.float32)
    def product(x, y):
        return tf.sin(x) * y

    x = tf.constant([1.0, 2.0])
    return run(tf.gradients(product(x, x * x) + product(x, 2.0 * x), x))


@case
def gradients_of_its_own():
    @function.Defun(tf.float32, tf.float32)
    def slope(x, dy):
        return dy * 100.0

    @function.Defun(tf.float32, grad_func=slope)
    def one(x):
        return x * 2.0

    @function.Defun(tf.float32, python_grad_func=lambda op, g: g * 7.0)
    def other(x):
        return x * 2.0

    x = tf.constant(1.0)
    return run([tf.gradients(one(x), x), tf.gradients(other(x), x)])


@case
def effects_once_a_run():
    v, counting = counter()
    y, session = counting(3.0), started()
    return [session.run(y), session.run(v), session.run([y, y + 1.0]), session.run(v)]


@case
def effects_of_two_calls():
    v, counting = counter()
    first = counting(3.0)
    with tf.control_dependencies([first]):
        second = counting(v.read_value())
    session = started()
    return [session.run(second), session.run(v)]


@case
def a_call_is_a_target():
    v, counting = counter()
    operation, session = counting(3.0).op, started()
    session.run(operation)
    with tf.control_dependencies([operation]):
        after = v.read_value()
    return [session.run(v), session.run(after)]


@case
def call_in_a_branch():
    v, counting = counter()
    way = tf.placeholder(tf.bool, [])
    y, session = tf.cond(way, lambda: counting(5.0), lambda: 1.0), started()
    return [[session.run(y, {way: w}), session.run(v)] for w in (True, False, True)]


@case
def call_in_a_loop():
    v, counting = counter()

    def body(i, x):
        y = counting(x)
        y.set_shape([])
        return i + 1, y

    out = tf.while_loop(lambda i, x: i < 4, body, [tf.constant(0), tf.constant(1.0)])
    session = started()
    return [session.run(out), session.run(v)]


@case
def loop_in_a_function():
    @function.Defun(tf.float32)
    def eightfold(x):
        return tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * 2.0), [0, x])[1]

    return run(eightfold(eightfold(tf.constant(1.0))))


@case
def functions_call_functions():
    @function.Defun(tf.float32)
    def inner(x):
        return x * x

    @function.Defun(tf.float32)
    def outer(x):
        return inner(inner(x)) + inner(x)

    x = tf.constant(1.5)
    return run([outer(x), tf.gradients(outer(x), x)])


@case
def captured_values():
    k = tf.constant([1.0, 10.0])

    @function.Defun(tf.float32)
    def scaled(x):
        return x * k

    return run(scaled(tf.constant(3.0)))


@case
def assertion_in_a_function():
    @function.Defun(tf.float32)
    def checked(x):
        with tf.control_dependencies([tf.Assert(x > 0, [x])]):
            return tf.identity(x)

    session = started()
    try:
        session.run(checked(-1.0))
    except tf.errors.InvalidArgumentError as error:
        return ["assertion failed: [-1]" in str(error), session.run(checked(1.0))]
    return []


@case
def functional_branches():
    @function.Defun(tf.float32)
    def double(x):
        return x * 2.0

    @function.Defun(tf.float32)
    def triple(x):
        return x * 3.0

    way = tf.placeholder(tf.float32, [])
    y = functional_ops.If(way, [4.0], double, triple)[0]
    called = functional_ops.remote_call(args=[way], Tout=[tf.float32], f=double, target="/cpu:0")
    session = tf.Session()
    return [session.run([y, called[0]], {way: w}) for w in (0.0, 1.0, -2.0)]


@case
def functional_loop():
    v, counting = counter()

    @function.Defun(tf.float32)
    def small(x):
        return x < 100.0

    y, session = functional_ops.While([1.0], small, counting)[0], started()
    return [session.run(y), session.run(v)]


@case
def second_version_of_cond():
    tf.enable_control_flow_v2()
    try:
        v = tf.get_variable("v", initializer=1.0, use_resource=True)
        x = tf.placeholder(tf.float32, [])
        y = tf.cond(x > 0, lambda: v.assign_add(x) * 2.0, lambda: x * x)
        slope, session = tf.gradients(y, x)[0], started()
    finally:
        tf.disable_control_flow_v2()
    return [[session.run(y, {x: a}), session.run(v)] for a in (3.0, -3.0)] + [
        session.run(slope, {x: a}) for a in (3.0, -3.0)
    ]


@case
def second_version_of_loops():
    tf.enable_control_flow_v2()
    try:
        v = tf.get_variable("v", initializer=1.0, use_resource=True)

        def body(i, y):
            with tf.control_dependencies([v.assign_add(1.0)]):
                return i + 1, y * v.read_value()

        out = tf.while_loop(lambda i, y: i < 5, body, [0, tf.constant(1.0)])
    finally:
        tf.disable_control_flow_v2()
    session = started()
    return [session.run(out), session.run(v)]


@case
def branches_by_number():
    way = tf.placeholder(tf.int32, [])
    tf.enable_control_flow_v2()
    try:
        y = tf.switch_case(way, [lambda: np.float32(1), lambda: np.float32(2), lambda: 3.0])
    finally:
        tf.disable_control_flow_v2()
    session = tf.Session()
    return [session.run(y, {way: each}) for each in (-1, 0, 1, 2, 5)]


@case
def higher_functions():
    x = tf.constant([1.0, 2.0, 3.0])
    return run(
        [
            tf.map_fn(lambda each: each * each, x),
            tf.scan(lambda total, each: total + each, x),
            tf.foldr(lambda total, each: total - each, x),
        ]
    )


@case
def in_and_out_of_a_message():
    @function.Defun(tf.float32, func_name="squared")
    def squared(x):
        return x * x

    x = tf.placeholder(tf.float32, [], name="x")
    tf.add(squared(x), 1.0, name="y")
    message = tf.get_default_graph().as_graph_def()
    with tf.Graph().as_default():
        y = tf.import_graph_def(message, {"x": tf.constant(3.0)}, ["y:0"], name="again")[0]
        return [tf.Session().run(y), sorted(f.signature.name for f in message.library.function)]


@case
def shapes_of_calls_in_graphs_that_are_imported():
    kept = tf.get_variable("kept", [7, 2], use_resource=True)
    inner = tf.function(lambda x: (tf.tile(x, [1, 2]), tf.shape(x)), autograph=False)

    def several(x, n):
        turn = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * 2.0), (0, x))
        return [
            tf.matmul(x, kept), tf.gather(kept, n), tf.reshape(x, n), turn[1], *inner(x),
            tf.cond(n[0] > 0, lambda: x, lambda: x * 2.0), tf.map_fn(lambda row: row[:2], x),
        ]  # fmt: skip

    x = tf.placeholder(tf.float32, [3, None], name="x")
    tf.function(several, autograph=False)(x, tf.constant([1, 2]))
    definition, found = tf.get_default_graph().as_graph_def(), []
    for shape in [3, 7], [None, 7], None, [5]:
        given = tf.placeholder(tf.float32, shape)
        try:
            tf.import_graph_def(definition, {"x:0": given}, name="part")
        except ValueError as error:
            found.append(type(error).__name__)
    calls = [each for each in x.graph.get_operations() if "PartitionedCall" in each.type]
    return [*found, [[str(each.shape) for each in call.outputs] for call in calls]]


@case
def gradients_through_loops_in_functions():
    def turned(x, count=3):
        return tf.while_loop(lambda i, y: i < count, lambda i, y: (i + 1, y * x), [0, x])[1]

    bodies = {
        "beside": lambda x: turned(x) + x * x,
        "of_it": lambda x: turned(x) * x,
        "behind": lambda x: tf.sin(turned(x * x)) + x,
        "twice": lambda x: turned(turned(x) + x) * x,
        "in_a_loop": lambda x: (
            tf.map_fn(lambda a: tf.reduce_sum(tf.map_fn(lambda b: a * b, x)), x) * x
        ),
        "folded": lambda x: tf.foldl(lambda a, b: a + b, x) * x,
    }
    found = []
    for name, body in bodies.items():
        x = tf.constant([1.0, 2.0])
        y = function.Defun(tf.float32, func_name=name)(body)(x)
        found.append(run([y, tf.gradients(y, x)]))
    return found


def doubling(v):
    """A function that adds to a variable, and doubles."""

    def doubled(x):
        with tf.control_dependencies([tf.assign_add(v, 10.0)]):
            return x * 2.0

    return doubled


@case
def arguments_that_nothing_needs():
    """What a function, a branch or a loop doesn't need of its arguments doesn't happen."""
    called = {
        "defun": lambda f, x: tf.contrib.eager.defun(f, autograph=False)(x),
        "Defun": lambda f, x: function.Defun(tf.float32)(f)(x),
        "plain": lambda f, x: f(x),
    }
    places = {
        "loop": lambda body, x: tf.map_fn(body, x),
        "branch": lambda body, x: tf.cond(
            tf.placeholder_with_default(True, []), lambda: body(x), lambda: x
        ),
        "call": lambda body, x: tf.contrib.eager.defun(lambda: body(x), autograph=False)(),
        "other_result": lambda body, x: tf.contrib.eager.defun(
            lambda: (x * 2.0, body(x)), autograph=False
        )()[0],
    }
    bodies = {"unused": lambda x, t: (t * 2.0, x)[1], "used": lambda x, t: x + t}
    found = []
    tf.enable_control_flow_v2()
    try:
        for call in called.values():
            for place in places.values():
                for body in bodies.values():
                    v = tf.Variable(1.5, use_resource=True)
                    with tf.control_dependencies([tf.assign_add(v, 1.0)]):
                        taken = call(doubling(v), tf.constant(2.0))
                    y = place(lambda x, t=taken, body=body: body(x, t), tf.constant([1.0, 2.0]))
                    session = started()
                    session.run(y)
                    found.append(session.run(v))
    finally:
        tf.disable_control_flow_v2()
    return found


@case
def calls_in_a_loop_that_need_nothing_of_it():
    w = tf.get_variable("w", initializer=[0.5, 0.3], use_resource=True)
    outside = w * 1.5
    found = []
    for called in (lambda a, b: outside, lambda a, b: a * 1.0, lambda a, b: tf.constant(2.0)):

        def body(i, x, called=called):
            given = tf.function(called, autograph=False)(w, i)
            with tf.control_dependencies([given]):
                return i + 1, x * 0.75 + tf.reduce_sum(given)

        found.append(run(tf.while_loop(lambda i, x: i < 2, body, (0, w.value()))))
    return found


@case
def calls_that_read_what_was_written_for_them():
    data = tf.data.Dataset.range(5, 90).batch(2, drop_remainder=True)
    step = tf.data.make_one_shot_iterator(data).get_next
    last = tf.get_variable("last", initializer=np.zeros(2, np.int64), use_resource=True)

    def observed():
        found = step()
        last.assign(found)
        return found

    begin = tf.function(observed, autograph=False)
    go = tf.function(lambda x: (tf.equal(last, x), observed()), autograph=False)
    same, _ = go(begin() // 1)
    session = started()
    return [session.run(same) for _ in range(4)] + [session.run(last)]


@case
def numbers_that_assertions_see_too():
    count = tf.get_variable("count", initializer=np.int64(3), use_resource=True)

    def numbers(*_):
        stop = count.read_value()
        tf.assert_less(np.int64(0), stop)
        return tf.range(np.int64(0), stop)

    listed = lambda *_: tf.data.Dataset.from_tensor_slices(numbers())  # noqa: E731
    data = tf.data.Dataset.range(2).flat_map(listed)
    iterator = tf.data.make_initializable_iterator(data)
    session, step = started(), iterator.get_next()
    session.run(iterator.initializer)
    called = session.run(tf.function(numbers, autograph=False)())
    return [called, [session.run(step) for _ in range(6)]]


if __name__ == "__main__":
    main()
