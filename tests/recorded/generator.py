"""Records how far NumPy's generator moves while the Keras at hand builds and trains.

    python generator.py generator.json

"The Keras at hand" is what `import keras` finds: the original, which wrote `generator.json`, or the
hosted one. Every piece of work begins at `numpy.random.seed(SEED)`. Recorded is its place: how many
32-bit words of the generator's stream the work has used up; "+" means that a second normal number
waits beside them, as `numpy.random.normal` makes two at a time. A network has four places: after
it's built, after it's compiled, after it's trained, and after it has predicted.
"""

import json
import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import numpy as np
from keras import backend as K
from keras import layers, losses, models

SEED = 20
WORDS = 1 << 16  # more than any work uses


def _stream():
    np.random.seed(SEED)
    return np.random.randint(0, 1 << 32, WORDS, dtype=np.uint32)


STREAM = _stream()


def place():
    """How many words of the stream are used up."""
    kept = np.random.get_state()
    ahead = np.random.randint(0, 1 << 32, 4, dtype=np.uint32)
    np.random.set_state(kept)
    starts = np.flatnonzero(ahead[0] == STREAM)
    (found,) = [n for n in starts if (STREAM[n : n + 4] == ahead).all()]
    return str(found) + "+" * kept[3]


# --- functions of K ------------------------------------------------------------------------------


def vector():
    return K.placeholder((None, 3))


def noise(x):
    return x + K.random_uniform(K.shape(x))


def step(x, states):
    return noise(x), [states[0] + 1]


def rnn(**options):
    x = K.placeholder((2, 4, 3))
    mask = K.placeholder((2, 4), dtype="bool") if options.pop("masked", False) else None
    return K.rnn(step, x, [K.zeros((2, 3))], mask=mask, **options)


def twice(function):
    function(), function()


FUNCTIONS = {
    "dropout": lambda: K.dropout(vector(), 0.5),
    "dropout of nothing": lambda: K.dropout(vector(), 0.0),
    "dropout by shape": lambda: K.dropout(vector(), 0.5, (4, 1)),
    "dropout with a seed": lambda: K.dropout(vector(), 0.5, seed=3),
    "random_normal": lambda: K.random_normal((2, 3)),
    "random_normal with a seed": lambda: K.random_normal((2, 3), seed=3),
    "random_uniform": lambda: K.random_uniform((2, 3)),
    "random_uniform of a tensor's shape": lambda: K.random_uniform(K.shape(vector())),
    "random_uniform of integers": lambda: K.random_uniform((2, 3), 0, 9, dtype="int32"),
    "random_uniform with a seed": lambda: K.random_uniform((2, 3), seed=0),
    "random_binomial": lambda: K.random_binomial((2, 3), p=0.3),
    "random_binomial with a seed": lambda: K.random_binomial((2, 3), p=0.3, seed=3),
    "truncated_normal": lambda: K.truncated_normal((2, 3)),
    "truncated_normal with a seed": lambda: K.truncated_normal((2, 3), seed=3),
    "random_uniform_variable": lambda: K.random_uniform_variable((2, 3), 0, 1),
    "random_uniform_variable with a seed": lambda: K.random_uniform_variable((2, 3), 0, 1, seed=3),
    "random_normal_variable": lambda: K.random_normal_variable((2, 3), 0, 1),
    "random_normal_variable with a seed": lambda: K.random_normal_variable((2, 3), 0, 1, seed=3),
    "batch_flatten": lambda: K.batch_flatten(K.placeholder((None, 2, 3))),
    "flatten": lambda: K.flatten(vector()),
    "softmax, relu, dot": lambda: K.softmax(K.relu(K.dot(vector(), K.ones((3, 4))))),
    "all random functions, twice": lambda: twice(
        lambda: [
            K.dropout(vector(), 0.1),
            K.random_normal((1,)),
            K.random_uniform((1,)),
            K.random_binomial((1,)),
            K.truncated_normal((1,)),
        ]
    ),
    "in_train_phase of functions": lambda: K.in_train_phase(
        lambda: noise(x3), lambda: noise(x3), training=None
    ),
    "in_train_phase, training": lambda: K.in_train_phase(lambda: noise(x3), x3, training=1),
    "in_train_phase, not training": lambda: K.in_train_phase(lambda: noise(x3), x3, training=0),
    "in_train_phase, a tensor says": lambda: K.in_train_phase(
        lambda: noise(x3), lambda: x3, training=K.placeholder((), dtype="bool")
    ),
    "in_test_phase of functions": lambda: K.in_test_phase(lambda: noise(x3), lambda: noise(x3)),
    "switch of functions": lambda: K.switch(
        K.placeholder((), dtype="bool"), lambda: noise(x3), lambda: noise(x3)
    ),
    "switch of functions by rows": lambda: K.switch(
        K.placeholder((None, 3), dtype="bool"), lambda: noise(x3), lambda: noise(x3)
    ),
    "map_fn": lambda: K.map_fn(noise, x3),
    "map_fn with a dtype": lambda: K.map_fn(noise, x3, dtype="float32"),
    "foldl": lambda: K.foldl(lambda a, b: noise(a) + b, x3),
    "foldr": lambda: K.foldr(lambda a, b: noise(a) + b, x3, K.zeros((3,))),
    "rnn": lambda: rnn(),
    "rnn with a mask": lambda: rnn(masked=True),
    "rnn, unrolled": lambda: rnn(unroll=True),
    "rnn, unrolled, with a mask": lambda: rnn(unroll=True, masked=True),
    "gradients": lambda: K.gradients(K.sum(K.square(noise(x3))), [x3]),
    "function": lambda: K.function([x3], [noise(x3)])([np.ones((2, 3))]),
    "eval": lambda: K.eval(K.random_normal((2, 3)) * K.random_normal((2, 3), seed=4)),
}


