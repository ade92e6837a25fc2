"""Modules that others have written serve as external backends: `KERAS_BACKEND=their.module`."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest
from _support.originals import needs_original
from _support.programs import run_code, write_small_keras

from kameleon.compat.keras2 import location


def needs(module: str, line: str) -> pytest.MarkDecorator:
    absent = find_spec(module) is None
    return pytest.mark.skipif(absent, reason=f"needs {module}: {line}")


def on_backend(name: str, code: str, folder: Path, settings: dict[str, str] | None = None) -> str:
    """Run the code on the external backend; return what it printed."""
    said = {"KERAS_BACKEND": name, "KAMELEON_ENGINE": "", **(settings or {})}
    done = run_code(code, folder, said)
    assert done.returncode == 0, done.stderr
    assert f"Using {name} backend." in done.stderr
    written = json.loads((folder / "home" / "keras.json").read_text("utf-8"))
    assert "backend" not in written, "another Keras reads that file"
    return done.stdout


def path_of_original() -> str:
    where = location.find()
    return f"import sys; sys.path.insert(0, {where!r})\n" if where else ""


# A program in the words of the documentation; its numbers are known.
LINEAR = """
import numpy as np
from kameleon import backend as K
x, y = K.placeholder(({batch}, 3)), K.placeholder(({batch}, 1))
w, b = K.variable(np.ones((3, 1)), name="w"), K.zeros((1,), name="b")
loss = K.mean(K.square(K.dot(x, w) + b - y))
dw, db = K.gradients(loss, [w, b])
step = K.function([x, y], [loss], updates=[K.update_sub(w, 0.1 * dw), K.update_sub(b, 0.1 * db)])
inputs = np.array([[1., 0., 2.], [0., 1., 1.], [1., 1., 0.], [2., 0., 1.]])
targets = inputs @ np.array([[1.], [-2.], [0.5]]) + 0.25
losses = [float(step([inputs, targets])[0]) for _ in range(50)]
"""


def expected() -> list[float]:
    """The first losses of that program, and its last one."""
    import numpy as np

    x = np.array([[1.0, 0.0, 2.0], [0.0, 1.0, 1.0], [1.0, 1.0, 0.0], [2.0, 0.0, 1.0]])
    y = x @ np.array([[1.0], [-2.0], [0.5]]) + 0.25
    w, b, losses = np.ones((3, 1)), 0.0, []
    for _ in range(50):
        error = x @ w + b - y
        losses.append(float(np.mean(error**2)))
        w, b = w - 0.1 * 2 * x.T @ error / 4, b - 0.1 * 2 * error.mean()
    return [*losses[:3], losses[-1]]


# tf_keras, the Keras 2 that goes on for TensorFlow 2 --------------------------------------------


def with_tf_keras(test: Callable[[Path], None]) -> Callable[[Path], None]:
    """Mark a test that runs on it."""
    marks = (
        needs("tf_keras", "pip install --no-deps tf_keras"),
        needs("tensorflow", "pip install tensorflow"),
        pytest.mark.slow,
    )
    for mark in marks:
        test = mark(test)
    return test


@with_tf_keras
def test_tf_keras_trains(tmp_path: Path) -> None:
    code = f"""
from kameleon import backend  # before TensorFlow: its other Keras would stop at the name
import tensorflow
tensorflow.compat.v1.disable_eager_execution()  # its K.gradients needs that
{LINEAR.format(batch=None)}
print(losses[:3] + losses[-1:])
"""
    found = json.loads(on_backend("tf_keras.backend", code, tmp_path))
    assert found == pytest.approx(expected(), rel=1e-4)


@with_tf_keras
def test_tf_keras_has_settings_of_its_own(tmp_path: Path) -> None:
    code = """
from kameleon import backend as K
import numpy as np
import tf_keras
K.set_floatx("float64"); K.set_epsilon(1e-3); K.set_image_data_format("channels_first")
theirs = tf_keras.backend
print(theirs.floatx(), theirs.epsilon(), theirs.image_data_format(), K.dtype(K.ones((2,))))
image = np.arange(32.).reshape(1, 2, 4, 4)
K.set_image_data_format("channels_last")
found = K.eval(K.pool2d(K.constant(image), (2, 2), (2, 2)))
print(K.backend(), type(K.placeholder((2,))).__module__.split(".")[0], found.ravel().tolist())
print(K.int_shape(K.softmax(K.placeholder((None, 3)))), K.eval(K.relu(K.constant([-1., 2.]))))
try:
    K.while_loop(None, None, None)
except Exception as error:
    print(type(error).__name__, error)
