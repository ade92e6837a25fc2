"""The networks that go through files: one table, read by every Keras that takes part.

This file runs on Python 3.6 with the original Keras as well as on today's Python with the hosted
one, so it keeps to what Python 3.6 knows. All arrays come from seeds by NumPy's `RandomState`,
whose numbers are the same in every version.

Convolutions have kernels that are no mirror images of themselves, and paddings on which
TensorFlow and Theano agree ('same' with kernels of even size isn't one of them). No weight has a
gradient of rounding errors alone, as a bias before a normalization has: Adam, which divides by the
gradient's size, would make large numbers of these, other ones on each backend.
"""

from functools import partial
from typing import Callable, NamedTuple  # noqa: UP035 - Python 3.6 has no other

from keras import backend as K
from keras import layers, models, optimizers, regularizers


class Network(NamedTuple):
    """A row of the table.

    name: also the name of its files.
    build: returns the network; compiled, unless its weights alone are stored.
    inputs: for each input its shape and, where it takes integers, the number they stay below.
    stores: what the files hold, a key of `STORES` in exchange.py.
    calls: how often it predicts; a stateful network answers differently each time.
    theano: what's known of Theano's files: "", the original on Theano, which takes a while to
        compile, made none of it; "same"; or "turned", Keras turns the kernels as it loads them.
    statistics: how much the statistics of normalizations may differ after the step.
    """

    name: str
    build: Callable[[], models.Model]
    inputs: list
    stores: str = "model"
    calls: int = 1
    theano: str = ""
    statistics: float = 1e-5


# On TensorFlow the original corrects a variance of images twice (the fused kernel has corrected
# it already): with n numbers the moving variance moves on by n / (n - 1) of what's right.
CORRECTED_TWICE = 1e-3


class Scale(layers.Layer):
    """A layer of the user's: multiplies by one learned factor per feature."""

    def __init__(self, start: float = 1.0, **kwargs: object) -> None:
        """Take the factors' first value."""
        super().__init__(**kwargs)
        self.start = start

    def build(self, input_shape: tuple) -> None:
        """Add the factors, and a count of features that isn't trained."""
        self.factors = self.add_weight(
            name="factors", shape=(input_shape[-1],), initializer="ones", trainable=True
        )
        self.count = self.add_weight(name="count", shape=(), initializer="ones", trainable=False)
        super().build(input_shape)

    def call(self, inputs: object) -> object:
        """Multiply."""
        return inputs * self.factors * self.start / self.count

    def get_config(self) -> dict:
        """Return what `from_config` takes."""
        return dict(super().get_config(), start=self.start)


def bent(x: object) -> object:
    """An activation of the user's."""
    return x + 0.5 * K.sin(x)


def doubled(x: object) -> object:
    """What a Lambda layer of the user's computes."""
    return 2.0 * x


def fourth_power(y_true: object, y_pred: object) -> object:
    """A loss of the user's."""
    return K.mean(K.square(K.square(y_true - y_pred)), axis=-1)


def largest_error(y_true: object, y_pred: object) -> object:
    """A metric of the user's."""
    return K.max(K.abs(y_true - y_pred))


CUSTOM = {function.__name__: function for function in (bent, fourth_power, largest_error)}
CUSTOM["Scale"] = Scale


def compiled(
    model: models.Model, loss: object = "mse", optimizer: object = None, **settings: object
) -> models.Model:
    """Compile with Adam, or the optimizer given, and return the model."""
    model.compile(optimizer or optimizers.Adam(lr=0.02), loss, **settings)
    return model


def in_a_row(*parts: layers.Layer) -> models.Model:
    """Return a compiled network of the layers in a row."""
    return compiled(models.Sequential(list(parts)))


# Dense


def mlp() -> models.Model:
    """Two layers that classify; regularized; the softmax has a layer of its own."""
    dense = layers.Dense(5, activation="tanh", input_shape=(4,))
    last = layers.Dense(3, kernel_regularizer=regularizers.l2(0.01))
    model = models.Sequential([dense, layers.Dropout(0.0), last, layers.Activation("softmax")])
    return compiled(model, "categorical_crossentropy", metrics=["accuracy"])


OPTIMIZERS = {
    "sgd": lambda: optimizers.SGD(lr=0.1, momentum=0.9, nesterov=True),
    "rmsprop": lambda: optimizers.RMSprop(lr=0.02, rho=0.8),
    "adagrad": lambda: optimizers.Adagrad(lr=0.05),
    "adadelta": lambda: optimizers.Adadelta(lr=0.8),
    "amsgrad": lambda: optimizers.Adam(lr=0.02, amsgrad=True, clipnorm=1.0),
    "adamax": lambda: optimizers.Adamax(lr=0.02),
    "nadam": lambda: optimizers.Nadam(lr=0.02),
}


def trained_by(name: str) -> models.Model:
    """One layer, trained by the optimizer."""
    model = models.Sequential([layers.Dense(2, activation="tanh", input_shape=(3,))])
    return compiled(model, optimizer=OPTIMIZERS[name]())


