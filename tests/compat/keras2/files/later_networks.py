"""Writes networks of a later Keras 2: configurations in HDF5 and in JSON, and what they predict.

python later_networks.py FOLDER [NAME ...]    # with tf_keras, TensorFlow's Keras 2
"""

from __future__ import annotations

import gzip
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import numpy as np
import tf_keras as keras
from tf_keras import layers as L

DRAWN = np.random.RandomState(0)


def _normal(*shape: int) -> Any:
    return DRAWN.normal(size=shape).astype("float32")


def mlp() -> Any:
    """Constraints, regularizers and initializers."""
    hidden = L.Dense(
        5, "relu", kernel_regularizer="l2", kernel_constraint=keras.constraints.MaxNorm(2.0)
    )
    bias = keras.initializers.Constant(0.1)
    last = L.Dense(3, "softmax", kernel_initializer="he_normal", bias_initializer=bias)
    rest = [L.Dropout(0.3), L.BatchNormalization(), L.LeakyReLU(0.1), last]
    return keras.Sequential([L.InputLayer((4,)), hidden, *rest]), [_normal(3, 4)]


def convolutions() -> Any:
    """Convolutions, pools and images."""
    x = given = L.Input((12, 12, 3))
    x = L.Conv2D(4, 3, padding="same", dilation_rate=2)(x)
    x = L.ReLU(6.0)(L.BatchNormalization()(x))
    x = L.MaxPooling2D()(L.DepthwiseConv2D(3)(x))
    x = L.add([L.Conv2D(4, 1)(x), L.SeparableConv2D(4, 3, padding="same")(x)])
    x = L.UpSampling2D(2)(L.Conv2DTranspose(3, 3, strides=2, padding="same")(x))
    x = L.PReLU(shared_axes=[1, 2])(L.SpatialDropout2D(0.2)(L.ZeroPadding2D(1)(x)))
    x = L.Dense(2)(L.GlobalAveragePooling2D()(x))
    return keras.Model(given, x), [_normal(2, 12, 12, 3)]


def recurrent() -> Any:
    """Cells of all kinds, with a mask."""
    x = given = L.Input((7,), dtype="int32")
    x = L.Bidirectional(L.LSTM(5, return_sequences=True))(L.Embedding(20, 6, mask_zero=True)(x))
    x = L.GRU(4, return_sequences=True)(x)
    x = L.GRU(4, reset_after=False, return_sequences=True)(x)
    x = L.SimpleRNN(4)(L.TimeDistributed(L.Dense(3))(x))
    return keras.Model(given, x), [DRAWN.randint(0, 20, (3, 7)).astype("int32")]


def nested() -> Any:
    """Models as layers, shared ones, and two inputs."""
    a, b = L.Input((4,), name="a"), L.Input((4,), name="b")
    shared = keras.Sequential([L.Dense(4, "tanh")], name="shared")
    inner = keras.Model(a, L.Dense(3)(a), name="inner")
    x = L.Concatenate()([shared(a), shared(b), L.Dot(1)([a, b]), inner(b)])
    return keras.Model([a, b], x), [_normal(3, 4), _normal(3, 4)]


def sequences() -> Any:
    """Layers along a line."""
    rows: list[Any] = [
        L.Conv1D(4, 2, padding="causal"), L.Activation("elu"), L.ELU(0.5), L.ThresholdedReLU(0.2),
        L.Softmax(), L.GaussianNoise(0.1), L.AlphaDropout(0.1), L.Permute((2, 1)),
        L.Cropping1D(1), L.AveragePooling1D(), L.Flatten(), L.RepeatVector(3),
        L.Reshape((3, -1)), L.GlobalMaxPooling1D(), L.ActivityRegularization(0.1),
    ]  # fmt: skip
    return keras.Sequential([L.Input((6, 4)), *rows]), [_normal(2, 6, 4)]


def pictures_over_time() -> Any:
    """A recurrent convolution; the model is compiled."""
    model = keras.Sequential([L.Input((3, 8, 8, 2)), L.ConvLSTM2D(3, 3, padding="same")])
    model.compile("adam", "mse")
    return model, [_normal(2, 3, 8, 8, 2)]


NETWORKS: tuple[Callable[[], Any], ...] = (
    mlp, convolutions, recurrent, nested, sequences, pictures_over_time,
)  # fmt: skip


def main() -> None:
    """Write the files."""
    folder, *names = sys.argv[1:]
    keras.utils.set_random_seed(1)
    for make in NETWORKS:
        if names and make.__name__ not in names:
            continue
        model, given = make()
        path = Path(folder, make.__name__)
        with tempfile.TemporaryDirectory() as own:
            model.save(Path(own, "model.h5"))
            path.with_suffix(".h5.gz").write_bytes(
                gzip.compress(Path(own, "model.h5").read_bytes(), mtime=0)
            )
        path.with_suffix(".json").write_text(model.to_json())
        arrays = {f"given{i}": x for i, x in enumerate(given)}
        np.savez(path.with_suffix(".npz"), **arrays, predicted=model.predict(given, verbose=0))


if __name__ == "__main__":
    main()
