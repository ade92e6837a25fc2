"""Eager execution: tensors that are there, Python values as tensors, variables, errors."""

import copy
import pickle

import numpy as np
import tensorflow as tf
from recording import case, main, raised

tf.enable_eager_execution()


def told(*tensors):
    """Of each tensor its type, shape and value."""
    return [[x.dtype.name, x.shape.as_list(), x.numpy()] for x in tensors]


# Values -----------------------------------------------------------------------------------------


@case
def constants():
    values = [
        1, 1.5, True, "a", b"b", 1j, 2**40, -(2**31), [1, 2.5], [1, True], [], [[]], (1, 2),
        [np.float32(2), 3.5], [np.float64(2)], [3.5, np.float64(2)], [np.int64(2), 3], range(3),
        np.arange(3), np.arange(3)[::-1], np.float64(2), np.array([1.5, 2], np.float16),
        np.array(["x", "yy"]), [np.array([1, 2]), np.array([3.5, 4])], [[1, 2], (3, 4)],
        tf.TensorShape([2, 3]), tf.Dimension(3), np.uint8(200), [b"", "é"], [np.array(1), 2.5],
    ]  # fmt: skip
    return [told(tf.constant(value)) for value in values if not isinstance(value, complex)]


@case
def constants_of_types():
    pairs = [
        (1, tf.float64), ([1, 2], tf.int64), (np.array([1.5, 2]), tf.int32), (300, tf.uint8),
        (-1, tf.uint8), (True, tf.float32), (np.float64(1.7), tf.int64), (1.0, tf.float16),
        ([], tf.string), (1e300, tf.float32), ([1.5], tf.float64), (2**63, tf.uint64),
        ([[1], [2]], tf.int8), (np.int64(1), tf.float32), ("a", tf.string), ([True], tf.bool),
    ]  # fmt: skip
    return [told(tf.constant(value, kind)) for value, kind in pairs]


@case
def constants_of_shapes():
    found = [tf.constant([[1, 2], [3, 4]], shape=[4]), tf.constant(1, shape=[2, 2])]
    found += [tf.constant(True, shape=[2]), tf.constant([1.0, 2.0], shape=[2, 1])]
    return [*told(*found), raised(lambda: tf.constant([1, 2], shape=[3]))]


@case
def what_is_no_tensor():
    x = tf.constant([1.0, 2.0])
    values = [
        None, [None], [True, 1], [1, "a"], [[1, 2], [3]], 2**70, {}, 1e300, [[1], 2], [1, [2]],
    ]  # fmt: skip
    found = [raised(lambda value=value: tf.constant(value)) for value in values]
    pairs = [([1.5, 2], tf.int32), (1, tf.string), ("a", tf.int32), (1, tf.bool), (x, tf.float64)]
    found += [raised(lambda v=v, kind=kind: tf.constant(v, kind)) for v, kind in pairs]
    return [
        *found,
        raised(lambda: tf.constant([x, x]))[0],
        raised(lambda: tf.convert_to_tensor(x, tf.int32))[0],
    ]


@case
def lists_of_tensors():
    x = tf.constant([1.0, 2.0])
    return told(
        tf.convert_to_tensor([x, x]),
        tf.convert_to_tensor([[x[0], 1.0], [2.0, x[1]]]),
        tf.stack([x, [3, 4]]),
    )


# Tensors as Python's objects --------------------------------------------------------------------


@case
def a_tensor_as_an_object():
    x, s = tf.constant([1.0, 2.0]), tf.constant(["a", "b"])
    copies = [copy.copy(x) is x, copy.deepcopy(x) is x, pickle.loads(pickle.dumps(x))]
    equal = [x == x, x != x, x == [1.0, 2.0], x[0] == 1.0, hash(x) == id(x), len({x, x, x + 0.0})]
    numbers = [
        len(x), bool(x[0]), float(x[1]), int(x[1]), [4, 5, 6][tf.constant(1)],
        list(range(tf.constant(2))),
    ]  # fmt: skip
    texts = [
        str(x), f"{x[0]:.2f}", str(s[0]), str(tf.constant(True)), repr(x).split("id=")[0],
    ]  # fmt: skip
    kinds = [
        type(x.numpy()).__name__, type(x[0].numpy()).__name__, type(s[0].numpy()).__name__,
        s.numpy().dtype.name,
    ]  # fmt: skip
    return [
        copies,
        equal,
        numbers,
        texts,
        kinds,
        x.device,
        x.backing_device,
        x.ndim,
        str(x.shape),
        x.dtype.name,
    ]