# Convolutions


def channel_axis(data_format: str) -> int:
    """Return the axis that BatchNormalization must be told."""
    return 1 if data_format == "channels_first" else -1


def channels(data_format: str, *sizes: int) -> tuple:
    """Return the shape of an input with two channels."""
    return (2, *sizes) if data_format == "channels_first" else (*sizes, 2)


def conv2d(data_format: str) -> models.Model:
    """Convolution, normalization, pooling and transposed convolution, dilation and strides."""
    return in_a_row(
        layers.Conv2D(
            3,
            (3, 2),
            dilation_rate=(2, 1),
            use_bias=False,
            data_format=data_format,
            input_shape=channels(data_format, 8, 6),
        ),
        layers.BatchNormalization(axis=channel_axis(data_format)),
        layers.AveragePooling2D((1, 2), data_format=data_format),
        layers.Conv2DTranspose(2, (2, 3), strides=(1, 2), data_format=data_format),
        layers.Flatten(),
        layers.Dense(2),
    )


def separable(data_format: str) -> models.Model:
    """Separable and depthwise convolutions: their kernels aren't turned for Theano."""
    return in_a_row(
        layers.SeparableConv2D(
            2,
            (2, 3),
            depth_multiplier=2,
            data_format=data_format,
            input_shape=channels(data_format, 5, 6),
        ),
        layers.DepthwiseConv2D((3, 2), data_format=data_format),
        layers.GlobalAveragePooling2D(data_format=data_format),
    )


def conv1d(data_format: str) -> models.Model:
    """Dilated and separable convolution of sequences."""
    return in_a_row(
        layers.Conv1D(
            3,
            3,
            dilation_rate=2,
            use_bias=False,
            padding="causal" if data_format == "channels_last" else "valid",
            data_format=data_format,
            input_shape=channels(data_format, 9),
        ),
        layers.BatchNormalization(axis=channel_axis(data_format)),
        layers.SeparableConv1D(2, 3, data_format=data_format),
        layers.GlobalAveragePooling1D(data_format=data_format),
    )


def conv3d(data_format: str) -> models.Model:
    """Convolution and transposed convolution of volumes."""
    return in_a_row(
        layers.Conv3D(
            2,
            (2, 3, 2),
            use_bias=False,
            data_format=data_format,
            input_shape=channels(data_format, 4, 5, 4),
        ),
        layers.BatchNormalization(axis=channel_axis(data_format)),
        layers.MaxPooling3D((1, 1, 2), data_format=data_format),
        layers.Conv3DTranspose(1, (2, 1, 3), data_format=data_format),
        layers.GlobalAveragePooling3D(data_format=data_format),
    )


def locally_connected() -> models.Model:
    """Layers whose every position has a kernel of its own."""
    return in_a_row(
        layers.LocallyConnected2D(2, (2, 3), input_shape=(4, 4, 2)),
        layers.Reshape((6, 2)),
        layers.LocallyConnected1D(1, 3),
        layers.Flatten(),
    )


# Sequences


def convlstm() -> models.Model:
    """A recurrent layer whose steps are convolutions."""
    return in_a_row(
        layers.ConvLSTM2D(2, (3, 3), data_format="channels_last", input_shape=(3, 5, 4, 2)),
        layers.GlobalAveragePooling2D(data_format="channels_last"),
    )


def recurrent() -> models.Model:
    """One layer of each kind, the GRU both ways of resetting."""
    return in_a_row(
        layers.LSTM(3, return_sequences=True, input_shape=(4, 2)),
        layers.GRU(2, return_sequences=True, reset_after=False),
        layers.GRU(2, return_sequences=True, reset_after=True),
        layers.SimpleRNN(2),
    )


def bidirectional() -> models.Model:
    """Both directions, concatenated and added; cells in a stack."""
    cells = layers.StackedRNNCells([layers.GRUCell(2), layers.LSTMCell(2)])
    return in_a_row(
        layers.Bidirectional(layers.LSTM(2, return_sequences=True), input_shape=(4, 2)),
        layers.Bidirectional(layers.GRU(2, return_sequences=True), merge_mode="sum"),
        layers.RNN(cells),
    )


def stateful() -> models.Model:
    """States that a batch hands on to the next."""
    return in_a_row(
        layers.LSTM(3, return_sequences=True, stateful=True, batch_input_shape=(5, 4, 2)),
        layers.GRU(2, stateful=True),
    )


def masked() -> models.Model:
    """Words, of which the number 0 is none; a layer for every step."""
    return in_a_row(
        layers.Embedding(7, 3, mask_zero=True, input_length=5),
        layers.LSTM(3, return_sequences=True),
        layers.TimeDistributed(layers.Dense(2, activation="tanh")),
        layers.GRU(2),
    )


# Graphs


