"""Keras 2.3.1 on its own TensorFlow backend: recurrent layers, their masks and states."""

import keras
import numpy as np
import tensorflow as tf
from keras import backend as K
from keras import layers
from recording import case, main

# The default is orthogonal, whose signs NumPy's versions choose differently.
DRAWN = {"recurrent_initializer": "glorot_uniform"}


def drawn(*shape):
    """Numbers of a normal distribution."""
    return np.random.normal(size=shape).astype("float32")


def seeded():
    """Seeds for what a program draws."""
    np.random.seed(5)
    tf.set_random_seed(13)


def trained(layer, x, size, before=()):
    """The loss of three steps with a layer, and what it then gives."""
    last = layers.Lambda(lambda t: t if len(t.shape) == 2 else t[:, -1] + tf.reduce_max(t, 1))
    model = keras.Sequential([*before, layer, last, layers.Dense(1)])
    model.compile("rmsprop", "mse")
    y = np.arange(len(x)).reshape(-1, 1) / size
    losses = [model.train_on_batch(x, y) for _ in range(3)]
    return [losses, model.predict_on_batch(x)]


CELLS = {
    "simple": lambda **options: layers.SimpleRNN(4, **DRAWN, **options),
    "gru": lambda **options: layers.GRU(4, **options),
    "gru_after": lambda **options: layers.GRU(
        4, reset_after=True, recurrent_activation="sigmoid", **DRAWN, **options
    ),
    "gru_parts": lambda **options: layers.GRU(4, implementation=1, **DRAWN, **options),
    "lstm": lambda **options: layers.LSTM(4, **DRAWN, **options),
    "lstm_parts": lambda **options: layers.LSTM(
        4, implementation=1, unit_forget_bias=False, **DRAWN, **options
    ),
}


FEW = ("gru_after", "lstm", "simple")


def of_each(names=FEW, **options):
    """What training gives with kinds of cells."""
    found = []
    for name in names:
        seeded()
        layer = CELLS[name](batch_input_shape=(6, 5, 3), **options)
        found.append([name, trained(layer, drawn(6, 5, 3), 6.0)])
    return found


@case
def cells():
    return of_each(sorted(CELLS))


@case
def unrolled_backwards():
    return of_each(unroll=True, go_backwards=True)


@case
def sequences_with_states():
    return of_each(return_sequences=True, stateful=True)


@case
def masks():
    found = []
    for name in FEW:
        seeded()
        x = drawn(6, 5, 3)
        x[1, 3:] = x[2, 1:4] = x[4] = 0
        masking = layers.Masking(0.0, batch_input_shape=(6, 5, 3))
        found.append([name, trained(CELLS[name](), x, 6.0, [masking])])
    return found


@case
def dropouts():
    seeded()
    x = keras.Input((5, 3))
    outputs = [
        CELLS[name](dropout=0.3, recurrent_dropout=0.2, return_sequences=True)(x)
        for name in ("gru", "lstm", "simple")
    ]
    function = K.function([x, K.learning_phase()], outputs)
    values = drawn(4, 5, 3)
    return [function([values, 0]), function([values, 1])]


@case
def both_directions():
    seeded()
    model = keras.Sequential([
        layers.Embedding(9, 3, mask_zero=True, input_length=6),
        layers.Bidirectional(layers.LSTM(4, return_sequences=True, **DRAWN), merge_mode="sum"),
        layers.TimeDistributed(layers.Dense(5, activation="tanh")),
        layers.Bidirectional(layers.GRU(3, **DRAWN)),
        layers.Dense(1),
    ])  # fmt: skip
    model.compile("rmsprop", "mse")
    x = np.random.randint(0, 9, (8, 6))
    losses = [model.train_on_batch(x, drawn(8, 1)) for _ in range(3)]
    return [losses, model.predict(x)]


@case
def an_encoder_and_a_decoder():
    seeded()
    encoded, decoded = keras.Input((None, 4)), keras.Input((None, 3))
    _, *states = layers.LSTM(5, return_state=True, **DRAWN)(encoded)
    sequence, *_ = layers.LSTM(5, return_sequences=True, return_state=True, **DRAWN)(
        decoded, initial_state=states
    )
    outputs = layers.TimeDistributed(layers.Dense(3, activation="softmax"))(sequence)
    model = keras.Model([encoded, decoded], outputs)
    model.compile("rmsprop", "categorical_crossentropy", sample_weight_mode="temporal")
    x = [drawn(6, 7, 4), drawn(6, 5, 3)]
    y, weights = np.eye(3)[np.random.randint(0, 3, (6, 5))], np.random.uniform(size=(6, 5))
    losses = [model.train_on_batch(x, y, sample_weight=weights) for _ in range(3)]
    return [losses, model.predict(x), model.predict([drawn(2, 3, 4), drawn(2, 9, 3)])]


@case
def states_are_kept():
    seeded()
    model = keras.Sequential([layers.LSTM(4, stateful=True, batch_input_shape=(2, 3, 2), **DRAWN)])
    x = drawn(2, 3, 2)
    found = [model.predict(x, batch_size=2) for _ in range(2)]
    model.reset_states()
    found.append(model.predict(x, batch_size=2))
    model.layers[0].reset_states([np.ones((2, 4)), np.zeros((2, 4))])
    return [*found, model.predict(x, batch_size=2)]


@case
def moving_pictures():
    seeded()
    model = keras.Sequential([
        layers.ConvLSTM2D(
            3, 3, padding="same", return_sequences=True, input_shape=(4, 6, 6, 2), **DRAWN
        ),
        layers.BatchNormalization(),
        layers.ConvLSTM2D(2, 3, strides=2, recurrent_activation="sigmoid", **DRAWN),
        layers.Flatten(),
        layers.Dense(1),
    ])  # fmt: skip
    model.compile("rmsprop", "mse")
    x, y = drawn(4, 4, 6, 6, 2), drawn(4, 1)
    return [[model.train_on_batch(x, y) for _ in range(3)], model.predict(x)]


@case
def cells_of_ones_own():
    seeded()

    class Minimal(layers.Layer):
        def __init__(self, units, **options):
            self.units = self.state_size = units
            super().__init__(**options)

        def build(self, shape):
            self.kernel = self.add_weight(
                shape=(shape[-1], self.units), initializer="uniform", name="k"
            )
            self.built = True

        def call(self, inputs, states):
            output = tf.matmul(inputs, self.kernel) + 0.5 * tf.nn.sigmoid(states[0])
            return output, [output]

    stacked = layers.RNN(
        [Minimal(4), layers.GRUCell(3, **DRAWN), layers.LSTMCell(2, **DRAWN)], input_shape=(5, 3)
    )
    return trained(stacked, drawn(6, 5, 3), 6.0)


@case
def loops_of_the_backend():
    seeded()
    x = K.variable(drawn(2, 4, 3))
    mask = K.constant(np.array([[1, 1, 0, 1], [0, 1, 1, 0]]), dtype="bool")

    def step(now, states):
        new = tf.tanh(now + states[0])
        return new, [new]

    found = []
    for options in ({}, {"mask": mask}, {"mask": mask, "go_backwards": True}, {"unroll": True}):
        last, outputs, states = K.rnn(step, x, [K.zeros((2, 3))], input_length=4, **options)
        slope = K.gradients(K.sum(K.square(outputs)), x)[0]
        found += [K.eval(t) for t in (last, outputs, states[0], slope)]
    return found


if __name__ == "__main__":
    main()
