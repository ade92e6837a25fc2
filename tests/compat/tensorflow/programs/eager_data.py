"""Data sets in eager execution: loops over them, models that are fitted by them."""

import re

import numpy as np
import tensorflow as tf
from recording import case, main, raised
from tensorflow.python.ops.control_flow_ops import switch

tf.enable_eager_execution()
keras, tfe = tf.keras, tf.contrib.eager
X = np.linspace(-1, 1, 24).reshape(8, 3).astype("float32")
Y = (X @ [[1.0], [-2.0], [0.5]] + 0.3).astype("float32")
LABELS = np.array([0, 1, 2, 0, 1, 2, 0, 1])


def filled(model):
    """The model, with weights that aren't random."""
    weights = model.get_weights()
    ramps = [np.linspace(-0.5, 0.5, w.size).reshape(w.shape) for w in weights]
    model.set_weights([ramp if ramp.ndim > 1 else w for ramp, w in zip(ramps, weights)])  # noqa: B905
    return model


@case
def sequential_model():
    model = keras.Sequential()
    model.add(keras.layers.Dense(5, activation="relu", input_shape=(3,)))
    model.add(keras.layers.BatchNormalization())
    model.add(keras.layers.Dense(3, activation="softmax"))
    model.compile("sgd", "sparse_categorical_crossentropy", metrics=["accuracy"])
    filled(model)
    history = model.fit(X, LABELS, batch_size=8, epochs=3, shuffle=False, verbose=0)
    return [sorted(history.history), history.history["loss"], model.predict(X), model.get_weights()]


@case
def data_sets():
    data = tf.data.Dataset.from_tensor_slices((X, Y)).batch(3)
    found = [[x.numpy().sum(), y.shape.as_list()] for x, y in data]
    found += [each.numpy() for each in tf.data.Dataset.range(5).map(lambda n: n * n)]
    iterator = tfe.Iterator(tf.data.Dataset.range(2).repeat())
    found += [next(iterator).numpy() for _ in range(3)]
    model = filled(keras.Sequential([keras.layers.Dense(1, input_shape=(3,))]))
    model.compile("sgd", "mse")
    history = model.fit(data.repeat(), steps_per_epoch=3, epochs=2, verbose=0)
    return [*found, history.history["loss"]]


@case
def kinds_of_data_sets():
    data = tf.data.Dataset.range(10).filter(lambda n: n % 2 == 0).map(lambda n: (n, n * n))
    found = [[a.numpy(), b.numpy()] for a, b in data.repeat(2).skip(2).take(4)]
    words = tf.data.Dataset.from_generator(lambda: iter(["a", "bc"]), tf.string)
    found += [each.numpy() for each in words]
    pairs = tf.data.Dataset.zip((data.map(lambda a, b: a), data.map(lambda a, b: b).batch(2)))
    found += [[a.numpy(), b.numpy()] for a, b in pairs]
    total = data.reduce(np.int64(0), lambda s, pair_0, pair_1=None: s + pair_0[1])
    windows = tf.data.Dataset.range(6).window(3, shift=2, drop_remainder=True)
    flat = windows.flat_map(lambda window: window.batch(3))
    v = tf.Variable(0, dtype=tf.int64)
    counted = [int(v.assign_add(n)) for n in tf.data.Dataset.range(4).shuffle(4, seed=1)]
    return [*found, total, [each.numpy() for each in flat], sorted(counted)[-1]]


@case
def loops_of_functions():
    @tf.function
    def total(data):
        found = tf.constant(0, tf.int64)
        for n in data:
            found += n * n
        return found

    iterator = iter(tf.data.Dataset.range(3))

    @tf.function
    def following():
        return next(iterator) if hasattr(iterator, "__next__") else iterator.get_next()

    return [total(tf.data.Dataset.range(5)), following(), following()]


@case
def validation_and_callbacks():
    model = filled(keras.Sequential([keras.layers.Dense(1, input_shape=(3,))]))
    model.compile(keras.optimizers.SGD(0.1), "mse", metrics=["mae"])
    seen = []
    callback = keras.callbacks.LambdaCallback(
        on_epoch_end=lambda at, logs: seen.append(sorted(logs))
    )
    history = model.fit(
        X, Y, batch_size=3, epochs=2, shuffle=False, verbose=0, callbacks=[callback],
        validation_split=0.25, class_weight=None, sample_weight=np.linspace(0, 1, 8),
    )  # fmt: skip
    values = [history.history[key] for key in sorted(history.history)]
    data = tf.data.Dataset.from_tensor_slices((X, Y)).batch(4)
    return [values, seen, model.evaluate(data, verbose=0), model.predict(data)]


@case
def orders_and_numbers_begin_anew_with_each_loop():
    rows = tf.data.Dataset.range(8).shuffle(8, seed=5)
    drawn = tf.data.Dataset.range(3).map(lambda x: tf.random_uniform([], seed=3))
    made = [rows, rows.batch(4).repeat(2), rows.repeat(2), drawn, drawn.repeat(2)]
    return [[list(each) for _ in range(2)] for each in made]


@case
def where_functions_fail():
    """The function and its operation are told, or which of its results has no value."""
    rows, number = tf.data.Dataset.from_tensors(7), re.compile(r"_\d+")
    made = [
        rows.map(lambda i: tf.gather([1.0, 2.0], i, name="picked")),
        rows.filter(lambda i: tf.equal(tf.div(i, i - i, name="quotient"), 0)),
        rows.map(lambda i: (i, tf.read_file(tf.as_string(i), name="read"))),
        rows.map(lambda i: (i, switch(i, i > 9)[1])),
        rows.filter(lambda i: switch(i > 0, i > 9)[1]),
    ]
    found = [raised(lambda each=each: list(each)) for each in made]
    return [[kind, number.sub("", text).split(" have value")[0]] for kind, text in found]


@case
def where_called_functions_fail():
    picked = tf.function(lambda i: tf.gather([1.0, 2.0], i, name="picked"), autograph=False)
    kind, text = raised(lambda: picked(tf.constant(7)))
    return [kind, re.findall(r"(indices.*)|\bnode (\w+)", text)]


if __name__ == "__main__":
    main()
