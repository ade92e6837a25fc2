"""`kameleon check`: what it finds in programs, and that it says what `kameleon run` would do."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from _support.commands import Ended, kameleon
from _support.common import TESTS
from _support.originals import needs_original, needs_tensorflows_files
from _support.programs import ANYWHERE, COMMAND, run, run_without_original

pytest.importorskip("rich", reason="the command line needs Rich")

from kameleon import backend as K
from kameleon.cli.check.findings import CANT, CHANGE, NOTE, SERVED, STOPPING
from kameleon.cli.check.reading import COMPUTED, EXECUTED, STARS, TWOFOLD
from kameleon.cli.check.served import Served
from kameleon.compat import undocumented
from kameleon.compat.tensorflow import location

ROOT = TESTS.parent
# What programs get, whatever else is installed or set where the tests run.
ON_K = {"KAMELEON_KERAS_ON": "kameleon", "KAMELEON_AS": "", "KAMELEON_TF_KERAS": ""}
ON_TENSORFLOW = ON_K | {"KAMELEON_KERAS_ON": "tensorflow"}


def written(folder: Path, program: str) -> Path:
    """Write the text of a program into a folder, which is returned."""
    (folder / "program.py").write_text(program, "utf-8")
    return folder


def checked(folder: Path, program: str, *options: str, **settings: str) -> Ended:
    """Check the text of a program."""
    path = written(folder, program) / "program.py"
    return kameleon("check", *options, str(path), settings=ON_K | settings)


# What is found ----------------------------------------------------------------------------------

BACKEND = "from keras import backend as K\n"
TF = "import tensorflow as tf\n"
# A program, in whose last line something is wrong; how severe it is, and words of what is said.
OF_K = [
    ("from kameleon import backend as K; K.functon", CANT, "did you mean 'function'?"),
    (BACKEND + "K.gradient", CANT, "did you mean 'gradients'?"),
    (BACKEND + "K.deconv2d(1)", CHANGE, "use K.conv2d_transpose"),
    (BACKEND + "K.tf.nn.relu(1)", CHANGE, "kameleon tensorflow install"),
    (BACKEND + "K.T.nlinalg", CHANGE, "use numpy.linalg"),
    (BACKEND + "B = K\ndef f(x):\n    return B.quux(x)", CANT, "'quux'"),
    ("import keras.backend as K\nK.quux", CANT, "'quux'"),
    ("import keras\nkeras.backend.quux", CANT, "'quux'"),
    ("import keras as k\nk.backend.quux", CANT, "'quux'"),
    ("from keras.backend import placehold as p", CANT, "did you mean 'placeholder'?"),
    ("import importlib\nimportlib.import_module('keras.backend').quux", CANT, "'quux'"),
    (BACKEND + "getattr(K, 'quux')", CANT, "'quux'"),
    (BACKEND + "class A:\n    def f(self):\n        return K.quux", CANT, "'quux'"),
    (BACKEND + "x = K.placeholder((2,))\nx.meen()", CANT, "did you mean 'mean'?"),
    (BACKEND + "K.zeros((2,)).foo", CANT, "tensors of K have no foo"),
    ("import kameleon\nkameleon.set_engin('numpy')", CANT, "did you mean 'set_engine'?"),
    (BACKEND + "if K.backend() == 'theano':\n    K.quux", NOTE, "--as theano takes it"),
]
OF_KERAS = [
    (BACKEND + "K.ctc.ctc_loss", CHANGE, "use K.ctc_batch_cost"),
    ("from keras.layers import Dense, MultiHeadAttention", CANT, "has no MultiHeadAttention"),
    ("import keras\nkeras.layers.Densee(3)", CANT, "did you mean 'Dense'?"),
    (
        "from keras import layers as L\nL.Rescaling",
        CANT,
        "keras.layers of Keras 2.3.1 has no Rescaling",
    ),
    ("from keras.optimizers import AdamW", CANT, "did you mean 'Adam'?"),
    ("from keras.callbacks import EarlyStoping", CANT, "did you mean 'EarlyStopping'?"),
    ("import keras.ops", CANT, "has no ops"),
    ("from keras.layers import CuDNNLSTM", NOTE, "LSTM with the same mathematics"),
    ("from keras.utils import multi_gpu_model", NOTE, "the model itself"),
]
OF_TENSORFLOW = [
    (TF + "tf.reluu(1)", CANT, "has no reluu"),
    (TF + "tf.nn.reluu(1)", CANT, "did you mean 'relu'?"),
    (TF + "tf.random.set_seed(1)", CANT, "kameleon run with --tf-keras=2"),
    ("from tensorflow.keras.layers import MultiHeadAttention", CANT, "tensorflow.keras.layers"),
    ("import tensorflow.compat.v1 as tf\ntf.flip", CANT, "tensorflow.compat.v1 1.15.5 has no flip"),
    (TF + "tf.keras.backend.quux", CANT, "tensorflow.keras.backend 1.15.5 has no quux"),
    (TF + "tf.load_op_library('x.so')", CANT, "operations in C++"),
    (TF + "tf.contrib.cudnn_rnn.CudnnLSTM", CANT, "type CudnnRNN"),
    (TF + "tf.contrib.nccl", CANT, "has no nccl"),
    (TF + "tf.io.decode_proto", CANT, "type DecodeProtoV2"),
    (TF + "tf.estimator.BoostedTreesClassifier", CANT, "boosted trees"),
    (TF + "tf.train.Server", CANT, "clusters"),
    (TF + "with tf.device('/gpu:0'): pass", NOTE, "a hint"),
]
OF_PYTHON = [
    ("import numpy as np\nnp.flibble", CANT, "numpy has no flibble"),
    ("import numpy as np\nnp.random.foo", CANT, "numpy.random has no foo"),
    ("from numpy import flibble", CANT, "numpy has no flibble"),
    ("for i in xrange(3): pass", CHANGE, "write range"),
    ("import itertools\nitertools.izip", CANT, "itertools has no izip"),
    ("import os\nos.getcwdu()", CANT, "did you mean 'getcwd'?"),
    ("d = {}\nd.has_key(1)", CANT, "a dict has no has_key"),
    ("import urllib2", CHANGE, "import urllib.request instead"),
    ("import theano", CANT, "kameleon run --as theano"),
    ("import no_such_module.part", CANT, "there's no module no_such_module here"),
    ("print 'x'", CANT, "Python 2's syntax"),
    ("x = (", CANT, "was never closed"),
]


def ids(rows: list[tuple[str, str, str]]) -> list[str]:
    return [program.splitlines()[-1].strip() for program, _, _ in rows]


def assert_found(tmp_path: Path, program: str, severity: str, said: str) -> None:
    ended = checked(tmp_path, program)
    [line, summary] = ended.out.splitlines()
    place, found, what = line.removeprefix(f"{tmp_path}/program.py:").split(": ", 2)
    assert found == severity and said in what, line
    number = 2 if severity == NOTE and "--as" in said else len(program.splitlines())
    assert place.split(":")[0] == str(number)
    assert summary == f"1 file: 1 × {severity}"
    assert ended.status == (severity in STOPPING)


@pytest.mark.parametrize(("program", "severity", "said"), OF_K, ids=ids(OF_K))
def test_uses_of_k(tmp_path: Path, program: str, severity: str, said: str) -> None:
    assert_found(tmp_path, program, severity, said)


@needs_original
@pytest.mark.parametrize(("program", "severity", "said"), OF_KERAS, ids=ids(OF_KERAS))
def test_uses_of_keras(tmp_path: Path, program: str, severity: str, said: str) -> None:
    assert_found(tmp_path, program, severity, said)


@needs_tensorflows_files
@pytest.mark.parametrize(("program", "severity", "said"), OF_TENSORFLOW, ids=ids(OF_TENSORFLOW))
def test_uses_of_tensorflow(tmp_path: Path, program: str, severity: str, said: str) -> None:
    assert_found(tmp_path, program, severity, said)


@pytest.mark.parametrize(("program", "severity", "said"), OF_PYTHON, ids=ids(OF_PYTHON))
def test_uses_of_python(tmp_path: Path, program: str, severity: str, said: str) -> None:
    assert_found(tmp_path, program, severity, said)


# What is fine -----------------------------------------------------------------------------------

FINE = [
    BACKEND + "K._BACKEND, K.py_sum, K.dot, K.image_dim_ordering",
    BACKEND + "def f(K):\n    return K.quux",
    BACKEND + "def f():\n    K = object()\n    return K.quux",
    BACKEND + "x = K.zeros((2,))\nx.get_shape(), x.mean().foo, x._keras_shape",
    BACKEND + "if hasattr(K, 'quux'):\n    K.quux",
    BACKEND + "f = K.quux if hasattr(K, 'quux') else K.dot",
    BACKEND + "getattr(K, 'quux', None)",
    BACKEND + "K.quux = 3\nK.quux",
    BACKEND + "try:\n    K.quux\nexcept AttributeError:\n    pass",
    "if False:\n    import no_such_module",
    "try:\n    import no_such_module as m\nexcept ImportError:\n    import json as m\nm.dumps",
    "try:\n    import cPickle as pickle\nexcept ImportError:\n    import pickle\npickle.dumps",
    "try:\n    unicode\nexcept NameError:\n    unicode = str\nunicode('a')",
    "import sys\nif sys.version_info[0] < 3:\n    import urllib2\n    unicode",
    "import six\nif six.PY2:\n    import urllib2",
    "import tensorflow as tf\nif tf.test.is_gpu_available():\n    tf.keras.layers.CuDNNLSTM",
    "import sys, os\nif sys.platform == 'win31' or sys.platform.startswith('java'):\n    pass",
    "import sys\nif sys.platform == 'win31':\n    sys.getwindowsversion()",
    "import program\nfrom . import other",
    "import numpy as np, string, collections\nnp.float, np.product, string.letters",
    "import numpy as np\nfrom collections import Mapping\nimport imp\nnp.core.multiarray",
    "class A(dict):\n    def f(self):\n        return self.has_key(1)",
]  # fmt: skip


@pytest.mark.parametrize("program", FINE, ids=[each.splitlines()[-1].strip() for each in FINE])
def test_nothing_is_said_of(tmp_path: Path, program: str) -> None:
    if "six" in program:
        pytest.importorskip("six")
    if "tensorflow" in program and not location.installed():
        pytest.skip(location.INSTALL)
    ended = checked(tmp_path, program)
    assert (ended.out, ended.status) == ("1 file: nothing to do\n", 0)


# In these folders, programs that the tests run.
FOLDERS = [
    ("examples", {}),
    ("benchmarks", {}),
    ("tests/programs/whole", {}),
    ("tests/programs/libraries", {}),
    ("tests/programs/tf_keras", {}),
    ("tests/programs/tf_keras_2 tests/programs/tf_keras",
     {"KAMELEON_TF_KERAS": "2"}),
]  # fmt: skip


@needs_original
@needs_tensorflows_files
@pytest.mark.parametrize("base", [ON_K, ON_TENSORFLOW], ids=["kameleon", "tensorflow"])
@pytest.mark.parametrize(("folders", "settings"), FOLDERS, ids=[each for each, _ in FOLDERS])
def test_programs_that_run_are_fine(
    folders: str, settings: dict[str, str], base: dict[str, str]
) -> None:
    paths = [str(ROOT / folder) for folder in folders.split()]
    ended = kameleon("check", *paths, settings=base | settings)
    assert ended.status == 0, ended.out


def test_faults_of_programs_are_found() -> None:
    ended = kameleon("check", str(TESTS / "user_programs"), settings=ON_K)
    for fault in ("K.greater(x).foo", "kameleon.set_engin", "x.meen", "K.functon"):
        assert f": {fault}: " in ended.out
    assert ended.status == 1


# It says what the product does ------------------------------------------------------------------


def test_it_agrees_with_the_backend(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in ON_K.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("KERAS_BACKEND", "")
    tables = (undocumented.ALIASES, undocumented.VALUES, undocumented.INSTEAD)
    names = sorted({*dir(K), *K.__all__, *(name for table in tables for name in table), "quux"})
    served = Served()
    wrong = [
        name for name in names if hasattr(K, name) == served.is_absent(f"kameleon.backend.{name}")
    ]
    assert len(names) > 200 and not wrong


AGREES = """
import importlib, pkgutil, sys, warnings
from kameleon.cli.check.served import Served
served = Served()
import kameleon.as_keras, keras

