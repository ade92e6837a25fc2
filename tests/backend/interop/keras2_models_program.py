"""Models of the original Keras, with what they predict: writes them to the folder that is named.

python keras2_models_program.py FOLDER
"""

# ruff: noqa: E501, F403, F405
import json
import sys
from pathlib import Path

import numpy as np
from keras.layers import *
from keras.models import Model, Sequential

HARD = "hard_sigmoid"
IMAGE, SERIES = (8, 8, 3), (6, 4)


def stack(shape, *layers):
    """Layers one after the other."""
    x = Input(shape)
    y = x
    for layer in layers:
        y = layer(y)
    return Model(x, y)


def shared():
    """A layer that is called twice, a nested model with batch normalization, and merges."""
    a, b = Input((5,), name="a"), Input((5,), name="b")
    inner = Sequential([Dense(4, input_shape=(5,)), BatchNormalization(), Dense(4)], name="inner")
    dense = Dense(4, activation=HARD)
    left, right = inner(a), inner(b)
    parts = [Add()([left, right]), Multiply()([dense(a), dense(b)]), Subtract()([left, right])]
    parts += [Average()([left, right]), Maximum()([left, right]), Minimum()([left, right])]
    return Model([a, b], [Concatenate()(parts), Dot(axes=1, normalize=True)([left, right])])


def with_states():
    """States of a network that begin another one, over series that are masked."""
    x = Input(SERIES)
    y, h, c = LSTM(3, return_sequences=True, return_state=True)(Masking()(x))
    return Model(x, LSTM(3)(y, initial_state=[h, c]))


MODELS = {
    "dense": lambda: stack(
        (5,),
        Dense(8, activation="selu"), BatchNormalization(), Dropout(0.5), Dense(6, activation=HARD),
        LeakyReLU(0.2), PReLU(), ELU(0.5), ThresholdedReLU(0.1), Activation(HARD), GaussianNoise(1.0),
        Dense(3, activation="softmax"),
    ),
    "sequential": lambda: Sequential(
        [Dense(4, input_shape=(5,), activation="tanh"), Activation(HARD), ReLU(0.6), Softmax()]
    ),
    "images": lambda: stack(
        IMAGE,
        Conv2D(4, 3, padding="same", activation="relu"), BatchNormalization(), MaxPooling2D(padding="same"),
        ZeroPadding2D(1), SeparableConv2D(6, 3, activation=HARD), DepthwiseConv2D(2, activation=HARD),
        Conv2DTranspose(5, 3, strides=2, padding="same"), UpSampling2D(2), Cropping2D(1),
        AveragePooling2D(3, strides=1, padding="same"), AveragePooling2D(2, strides=2, padding="same"), SpatialDropout2D(0.1), Permute((2, 1, 3)),
        Conv2D(2, 2, dilation_rate=2), Flatten(), Reshape((2, -1)), GlobalMaxPooling1D(),
    ),
    "series": lambda: stack(
        SERIES,
        Conv1D(5, 3, padding="causal", activation=HARD), LSTM(6, return_sequences=True),
        GRU(5, return_sequences=True), GRU(4, return_sequences=True, reset_after=True),
        Bidirectional(LSTM(3, return_sequences=True)), TimeDistributed(Dense(4, activation=HARD)),
        SimpleRNN(4, activation=HARD, return_sequences=True, go_backwards=True),
        MaxPooling1D(2), Bidirectional(GRU(2, recurrent_activation="sigmoid"), merge_mode="sum"),
        RepeatVector(2), GlobalAveragePooling1D(),
    ),
    "masks": lambda: stack(
        (6,),
        Embedding(9, 4, mask_zero=True), LSTM(4, return_sequences=True), Bidirectional(GRU(3)), Dense(2),
    ),
    "masking": lambda: stack(SERIES, Masking(), LSTM(4, return_sequences=True), GRU(3)),
    "volumes": lambda: stack(
        (4, 4, 4, 2), Conv3D(3, 2), AveragePooling3D(2), GlobalAveragePooling3D(), Dense(2)
    ),
    "convlstm": lambda: stack((3, 6, 6, 2), ConvLSTM2D(3, 3, padding="same"), GlobalAveragePooling2D()),
    "shared": shared,
    "with_states": with_states,
    "lambda": lambda: stack((5,), Dense(3), Lambda(lambda x: x * 2.0)),
    "local": lambda: stack(SERIES, LocallyConnected1D(2, 3)),
}  # fmt: skip


def inputs_of(model, random):
    """Inputs for three samples."""
    for x in model.inputs:
        shape = (3, *(int(d) for d in x.shape[1:]))
        if any(isinstance(layer, Embedding) for layer in model.layers):
            yield random.integers(0, 9, shape).astype("float32")
        else:
            found = random.normal(size=shape).astype("float32")
            found[:, -2:] *= any(isinstance(layer, Masking) for layer in model.layers) == 0
            yield found


def write(folder):
    """Write a file for each model."""
    for name, make in MODELS.items():
        random = np.random.default_rng(len(name))
        model = make()
        weights = [random.normal(size=w.shape) * 0.5 for w in model.get_weights()]
        weights = [
            np.abs(w).astype("float32") if w.ndim == 1 else w.astype("float32") for w in weights
        ]
        model.set_weights(weights)
        given = list(inputs_of(model, random))
        found = model.predict(given)
        found = found if isinstance(found, list) else [found]
        arrays = {"weight": weights, "input": given, "output": found}
        named = {f"{kind}{i}": x for kind, each in arrays.items() for i, x in enumerate(each)}
        np.savez(folder / f"{name}.npz", config=np.array(model.to_json()), **named)
        assert json.loads(model.to_json())


if __name__ == "__main__":
    write(Path(sys.argv[1]))