def graph() -> models.Model:
    """Two inputs through one shared layer, merged in several ways, to two outputs."""
    left, right = layers.Input((4,), name="left"), layers.Input((4,), name="right")
    shared = layers.Dense(3, activation="tanh", name="shared")
    a, b = shared(left), shared(right)
    merged = layers.concatenate(
        [layers.add([a, b]), layers.multiply([a, b]), layers.dot([a, b], 1)]
    )
    merged = layers.PReLU(name="bent_below")(merged)
    first = layers.Dense(2, name="first")(merged)
    second = layers.Dense(1, activation="sigmoid", name="second")(layers.maximum([a, b]))
    model = models.Model([left, right], [first, second])
    losses = {"first": "mse", "second": "binary_crossentropy"}
    return compiled(model, losses, loss_weights={"first": 1.0, "second": 0.5})


def nested() -> models.Model:
    """A network in a network in a network; some of it isn't trained."""
    inner = models.Sequential(name="inner")
    inner.add(layers.Dense(3, activation="tanh", use_bias=False, input_shape=(4,)))
    inner.add(layers.BatchNormalization())
    entry = layers.Input((4,))
    frozen = layers.Dense(4, trainable=False, name="frozen")
    middle = models.Model(entry, layers.Dense(3)(inner(frozen(entry))), name="middle")
    outside = layers.Input((4,))
    both = layers.multiply([middle(outside), layers.Dense(3, activation="tanh")(outside)])
    return compiled(models.Model(outside, layers.Dense(2)(both)))


def nested_convolutions() -> models.Model:
    """Kernels inside a network that is wrapped: they are turned there, too."""
    inner = models.Sequential(name="inner")
    inner.add(layers.Conv2D(2, (2, 3), use_bias=False, input_shape=(4, 4, 1)))
    inner.add(layers.BatchNormalization())
    inner.add(layers.GlobalAveragePooling2D())
    return in_a_row(layers.TimeDistributed(inner, input_shape=(2, 4, 4, 1)), layers.SimpleRNN(2))


def custom() -> models.Model:
    """Classes and functions of the user's in every place that takes one."""
    model = models.Sequential()
    model.add(layers.Dense(3, activation=bent, input_shape=(4,)))
    model.add(Scale(start=0.5))
    model.add(layers.Dense(2))
    return compiled(model, fourth_power, metrics=[largest_error])


# Weights alone


def with_lambda() -> models.Model:
    """A network with a Lambda layer.

    Only the weights of such a network go from one Python to another: its configuration holds the
    function as byte code.
    """
    model = models.Sequential([layers.Dense(3, input_shape=(3,)), layers.Lambda(doubled)])
    model.add(layers.BatchNormalization())
    return model


def named() -> models.Model:
    """A network whose layers have names of their own."""
    model = models.Sequential()
    model.add(layers.Dense(4, activation="tanh", input_shape=(3,), name="entry"))
    model.add(layers.Dense(3, name="middle"))
    model.add(layers.Dense(2, name="exit"))
    return model


def takes_some() -> models.Model:
    """A network that takes weights of `named` by name: `entry` and `exit`; `middle` doesn't fit."""
    entry = layers.Input((3,))
    inside = layers.Dense(4, activation="tanh", name="entry")(entry)
    inside = layers.Dense(3, name="new")(inside)
    return models.Model(
        entry,
        layers.Dense(2, name="exit")(
            layers.Dense(3, name="middle")(layers.Dense(3, name="other")(inside))
        ),
    )


FORMATS = ("channels_last", "channels_first")


def each_format(build: Callable, *sizes: int, **more: object) -> list:
    """Return rows for both orders of axes."""
    return [
        Network(
            f"{build.__name__}_{data_format}",
            partial(build, data_format),
            [(channels(data_format, *sizes), None)],
            **more,
        )
        for data_format in FORMATS
    ]


NETWORKS = [
    Network("mlp", mlp, [((4,), None)], theano="same"),
    *[
        Network(f"trained_by_{name}", partial(trained_by, name), [((3,), None)])
        for name in OPTIMIZERS
    ],
    *each_format(conv2d, 8, 6, theano="turned", statistics=CORRECTED_TWICE),
    *each_format(separable, 5, 6, theano="same"),
    *each_format(conv1d, 9, theano="turned"),
    *each_format(conv3d, 4, 5, 4, theano="turned"),
    Network("locally_connected", locally_connected, [((4, 4, 2), None)]),
    Network("convlstm", convlstm, [((3, 5, 4, 2), None)], theano="turned"),
    Network("recurrent", recurrent, [((4, 2), None)], theano="same"),
    Network("bidirectional", bidirectional, [((4, 2), None)], stores="texts"),
    Network("stateful", stateful, [((4, 2), None)], calls=2),
    Network("masked", masked, [((5,), 7)]),
    Network("graph", graph, [((4,), None), ((4,), None)], stores="texts"),
    Network("nested", nested, [((4,), None)]),
    Network(
        "nested_convolutions",
        nested_convolutions,
        [((2, 4, 4, 1), None)],
        theano="turned",
        statistics=CORRECTED_TWICE,
    ),
    Network("custom", custom, [((4,), None)]),
    Network("by_topology", with_lambda, [((3,), None)], stores="weights"),
    Network("by_name", named, [((3,), None)], stores="names"),
]