@case
def arrays_of_numpy():
    x, i = tf.constant([[1.0, 2.0], [3.0, 4.0]]), tf.constant([1, 2])
    found = [
        np.array(x), np.asarray(i), np.sum(x), np.add(i, 1), np.matmul(x, x), np.mean(x, axis=0),
    ]  # fmt: skip
    mixed = told(
        np.array([1.0, 2.0]) + x,
        np.float32(1) + x,
        x * np.array([1, 2]),
        i + np.float32(1.5),
        np.int64(2) * i,
    )
    array = x.numpy()
    array[0] = 9.0
    given = np.ones(3, "float32")
    y = tf.constant(given)
    return [found, mixed, x, y.numpy() is y.numpy(), [each.numpy() for each in x]]


@case
def what_has_no_meaning():
    x = tf.constant([1.0, 2.0])
    found = [
        raised(lambda name=name: getattr(x, name))
        for name in ("op", "graph", "name", "value_index")
    ]
    found += [
        raised(x.eval), raised(x.consumers), raised(lambda: bool(x))[0],
        raised(lambda: float(x))[0],
    ]  # fmt: skip
    found += [
        raised(lambda: x.set_shape([3])), raised(lambda: len(x[0])),
        raised(lambda: tf.placeholder(tf.float32)),
    ]  # fmt: skip
    return [*found, raised(lambda: tf.gradients(x, x)), raised(lambda: x.foo)[0]]


# Operators --------------------------------------------------------------------------------------


