"""`import kameleon.as_keras`: what `import keras` gives from then on, and what it refuses."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from _support.originals import needs_original
from _support.programs import NOWHERE, run_code, write_small_keras

WITHOUT = NOWHERE + "import kameleon.as_keras\n"


def succeed(code: str, folder: Path, settings: dict[str, str] | None = None) -> str:
    """Run the code; return what it printed."""
    done = run_code(code, folder, settings)
    assert done.returncode == 0, done.stderr
    return done.stdout


# Without the original -------------------------------------------------------------------------


def test_the_backend_and_the_layers_are_our_own(tmp_path: Path) -> None:
    code = f"""{WITHOUT}
import keras, kameleon.backend, kameleon.compat.keras2.own_layers, sys
assert "kameleon.compat.keras2.own_layers" in sys.modules
assert keras.backend.dot is kameleon.backend.dot and kameleon.backend.backend() == "numpy"
assert keras.layers.Dense is kameleon.compat.keras2.own_layers.Dense
from keras import backend as K
import keras.backend as K2
from keras.layers import *
import keras.layers as L
assert K is K2 is sys.modules["keras.backend"]
assert kameleon.backend.__spec__.name == "kameleon.backend"
assert (Input, Layer, Lambda) == (L.Input, L.Layer, L.Lambda)
from keras.backend import placeholder, function
x = placeholder((2,))
print(function([x], [2 * x])([[1, 2]]), keras.__version__)
import kameleon.as_keras as a
assert not a.hosts_original() and a.folder() is None
"""
    hidden = {"KAMELEON_KERAS2": ""}
    assert succeed(code, tmp_path, hidden) == "[array([2., 4.], dtype=float32)] 2.3.1\n"


@pytest.mark.parametrize(
    ("statement", "name"),
    [
        ("from keras.models import Sequential", "keras.models"),
        ("from keras import optimizers", "keras.optimizers"),
        ("import keras.utils.np_utils", "keras.utils"),
        ("from keras.layers import Dense, Conv2D", "keras.layers.Conv2D"),
        ("from keras.layers.core import Dense", "keras.layers.core"),
        ("import keras; keras.models", "keras.models"),
        ("import keras; keras.layers.LSTM(3)", "keras.layers.LSTM"),
    ],
)
def test_what_is_lacking_says_what_to_install(tmp_path: Path, statement: str, name: str) -> None:
    done = run_code(f"{WITHOUT}\n{statement}", tmp_path, {"KAMELEON_KERAS2": ""})
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    kind = "AttributeError" if ";" in statement else "kameleon.errors.MissingLibraryError"
    assert last.startswith(f"{kind}: {name} is a part of the original Keras 2.3.1")
    assert "kameleon keras2 install" in last and "Dense, Input, Lambda, Layer" in last


def test_programs_may_look_for_what_is_lacking(tmp_path: Path) -> None:
    code = f"""{WITHOUT}
import sys
from importlib.util import find_spec
import keras
assert not hasattr(keras, "models") and not hasattr(keras, "__wrapped__")
assert "kameleon.backend" not in sys.modules or find_spec("keras")
assert find_spec("keras.models") is not None  # it can be found, and not be loaded
try:
    import keras.models
except ImportError as error:
    print(error.name)
"""
    assert succeed(code, tmp_path, {"KAMELEON_KERAS2": ""}) == "keras.models\n"


def test_importing_it_loads_no_engine(tmp_path: Path) -> None:
    code = "import kameleon.as_keras, sys; print('kameleon.backend' in sys.modules)"
    assert succeed(code, tmp_path) == "False\n"


def test_a_folder_that_was_said_and_holds_nothing_is_an_error(tmp_path: Path) -> None:
    code = (
        "from kameleon.compat.keras2 import location; location.is_importable = lambda: False\n"
        "import kameleon.as_keras"
    )
    done = run_code(code, tmp_path, {"KAMELEON_KERAS2": str(tmp_path)})
    last = done.stderr.splitlines()[-1]
    assert "MissingLibraryError" in last and str(tmp_path) in last


# With a small one -----------------------------------------------------------------------------


@pytest.fixture
def original(tmp_path: Path) -> dict[str, str]:
    """Settings with which a Keras of a few lines is the original."""
    return write_small_keras(tmp_path / "original")


def test_the_original_is_hosted(tmp_path: Path, original: dict[str, str]) -> None:
    code = """
