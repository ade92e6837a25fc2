"""Tapes in eager execution: gradients, of higher order, of functions with their own, forwards."""

import numpy as np
import tensorflow as tf
from recording import case, main, raised
from tensorflow.python.eager import forwardprop

tf.enable_eager_execution()
tfe = tf.contrib.eager


@case
def gradients_of_gradients():
    x = tf.constant(3.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = x**3
        slope = inner.gradient(y, x)
    return [slope, outer.gradient(slope, x)]


@case
def third_order():
    x = tf.Variable([0.3, 0.7])
    with tf.GradientTape() as a, tf.GradientTape() as b, tf.GradientTape() as c:
        y = tf.sin(x) * tf.exp(x)
        first = c.gradient(y, x)
        second = b.gradient(first, x)
    return [first, second, a.gradient(second, x)]


@case
def what_is_followed():
    x, other, v = tf.constant([1.0, 2.0]), tf.constant(1.0), tf.Variable([3.0, 4.0])
    before = x * 5.0
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x * v
        z = tf.reduce_sum(y) + other + tf.reduce_sum(before)
        with tape.stop_recording():
            constant = x * 7.0
        w = tf.reduce_sum(constant * x)
    found = [tape.gradient(z, [x, v]), tape.gradient(z, y), tape.gradient(y, {"v": v})["v"]]
    found += [tape.gradient(z, other) is None, tape.gradient(z, before) is None]
    found += [tape.gradient(w, x), tape.gradient(z, other, unconnected_gradients="zero")]
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        y = x * v
    return [*found, tape.gradient(y, v) is None, *raised(lambda: tape.gradient(y, v))]


@case
def watched_variables():
    a, b, c = tf.Variable(1.0), tf.Variable(2.0, trainable=False), tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = c * a + b
    names = [v.numpy() for v in tape.watched_variables()]
    return [names, tape.gradient(y, [a, c])]


@case
def weights_and_jacobians():
    x = tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = tf.nn.relu(x - 2.0) * 3.0
        sums = tf.reduce_sum(x * x, axis=1)
        pairs = tf.stack([sums, x[:, 0] * x[:, 1]], axis=1)
    weights = tf.constant([[1.0, 2.0, 3.0], [1.0, 1.0, 2.0]])
    slopes = tape.gradient(y, x, output_gradients=weights)
    jacobian = tape.jacobian(sums, x, experimental_use_pfor=False)
    return [slopes, jacobian, tape.batch_jacobian(pairs, x, experimental_use_pfor=False)]


@case
def several_targets():
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y, z = x * x, tf.exp(x)
    return tape.gradient([y, z], [x], output_gradients=[tf.constant(3.0), tf.ones([])])


@case
def source_is_target():
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * 2.0
    return [tape.gradient(x, x), tape.gradient(y, y), tape.gradient(y, [y, x])]


@case
def whole_numbers():
    x, n = tf.constant([1.0, 2.0]), tf.constant([3, 4])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        tape.watch(n)
        y = x * tf.cast(n, tf.float32)
    return [tape.gradient(y, x), tape.gradient(y, n) is None]


@case
def reset_and_reuse():
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x * x
        tape.reset()
        y += x * 5.0
    found = [tape.gradient(y, x)]
    return found + raised(tape.__enter__)


@case
def inside_of_its_context():
    x = tf.Variable(3.0)
    with tf.GradientTape(persistent=True) as tape:
        y = x**4
        slope = tape.gradient(y, x)
    return [slope, tape.gradient(slope, x)]


@case
def rows_of_a_variable():
    table = tf.Variable(np.arange(6, dtype="float32").reshape(3, 2))
    with tf.GradientTape() as tape:
        rows = tf.gather(table, [0, 2, 0])
        y = tf.reduce_sum(rows * rows)
    slope = tape.gradient(y, table)
    return [type(slope).__name__, slope.indices, slope.values, tf.convert_to_tensor(slope)]


@case
def custom_gradient():
    @tf.custom_gradient
    def clipped(x):
        return tf.log1p(tf.exp(x)), lambda dy: dy * (1 - 1 / (1 + tf.exp(x)))

    x = tf.constant([100.0, 1.0, -2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = clipped(x)
    return [y, tape.gradient(y, x)]


@case
def custom_gradient_of_second_order():
    @tf.custom_gradient
    def cube(x):
        return x * x * x, lambda dy: dy * 3.0 * x * x

    x = tf.Variable(2.0)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = cube(x)
        slope = inner.gradient(y, x)
    return [slope, outer.gradient(slope, x)]


@case
def custom_gradient_with_variables():
    v = tf.Variable(2.0, use_resource=True)

    @tf.custom_gradient
    def scaled(x):
        y = x * v

        def grad(dy, variables=None):
            return dy * 10.0, [dy * 100.0 for _ in variables]

        return y, grad

    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = scaled(x)
    return [y, tape.gradient(y, [x, v])]


@case
def stopped():
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = tf.stop_gradient(x * x) * x
    return tape.gradient(y, x)


@case
def branches_and_loops():
    x = tf.Variable(1.5)
    with tf.GradientTape() as tape:
        y = x
        while y < 20.0:
            y = y * x
        y = tf.cond(y > 25.0, lambda: y * 2.0, lambda: y * 3.0)
        z = tf.while_loop(lambda i, t: i < 3, lambda i, t: (i + 1, t * x), [0, y])[1]
    return [z, tape.gradient(z, x)]


@case
def functions_of_gradients():
    def f(x, y):
        return x * x * x * y - x * y * y

    slopes = tfe.gradients_function(f)
    second = tfe.gradients_function(lambda x, y: slopes(x, y)[0])
    value, pair = tfe.value_and_gradients_function(f)(2.0, 3.0)
    return [
        slopes(2.0, 3.0),
        second(2.0, 3.0),
        value,
        pair,
        tfe.gradients_function(f, [1])(2.0, 3.0),
    ]


@case
def implicit_gradients():
    w, b = tf.Variable(2.0), tf.Variable(1.0)
    loss = lambda x: tf.square(w * x + b)  # noqa: E731
    value, pairs = tfe.implicit_value_and_gradients(loss)(3.0)
    pairs = sorted([slope.numpy(), v.numpy()] for slope, v in pairs)
    return [
        value,
        pairs,
        len(tfe.implicit_gradients(loss)(3.0)),
        raised(lambda: tfe.implicit_gradients(lambda x: None)(1.0))[0],
    ]


@case
def changes_forwards():
    x = tf.constant([[2.0, 3.0], [1.0, 4.0]])
    with forwardprop.ForwardGradientAccumulator() as follower:
        follower.watch(x, tf.constant([[5.0, 6.0], [7.0, 8.0]]))
        y = tf.reduce_sum(tf.sin(x) * tf.tan(x), axis=1)
    return [follower.jvp(y), follower.jvp(tf.constant(1.0)) is None]


@case
def changes_of_changes():
    x = tf.constant(1.1)
    with forwardprop.ForwardGradientAccumulator() as outer:
        outer.watch(x, tf.constant(1.0))
        with forwardprop.ForwardGradientAccumulator() as inner:
            inner.watch(x, tf.constant(1.0))
            y = x ** tf.constant(3.5)
    return [inner.jvp(y), outer.jvp(inner.jvp(y))]


@case
def losses_of_layers():
    x = tf.constant(np.linspace(-1, 1, 24).reshape(2, 3, 4).astype("float32"))
    w = tf.Variable(np.linspace(-0.5, 0.5, 8).reshape(4, 2).astype("float32"))
    with tf.GradientTape() as tape:
        tape.watch(x)
        logits = tf.tensordot(tf.nn.softplus(x), w, 1)[:, -1]
        loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[0, 1], logits=logits)
        loss = tf.reduce_mean(loss) + tf.nn.l2_loss(w)
    return [loss, *tape.gradient(loss, [x, w])]


@case
def recording_is_asked_for():
    from tensorflow.python.eager import tape as tape_lib

    x, found = tf.constant(1.0), [tape_lib.could_possibly_record()]
    with tf.GradientTape() as tape:
        found.append(tape_lib.could_possibly_record())
        found.append(tape_lib.should_record([x]))
        tape.watch(x)
        found.append(tape_lib.should_record([x]))
        with tape_lib.stop_recording():
            found.append(tape_lib.should_record([x]))
    return found


@case
def nothing_flows_back():
    from tensorflow.python.eager import tape as tape_lib

    x, v, found = tf.constant(3.0), tf.Variable(2.0), []
    square = tf.function(lambda x: x * x)
    for function in (
        tf.function(tf.stop_gradient),
        tf.function(lambda x: tf.stop_gradient(square(x) * v)),
        tf.function(lambda x: (tf.stop_gradient(square(x)), square(x))),
    ):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = function(x)
        found += [tape.gradient(y, [x, v], unconnected_gradients=how) for how in ("none", "zero")]
    for slopes in ([], [7.0], [7.0, 8.0], [7.0, 8.0, 9.0]):
        with tf.GradientTape() as tape:
            tape.watch([x, v])
            y = tf.constant(5.0)
            tape_lib.record_operation("Ours", [y], [x, v.handle], lambda dy: list(slopes))  # noqa: B023
        found.append(tape.gradient(y, [x, v]))
    product = tf.function(lambda x, y: (x * y, y))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = product(x, x)
    return [*found, tape.gradient(y, x, output_gradients=[tf.constant(2.0), None])]


@case
def errors_of_tapes():
    tape, x = tf.GradientTape(), tf.constant(1.0)
    found = [raised(lambda: tape.watch(1.0))[0], raised(lambda: tape.gradient(x, x))]
    with tape:
        found.append(raised(tape.__enter__))
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
    return [*found, raised(lambda: tape.gradient(y, x, unconnected_gradients="one"))[0]]


if __name__ == "__main__":
    main()
