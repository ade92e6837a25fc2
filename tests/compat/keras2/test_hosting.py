"""The original Keras on each engine, in a process of its own."""

from __future__ import annotations

import functools
import json
import subprocess
import tempfile
from pathlib import Path

import pytest
from _support.originals import needs_original, run_hosted

from kameleon.config import installed

from .hosted import PROGRAMS

# An engine that is known, and isn't there.
ABSENT = {"KAMELEON_ENGINE": "cntk", "KAMELEON_CNTK": "no/such/folder"}

pytestmark = needs_original

HOSTED = Path(__file__).with_name("hosted.py")


@functools.cache
def run_all(engine: str) -> subprocess.CompletedProcess[str]:
    """Run all programs on the engine."""
    with tempfile.TemporaryDirectory() as home:
        return run_hosted([str(HOSTED), engine], Path(home), {"KAMELEON_ENGINE": engine})


def outcome(engine: str) -> dict[str, str]:
    """How all programs went on the engine."""
    done = run_all(engine)
    assert done.returncode == 0, done.stderr
    found: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.slow
@pytest.mark.together
@pytest.mark.dealt(3)
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(engine_name: str, name: str) -> None:
    failure = outcome(engine_name)[name]
    assert not failure, failure


@pytest.mark.nightly
def test_fit_is_atomic_under_many_interrupts(engine_name: str, tmp_path: Path) -> None:
    settings = {"KAMELEON_ENGINE": engine_name, "STRIKES": "800"}
    name = "fit_is_atomic_under_interrupts"
    done = run_hosted([str(HOSTED), engine_name, name], tmp_path, settings)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == {name: ""}


# How it begins ----------------------------------------------------------------------------------

PATH = """
import sys
from kameleon.compat.keras2 import location
sys.path[:0] = filter(None, [location.find()])
"""
TRIES = """
import numpy as np
from keras import backend as K
from keras.callbacks import ModelCheckpoint
from keras.layers import Dense, Lambda
from keras.models import Sequential
K.set_floatx("float64")
model = Sequential([Lambda(lambda x: K.concatenate([x, x]), input_shape=(2,)), Dense(1)])
print(model.predict(np.ones((3, 2))).dtype, model.layers[0].output_shape, K._BACKEND)
"""
GOOD = "float64 (None, 4) kameleon.backend"


@pytest.mark.parametrize(
    "first",
    [
        "import keras",
        "import kameleon",
        "import kameleon.backend",
        "from kameleon.compat import keras2; keras2.begin(); keras2.begin()",
        "import h5py, numpy; import kameleon.compat.keras2.own_layers",
    ],
)
def test_it_begins_in_any_order(first: str, tmp_path: Path) -> None:
    done = run_hosted(["-c", PATH + first + TRIES], tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == GOOD
    said = ["Using NumPy backend.", "Using kameleon.backend backend."]
    assert sorted(done.stderr.splitlines()) == sorted(said)


@pytest.mark.slow
@pytest.mark.skipif(not installed("tensorflow"), reason="needs TensorFlow: pip install tensorflow")
@pytest.mark.parametrize("engine", ["numpy", "tensorflow"])
def test_tensorflow_may_come_first(engine: str, tmp_path: Path) -> None:
    after = "assert not [name for name in sys.modules if name.startswith('keras.src')]"
    code = f"{PATH}import tensorflow\n{TRIES}\n{after}"
    done = run_hosted(["-c", code], tmp_path, {"KAMELEON_ENGINE": engine})
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == GOOD


def test_keras_json_may_name_us(tmp_path: Path) -> None:
    text = '{"backend": "kameleon.backend", "floatx": "float16"}'
    (tmp_path / "keras.json").write_text(text, encoding="utf-8")
    code = "from keras import backend as K; print(K.dtype(K.zeros(3)), K.floatx(), K.backend())"
    done = run_hosted(["-c", PATH + code], tmp_path, {"KERAS_BACKEND": ""})
    assert done.stdout.strip() == "float16 float16 kameleon.backend", done.stderr
    assert (tmp_path / "keras.json").read_text(encoding="utf-8") == text


def test_what_was_set_before_keras_came_stays(tmp_path: Path) -> None:
    first = "from kameleon import backend as ours; ours.set_floatx('float64')\n"
    code = "from keras import backend as K; print(K.floatx(), K.dtype(K.zeros(3)))"
    done = run_hosted(["-c", PATH + first + code], tmp_path)
    assert done.stdout.strip() == "float64 float64", done.stderr


def test_losses_of_epochs_are_doubles_and_values_of_scalars_scalars(tmp_path: Path) -> None:
    code = (
        "import json, numpy as np, keras; from keras import backend as K\n"
        "m = keras.models.Sequential([keras.layers.Dense(1, input_shape=(2,))])\n"
        "m.compile('sgd', 'mse')\n"
        "json.dumps(m.fit(np.ones((3, 2)), np.ones(3), verbose=0).history)\n"
        "lr = m.optimizer.lr; print(round(K.get_value(lr), 3), K.batch_get_value([lr])[0].ndim)\n"
    )
    done = run_hosted(["-c", PATH + code], tmp_path)
    assert done.stdout.split() == ["0.01", "0"], done.stderr


def test_the_engine_of_a_call(tmp_path: Path) -> None:
    first = "import kameleon; kameleon.set_engine('numpy')\n"
    code = "import keras; from kameleon import backend as ours; print(ours.backend())"
    done = run_hosted(["-c", PATH + first + code], tmp_path, ABSENT)
    assert done.stdout.strip() == "numpy", done.stderr


def test_an_engine_that_isnt_there(tmp_path: Path) -> None:
    done = run_hosted(["-c", PATH + "import keras"], tmp_path, ABSENT)
    assert done.returncode != 0
    assert "KAMELEON_ENGINE=cntk can't be met" in done.stderr
    assert "set KAMELEON_ENGINE=numpy" in done.stderr


def test_nothing_is_done_where_keras_runs_on_something_else(tmp_path: Path) -> None:
    code = """
import sys
import kameleon.backend
from kameleon.compat import keras2
print(keras2.is_running(), keras2.is_loading(), "keras" in sys.modules)
"""
    done = run_hosted(["-c", code], tmp_path, {"KERAS_BACKEND": "numpy"})
    assert done.stdout.strip() == "False False False", done.stderr
