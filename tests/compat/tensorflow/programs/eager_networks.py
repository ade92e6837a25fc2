"""Training in eager execution: optimizers, Keras's models, functions of graphs, checkpoints."""

import os
import tempfile

import numpy as np
import tensorflow as tf
from recording import case, main, raised

tf.enable_eager_execution()
keras, tfe = tf.keras, tf.contrib.eager
X = np.linspace(-1, 1, 24).reshape(8, 3).astype("float32")
Y = (X @ [[1.0], [-2.0], [0.5]] + 0.3).astype("float32")
LABELS = np.array([0, 1, 2, 0, 1, 2, 0, 1])


def ramp(*sizes):
    """Numbers from -0.5 to 0.5 in that shape."""
    return np.linspace(-0.5, 0.5, int(np.prod(sizes))).reshape(sizes).astype("float32")


def filled(model):
    """The model, with weights that aren't random."""
    model.set_weights([ramp(*w.shape) if w.ndim else w for w in model.get_weights()])
    return model


# Optimizers -------------------------------------------------------------------------------------


def trained(optimizer, steps=4):
    w, b = tf.Variable(ramp(3, 1)), tf.Variable([0.1])
    for _ in range(steps):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.matmul(X, w) + b - Y))
        optimizer.apply_gradients(zip(tape.gradient(loss, [w, b]), [w, b]))  # noqa: B905
    return [w, b, loss]


@case
def optimizers():
    train = tf.train
    kinds = [
        train.GradientDescentOptimizer(0.1), train.MomentumOptimizer(0.1, 0.9),
        train.MomentumOptimizer(0.1, 0.9, use_nesterov=True), train.AdamOptimizer(0.1),
        train.AdagradOptimizer(0.1), train.RMSPropOptimizer(0.1, momentum=0.5),
    ]  # fmt: skip
    return [trained(kind) for kind in kinds]


@case
def optimizers_of_keras():
    kinds = ["sgd", "adam", "rmsprop", "adagrad"]
    return [trained(keras.optimizers.get(kind)) for kind in kinds]


@case
def minimized_functions():
    w = tf.Variable(ramp(3, 1))
    optimizer, step = tf.train.AdamOptimizer(0.05), tf.train.get_or_create_global_step()
    before = step.numpy()
    loss = lambda: tf.reduce_mean(tf.square(tf.matmul(X, w) - Y))  # noqa: E731
    for _ in range(5):
        optimizer.minimize(loss, global_step=step, var_list=[w])
    pairs = optimizer.compute_gradients(loss)
    names = optimizer.get_slot_names(), optimizer.get_slot(w, "m")
    error = raised(lambda: optimizer.minimize(loss()))
    return [w, int(step.numpy() - before), pairs[0][0], names, error, len(optimizer.variables())]


@case
def decayed_rates():
    step = tf.Variable(0, dtype=tf.int64)
    rate = tf.train.exponential_decay(0.1, step, 2, 0.5, staircase=True)
    rates = []
    for _ in range(4):
        rates.append(rate())
        step.assign_add(1)
    average = tf.train.ExponentialMovingAverage(0.5)
    v = tf.Variable(1.0)
    average.apply([v])
    v.assign(3.0)
    average.apply([v])
    return [rates, average.average(v)]


@case
def rows_of_embeddings():
    table = tf.Variable(ramp(4, 2))
    optimizer = tf.train.AdagradOptimizer(0.5)
    for _ in range(2):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(tf.nn.embedding_lookup(table, [0, 2, 0])))
        optimizer.apply_gradients([(tape.gradient(loss, table), table)])
    return [table, loss]


# Keras ------------------------------------------------------------------------------------------


class Network(keras.Model):
    """Two layers, and one that only training has."""

    def __init__(self):
        super().__init__(name="network")
        self.first = keras.layers.Dense(4, activation="tanh")
        self.dropped = keras.layers.Dropout(0.5)
        self.last = keras.layers.Dense(1)

    def call(self, inputs, training=False):
        hidden = self.first(inputs)
        if training:
            hidden = self.dropped(hidden, training=True)
        return self.last(hidden)


@case
def subclassed_model():
    model = Network()
    before = [len(model.variables), model.built]
    model(tf.constant(X))
    filled(model)
    with tf.GradientTape() as tape:
        loss = keras.losses.mean_squared_error(Y, model(X))
    slopes = tape.gradient(loss, model.trainable_variables)
    dropped = model(X, training=True)
    names = [[v.name, v.shape.as_list()] for v in model.variables]
    return [before, model(X), slopes, dropped.shape.as_list(), names, model.count_params()]


