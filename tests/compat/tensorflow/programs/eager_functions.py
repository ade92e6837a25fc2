"""`tf.function` called from eager execution: traces, state, loops, gradients of all that."""

import os
import tempfile

import numpy as np
import tensorflow as tf
from recording import case, main, plain, raised

tf.enable_eager_execution()


def sloped(function, *xs):
    """What a function gives, and the gradients of its sum."""
    with tf.GradientTape() as tape:
        tape.watch(xs)
        y = function(*xs)
    return [y, tape.gradient(y, list(xs))]


@case
def traces():
    traced = []

    @tf.function
    def f(x, flag=True):
        traced.append(1)
        return x + 1 if flag else x - 1

    calls = [(tf.constant(1),), (tf.constant(2),), (tf.constant(1.0),), (1,), (1,), (2,)]
    calls += [(tf.constant(1), False), (np.array([1, 2]),), (np.array([3, 4]),)]
    return [f(*call) for call in calls] + [f(tf.constant(1), flag=True), len(traced)]


@case
def values_that_are_equal():
    """One function for all of them, made for the first."""
    traced = []

    @tf.function
    def function(x):
        traced.append(x)
        return tf.constant(x) if isinstance(x, (bool, int, float)) else tf.constant(0)

    given = [1, 2, 1.0, True, np.int32(1), np.float32(2), [1, 2], [1.0, 2.0], {"a": 1}, {"a": 1.0}]
    given += ["a", b"a", None, 0, False, np.bool_(True), 2 + 0j]
    found = [[plain(function(x)), len(traced)] for x in given]
    return [*found, function(1.0).dtype.name]


@case
def tensors_that_got_out():
    kept = []
    function = tf.function(lambda x: kept.append(x))
    function(tf.constant(1.0))
    kind, message = raised(lambda: kept[0] + tf.constant(1.0))
    return [kind, message[:75], message.splitlines()[-1]]


@case
def structures():
    @tf.function
    def f(a, b):
        return {"s": a[0] + b["x"], "t": (a[1], b["x"]), "n": None}

    found = f((tf.constant(1.0), tf.constant(2.0)), {"x": tf.constant(3.0)})
    return [sorted(found), found["s"], found["t"], found["n"] is None]


@case
def variables_of_functions():
    class Counter(tf.Module):
        def __init__(self):
            self.v = None

        @tf.function
        def __call__(self, x):
            if self.v is None:
                self.v = tf.Variable(tf.ones_like(x))
            self.v.assign_add(x)
            return self.v * 2

    counter = Counter()
    found = [counter(tf.constant([1.0, 2.0])) for _ in range(2)]

    @tf.function
    def bad():
        return tf.Variable(1.0)

    return [found, counter.v, len(counter.trainable_variables), raised(bad)[0]]


@case
def effects_in_order():
    v = tf.Variable(1.0)

    @tf.function
    def f():
        before = v.read_value()
        v.assign(before * 2)
        between = v.read_value()
        v.assign_add(1.0)
        return before, between, v.read_value()

    return [f(), f(), v]


@case
def loops():
    @tf.function
    def f(x, n):
        y = x
        i = tf.constant(0)
        while i < n:
            y = y * x + 1.0
            i += 1
        return y

    x = tf.constant([0.5, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = f(x, tf.constant(3))
        slope = tape.gradient(y, x)
    return [y, slope, tape.gradient(slope, x)]


@case
def branches():
    v = tf.Variable(3.0)

    @tf.function
    def f(x):
        if x > 0:
            found = v * x * x
        else:
            found = v - x
        return found

    found = []
    for start in (2.0, -1.0):
        x = tf.constant(start)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        found.append([y, tape.gradient(y, [x, v])])
    return found


@case
def arrays_of_tensors():
    @tf.function
    def f(x):
        count = tf.shape(x)[0]
        array = tf.TensorArray(tf.float32, size=count)
        for i in tf.range(count):
            array = array.write(i, x[i] * tf.cast(i, tf.float32))
        return array.stack()

    @tf.function
    def g(x):
        array = tf.TensorArray(tf.float32, 0, dynamic_size=True, element_shape=())
        for i in tf.range(4):
            if i != 2:
                array = array.write(array.size(), x * tf.cast(i, tf.float32))
        return tf.reduce_sum(array.stack() ** 2)

    return [
        sloped(f, tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])),
        sloped(g, tf.constant(2.0)),
    ]


@case
def functions_over_rows():
    @tf.function
    def f(x):
        mapped, scanned = tf.map_fn(lambda a: a * a, x), tf.scan(lambda a, b: a + b, x)
        return mapped + scanned * tf.vectorized_map(lambda a: a + 1, x)

    return sloped(f, tf.constant([1.0, 2.0, 3.0]))


@case
def slopes_inside():
    @tf.function
    def f(x):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = tf.sin(x) * x
            slope = inner.gradient(y, x)
        return slope, outer.gradient(slope, x), tf.gradients(x**3, x)[0]

    return [f(tf.constant([1.0, 2.0])), sloped(lambda x: f(x)[2], tf.constant([2.0]))]


@case
def custom_gradients_inside():
    @tf.custom_gradient
    def clipped(x):
        return tf.identity(x), lambda dy: tf.clip_by_value(dy, -1.0, 1.0)

    return sloped(tf.function(lambda x: clipped(x) * 5.0), tf.constant(2.0))


