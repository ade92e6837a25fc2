"""Loaders, datasets and frames as the hosted Keras takes them, in a process of its own."""

from __future__ import annotations

import functools
import json
import tempfile
from importlib.util import find_spec
from pathlib import Path

import pytest
from _support.originals import needs_original, needs_tensorflows_files, run_hosted

from .pipelines_program import CASES

pytestmark = needs_original

PROGRAM = Path(__file__).with_name("pipelines_program.py")


@functools.cache
def outcome(engine: str) -> dict[str, str]:
    """How all cases went on the engine."""
    with tempfile.TemporaryDirectory() as home:
        done = run_hosted([str(PROGRAM)], Path(home), {"KAMELEON_ENGINE": engine})
    assert done.returncode == 0, done.stderr
    found: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.slow
@pytest.mark.together
@pytest.mark.dealt(2, ("numpy", "tensorflow", "jax", "torch"))
@pytest.mark.parametrize("name", CASES)
def test_cases(engine_name: str, name: str) -> None:
    library, _ = CASES[name]
    if find_spec(library) is None:
        pytest.skip(f"needs {library}: pip install {library}")
    failure = outcome(engine_name)[name]
    assert not failure, failure


OF_TENSORFLOW_1 = """
import keras
import numpy as np
import tensorflow as tf
from keras.layers import Dense
from keras.models import Sequential

x = np.random.RandomState(0).rand(10, 3).astype("float32")
dataset = tf.data.Dataset.from_tensor_slices((x, x[:, :1])).batch(4)


def generator():
    while True:
        for i in (0, 4, 8):
            yield x[i : i + 4], x[i : i + 4, :1]


def weights(train):
    model = Sequential([Dense(1, input_shape=(3,), kernel_initializer="ones")])
    model.compile("sgd", "mse")
    history = train(model).history
    assert model.predict(dataset).shape == (10, 1)
    return [*model.get_weights(), history["loss"], [model.evaluate(dataset, verbose=0)]]


options = {"epochs": 2, "verbose": 0}
found = weights(lambda model: model.fit(dataset, **options))
wanted = weights(lambda model: model.fit_generator(generator(), 3, workers=0, **options))
for a, b in zip(found, wanted):
    np.testing.assert_array_equal(a, b)
"""


@needs_tensorflows_files
@pytest.mark.slow
@pytest.mark.parametrize("below", ["kameleon", "tensorflow"])
def test_datasets_of_tensorflow_1(below: str, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(OF_TENSORFLOW_1, "utf-8")
    arguments = ["-m", "kameleon", "run", "--keras-on", below, "program.py"]
    done = run_hosted(arguments, tmp_path, {"KAMELEON_KERAS_ON": ""})
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