"""
    lines = on_backend("tf_keras.backend", code, tmp_path).splitlines()
    assert lines[0] == "float64 0.001 channels_first float64"
    assert lines[1].startswith("tf_keras.backend tf_keras [")
    assert lines[2] == "(None, 3) [0. 2.]"
    assert lines[3].startswith("EngineError while_loop: the external backend 'tf_keras.backend'")


@with_tf_keras
def test_tf_keras_named_in_the_file(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "keras.json").write_text('{"backend": "tf_keras.backend"}', "utf-8")
    code = "from kameleon import backend as K; print(K.backend(), K.eval(K.ones((2,))))"
    done = run_code(code, tmp_path, {"KAMELEON_ENGINE": ""})
    assert done.stdout == "tf_keras.backend [1. 1.]\n", done.stderr
    assert (home / "keras.json").read_text("utf-8") == '{"backend": "tf_keras.backend"}'


# PlaidML, whose module imports the Keras that it's for ------------------------------------------


@needs("plaidml", "pip install --no-deps plaidml plaidml-keras, and its configuration")
@needs_original
def test_plaidml_trains(tmp_path: Path) -> None:
    code = f"{path_of_original()}{LINEAR.format(batch=4)}\nprint(losses[:3] + losses[-1:])"
    device = {"PLAIDML_EXPERIMENTAL": "1", "PLAIDML_DEVICE_IDS": "llvm_cpu.0"}
    found = json.loads(on_backend("plaidml.keras.backend", code, tmp_path, device))
    assert found == pytest.approx(expected(), rel=1e-4)


# A module made of the original's own NumPy backend ----------------------------------------------

# It's no backend by itself: it has neither placeholders nor functions.
ON_NUMPY = """
from keras.backend.numpy_backend import *
def placeholder(shape=None, **options): return np.zeros(shape)
def function(inputs, outputs, **options): return lambda values: outputs
"""


@needs_original
def test_the_originals_own_module_on_numpy(tmp_path: Path) -> None:
    (tmp_path / "on_numpy.py").write_text(ON_NUMPY, "utf-8")
    code = f"""{path_of_original()}
from kameleon import backend as K
import numpy as np
x = K.variable([[1., 2.], [3., 4.]])
print(K.backend(), K.dot(x, x).tolist(), K.sum(x), K.softmax(x).sum(), K.placeholder((2,)))
K.set_floatx("float64")
print(K.random_uniform_variable((2,), 0, 1).dtype, K.floatx(), K.epsilon(), K.image_data_format())
image = np.ones((1, 5, 5, 1))
how = {{"padding": "valid", "data_format": "channels_last"}}
print(K.conv2d(image, np.ones((3, 3, 1, 2)), **how).shape)
try:
    K.gradients(x, x)
except Exception as error:
    print(type(error).__name__, error)
"""
    lines = on_backend("on_numpy", code, tmp_path).splitlines()
    assert lines[0] == "on_numpy [[7.0, 10.0], [15.0, 22.0]] 10.0 2.0 [0. 0.]"
    assert lines[1] == "float64 float64 1e-07 channels_last"
    assert lines[2] == "(1, 3, 3, 2)"
    assert lines[3].startswith("EngineError gradients: the external backend 'on_numpy' has no")


@needs_original
def test_the_originals_own_module_by_itself_is_refused(tmp_path: Path) -> None:
    said = {"KERAS_BACKEND": "keras.backend.numpy_backend", "KAMELEON_ENGINE": ""}
    done = run_code(f"{path_of_original()}import kameleon.backend", tmp_path, said)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].endswith("it lacks placeholder, function")


# What a module may count on while it loads ------------------------------------------------------

LOOKS = """
import os
SEEN = os.environ.get("KERAS_BACKEND")
def placeholder(*args, **options): ...
variable = function = placeholder
"""


@pytest.mark.parametrize(("original", "seen"), [(True, "kameleon.backend"), (False, "tensorflow")])
def test_a_keras_that_it_loads_can_read_the_settings(
    tmp_path: Path, original: bool, seen: str
) -> None:
    (tmp_path / "theirs.py").write_text(LOOKS + "import keras\n" * original, "utf-8")
    write_small_keras(tmp_path)
    nothing = "import sys; sys.modules['keras'] = None\n" * (not original)
    code = f"""{nothing}
from kameleon import backend as K
import os, theirs
print(theirs.SEEN, os.environ["KERAS_BACKEND"], K.backend(), K.floatx())
K.set_floatx("float16")
print(K.floatx())
"""
    lines = on_backend("theirs", code, tmp_path).splitlines()
    assert lines == [f"{seen} theirs theirs float32", "float16"]


def test_a_module_may_set_the_variable_itself(tmp_path: Path) -> None:
    (tmp_path / "theirs.py").write_text(LOOKS + "os.environ['KERAS_BACKEND'] = 'x.y'", "utf-8")
    code = "from kameleon import backend; import os; print(os.environ['KERAS_BACKEND'])"
    assert on_backend("theirs", code, tmp_path) == "x.y\n"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["theano", "onnxruntime"])
def test_tensorflow_loads_beside_an_engine_that_its_keras_does_not_know(
    tmp_path: Path, name: str
) -> None:
    for module in ("tensorflow", "pytensor", "onnxruntime"):
        pytest.importorskip(module, reason=f"needs {module}")
    code = """
from kameleon import backend as K
K.set_engine("tensorflow")
import os
print(K.backend(), K.eval(K.ones((2,))), os.environ["KERAS_BACKEND"])
"""
    done = run_code(code, tmp_path, {"KERAS_BACKEND": name, "KAMELEON_ENGINE": ""})
    assert done.stdout == f"tensorflow [1. 1.] {name}\n", done.stderr
