"""What models of Keras 2.2 had: metrics that programs append to a model's lists."""

from __future__ import annotations

from pathlib import Path

from _support.originals import assert_runs, needs_original

PROGRAM = """
import kameleon.as_keras
import numpy as np
from keras import backend as K, layers, models

x = layers.Input((3,))
hidden = layers.Dense(2, kernel_initializer="ones", name="hidden")(x)
model = models.Model(x, layers.Dense(1, kernel_initializer="ones", name="out")(hidden))
model.compile("sgd", "mse", metrics=["mae"])
for name in ("hidden", "out"):
    model.metrics_names.append(name)
    assert name in model.metrics_names, model.metrics_names
    model.metrics_tensors.append(K.mean(model.get_layer(name).output, keepdims=True))
model.metrics_tensors += [K.sum(hidden)]
model.metrics_names.append("total")
assert model.metrics_names == ["loss", "mae", "hidden", "out", "total"], model.metrics_names
assert len(model.metrics_tensors) == 4, model.metrics_tensors  # K.function's outputs, of old

data = np.arange(12.0).reshape(4, 3)
sums = data.sum(axis=1)
found = model.train_on_batch(data, np.zeros((4, 1)))
expected = [4 * (sums**2).mean(), 2 * sums.mean(), sums.mean(), 2 * sums.mean(), 2 * sums.sum()]
np.testing.assert_allclose(found, expected, rtol=1e-5)

K.set_value(model.optimizer.lr, 0.0)
before = model.predict(data).mean()
history = model.fit(data, np.zeros((4, 1)), batch_size=2, epochs=2, verbose=0).history
np.testing.assert_allclose(history["out"], [before] * 2, rtol=1e-5)

model.compile("sgd", "mse")
assert model.metrics_names == ["loss", "hidden", "out", "total"], model.metrics_names
"""


@needs_original
def test_metrics_can_be_appended(tmp_path: Path) -> None:
    assert_runs(PROGRAM, tmp_path)