import os, sys
first = sys.path[0]
told = {**os.environ, "KERAS_BACKEND": "tensorflow", "KAMELEON_AS": "tensorflow"}
told["KAMELEON_KERAS_ON"] = "kameleon"
import kameleon.as_keras
import keras, kameleon.backend
from keras import backend as K
from keras.layers import Dense
assert K.backend() == "tensorflow" and K.dot is kameleon.backend.dot
assert Dense.__module__ == "keras.layers"
assert kameleon.as_keras.hosts_original()
assert sys.path[:2] == [first, kameleon.as_keras.folder()]
assert dict(os.environ) == told
"""
    assert succeed(code, tmp_path, original) == ""


def test_no_file_is_left_that_names_a_backend(tmp_path: Path, original: dict[str, str]) -> None:
    succeed("import kameleon.as_keras, keras", tmp_path, original)
    written = json.loads((tmp_path / "home" / "keras.json").read_text("utf-8"))
    assert written["floatx"] == "float32" and "backend" not in written


def test_a_file_that_is_there_stays(tmp_path: Path, original: dict[str, str]) -> None:
    path = tmp_path / "home" / "keras.json"
    path.parent.mkdir()
    path.write_text('{"backend": "theano", "floatx": "float64"}', "utf-8")
    code = "import kameleon.as_keras; from keras import backend as K; print(K.floatx())"
    succeed(code, tmp_path, original)
    assert path.read_text("utf-8") == '{"backend": "theano", "floatx": "float64"}'


@pytest.mark.parametrize(
    "said",
    [
        {"KERAS_BACKEND": "numpy", "KAMELEON_ENGINE": ""},
        {"KERAS_BACKEND": "cntk", "KAMELEON_ENGINE": "numpy"},
        {"KERAS_BACKEND": "kameleon.backend", "KAMELEON_ENGINE": "numpy"},
    ],
)
def test_which_engine(tmp_path: Path, original: dict[str, str], said: dict[str, str]) -> None:
    code = (
        "import kameleon.as_keras, keras, kameleon.backend, os;"
        "print(kameleon.backend.backend(), os.environ['KERAS_BACKEND'])"
    )
    assert succeed(code, tmp_path, original | said) == "numpy tensorflow\n"


def test_an_engine_that_is_not_there_is_said_plainly(
    tmp_path: Path, original: dict[str, str]
) -> None:
    absent = {"KAMELEON_CNTK": str(tmp_path / "nothing")}
    said = original | absent | {"KERAS_BACKEND": "cntk", "KAMELEON_ENGINE": ""}
    done = run_code("import kameleon.as_keras, keras", tmp_path, said)
    last = done.stderr.splitlines()[-1]
    assert (
        last.startswith("kameleon.errors.EngineNotFoundError: ") and "kameleon cntk install" in last
    )


def test_kameleon_may_be_in_use_before(tmp_path: Path, original: dict[str, str]) -> None:
    code = """
from kameleon import backend
import kameleon.as_keras
from keras import backend as K
assert K.dot is backend.dot
"""
    assert succeed(code, tmp_path, original) == ""


def test_it_may_be_imported_again(tmp_path: Path, original: dict[str, str]) -> None:
    code = """
