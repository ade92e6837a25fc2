"""What the page on leaving says: weights of the hosted Keras go on in Keras 3."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest
from _support.common import SOURCE
from _support.originals import needs_original

from kameleon.config import installed

pytestmark = [needs_original, pytest.mark.slow]

# The same layers in both programs: a convolutional network, a recurrent one.
LAYERS = """
import numpy as np
def networks(Input, layers, Model):
    x = Input((8, 8, 1))
    y = layers.Conv2D(4, 3, activation='relu', padding='same')(x)
    y = layers.MaxPooling2D()(layers.BatchNormalization()(y))
    y = layers.Dense(3, activation='softmax')(layers.Dropout(0.5)(layers.Flatten()(y)))
    yield 'convolutional', Model(x, y), np.linspace(-1, 1, 256).reshape(4, 8, 8, 1)
    x = Input((5,))
    y = layers.LSTM(6, recurrent_activation='sigmoid')(layers.Embedding(10, 4)(x))
    yield 'recurrent', Model(x, layers.Dense(2)(y)), np.arange(20).reshape(4, 5) % 10
"""
HOSTED = """
from keras import Input, Model, layers
from kameleon import backend as K
import kameleon
for name, model, x in networks(Input, layers, Model):
    model.compile('sgd', 'mse')
    model.fit(x, np.ones((4, model.output_shape[-1])), verbose=0)
    y = model.predict(x)
    model.save_weights(name + '.h5')
    np.savez(name + '.npz', *model.get_weights(), x=x, y=y)
    # The page on deployment: a model is a function, too.
    K.function(model.inputs, model.outputs).save(name + '.safetensors')
"""
NEXT = """
from keras import Input, Model, layers, __version__
assert int(__version__.split('.')[0]) >= 3
import kameleon
for name, model, x in networks(Input, layers, Model):
    kept = np.load(name + '.npz')
    model.load_weights(name + '.h5')
    np.testing.assert_allclose(model.predict(x, verbose=0), kept['y'], atol=1e-5)
    model.set_weights([0 * w for w in model.get_weights()])
    assert not np.allclose(model.predict(x, verbose=0), kept['y'], atol=1e-5)
    model.set_weights([kept[f'arr_{i}'] for i in range(len(model.weights))])
    np.testing.assert_allclose(model.predict(x, verbose=0), kept['y'], atol=1e-5)
    [y] = kameleon.load(name + '.safetensors')([x])
    np.testing.assert_allclose(y, kept['y'], atol=1e-5)
"""


def has_keras_3() -> bool:
    try:
        return int(metadata.version("keras").split(".")[0]) >= 3
    except metadata.PackageNotFoundError:
        return False


BACKENDS = [name for name in ("jax", "torch", "tensorflow") if installed(name)]


@pytest.mark.skipif(
    not (has_keras_3() and BACKENDS), reason="needs Keras 3 and a library that it runs on"
)
def test_weights_of_the_hosted_keras_go_on_in_keras_3(tmp_path: Path) -> None:
    (tmp_path / "hosted.py").write_text(LAYERS + HOSTED, "utf-8")
    (tmp_path / "next.py").write_text(LAYERS + NEXT, "utf-8")
    settings = os.environ | {"PYTHONPATH": str(SOURCE), "KERAS_HOME": str(tmp_path)}
    for command, backend in (
        (["-m", "kameleon", "run", "--engine", "numpy", "hosted.py"], "numpy"),
        (["next.py"], BACKENDS[0]),
    ):
        done = subprocess.run(
            [sys.executable, *command],
            cwd=tmp_path,
            env=settings | {"KERAS_BACKEND": backend, "KAMELEON_ENGINE": "numpy"},
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