@case
def fitted_model():
    model = keras.Sequential([keras.layers.Dense(4, "tanh"), keras.layers.Dense(1)])
    model.compile(optimizer=tf.train.GradientDescentOptimizer(0.1), loss="mse", metrics=["mae"])
    model(X)
    filled(model)
    history = model.fit(X, Y, batch_size=4, epochs=3, shuffle=False, verbose=0)
    logs = [history.history[key] for key in ("loss", "mean_absolute_error")]
    return [logs, model.evaluate(X, Y, verbose=0), model.predict(X), model.train_on_batch(X, Y)]


@case
def functional_model():
    one, two = keras.Input((3,)), keras.Input((3,))
    both = keras.layers.concatenate([one, two])
    outputs = [keras.layers.Dense(2)(both), keras.layers.Dense(1, activation="sigmoid")(both)]
    model = filled(keras.Model([one, two], outputs))
    found = model([tf.constant(X), tf.constant(-X)])
    inner = keras.Model(model.inputs, both)
    return [
        found,
        model.predict([X, -X]),
        inner([X, X]),
        [x.shape.as_list() for x in model.outputs],
    ]


@case
def convolutions():
    model = keras.Sequential(
        [
            keras.layers.Conv2D(3, 3, activation="relu", input_shape=(6, 6, 2)),
            keras.layers.MaxPool2D(),
            keras.layers.Flatten(),
            keras.layers.Dense(2),
        ]
    )
    filled(model)
    x = tf.constant(np.cos(9.0 * ramp(2, 6, 6, 2)))  # no two are equal where one is chosen
    with tf.GradientTape() as tape:
        tape.watch(x)
        loss = tf.reduce_sum(tf.square(model(x)))
    return [loss, *tape.gradient(loss, [x, *model.trainable_weights])]


@case
def recurrent_layers():
    x = tf.constant(ramp(2, 4, 3))
    found = []
    for kind in (keras.layers.LSTM, keras.layers.GRU, keras.layers.SimpleRNN):
        layer = kind(2, return_sequences=True)
        layer(x)
        filled(layer)
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(layer(x) * x[:, :, :2])
        found.append([loss, tape.gradient(loss, layer.trainable_variables)])
    return found


@case
def layers_of_their_own():
    class Scale(keras.layers.Layer):
        def build(self, shape):
            self.scale = self.add_weight("scale", shape[1:], initializer="ones")
            self.count = self.add_weight("count", (), trainable=False, initializer="zeros")

        def call(self, inputs):
            self.count.assign_add(1.0)
            self.add_loss(tf.reduce_sum(tf.square(self.scale)))
            return inputs * self.scale

    layer = Scale()
    found = [layer(X), layer.losses, layer(X), len(layer.losses), layer.count]
    return [*found, [v.name for v in layer.weights], len(layer.trainable_weights)]


@case
def layers_of_tensorflow():
    tf.set_random_seed(1)
    layer = tf.layers.Dense(2, kernel_initializer=tf.constant_initializer(0.5))
    found = [layer(tf.constant(X)), layer.kernel, layer.bias]
    batch = tf.layers.BatchNormalization()
    found += [batch(tf.constant(X), training=True), batch.moving_mean, batch(tf.constant(X))]
    return [*found, tf.layers.flatten(tf.ones([2, 3, 4])).shape.as_list()]


@case
def metrics():
    accuracy, mean = tfe.metrics.Accuracy(), tfe.metrics.Mean()
    accuracy([1, 2, 3], [1, 2, 4])
    mean([1.0, 2.0])
    mean(6.0)
    other = keras.metrics.SparseCategoricalAccuracy()
    other.update_state(LABELS[:2], [[0.1, 0.9], [0.2, 0.8]])
    loss = keras.metrics.Mean()
    found = [accuracy.result(), mean.result(), other.result(), loss(3.0), loss(4.0)]
    other.reset_states()
    return [*found, other.result()]


# Functions of graphs ----------------------------------------------------------------------------


@case
def functions():
    traced = []
    v = tf.Variable(2.0)

    @tf.function
    def f(x, y=1.0):
        traced.append(1)
        v.assign_add(1.0)
        return x * v + y, {"sum": tf.reduce_sum(x)}

    one = f(tf.constant([1.0, 2.0]))
    two = f(tf.constant([3.0, 4.0]))
    three = f(tf.constant([1.0, 2.0, 3.0]), y=2.0)
    four = f(tf.constant([1.0]), tf.constant(3.0))
    return [[p[0], p[1]["sum"]] for p in (one, two, three, four)] + [v, len(traced)]