import importlib, kameleon.as_keras, keras
once = keras
importlib.reload(kameleon.as_keras)
import keras
assert keras is once
"""
    assert succeed(code, tmp_path, original) == ""


ANOTHER = """
import sys, types
keras = types.ModuleType("keras"); keras.__version__ = "3.15.0"
keras.backend = types.ModuleType("keras.backend"); keras.backend.backend = lambda: "jax"
sys.modules |= {"keras": keras, "keras.backend": keras.backend}
import kameleon.as_keras
"""


@pytest.mark.parametrize("hidden", [False, True])
def test_another_keras_that_is_already_there(
    tmp_path: Path, original: dict[str, str], hidden: bool
) -> None:
    settings = {"KAMELEON_KERAS2": ""} if hidden else original
    done = run_code(NOWHERE * hidden + ANOTHER, tmp_path, settings)
    last = done.stderr.splitlines()[-1]
    assert done.returncode == 1
    assert last.startswith("kameleon.errors.HostingError: Keras 3.15.0, on jax, is already")
    assert "kameleon run script.py" in last


# tensorflow.keras -----------------------------------------------------------------------------

# Old code asks for the library itself.
INSTALLED = {"KAMELEON_TENSORFLOW": "installed"}
# As if TensorFlow weren't installed.
NO_TENSORFLOW = """
import sys
from importlib.machinery import PathFinder
find = PathFinder.find_spec.__func__
PathFinder.find_spec = classmethod(
    lambda cls, name, *rest: None if name == "tensorflow" else find(cls, name, *rest)
)
"""


def write_tensorflow(folder: Path) -> None:
    """A TensorFlow of a few lines, that looks for its Keras as TensorFlow does."""
    package = folder / "tensorflow"
    package.mkdir()
    (package / "__init__.py").write_text(
        "from importlib import import_module\n"
        "from importlib.util import find_spec\n"
        "find_spec('keras')\n"
        "class Lazy:\n"
        "    def __getattr__(self, name):\n"
        "        import keras\n"
        "        return getattr(import_module('keras.api._v2.keras'), name)\n"
        "keras = Lazy()\n"
        "try:\n    import_module('keras.src.optimizers')\nexcept (ImportError, AttributeError):\n"
        "    pass\n",
        encoding="utf-8",
    )


@pytest.mark.parametrize(
    "statement",
    [
        "from tensorflow.keras import backend as K",
        "from tensorflow import keras; keras.layers",
        "import tensorflow as tf; tf.keras.layers",
        "import keras; import tensorflow.keras.layers",
    ],
)
@pytest.mark.parametrize("hidden", [False, True])
def test_tensorflow_keras_is_refused_with_what_to_write(
    tmp_path: Path, original: dict[str, str], statement: str, hidden: bool
) -> None:
    write_tensorflow(tmp_path)
    settings = {"KAMELEON_KERAS2": ""} if hidden else original
    code = f"{NOWHERE * hidden}\nimport kameleon.as_keras\n{statement}"
    done = run_code(code, tmp_path, settings | INSTALLED)
    last = done.stderr.splitlines()[-1]
    assert done.returncode == 1
    assert "write `from keras` instead of `from tensorflow.keras`" in last, done.stderr
    assert "kameleon run --tf-keras script.py" in last


def test_tensorflow_itself_is_left_alone(tmp_path: Path, original: dict[str, str]) -> None:
    write_tensorflow(tmp_path)
    code = """
import kameleon.as_keras, tensorflow
assert type(tensorflow.keras).__name__ == "Lazy"
import keras
assert keras.backend.backend() == "tensorflow"
"""
    assert succeed(code, tmp_path, original | INSTALLED) == ""


ALIASED = """
import kameleon.as_keras
kameleon.as_keras.alias_tensorflow()
kameleon.as_keras.alias_tensorflow()
import tensorflow as tf
from tensorflow.keras import backend as K
from tensorflow.keras.layers import Dense
from tensorflow import keras as theirs
import tensorflow.keras.layers as L
import keras, sys
assert K is keras.backend and L is keras.layers and tf.keras is keras
assert tf.keras.layers.Dense is Dense is theirs.layers.Dense
assert keras.__spec__.name == "keras" and keras.layers.__spec__.name == "keras.layers"
assert "layers" in dir(tf.keras)
try:
    import tensorflow.keras.nothing
except ImportError as error:
    print(error)
