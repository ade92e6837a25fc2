"""Models of the original Keras with made-up weights, in files, for `kameleon convert`.

python convert_program.py FOLDER NAME ...

The module also has the custom objects of these models.
"""

import sys
from pathlib import Path

import keras.applications as known
import numpy as np
from keras import backend as K
from keras.layers import (
    GRU,
    LSTM,
    Add,
    BatchNormalization,
    Dense,
    Dropout,
    Embedding,
    GlobalAveragePooling1D,
    Input,
    Lambda,
    Layer,
    TimeDistributed,
)
from keras.models import Model, Sequential

WORDS, STEPS, WIDTH, HEADS = 50, 12, 16, 4


# A transformer, of layers of the user's -------------------------------------------------------


def gelu(x):
    """An activation of the user's."""
    return 0.5 * x * (1.0 + K.tanh(0.7978845608 * (x + 0.044715 * x * x * x)))


class Positions(Layer):
    """Adds an embedding of each place."""

    def build(self, input_shape):
        self.table = self.add_weight(name="table", shape=input_shape[1:], initializer="uniform")
        super().build(input_shape)

    def call(self, inputs):
        return inputs + self.table


class LayerNormalization(Layer):
    """Mean 0 and variance 1 along the last axis."""

    def build(self, input_shape):
        size = input_shape[-1:]
        self.gamma = self.add_weight(name="gamma", shape=size, initializer="ones")
        self.beta = self.add_weight(name="beta", shape=size, initializer="zeros")
        super().build(input_shape)

    def call(self, inputs):
        centred = inputs - K.mean(inputs, -1, keepdims=True)
        variance = K.mean(K.square(centred), -1, keepdims=True)
        return self.gamma * centred / K.sqrt(variance + 1e-6) + self.beta


class Attention(Layer):
    """Attention of several heads."""

    def __init__(self, heads, **settings):
        super().__init__(**settings)
        self.heads = heads

    def build(self, input_shape):
        size = input_shape[-1]
        self.kernels = [
            self.add_weight(name=name, shape=(size, size), initializer="glorot_uniform")
            for name in ("query", "key", "value", "output")
        ]
        super().build(input_shape)

    def call(self, inputs):
        steps, size = K.int_shape(inputs)[1:]
        each = size // self.heads
        query, key, value = (self._split(K.dot(inputs, w), steps, each) for w in self.kernels[:3])
        weights = K.softmax(K.batch_dot(query, key, axes=(2, 2)) / np.sqrt(each))
        found = K.reshape(K.batch_dot(weights, value), (-1, self.heads, steps, each))
        found = K.reshape(K.permute_dimensions(found, (0, 2, 1, 3)), (-1, steps, size))
        return K.dot(found, self.kernels[3])

    def _split(self, x, steps, each):
        x = K.permute_dimensions(K.reshape(x, (-1, steps, self.heads, each)), (0, 2, 1, 3))
        return K.reshape(x, (-1, steps, each))

    def get_config(self):
        return dict(super().get_config(), heads=self.heads)


def transformer():
    words = Input((STEPS,), name="words")
    x = Positions()(Embedding(WORDS, WIDTH)(words))
    for _ in range(2):
        x = LayerNormalization()(Add()([x, Dropout(0.1)(Attention(HEADS)(x))]))
        inner = TimeDistributed(Dense(WIDTH))(TimeDistributed(Dense(32, activation=gelu))(x))
        x = LayerNormalization()(Add()([x, inner]))
    return Model(words, Dense(3, activation="softmax", name="kinds")(GlobalAveragePooling1D()(x)))


# Others -----------------------------------------------------------------------------------------


def lstm():
    words = Input((None,), name="words")
    x = LSTM(8, return_sequences=True, dropout=0.2, recurrent_dropout=0.2)(
        Embedding(WORDS, 8, mask_zero=True)(words)
    )
    return Model(words, Dense(4, activation="softmax")(GRU(6)(x)))


def twice():
    """Nothing but the model says that its inputs have as many samples; some of it is random."""
    inputs, dense = [Input((4,)), Input((4,))], Dense(2)
    first, second = map(dense, inputs)
    return Model(inputs, [Dropout(0.5)(first, training=True), second])


def sparse():
    given = Input((4,), sparse=True, name="given")
    return Model(given, Dense(2)(given))


def with_lambda():
    """The network `by_topology` of tests/compat/keras2/files."""
    layers = [Dense(3, input_shape=(3,)), Lambda(lambda x: 2.0 * x), BatchNormalization()]
    return Sequential(layers)


def named():
    """The network `by_name` of tests/compat/keras2/files."""
    sizes = {"entry": {"units": 4, "activation": "tanh", "input_shape": (3,)}}
    sizes |= {"middle": {"units": 3}, "exit": {"units": 2}}
    return Sequential([Dense(name=name, **options) for name, options in sizes.items()])


def large(name, size):
    """A model of keras.applications for smaller pictures."""
    return lambda: getattr(known, name)(weights=None, input_shape=(size, size, 3), classes=10)


MODELS = {
    "lstm": lstm,
    "transformer": transformer,
    "twice": twice,
    "sparse": sparse,
    "vgg16": large("VGG16", 32),
    "resnet50": large("ResNet50", 64),
    "mobilenet": large("MobileNet", 64),
    "inception_v3": large("InceptionV3", 75),
}
CONFIGURATIONS = {"by_topology": with_lambda, "by_name": named}


def filled(model):
    """The model with weights by which predictions depend on inputs, as those of trained ones do."""
    draw = np.random.RandomState(0)
    weights = [
        1.4 * w if w.ndim > 1 else w + draw.uniform(0, 0.1, w.shape) for w in model.get_weights()
    ]
    model.set_weights(weights)
    norms = [layer for layer in model.layers if isinstance(layer, BatchNormalization)]
    if norms:
        found = [f(x.input, (0, 1, 2)) for x in norms for f in (K.mean, K.var)]
        pictures = draw.uniform(-2, 2, (4, *model.input_shape[1:]))
        values = K.function([model.input, K.learning_phase()], found)([pictures, 1])
        for norm, mean, variance in zip(norms, values[::2], values[1::2], strict=True):
            variance += np.mean(variance)  # no channel is next to constant
            norm.set_weights([*norm.get_weights()[:-2], mean, variance])
        last = model.get_weights()
        model.set_weights([*last[:-2], 0.2 * last[-2], last[-1]])  # else one class takes all
    return model


def main(folder, *names):
    for name in names:
        K.clear_session()
        if name in CONFIGURATIONS:
            (folder / f"{name}.json").write_text(CONFIGURATIONS[name]().to_json())
        else:
            filled(MODELS[name]()).save(str(folder / f"{name}.h5"))


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
