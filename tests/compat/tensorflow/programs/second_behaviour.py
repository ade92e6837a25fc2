"""What `tf.enable_v2_behavior()` changes: tensors are compared by value, shapes hold numbers."""

import numpy as np
import tensorflow.compat.v2 as tf
from recording import case, main, raised

tf.enable_v2_behavior()


@case
def comparisons():
    x, v = tf.constant([1.0, 2.0]), tf.Variable(1.0)
    refs = [x.experimental_ref() == x.experimental_ref(), raised(lambda: hash(x))[0]]
    return [x == x, x != 2.0, x == [1.0, 3.0], x.shape == (2,), v == 1.0, refs]


@case
def sizes():
    @tf.function(input_signature=[tf.TensorSpec([None, 2])])
    def f(x):
        return tf.shape(x)[0] * x.shape[1]

    return [f(tf.ones([3, 2])), repr(tf.TensorShape([1, None])), list(tf.ones([2, 3]).shape)]


@case
def training_of_a_seed():
    tf.random.set_seed(1)
    model = tf.keras.Sequential([tf.keras.layers.Dense(4, "relu"), tf.keras.layers.Dense(1)])
    optimizer, losses = tf.keras.optimizers.Adam(0.1), []
    x = np.linspace(-1, 1, 12).reshape(4, 3).astype("float32")
    for _ in range(3):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(x) - x.sum(1, keepdims=True)))
        weights = model.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))  # noqa: B905
        losses.append(loss)
    return losses


@case
def control_flow():
    x = tf.constant(2.0)

    @tf.function
    def f(x):
        start = [0, tf.zeros_like(x)]
        return tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s + x), start)[1]

    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    way = tf.switch_case(tf.constant(1), [lambda: x, lambda: x * 2])
    return [y, tape.gradient(y, x), tf.cond(x > 0, lambda: x, lambda: -x), way]


@case
def modules():
    class Dense(tf.Module):
        def __init__(self, size, name=None):
            super().__init__(name=name)
            self.w = tf.Variable(tf.ones([2, size]), name="w")
            self.b = tf.Variable(tf.zeros([size]), name="b")

        @tf.Module.with_name_scope
        def __call__(self, x):
            return tf.nn.relu(x @ self.w + self.b)

    class Network(tf.Module):
        def __init__(self):
            super().__init__()
            self.parts = [Dense(2, "a"), Dense(3, "b")]

        def __call__(self, x):
            for part in self.parts:
                x = part(x)
            return x

    network = Network()
    names = [v.name for v in network.trainable_variables]
    return [network(tf.ones([1, 2])), names, len(network.submodules)]


@case
def matrices():
    a = tf.constant([[2.0, 1.0], [1.0, 3.0]])
    functions = [
        tf.linalg.det, tf.linalg.inv, tf.linalg.cholesky, lambda a: tf.linalg.eigh(a)[0],
        tf.linalg.trace, tf.linalg.logdet, lambda a: tf.einsum("ij,jk->ik", a, a), tf.norm,
    ]  # fmt: skip
    found = []
    for function in functions:
        with tf.GradientTape() as tape:
            tape.watch(a)
            y = function(a)
        found.append([y, tape.gradient(y, a)])
    return found


if __name__ == "__main__":
    main()
