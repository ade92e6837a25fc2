"""What programs are told is the backend's name, and what Keras itself is told."""

from __future__ import annotations

from pathlib import Path

import pytest
from _support.common import SOURCE
from _support.originals import needs_original, run_hosted
from _support.programs import NOWHERE, run, run_code, run_without_original, write_small_keras

RUN = ("-m", "kameleon", "run")
ASKS = """
import os
import keras
import keras.backend as K
from keras import backend
from keras.backend import _BACKEND, backend as asked
from keras.backend.load_backend import backend as loaded
import keras.backend.tensorflow_backend as KTF
import keras.backend.theano_backend as KTH
import kameleon.backend

told = {K.backend(), K._BACKEND, keras.backend.backend(), backend.backend(), asked(), loaded()}
told |= {_BACKEND, KTF.backend(), KTF._BACKEND, KTH.backend(), os.environ["KERAS_BACKEND"]}
assert K.tensorflow_backend is backend.tensorflow_backend is KTF and K.theano_backend is KTH
print(*told, kameleon.backend.backend(), keras.layers.named())
"""
READS = """
import codecs, io, json, os
from pathlib import Path
path = os.path.join(os.environ["KERAS_HOME"], "keras.json")
with open(path) as file:
    told = {json.load(file)["backend"]}
told |= {json.load(open(path, "rb"))["backend"], json.loads(open(path, "rt").read())["backend"]}
floatx = json.load(open(path))["floatx"]
told |= {json.load(io.open(path))["backend"], json.loads(Path(path).read_text())["backend"]}
told |= {json.loads(Path(path).read_bytes())["backend"], json.load(codecs.open(path))["backend"]}
with Path(path).open() as file:
    told.add(json.load(file)["backend"])
open(os.path.join(os.environ["KERAS_HOME"], "other.json"), "w").close()
try:
    open("no/such/keras.json")
except FileNotFoundError:
    print(*told, floatx)
"""
# A module of Keras that asks; it is told which module serves it.
LAYERS = "from . import backend as K\nclass Dense: ...\ndef named():\n    return K.backend()\n"
CHILD = "from keras import backend as K; import os; print(K.backend(), os.environ['KERAS_BACKEND'])"


@pytest.fixture
def original(tmp_path: Path) -> dict[str, str]:
    """Settings with which a Keras of a few lines is the original."""
    settings = write_small_keras(tmp_path / "original")
    (tmp_path / "original" / "keras" / "layers.py").write_text(LAYERS, "utf-8")
    return settings


def printed(folder: Path, code: str, settings: dict[str, str], *options: str) -> str:
    """What a program prints under `kameleon run`."""
    (folder / "program.py").write_text(code, "utf-8")
    done = run([*RUN, *options, "program.py"], folder, settings)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("name", ["tensorflow", "theano", "kameleon"])
@pytest.mark.parametrize("by", ["option", "variable"])
def test_all_ways_to_ask(tmp_path: Path, original: dict[str, str], name: str, by: str) -> None:
    options = [f"--as={name}"] if by == "option" else []
    variable = {} if by == "option" else {"KAMELEON_AS": name}
    told = {"kameleon": "kameleon.backend"}.get(name, name)
    said = printed(tmp_path, ASKS, original | variable, *options)
    assert said == f"{told} numpy kameleon.backend\n"


def test_tensorflow_is_the_default(tmp_path: Path, original: dict[str, str]) -> None:
    assert printed(tmp_path, ASKS, original) == "tensorflow numpy kameleon.backend\n"


@pytest.mark.parametrize(
    "text", ['{"backend": "theano", "floatx": "float64"}', '{"floatx": "float64"}']
)
def test_programs_that_read_the_settings_by_themselves(
    tmp_path: Path, original: dict[str, str], text: str
) -> None:
    path = tmp_path / "home" / "keras.json"
    path.parent.mkdir()
    path.write_text(text, "utf-8")
    assert printed(tmp_path, READS, original) == "tensorflow float64\n"
    (tmp_path / "reads.py").write_text(READS, "utf-8")
    assert printed(tmp_path, "import reads", original, "--as=theano") == "theano float64\n"
    library = tmp_path / "site-packages" / "reads.py"
    library.parent.mkdir()
    (tmp_path / "reads.py").rename(library)
    settings = original | {"PYTHONPATH": f"{SOURCE}:{library.parent}"}
    assert printed(tmp_path, "import reads", settings, "--as=theano") == "theano float64\n"
    assert path.read_text("utf-8") == text


def test_the_option_goes_before_the_variable(tmp_path: Path, original: dict[str, str]) -> None:
    settings = original | {"KAMELEON_AS": "kameleon"}
    assert printed(tmp_path, CHILD, settings, "--as", "theano") == "theano theano\n"