@case
def operators():
    x, i, b = tf.constant([1.0, 2.0]), tf.constant([3, -2]), tf.constant([True, False])
    found = [x + 1, 2 - x, x * x, x / 2, i / 2, i // 2, i % 2, 2**x, x**2, -x, abs(i), ~b, b & True]
    found += [
        b | b,
        b ^ True,
        x < 1.5,
        x >= x,
        1 > x,  # noqa: SIM300
        x + True,
        x + [1, 2],  # noqa: RUF005
    ]
    return told(*found)


@case
def slices():
    x = tf.constant(np.arange(24).reshape(2, 3, 4))
    i = tf.constant(1)
    found = [
        x[0], x[:, 1], x[..., -1], x[:, ::-1], x[1:, :2, 1:3], x[i], x[:, i:], x[:, tf.newaxis, 0],
        x[-1, -1, -1],
    ]  # fmt: skip
    return [*told(*found), raised(lambda: x[5])]


@case
def types_follow_from_inputs():
    x, d = tf.constant([1.0, 2.0]), tf.constant([1.0, 2.0], tf.float64)
    found = [
        tf.add(1, 2), tf.add(1.0, 2), tf.add(1.5, np.float64(2)), tf.add(np.float64(2), 1.5),
        tf.add(d, 1), tf.add(1, d),
    ]  # fmt: skip
    found += [
        tf.concat([x, [1, 2]], 0), tf.concat([[1, 2], [3, 4]], np.int64(0)), tf.maximum(d, [1, 3]),
        tf.where([True, False], [1, 2], d),
    ]  # fmt: skip
    found += [
        tf.reduce_sum([1, 2, 3]), tf.reduce_mean([1, 2]), tf.range(3), tf.range(0.0, 1.0, 0.3),
        tf.one_hot([0, 2], 3), tf.fill([2], 3.0),
    ]  # fmt: skip
    return told(*found)


@case
def errors_of_types():
    x, i = tf.constant([1.0, 2.0]), tf.constant([1, 2])
    calls = [
        lambda: x + i, lambda: i + 1.5, lambda: 1.5 + i, lambda: x + "a", lambda: x + None,
        lambda: tf.matmul([[1.0, 2.0]], [[1, 2], [3, 4]]), lambda: tf.add(1, 2.5),
        lambda: tf.stack([x, i]),
    ]  # fmt: skip
    found = [raised(call) for call in calls]
    found += [
        raised(call)[0]
        for call in (lambda: tf.exp(1), lambda: tf.square("a"), lambda: tf.nn.relu(True))
    ]
    return [*found, raised(lambda: tf.exp(1))[1].splitlines()[:2]]


@case
def errors_of_shapes():
    x, m, one, two, three = (
        tf.constant([1.0, 2.0]),
        tf.ones([2, 3]),
        [1, 0],
        [[[1, 2]]],
        tf.ones([3]),
    )
    calls = [
        lambda: tf.add(x, [1.0, 2.0, 3.0]), lambda: tf.add(x, three, name="sum"),
        lambda: x * tf.ones([3, 3]), lambda: tf.matmul(x, x), lambda: tf.matmul(m, m),
        lambda: tf.reshape(x, [3]), lambda: tf.reshape(m, [-1, 4]), lambda: tf.split(x, 3),
        lambda: tf.concat([two[0], [[3, 4, 5]]], 0), lambda: tf.reduce_sum(m, axis=2),
        lambda: tf.gather(x, [5]), lambda: tf.gather(m, [[0, -1]], axis=1),
        lambda: tf.expand_dims(x, 3), lambda: tf.squeeze(m, 0), lambda: tf.stack([x, three]),
        lambda: tf.transpose(m, [0, 1, 2]), lambda: tf.nn.bias_add(m, x),
        lambda: tf.constant(one) // tf.constant(one), lambda: tf.tile(x, [1, 2]),
    ]  # fmt: skip
    return [raised(call) for call in calls]


# Variables --------------------------------------------------------------------------------------


@case
def variables():
    v = tf.Variable([1.0, 2.0], name="v")
    found = [
        v.numpy(), v + 1.0, v[0], v.assign([3.0, 4.0]), v.assign_add([1.0, 1.0]),
        v.assign_sub([0.5, 0.5]), v.read_value(),
    ]  # fmt: skip
    u = tf.Variable(lambda: tf.ones([2], tf.int32), dtype=tf.int32)
    names = [
        v.name, str(v.shape), v.dtype.name, v.trainable, repr(v), repr(v.assign_add([1.0, 1.0])),
        type(v).__name__,
    ]  # fmt: skip
    found += [
        u, tf.Variable("a").numpy(), tf.Variable([True, False]), tf.scatter_update(v, [0], [9.0]),
        v,
    ]  # fmt: skip
    return [
        found,
        names,
        raised(lambda: v.assign([1.0, 2.0, 3.0])),
        raised(lambda: float(v))[0],
        len(tf.global_variables()),
    ]


@case
def variables_come_and_go():
    for at in range(20):
        v = tf.Variable(float(at), name="same")
        w = tf.Variable([v.numpy()] * 3)
        del v
    tf.assign(w, tf.zeros([3]))
    return [
        w,
        w.name,
        tf.train.get_or_create_global_step(),
        tf.global_variables_initializer() is None,
    ]


@case
def rows_of_variables():
    v = tf.Variable(np.arange(6.0).reshape(3, 2), dtype=tf.float32)
    v.scatter_sub(tf.IndexedSlices(tf.ones([1, 2]), [1]))
    found = [
        v.numpy(), v.sparse_read([2, 0]),
        tf.scatter_add(v, [0, 0], [[1.0, 1.0], [2.0, 2.0]]).numpy(),
    ]  # fmt: skip
    return [
        *found,
        tf.nn.embedding_lookup(v, [[1, 2]]),
        v.scatter_nd_update([[2]], [[7.0, 8.0]]).numpy(),
    ]


@case
def names_are_shared_by_a_store():
    store = tf.contrib.eager.EagerVariableStore()
    found = []
    for _ in range(2):
        with store.as_default():
            with tf.variable_scope("layer"):
                w = tf.get_variable("w", [2], initializer=tf.ones_initializer())
            w.assign_add([1.0, 2.0])
            found.append(w.numpy())
    return [*found, [v.name for v in store.variables()], len(store.trainable_variables())]


# Functions of Python ----------------------------------------------------------------------------


@case
def functions_of_python():
    x = tf.constant([1.0, 2.0])
    kinds = []

    def f(a):
        kinds.append(type(a).__name__)
        return a * 2

    found = [
        tf.py_func(f, [x], tf.float32), tf.py_function(f, [x], tf.float32),
        tf.contrib.eager.py_func(f, [x], tf.float32),
    ]  # fmt: skip
    several = tf.py_function(lambda a, b: (a + 1, b), [x, "text"], [tf.float32, tf.string])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.py_function(lambda a: a * a * a, [x], tf.float32)
    return [
        found,
        several,
        kinds,
        tape.gradient(y, x),
        raised(lambda: tf.py_function(lambda: 1 / 0, [], tf.float32))[0],
    ]


@case
def functions_of_python_in_graphs():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None])
        y = tf.py_function(lambda a: tf.exp(a) * a, [x], tf.float32)
        (slope,) = tf.gradients(y, x)
        return [*session.run([y, slope], {x: [1.0, 2.0]}), tf.executing_eagerly()]