"""


@pytest.mark.parametrize("there", [False, True])
def test_an_alias_for_tensorflow_keras(
    tmp_path: Path, original: dict[str, str], there: bool
) -> None:
    if there:
        write_tensorflow(tmp_path)
    said = succeed(NO_TENSORFLOW * (not there) + ALIASED, tmp_path, original | INSTALLED)
    assert "tensorflow.keras.nothing" in said and "2.3.1, has no keras.nothing" in said


def test_an_alias_after_tensorflow(tmp_path: Path, original: dict[str, str]) -> None:
    write_tensorflow(tmp_path)
    code = "import kameleon.as_keras, tensorflow\nassert 'keras' not in __import__('sys').modules\n"
    succeed(code + ALIASED, tmp_path, original | INSTALLED)


def test_an_alias_is_no_tensorflow(tmp_path: Path, original: dict[str, str]) -> None:
    code = f"""{NO_TENSORFLOW}
import kameleon.as_keras
kameleon.as_keras.alias_tensorflow()
from kameleon.config import installed
assert not installed("tensorflow")
import tensorflow as tf
assert not installed("tensorflow")
try:
    tf.constant(1)
except AttributeError as error:
    print(error)
"""
    assert succeed(code, tmp_path, original | INSTALLED).startswith(
        "tensorflow.constant: TensorFlow isn't"
    )


def test_an_alias_comes_too_late(tmp_path: Path, original: dict[str, str]) -> None:
    code = """
import sys, types
import kameleon.as_keras
sys.modules["tensorflow.keras"] = types.ModuleType("tensorflow.keras")
kameleon.as_keras.alias_tensorflow()
"""
    done = run_code(code, tmp_path, original | INSTALLED)
    last = done.stderr.splitlines()[-1]
    assert last.startswith("kameleon.errors.HostingError: tensorflow.keras is already imported")


# With the original ----------------------------------------------------------------------------


@needs_original
def test_a_model_trains(tmp_path: Path) -> None:
    code = """
import kameleon.as_keras
import numpy as np
from keras import backend as K
from keras.layers import Dense, Lambda
from keras.models import Sequential
model = Sequential([Dense(4, input_shape=(3,)), Lambda(lambda x: K.sum(x, -1, keepdims=True))])
model.compile("sgd", "mse")
x = np.linspace(0, 1, 48).reshape(16, 3)
losses = model.fit(x, x.sum(1), epochs=5, verbose=0).history["loss"]
print(losses[-1] < losses[0], K.backend())
"""
    assert succeed(code, tmp_path) == "True tensorflow\n"


@needs_original
@pytest.mark.slow
def test_tensorflow_as_the_engine(tmp_path: Path) -> None:
    pytest.importorskip("tensorflow", reason="needs TensorFlow")
    code = """
import kameleon.as_keras
from kameleon import backend  # loads TensorFlow, which looks for its own Keras
import tensorflow, sys
assert "keras" not in sys.modules
import keras
print(keras.backend.backend(), backend.backend(), keras.__version__)
"""
    said = succeed(code, tmp_path, {"KAMELEON_ENGINE": "tensorflow"})
    assert said == "tensorflow tensorflow 2.3.1\n"


@pytest.mark.slow
def test_tensorflow_has_brought_its_own_keras(tmp_path: Path) -> None:
    pytest.importorskip("tensorflow", reason="needs TensorFlow")
    code = "import tensorflow as tf\ntf.keras.layers\nimport kameleon.as_keras"
    done = run_code(code, tmp_path)
    assert done.returncode == 1
    assert "HostingError: Keras 3." in done.stderr.splitlines()[-1]


@needs_original
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_settings_that_are_a_pipe_keep_nobody_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "keras.json")
    code = "import kameleon.as_keras, keras; print(keras.backend.floatx())"
    done = run_code(code, tmp_path, {"KERAS_HOME": str(tmp_path)})
    assert done.stdout == "float32\n", done.stderr
    assert "keras.json can't be read: it's a pipe, not a regular file" in done.stderr