def wrong(module, names):
    return [f"{module.__name__}.{name}" for name in names if not name.startswith("__")
            and hasattr(module, name) == served.is_absent(f"{known(module)}.{name}")]

def known(module):
    return module.__name__.replace("tensorflow_core", "tensorflow").replace("._api.v1", "")

modules = [importlib.import_module(each.name) for each in
           pkgutil.walk_packages(keras.__path__, "keras.")
           if not each.name.startswith(("keras.backend.", "keras.callbacks.tensorboard_v2"))]
everything = {name for each in modules for name in dir(each)}
found = [name for each in modules for name in wrong(each, {*dir(each), "quux"})]
for each in (keras.layers, keras.callbacks, keras.optimizers, keras.losses):
    found += wrong(each, everything)
found += wrong(keras.backend, everything)
print(len(everything), found)
if sys.argv[1:]:
    import tensorflow as tf
    parts = [tf, tf.nn, tf.layers, tf.train, tf.keras.layers, tf.io, tf.math, tf.compat.v1]
    everything = {name for each in parts for name in dir(each)} - {"contrib"}
    print(len(everything), [name for each in parts for name in wrong(each, everything)])
"""
# What a branch for another backend has, which isn't known to be one; modules that nobody loads.
NOT_SEEN = {
    "keras.backend.pattern_broadcast", "keras.backend.theano_backend", "keras.utils.training_utils",
    "tensorflow_core.python.keras.api._v1.keras.layers.experimental",
}  # fmt: skip


@needs_original
@needs_tensorflows_files
@pytest.mark.nightly
@pytest.mark.parametrize("base", ["kameleon", "tensorflow"])
def test_it_agrees_with_keras_and_tensorflow(base: str, tmp_path: Path) -> None:
    (tmp_path / "agrees.py").write_text(AGREES, "utf-8")
    settings = ANYWHERE | {"KAMELEON_KERAS_ON": base}
    ended = run(["-c", COMMAND, "run", "agrees.py", "all"], tmp_path, settings)
    assert ended.returncode == 0, ended.stderr[-3000:]
    for line in ended.stdout.splitlines()[-2:]:
        count, _, wrong = line.partition(" ")
        assert int(count) > 500
        assert not set(json.loads(wrong.replace("'", '"'))) - NOT_SEEN


# What can't be seen -----------------------------------------------------------------------------

UNSEEN = [
    (BACKEND + "getattr(K, input())", COMPUTED),
    ("import importlib\nimportlib.import_module(input())", COMPUTED),
    ("from json import *\nxrange", STARS),
    ("exec('1')", EXECUTED),
    (BACKEND + "if input():\n    import json as K\nK.quux", TWOFOLD),
]


@pytest.mark.parametrize(("program", "what"), UNSEEN, ids=[what for _, what in UNSEEN])
def test_what_cannot_be_seen_is_counted(tmp_path: Path, program: str, what: str) -> None:
    ended = checked(tmp_path, program)
    assert ended.out == f"1 file: nothing to do; not seen: 1 × {what}\n"
    assert ended.status == 0


# The modes of `kameleon run` --------------------------------------------------------------------


def test_settings_of_run_count(tmp_path: Path) -> None:
    theano = "import theano.tensor as T\nT.tensor3, T.nnet.relu, T.nlinalg"
    ended = checked(tmp_path, theano, KAMELEON_AS="theano")
    assert "program.py:2:25: change a line: T.nlinalg: " in ended.out
    assert len(ended.out.splitlines()) == 2
    old = "import numpy as np\nnp.float"
    assert checked(tmp_path, old, KAMELEON_OLD_NAMES="0").status == 1
    assert f"1 × {SERVED}" in checked(tmp_path, old, "--all").out
    keras = checked(tmp_path, "import tensorflow.keras", KAMELEON_TENSORFLOW="installed")
    assert "kameleon run --tf-keras" in keras.out


@needs_tensorflows_files
def test_tensorflow_sees_no_gpu(tmp_path: Path) -> None:
    program = TF + "assert not tf.test.is_gpu_available()\n"
    ended = run(["-c", COMMAND, "run", "program.py"], written(tmp_path, program), ANYWHERE)
    assert ended.returncode == 0, ended.stderr


@needs_tensorflows_files
def test_names_of_tensorflow_2(tmp_path: Path) -> None:
    program = TF + "tf.random.set_seed(1); tf.get_variable"
    ended = checked(tmp_path, program, KAMELEON_TF_KERAS="2")
    assert "tf.get_variable" in ended.out and "set_seed" not in ended.out
    assert "kameleon run without --tf-keras=2" in ended.out


@needs_original
@needs_tensorflows_files
def test_keras_on_tensorflow_has_its_own_names(tmp_path: Path) -> None:
    ended = checked(tmp_path, BACKEND + "K.tf; K.set_engine", KAMELEON_KERAS_ON="tensorflow")
    assert "import tensorflow as tf" in ended.out
    assert "kameleon run --keras-on kameleon" in ended.out


def test_without_the_original(tmp_path: Path) -> None:
    program = "import keras.models\nfrom keras.layers import Dense, LSTM\nkeras.backend.dot\n"
    settings = ON_K | {"KAMELEON_TENSORFLOW1": str(tmp_path)}
    ended = run_without_original(["check", "program.py"], written(tmp_path, program), settings)
    found = [line.split(": ")[:2] for line in ended.stdout.splitlines()[:-1]]
    assert found == [["program.py:1:8", CANT], ["program.py:2:33", CANT]], ended.stdout
    assert ended.stdout.count("kameleon keras2 install") == 2


# The command ------------------------------------------------------------------------------------


def test_json_holds_it_all(tmp_path: Path) -> None:
    ended = checked(tmp_path, BACKEND + "K.deconv2d\nexec('')", "--json")
    found = json.loads(ended.out)
    [finding] = found["findings"]
    assert finding == {
        "file": f"{tmp_path}/program.py", "line": 2, "column": 1, "severity": CHANGE,
        "what": "K.deconv2d", "remedy": "use K.conv2d_transpose",
        "why": "K.deconv2d isn't a documented name, and Kameleon has nothing for it",
    }  # fmt: skip
    counts = {"files": 1, CANT: 0, CHANGE: 1, NOTE: 0, SERVED: 0}
    assert found["summary"] == counts | {"not seen": {EXECUTED: 1}}


def test_a_terminal_gets_tables(tmp_path: Path) -> None:
    settings = {"FORCE_COLOR": "1", "COLUMNS": "200"}
    ended = checked(tmp_path, BACKEND + "K.deconv2d", **settings)
    assert "severity" in ended.out and "─" in ended.out
    assert "use K.conv2d_transpose" in ended.out


def test_a_folder_is_read_whole(tmp_path: Path) -> None:
    for name in ("a.py", "inner/b.py", ".hidden/c.py", "d.txt"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("xrange", "utf-8")
    ended = kameleon("check", str(tmp_path), str(tmp_path / "a.py"), settings=ON_K)
    assert ended.out.splitlines()[-1] == "2 files: 2 × change a line"


@pytest.mark.parametrize(
    ("name", "said"),
    [("absent.py", "'absent.py' doesn't exist"), ("empty", "'empty' holds no files *.py")],
)
def test_paths_that_are_no_programs(
    name: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("empty").mkdir()
    ended = kameleon("check", name)
    assert (ended.status, ended.out) == (2, "")
    assert ended.err == f"kameleon check: PROGRAM: {said} (see kameleon check --help)\n"


# Files that aren't text as it should be; what is said, up to the summary.
ODD = [
    (b"", ""), (b"\xef\xbb\xbfx = 1\n", ""), (b"# coding: latin-1\nx = '\xe9'\n", ""),
    (b"a\0b", "1:"), (b"x = '\xe9'\n", "1:"),
    (b"exec 'x'\n", "1:"), (b"x = 0777\n", "1:"),
    (b"x = " + b"-" * 3000 + b"1\n", None),
]  # fmt: skip


@pytest.mark.parametrize(("content", "said"), ODD)
def test_odd_files(content: bytes, said: str | None, tmp_path: Path) -> None:
    path = tmp_path / "odd.py"
    path.write_bytes(content)
    ended = kameleon("check", str(path), settings=ON_K)
    *lines, summary = ended.out.splitlines()
    if said is None:
        assert summary.endswith("not seen: 1 × files that are nested too deeply")
    assert len(lines) == bool(said) == ended.status
    assert not lines or lines[0].startswith(f"{path}:{said}"), lines


QUIET = """
import sys, time
sys.argv = ["kameleon", "check", "program.py"]
from kameleon.cli import main
try:
    main()
except SystemExit:
    pass
heavy = {"tensorflow", "tensorflow_core", "jax", "torch", "pytensor", "onnxruntime", "keras"}
print(sorted(heavy & {*sys.modules}))
"""


def test_nothing_is_run_loaded_or_written(tmp_path: Path) -> None:
    program = BACKEND + TF + "from keras.layers import Dense\nopen('made', 'w')\nK.dot, tf.nn\n"
    program += "if input():\n    K.quux, K.zeros((2,)).mean()\n    tf.nn.relu(1), K.tf\n"
    ended = run(
        ["-c", QUIET], written(tmp_path, program), ANYWHERE | {"KAMELEON_ENGINE": "tensorflow"}
    )
    assert "quux" in ended.stdout
    assert (ended.stderr, ended.stdout.splitlines()[-1]) == ("", "[]")
    assert [path.name for path in tmp_path.iterdir()] == ["program.py"]