@case
def loops_over_functions():
    x = tf.constant([1.0, 2.0, 3.0])
    found = [
        tf.map_fn(lambda v: v * 2.0, x), tf.scan(lambda a, v: a + v, x),
        tf.foldl(lambda a, v: a * v, x),
    ]  # fmt: skip
    found += [
        tf.while_loop(lambda i, s: i < 4, lambda i, s: (i + 1, s * 2.0), [0, x])[1],
        tf.cond(x[0] > 0, lambda: x, lambda: -x),
    ]  # fmt: skip
    found += [
        tf.case([(x[0] > 5, lambda: 1.0)], default=lambda: tf.constant(2.0)),
        tf.vectorized_map(lambda v: v * v, x),
    ]  # fmt: skip
    return found


@case
def checks():
    x = tf.constant([1.0, 2.0])
    found = [
        raised(lambda: tf.debugging.assert_equal(x, x * 2, message="differ")),
        raised(lambda: tf.assert_less(x, 2.0))[0],
    ]  # fmt: skip
    found += [
        raised(lambda: tf.Assert(False, [x])),
        raised(lambda: tf.debugging.check_numerics(x / 0.0, "bad"))[0],
    ]  # fmt: skip
    return [*found, tf.debugging.assert_equal(x, x) is None, tf.debugging.assert_rank(x, 1) is None]


@case
def graphs_beside():
    x = tf.constant(2.0)
    with tf.Graph().as_default(), tf.Session() as session:
        y = tf.constant(3.0) * x.numpy()
        inside = [tf.executing_eagerly(), type(y).__name__, session.run(y)]
    return [*inside, tf.executing_eagerly(), type(x + 1).__name__]


@case
def several_outputs():
    x = tf.constant([[3.0, 1.0, 2.0], [6.0, 5.0, 4.0]])
    top, places = tf.nn.top_k(x, 2)
    found = [
        top, places, tf.unique([1, 2, 1]).y, tf.unstack(x, axis=1), tf.split(x, [1, 2], 1),
        tf.nn.moments(x, [0]),
    ]  # fmt: skip
    return [
        *found,
        tf.meshgrid([1, 2], [3, 4]),
        tf.reduce_any(x > 5, 1),
        tf.argmax(x, 1),
        tf.cumsum(x, 1),
        tf.sort(x),
    ]


@case
def random_numbers():
    shapes = [
        tf.random_uniform([2, 3]).shape,
        tf.random_normal([4]).shape,
        tf.random.shuffle(tf.range(5)).shape,
    ]
    tf.set_random_seed(7)
    one = [tf.random_uniform([3]).numpy() for _ in range(2)]
    tf.set_random_seed(7)
    again = [tf.random_uniform([3]).numpy() for _ in range(2)]
    inside = min(map(np.min, one)) >= 0 and max(map(np.max, one)) < 1
    return [
        list(map(str, shapes)),
        bool(inside),
        not np.array_equal(one[0], one[1]),
        np.array_equal(one, again),
    ]


@case
def devices_and_names():
    with tf.device("/cpu:0"), tf.name_scope("scope"):
        x = tf.constant([1.0]) + 1.0
    context = tf.contrib.eager
    return [
        x,
        x.device,
        context.num_gpus(),
        context.list_devices()[:1],
        context.executing_eagerly(),
        context.in_eager_mode(),
    ]


@case
def executed_by_name():
    from tensorflow.python.eager import context, execute

    x = tf.constant([[1.0, 2.0]])
    (y,) = execute.execute(
        b"MatMul",
        1,
        [x, tf.transpose(x)],
        ("transpose_a", False, "transpose_b", False, "T", 1),
        context.context(),
    )
    seen = []
    context.context().add_post_execution_callback(
        lambda kind, inputs, attrs, outputs, name: seen.append([kind, len(inputs), len(outputs)])
    )
    tf.nn.relu(x)
    context.context().clear_post_execution_callbacks()
    return [
        y,
        seen,
        raised(lambda: tf.raw_ops.Add(x=x, y=[1.0, 2.0, 3.0]))[0],
        tf.raw_ops.Relu(features=-x),
    ]


if __name__ == "__main__":
    main()
