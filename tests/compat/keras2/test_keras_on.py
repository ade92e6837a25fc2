"""What the original Keras runs on: K, or its own TensorFlow backend above TensorFlow's files."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from _support.programs import ANYWHERE, COMMAND, run

from kameleon.compat.keras2 import location
from kameleon.compat.tensorflow import location as of_tensorflow

PROGRAM = """
import keras, tensorflow as tf
from keras import backend as K
x = K.variable([[1.0, 2.0]])
print(K.backend(), isinstance(x, tf.Variable), type(K.placeholder((2,))).__module__)
"""
ON_TENSORFLOW = "tensorflow True tensorflow_core.python.framework.ops"
ON_KAMELEON = "tensorflow False kameleon"
ORIGINAL = ["--tensorflow", "original"]

# By what the command line and the environment say, what comes out: the last line.
RUNS: list[tuple[list[str], dict[str, str], str]] = [
    ([], {}, ON_TENSORFLOW),
    (ORIGINAL, {}, ON_TENSORFLOW),
    (["--devices", "1"], {"KAMELEON_ENGINE": "jax"}, ON_KAMELEON),
    (["--keras-on", "tensorflow"], {}, ON_TENSORFLOW),
    (["--engine", "numpy"], {"KAMELEON_KERAS_ON": "tensorflow"}, ON_TENSORFLOW),
    (["--keras-on", "kameleon"], {}, ON_KAMELEON),
    (["--as", "theano"], {}, ON_KAMELEON.replace("tensorflow", "theano")),
]
# … and what is said where they don't go together.
REFUSED: list[tuple[list[str], dict[str, str], str]] = [
    (
        ["--keras-on", "tensorflow"],
        {"KAMELEON_TENSORFLOW1": "nowhere"},
        "kameleon tensorflow install",
    ),
    (
        ["--keras-on", "tensorflow", "--as", "theano"],
        {},
        "KAMELEON_KERAS_ON=tensorflow goes with KAMELEON_AS=tensorflow",
    ),
    (
        ["--keras-on", "tensorflow", "--tensorflow", "installed"],
        {},
        "and not with KAMELEON_TENSORFLOW=installed",
    ),
    ([], {"KAMELEON_KERAS_ON": "theano"}, "use kameleon or tensorflow"),
]

needs_originals = pytest.mark.skipif(
    not (location.installed() and of_tensorflow.installed()),
    reason=f"{location.INSTALL}; {of_tensorflow.INSTALL}",
)


def ran(
    options: list[str], settings: dict[str, str], folder: Path, program: str = PROGRAM
) -> subprocess.CompletedProcess[str]:
    (folder / "program.py").write_text(program, encoding="utf-8")
    return run(["-c", COMMAND, "run", *options, "program.py"], folder, ANYWHERE | settings)


@needs_originals
@pytest.mark.parametrize(("options", "settings", "said"), RUNS)
def test_what_keras_runs_on(
    options: list[str], settings: dict[str, str], said: str, tmp_path: Path
) -> None:
    found = ran(options, settings, tmp_path)
    assert found.stdout.splitlines()[-1:] == [said], found.stderr[-2000:]


@needs_originals
@pytest.mark.parametrize(("options", "settings", "said"), REFUSED)
def test_what_does_not_go_together_is_one_line(
    options: list[str], settings: dict[str, str], said: str, tmp_path: Path
) -> None:
    found = ran(options, settings, tmp_path)
    assert (found.returncode, found.stdout) == (1, "")
    assert len(found.stderr.splitlines()) == 1
    assert said in found.stderr


MIXED = """
import tensorflow as tf
from keras import backend as K
ours, theirs = K.placeholder((2, 3)), tf.zeros((2, 3))
for mix in (
    lambda: tf.where(ours > 0, ours, ours), lambda: ours / theirs, lambda: K.square(theirs),
    lambda: K.is_keras_tensor(theirs),
):
    try:
        mix()
    except (TypeError, ValueError) as error:
        print("kameleon run --keras-on tensorflow lets K" in str(error))
    else:
        print("mixed")