def test_a_name_that_no_program_knows(tmp_path: Path, original: dict[str, str]) -> None:
    done = run([*RUN, "--as", "mxnet", "program.py"], tmp_path, original)
    (tmp_path / "program.py").write_text("print('began')", "utf-8")
    done = run([*RUN, "--as", "mxnet", "program.py"], tmp_path, original)
    assert (done.returncode, done.stdout) == (2, "")
    said = "kameleon run: --as: 'mxnet' is none of tensorflow, theano, kameleon"
    assert done.stderr.startswith(said)
    done = run_code("import kameleon.as_keras", tmp_path, original | {"KAMELEON_AS": "mxnet"})
    assert "ArgumentError: KAMELEON_AS=mxnet" in done.stderr.splitlines()[-1]


# The engine -----------------------------------------------------------------------------------

WHICH = "import keras, kameleon.backend as b, os; print(b.backend(), os.environ['KERAS_BACKEND'])"
NO_TENSORFLOW = """
from kameleon.config import choice
found = choice.installed
choice.installed = lambda name: name != "tensorflow" and found(name)
"""


def test_the_name_of_an_engine_is_kept_for_kameleon(
    tmp_path: Path, original: dict[str, str]
) -> None:
    settings = original | {"KERAS_BACKEND": "numpy", "KAMELEON_ENGINE": ""}
    assert printed(tmp_path, WHICH, settings) == "numpy tensorflow\n"


def test_the_name_that_programs_know_chooses_no_engine(
    tmp_path: Path, original: dict[str, str]
) -> None:
    """Old programs and their scripts say it; they run where there's no TensorFlow, too."""
    settings = original | {"KERAS_BACKEND": "tensorflow", "KAMELEON_ENGINE": ""}
    assert printed(tmp_path, NO_TENSORFLOW + WHICH, settings) == "numpy tensorflow\n"
    code = "import os; os.environ['KERAS_BACKEND'] = 'tensorflow'\n" + WHICH
    settings["KERAS_BACKEND"] = ""
    assert printed(tmp_path, NO_TENSORFLOW + code, settings) == "numpy tensorflow\n"


# Without the original -------------------------------------------------------------------------

ASKS_OUR_OWN = ASKS.replace("keras.layers.named()", "dir(K) == dir(kameleon.backend)")


@pytest.mark.parametrize("name", ["tensorflow", "theano", "kameleon"])
def test_all_ways_to_ask_without_the_original(tmp_path: Path, name: str) -> None:
    (tmp_path / "program.py").write_text(ASKS_OUR_OWN, "utf-8")
    settings = {"KERAS_BACKEND": "kameleon.backend"}
    done = run_without_original(["run", f"--as={name}", "program.py"], tmp_path, settings)
    told = {"kameleon": "kameleon.backend"}.get(name, name)
    assert (done.returncode, done.stdout) == (0, f"{told} numpy True\n"), done.stderr


USES_OUR_OWN = """
import os
from keras import backend as K
from keras.backend.tensorflow_backend import _to_tensor, set_session, get_session
from keras.backend.common import floatx

if K.backend() != "tensorflow":
    raise ImportError("only TensorFlow is supported")
set_session(get_session())
x = K.placeholder((2,))
(value,) = K.function([x], [x * _to_tensor(2, K.dtype(x))])([[1.0, 2.0]])
print(*value, floatx(), os.environ["KERAS_BACKEND"], "KAMELEON_ENGINE" in os.environ)
"""