@case
def functions_of_python_inside():
    @tf.function
    def f(x):
        y = tf.py_function(lambda a: a * 2 + 1, [x], tf.float32)
        y.set_shape(x.shape)
        return y + tf.numpy_function(lambda a: a * 3, [x], tf.float32)

    return sloped(f, tf.constant([1.0, 2.0]))


@case
def functions_in_functions():
    @tf.function
    def square(x):
        return x * x

    @tf.function
    def f(x):
        return square(x) + square(square(x))

    nodes = f.get_concrete_function(tf.constant(2.0)).graph.as_graph_def().node
    return [sloped(f, tf.constant(2.0)), [node.op for node in nodes]]


@case
def static_shapes():
    shapes, v = [], tf.Variable(tf.ones([2, 2]))

    @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32)])
    def f(x):
        y = tf.matmul(x, tf.ones([3, 2]))
        shapes.extend([str(x.shape), str(y.shape), str((v + 1).shape), str(v.shape)])
        return y

    return [f(tf.ones([2, 3])), f(tf.ones([1, 3])), shapes]


@case
def checks_inside():
    @tf.function
    def f(x):
        tf.debugging.assert_greater(x, 0.0)
        tf.Assert(x < 10.0, [x])
        return x

    calls = [lambda x=x: f(tf.constant(x)) for x in (-1.0, 20.0)]
    return [f(tf.constant(1.0)), [raised(call)[0] for call in calls]]


@case
def sparse_and_ragged_tensors():
    @tf.function
    def f(sparse, ragged):
        return tf.sparse.to_dense(sparse) * 2, ragged * 2

    @tf.function
    def g():
        return tf.sparse.SparseTensor([[0, 1]], [2.0], [2, 2])

    one, two = f(tf.sparse.SparseTensor([[0, 1]], [1.0], [2, 2]), tf.ragged.constant([[1, 2], [3]]))
    return [one, two.to_list(), g().values]


@case
def recurrent_networks():
    x = tf.constant(np.linspace(-1, 1, 24).reshape(2, 4, 3).astype("float32"))
    ones = {"kernel_initializer": "ones", "recurrent_initializer": "ones"}
    layer = tf.keras.layers.LSTM(3, return_sequences=True, **ones)
    return [sloped(tf.function(lambda x: layer(x)), x), layer(x)]


@case
def models_in_folders():
    class Scaled(tf.Module):
        def __init__(self):
            self.v = tf.Variable(3.0)

        @tf.function(input_signature=[tf.TensorSpec([], tf.float32)])
        def scale(self, x):
            return x * self.v

    folder = os.path.join(tempfile.mkdtemp(), "model")
    model = Scaled()
    model.scale(tf.constant(1.0))
    tf.saved_model.save(model, folder)
    again = tf.compat.v2.saved_model.load(folder)
    again.v.assign(4.0)
    return [again.scale(tf.constant(2.0)), model.scale(tf.constant(2.0))]


@case
def graphs_that_call_functions():
    @tf.function
    def f(x):
        return tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * x), [0, x])[1]

    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [])
        y = f(x)
        return session.run([y, tf.gradients(y, x)[0]], {x: 2.0})


WAVE = (np.sin(np.arange(24) * 1.7) / 2).astype("float32").reshape(2, 4, 3)


@case
def gradients_around_loops():
    @tf.function
    def parts(x, w):
        h = tf.zeros([2, 3])
        for i in tf.range(tf.shape(x)[1]):
            h = tf.tanh(tf.matmul(x[:, i] + h, w))
        return h

    @tf.function
    def kept(x, w):
        rows = tf.TensorArray(tf.float32, tf.shape(x)[1])
        h = tf.ones([2, 3])
        for i in tf.range(tf.shape(x)[1]):
            h = h * 0.5 + tf.matmul(x[:, i], w)
            rows = rows.write(i, tf.sin(h))
        return rows.stack()

    @tf.function
    def bent(x, w):
        h = x[:, 0]
        while tf.reduce_sum(tf.abs(h)) < 8.0:
            if tf.reduce_sum(h) > 0.0:
                h = tf.matmul(h, w) * 1.5
            else:
                h = h * 2.0 + w[0]
        return h

    w = tf.constant((np.cos(np.arange(9.0)) + np.eye(3).ravel()).astype("float32").reshape(3, 3))
    found = []
    for function in (parts, kept, bent):
        for steps in (4, 2, 3, 1, 4):
            found.append(sloped(function, tf.constant(WAVE[:, :steps]), w))
    return found


@case
def numbers_of_each_function():
    """Functions draw apart, and so do those of one for other arguments; a new seed begins anew."""

    def drawn(seed):
        return tf.function(lambda x: tf.random.uniform([3], seed=seed) + x)

    def drawn_of_another(seed):
        inner = drawn(seed)
        return tf.function(lambda x: inner(x) - inner(x) / 2.0)

    tf.compat.v1.set_random_seed(1)
    functions = [drawn(5), drawn(6), drawn(6), drawn_of_another(6)]
    found = [function(x) for x in (0.0, 0.0, tf.zeros([1, 3]), 0.0) for function in functions]
    tf.compat.v1.set_random_seed(2)
    return found + [function(0.0) for function in functions]


if __name__ == "__main__":
    main()