"""


@needs_originals
@pytest.mark.parametrize("keras_on", ["kameleon", "tensorflow"])
def test_tensors_of_k_and_tensorflow_go_together_or_say_how(keras_on: str, tmp_path: Path) -> None:
    found = ran(["--keras-on", keras_on], {}, tmp_path, MIXED)
    said = "True" if keras_on == "kameleon" else "mixed"
    assert found.stdout.split() == [said] * 4, found.stdout + found.stderr[-2000:]


ALONE = """
from keras import backend as K
x = K.variable([[1.0, 2.0]])
print(K.backend(), x.get_shape().as_list(), K.eval(x + 1).tolist())
try:
    import tensorflow
except ImportError as error:
    print(error)
"""


@pytest.mark.skipif(not location.installed(), reason=location.INSTALL)
def test_without_tensorflows_files_keras_runs_on_k(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(ALONE, encoding="utf-8")
    settings = ANYWHERE | {"KAMELEON_TENSORFLOW1": "nowhere"}
    found = run(["-c", COMMAND, "run", "program.py"], tmp_path, settings)
    assert found.returncode == 0, found.stderr[-2000:]
    first, second = found.stdout.splitlines()
    assert first == "tensorflow [1, 2] [[2.0, 3.0]]"
    assert "aren't installed" in second and "kameleon tensorflow install" in second


SICK = """
import keras, numpy as np
from kameleon import backend
backend.set_check('nan')
model = keras.models.Sequential([keras.layers.Dense(3, input_shape=(4,))])
model.add(keras.layers.Lambda(lambda x: keras.backend.log(-1.0 - keras.backend.square(x))))
model.compile('sgd', 'mse')
try:
    model.fit(np.ones((8, 4)), np.ones((8, 3)), verbose=0)
except Exception as error:
    print(error)
"""


@needs_originals
@pytest.mark.parametrize("base", ["kameleon", "tensorflow"])
def test_a_check_holds_for_fit(tmp_path: Path, base: str) -> None:
    (tmp_path / "program.py").write_text(SICK, encoding="utf-8")
    line = ["run", "--engine", "numpy", "--keras-on", base, "program.py"]
    found = run(["-W", "ignore", "-c", COMMAND, *line], tmp_path, ANYWHERE)
    assert "NaN" in found.stdout and "it begins in log(float32[" in found.stdout, found.stderr


LATE = """
import sys, keras, numpy as np
from keras.preprocessing.image import ImageDataGenerator
from keras.engine.training_arrays import issparse
libraries = "scipy.linalg scipy.ndimage scipy.sparse requests".split()
print([name for name in libraries if name in sys.modules])
turned = ImageDataGenerator(rotation_range=90, zca_whitening=True)
turned.fit(np.random.rand(4, 5, 5, 3))
print(turned.random_transform(np.random.rand(5, 5, 3)).shape)
import scipy.sparse
print(issparse(scipy.sparse.eye(3)), issparse(np.eye(3)))
"""


@needs_originals
@pytest.mark.parametrize("keras_on", ["kameleon", "tensorflow"])
def test_libraries_that_few_programs_need_are_loaded_when_they_are_used(
    keras_on: str, tmp_path: Path
) -> None:
    done = ran(["--keras-on", keras_on], {}, tmp_path, LATE)
    assert done.stdout.splitlines() == ["[]", "(5, 5, 3)", "True False"], done.stderr


PADDED = """
from keras.layers import Input, ZeroPadding2D
print(ZeroPadding2D((1, 2))(Input((5, 6, 3))).shape)
"""


@needs_originals
def test_nobody_is_told_to_change_an_original(tmp_path: Path) -> None:
    done = ran([], {}, tmp_path, PADDED)
    assert (done.stdout, "OldNameWarning" in done.stderr) == ("(?, 7, 10, 3)\n", False), done.stderr