@case
def gradients_of_functions():
    v = tf.Variable([1.0, 2.0])

    @tf.function
    def f(x):
        return tf.reduce_sum(v * tf.exp(x) * x)

    x = tf.constant([0.5, 1.5])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = f(x)
        slopes = inner.gradient(y, [x, v])
        total = tf.reduce_sum(slopes[0]) + tf.reduce_sum(slopes[1])
    return [y, slopes, outer.gradient(total, [x, v])]


@case
def training_in_a_function():
    model = keras.Sequential([keras.layers.Dense(4, activation="relu"), keras.layers.Dense(1)])
    model(X)
    filled(model)
    optimizer = keras.optimizers.Adam(0.05)

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(x) - y))
        slopes = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(slopes, model.trainable_variables))  # noqa: B905
        return loss

    return [[step(X, Y) for _ in range(4)], model.weights, optimizer.iterations]


@case
def python_in_functions():
    @tf.function
    def collatz(n):
        steps = 0
        while n > 1:
            if n % 2 == 0:
                n = n // 2
            else:
                n = 3 * n + 1
            steps += 1
        return steps

    @tf.function
    def total(x):
        s = tf.constant(0.0)
        for row in x:
            if tf.reduce_sum(row) > 0:
                s += tf.reduce_max(row)
        return s

    return [collatz(tf.constant(7)), collatz(tf.constant(27)), total(tf.constant(X))]


@case
def functions_as_they_were():
    @tfe.defun
    def square(x):
        return x * x

    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32)])
    def rows(x):
        return tf.shape(x)[0], tf.reduce_sum(x, 0)

    found = [square(tf.constant(3.0)), rows(tf.ones([3, 2])), rows(tf.ones([1, 2]))]
    concrete = square.get_concrete_function(tf.TensorSpec([], tf.float32))
    found += [concrete(tf.constant(5.0)), concrete.graph.get_operations()[-1].type]
    return [
        *found,
        raised(lambda: rows(tf.ones([2, 3])))[0],
        len(rows.get_concrete_function().inputs),
    ]


@case
def wrapped_graphs():
    def f(x):
        v = tf.get_variable("v", initializer=lambda: tf.constant(3.0))
        return x * v

    wrapped = tf.wrap_function(f, [tf.TensorSpec([], tf.float32)])
    template = tf.make_template("t", lambda x: x * tf.get_variable("w", initializer=2.0))
    return [wrapped(tf.constant(2.0)), template(3.0), template(4.0), len(template.variables)]


@case
def errors_in_functions():
    @tf.function
    def f(x):
        return tf.matmul(x, x)

    @tf.function
    def g(x):
        tf.debugging.assert_positive(x, message="must be positive")
        return tf.sqrt(x)

    found = [raised(lambda: f(tf.ones([2, 3])))[0], raised(lambda: g(tf.constant(-1.0)))[0]]
    return [*found, g(tf.constant(4.0)), raised(lambda: f.get_concrete_function(1)(2))[0]]


# Checkpoints, data ------------------------------------------------------------------------------


@case
def checkpoints():
    folder = tempfile.mkdtemp()
    model, optimizer = keras.Sequential([keras.layers.Dense(2)]), tf.train.AdamOptimizer(0.1)
    step = tf.Variable(3, name="step", dtype=tf.int64)

    def train():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(model(X)))
        slopes = tape.gradient(loss, model.variables)
        optimizer.apply_gradients(zip(slopes, model.variables), global_step=step)  # noqa: B905

    model(X)
    filled(model)
    train()
    checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer, step=step)
    path = checkpoint.save(os.path.join(folder, "ckpt"))
    kept = [model.get_weights(), step.numpy()]
    train()
    checkpoint.restore(path).assert_consumed()
    same = [np.array_equal(a, b) for a, b in zip(kept[0], model.get_weights())]  # noqa: B905
    train()
    later = keras.Sequential([keras.layers.Dense(2)])
    status = tf.train.Checkpoint(model=later).restore(path)
    found = [same, step, model.weights, later(X), raised(status.assert_consumed)[0]]
    names = sorted(name for name, _ in tf.train.list_variables(path))
    return [*found, names, os.path.basename(tf.train.latest_checkpoint(folder))]


@case
def weights_in_files():
    folder = tempfile.mkdtemp()
    one, two = Network(), Network()
    one(X), two(X)
    filled(one).save_weights(os.path.join(folder, "weights"))
    two.load_weights(os.path.join(folder, "weights"))
    saver = tfe.Saver(one.variables)
    path = saver.save(os.path.join(folder, "saver"))
    one.variables[0].assign(tf.zeros_like(one.variables[0]))
    saver.restore(path)
    return [np.array_equal(one(X), two(X)), np.array_equal(one(X), filled(two)(X))]


if __name__ == "__main__":
    main()