def test_a_library_of_the_day_without_the_original(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(USES_OUR_OWN, "utf-8")
    settings = {"KERAS_BACKEND": "numpy", "KAMELEON_ENGINE": ""}
    done = run_without_original(["run", "program.py"], tmp_path, settings)
    assert (done.returncode, done.stdout) == (0, "2.0 4.0 float32 tensorflow True\n"), done.stderr
    settings |= {"KAMELEON_KERAS2": "", "KAMELEON_ENGINE": "numpy"}
    done = run_code(f"{NOWHERE}\nimport kameleon.as_keras\n{USES_OUR_OWN}", tmp_path, settings)
    assert (done.returncode, done.stdout) == (0, "2.0 4.0 float32 tensorflow True\n"), done.stderr


def test_settings_read_by_a_program_without_the_original(tmp_path: Path) -> None:
    path = tmp_path / "home" / "keras.json"
    path.parent.mkdir()
    path.write_text('{"backend": "theano", "floatx": "float64"}', "utf-8")
    (tmp_path / "program.py").write_text(READS, "utf-8")
    done = run_without_original(["run", "program.py"], tmp_path)
    assert (done.returncode, done.stdout) == (0, "tensorflow float64\n"), done.stderr


# Other processes ------------------------------------------------------------------------------

PARENT = """
import os, subprocess, sys
if {imported}:
    import keras
line = [sys.executable, *{line}]
subprocess.run(line, check=True)
subprocess.run(line, check=True, env=dict(os.environ))
"""


@pytest.mark.parametrize("line", [["child.py"], ["-m", "kameleon", "run", "child.py"]])
@pytest.mark.parametrize("name", ["tensorflow", "theano", "kameleon"])
def test_children_are_told_the_same(
    tmp_path: Path, original: dict[str, str], name: str, line: list[str]
) -> None:
    (tmp_path / "child.py").write_text(CHILD, "utf-8")
    told = {"kameleon": "kameleon.backend"}.get(name, name)
    for imported in (False, True):
        code = PARENT.format(imported=imported, line=line)
        assert printed(tmp_path, code, original, "--as", name) == f"{told} {told}\n" * 2


def test_children_import_parts_of_keras_first(tmp_path: Path, original: dict[str, str]) -> None:
    child = """
from keras.layers import Dense, named
import keras, sys
assert sys.modules["keras"] is keras and keras.__version__ == "2.3.1"
assert keras.__spec__.origin == keras.__file__
assert "as_keras" not in keras.__file__
print(named(), keras.backend.backend(), Dense.__module__)
"""
    (tmp_path / "child.py").write_text(child, "utf-8")
    code = PARENT.format(imported=True, line=["child.py"])
    said = "kameleon.backend tensorflow keras.layers\n"
    assert printed(tmp_path, code, original) == said * 2


def test_children_where_the_original_is_the_environments_own(
    tmp_path: Path, original: dict[str, str]
) -> None:
    """Its folder is on Python's path, and was named by nothing."""
    (tmp_path / "child.py").write_text(CHILD, "utf-8")
    settings = {
        "PYTHONPATH": f"{SOURCE}:{original['KAMELEON_KERAS2']}",
        "KAMELEON_KERAS2": "",
    }
    hide = "from kameleon.compat.keras2 import location; location.folder = lambda: 'nowhere'\n"
    (tmp_path / "sitecustomize.py").write_text(hide, "utf-8")
    settings["PYTHONPATH"] += f":{tmp_path}"
    code = PARENT.format(imported=True, line=["child.py"])
    assert printed(tmp_path, code, settings) == "tensorflow tensorflow\n" * 2


SPAWNS = """
import multiprocessing
import keras

def told(i):
    return keras.backend.backend(), keras.layers.named()

if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print(*pool.map(told, [1]))
"""


def test_processes_that_python_spawns(tmp_path: Path, original: dict[str, str]) -> None:
    said = "('tensorflow', 'kameleon.backend')\n"
    assert printed(tmp_path, SPAWNS, original) == said
    (tmp_path / "child.py").write_text(SPAWNS, "utf-8")
    code = PARENT.format(imported=False, line=["child.py"])
    assert printed(tmp_path, code, original) == said * 2


# With the original ----------------------------------------------------------------------------

# As libraries of the day have it in a `tensorflow_backend.py` of their own.
LIBRARY = """
import keras.backend as K
from keras import backend
from keras.backend import tensorflow_backend as KTF
from keras.backend.tensorflow_backend import _to_tensor, set_session, get_session
from keras.backend.common import floatx, image_data_format

if K.backend() != "tensorflow":
    raise ImportError("only TensorFlow is supported")
set_session(get_session())

def scaled(x, by):
    return x * _to_tensor(by, KTF.dtype(x))
"""
USES = """
import numpy as np
from library import scaled, K
import keras
from keras.layers import Dense, Input, Lambda, Conv2D
from keras.models import Model
from keras.metrics import Precision

x = Input((3,))
model = Model(x, Lambda(lambda v: scaled(v, 2.0) if K.backend() == "tensorflow" else v)(x))
print(model.predict(np.ones((1, 3))), K.backend(), keras.backend.backend())
print(keras.layers.core.K.tensorflow_backend._get_available_gpus(), K._is_tf_1())
print(model.to_json().count('"backend": "tensorflow"'), model.get_config()["name"])
"""


@needs_original
def test_a_library_with_a_backend_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "library.py").write_text(LIBRARY, "utf-8")
    said = printed(tmp_path, USES, {})
    assert said.splitlines()[:2] == ["[[2. 2. 2.]] tensorflow tensorflow", "[] True"]


@needs_original
def test_hosted_by_the_variable_of_keras_alone(tmp_path: Path) -> None:
    """`KERAS_BACKEND=kameleon.backend` tells programs what it says, unless they're told more."""
    code = "import keras.backend as K; print(K.backend(), K._BACKEND)"
    from kameleon.compat.keras2 import location

    settings = {"PYTHONPATH": f"{SOURCE}:{location.folder()}"}
    done = run_hosted(["-c", code], tmp_path, settings)
    assert done.stdout == "kameleon.backend kameleon.backend\n", done.stderr
    done = run_hosted(["-c", code], tmp_path, settings | {"KAMELEON_AS": "tensorflow"})
    assert done.stdout == "tensorflow tensorflow\n", done.stderr
