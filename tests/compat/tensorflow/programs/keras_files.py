"""Keras 2.3.1 on its own TensorFlow backend, and tf.keras: what is saved, and read again."""

import os
import tempfile

import h5py
import keras
import numpy as np
import tensorflow as tf
from keras import backend as K
from keras import layers
from recording import case, main


def drawn(*shape):
    """Numbers of a normal distribution."""
    return np.random.normal(size=shape).astype("float32")


def made(of=keras, optimizer="rmsprop"):
    """A compiled model."""
    np.random.seed(3)
    tf.set_random_seed(17)
    part = of.layers
    model = of.Sequential([
        part.Conv1D(4, 2, activation="relu", input_shape=(6, 2), name="over"),
        part.BatchNormalization(name="normal"),
        part.LSTM(3, recurrent_initializer="glorot_uniform", name="steps"),
        part.Dense(1, name="last"),
    ])  # fmt: skip
    model.compile(optimizer, "mse", metrics=["mae"])
    return model


def path(name):
    """A file in a new folder."""
    return os.path.join(tempfile.mkdtemp(), name)


def goes_on(load, of=keras):
    """Whether a model that was saved while it was trained goes on as the model itself."""
    model = made(of)
    x, y = drawn(8, 6, 2), drawn(8, 1)
    losses = [model.train_on_batch(x, y)[0] for _ in range(2)]
    other = load(model)
    alike = np.allclose(other.predict(x), model.predict(x), atol=1e-6)
    losses += [m.train_on_batch(x, y)[0] for m in (model, other) for _ in range(2)]
    return [losses, bool(alike), [w.shape for w in other.get_weights()]]


@case
def whole_models():
    def load(model):
        file = path("model.h5")
        model.save(file)
        return keras.models.load_model(file)

    return goes_on(load)


@case
def weights_by_name():
    model, file = made(), path("weights.h5")
    model.save_weights(file)
    other = keras.Sequential([
        layers.Conv1D(4, 2, input_shape=(6, 2), name="over"), layers.Dense(2, name="another"),
    ])  # fmt: skip
    other.load_weights(file, by_name=True)
    with h5py.File(file, "r") as opened:
        names = [sorted(opened), sorted(opened["steps"]["steps"])]
    return [other.get_weights()[:2], names]


@case
def descriptions():
    model = made()
    told = model.to_json()
    from_text = keras.models.model_from_json(told)
    from_text.set_weights(model.get_weights())
    x = drawn(3, 6, 2)
    return [
        sorted(model.get_config()),
        from_text.predict(x),
        keras.models.clone_model(model).count_params(),
        keras.layers.deserialize(keras.layers.serialize(layers.GRU(3))).get_config()["units"],
    ]


@case
def checkpoints_of_callbacks():
    folder = tempfile.mkdtemp()
    model = made()
    x, y = drawn(16, 6, 2), drawn(16, 1)
    model.fit(
        x, y, epochs=3, verbose=0,
        callbacks=[
            keras.callbacks.ModelCheckpoint(os.path.join(folder, "{epoch}.h5")),
            keras.callbacks.CSVLogger(os.path.join(folder, "log.csv")),
            keras.callbacks.TensorBoard(os.path.join(folder, "board"), histogram_freq=0),
        ],
    )  # fmt: skip
    with open(os.path.join(folder, "log.csv")) as file:
        losses = [float(line.split(",")[1]) for line in file.read().split()[1:]]
    events = [
        value.tag
        for name in os.listdir(os.path.join(folder, "board"))
        for event in tf.train.summary_iterator(os.path.join(folder, "board", name))
        for value in event.summary.value
    ]
    last = keras.models.load_model(os.path.join(folder, "3.h5"))
    return [losses, sorted(n for n in os.listdir(folder) if n != "board"), events, last.predict(x)]


@case
def a_saver_of_tensorflow():
    model, file = made(), path("model.ckpt")
    saver, session = tf.train.Saver(model.weights), K.get_session()
    x = drawn(3, 6, 2)
    model._make_predict_function()
    before = model.predict(x)
    saver.save(session, file)
    names = [[name, shape] for name, shape in tf.train.list_variables(file)]
    model.set_weights([0 * w for w in model.get_weights()])
    after = model.predict(x)
    saver.restore(session, file)
    return [names, before, after, model.predict(x)]


@case
def a_frozen_graph():
    model = made()
    x = drawn(3, 6, 2)
    K.get_session()
    expected = model.predict(x)
    graph = tf.graph_util.convert_variables_to_constants(
        K.get_session(), K.get_session().graph.as_graph_def(), [model.output.op.name]
    )
    with tf.Graph().as_default(), tf.Session() as session:
        tf.import_graph_def(graph, name="")
        found = session.run(model.output.name, {model.input.name: x})
    return [expected, found]


@case
def tf_keras_in_h5():
    def load(model):
        file = path("model.h5")
        model.save(file)
        return tf.keras.models.load_model(file)

    return goes_on(load, tf.keras)


@case
def tf_keras_in_folders():
    model = made(tf.keras)
    x, y = drawn(8, 6, 2), drawn(8, 1)
    losses = model.fit(x, y, epochs=2, verbose=0, shuffle=False).history["loss"]
    folder, weights = path("model"), path("weights")
    model.save(folder, save_format="tf")
    model.save_weights(weights)
    other = tf.keras.models.load_model(folder)
    third = made(tf.keras)
    third.load_weights(weights)
    return [losses, [m.predict(x) for m in (model, other, third)]]


if __name__ == "__main__":
    main()