# --- networks ------------------------------------------------------------------------------------


def sequential(*stack):
    return models.Sequential(list(stack))


def variational():
    x = layers.Input((6,))
    mean, log_variance = layers.Dense(2)(x), layers.Dense(2)(x)

    def sample(arguments):
        mean, log_variance = arguments
        return mean + K.exp(log_variance / 2) * K.random_normal(K.shape(mean))

    z = layers.Lambda(sample)([mean, log_variance])
    z = layers.Lambda(sample, output_shape=(2,))([z, log_variance])
    return models.Model(x, layers.Dense(6, activation="sigmoid")(z))


def shared():
    x = layers.Input((6,))
    dropout, dense = layers.Dropout(0.3), layers.Dense(6, activation="relu")
    y = dropout(dense(dropout(dense(x))))
    return models.Model(x, layers.add([x, layers.Dropout(0.2, seed=5)(y)]))


NETWORKS = {  # the network, and the shape of a sample
    "dense": (lambda: sequential(
        layers.Dense(8, activation="relu", input_shape=(6,)), layers.Dropout(0.5), layers.Dense(2),
    ), (6,)),
    "noise": (lambda: sequential(
        layers.GaussianNoise(0.1, input_shape=(6,)), layers.Dense(4), layers.GaussianDropout(0.2),
        layers.AlphaDropout(0.1), layers.Dense(2, kernel_initializer="orthogonal"),
    ), (6,)),
    "convolutional": (lambda: sequential(
        layers.Conv2D(3, 3, kernel_initializer="he_normal", input_shape=(6, 6, 1)),
        layers.MaxPooling2D(), layers.SpatialDropout2D(0.3),
        layers.Conv2D(2, 1, kernel_initializer="lecun_uniform"), layers.Flatten(),
        layers.Dense(2, kernel_initializer="random_normal"),
    ), (6, 6, 1)),
    "lstm": (lambda: sequential(
        layers.LSTM(4, dropout=0.2, recurrent_dropout=0.3, input_shape=(5, 3)), layers.Dense(1),
    ), (5, 3)),
    "gru": (lambda: sequential(
        layers.Masking(input_shape=(5, 3)),
        layers.GRU(4, dropout=0.2, recurrent_dropout=0.3, implementation=1, return_sequences=True),
        layers.SimpleRNN(3, dropout=0.1, recurrent_dropout=0.1, unroll=True),
    ), (5, 3)),
    "bidirectional": (lambda: sequential(
        layers.Bidirectional(
            layers.LSTM(3, dropout=0.2, return_sequences=True), input_shape=(5, 3),
        ),
        layers.TimeDistributed(layers.Dropout(0.2)), layers.TimeDistributed(layers.Dense(2)),
        layers.Flatten(), layers.Dense(1),
    ), (5, 3)),
    "embedding": (lambda: sequential(
        layers.Embedding(10, 4, input_length=6), layers.SpatialDropout1D(0.2),
        layers.Conv1D(3, 2), layers.GlobalMaxPooling1D(), layers.Dense(1),
    ), (6,)),
    "variational": (variational, (6,)),
    "normalized": (lambda: sequential(
        layers.Dense(4, input_shape=(6,)), layers.BatchNormalization(), layers.Activation("relu"),
        layers.Dropout(0.4), layers.Dense(2, activation="softmax"),
    ), (6,)),
    "shared": (shared, (6,)),
    "rows of noise": (lambda: sequential(
        layers.ConvLSTM2D(2, 2, dropout=0.2, recurrent_dropout=0.2, input_shape=(3, 4, 4, 1)),
        layers.SeparableConv2D(2, 2), layers.Dropout(0.2, noise_shape=(None, 1, 1, 2)),
        layers.Flatten(), layers.Dense(1, kernel_initializer="truncated_normal"),
    ), (3, 4, 4, 1)),
}  # fmt: skip


def places_of(build, shape):
    """Where the generator stands as a network is built, compiled, trained, and has predicted."""
    places = []
    model = build()
    places.append(place())
    model.compile("rmsprop", losses.mean_squared_error)
    places.append(place())
    x = np.arange(7 * int(np.prod(shape))).reshape((7, *shape)) % 5
    y = np.zeros((7, *K.int_shape(model.outputs[0])[1:]))
    model.fit(x, y, batch_size=3, epochs=2, verbose=0)
    model.fit(x, y, batch_size=3, shuffle="batch", validation_split=0.3, verbose=0)
    places.append(place())
    model.predict(x)
    model.evaluate(x, y, verbose=0)
    models.clone_model(model)
    places.append(place())
    return " ".join(places)


def main(path):
    """Write what was found."""
    found = {"functions": {}, "networks": {}}
    for name, work in FUNCTIONS.items():
        K.clear_session()
        global x3
        x3 = vector()
        np.random.seed(SEED)
        work()
        found["functions"][name] = place()
    for name, (build, shape) in NETWORKS.items():
        K.clear_session()
        np.random.seed(SEED)
        found["networks"][name] = places_of(build, shape)
    np.random.seed(SEED)  # the networks, one after another
    for build, _ in NETWORKS.values():
        build()
    found["networks"]["all"] = place()
    with open(path, "w") as file:
        json.dump(found, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main(sys.argv[1])
