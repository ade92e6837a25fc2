"""What `import tensorflow` gives: TensorFlow 1.15's files to old code, the library to others."""

from __future__ import annotations

import builtins
import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from _support.common import SOURCE
from _support.originals import needs_original, needs_tensorflows_files
from _support.programs import ANYWHERE, run, run_code, write_small_keras

from compat.keras2.test_as_keras import NO_TENSORFLOW
from kameleon.compat.legacy import importing

RUN = ("-m", "kameleon", "run")

# --- a package that is provided ---------------------------------------------------------------

FLOW = "kameleon_flow"  # no such package is installed
KNOWN = {f"{FLOW}{end}" for end in ("", ".python", ".python.ops", ".python.ops.array_ops")}


def give(name: str) -> ModuleType:
    """The module of that name in a package of a few modules."""
    if name not in KNOWN:
        raise ModuleNotFoundError(f"{name}: use K", name=name)
    made = ModuleType(name)
    vars(made).update(reshape=name, __getattr__=lambda child: advise(name, child))
    return made


def advise(name: str, child: str) -> Any:
    raise AttributeError(f"{name}.{child}: use K")


@pytest.fixture
def _provided(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("_providers", "_provided"):
        monkeypatch.setattr(importing, name, dict(getattr(importing, name)))
    monkeypatch.setattr(importing, "_tops", set(importing._tops))
    monkeypatch.setattr(importlib, "import_module", importlib.import_module)
    before = builtins.__import__
    importing.provide(FLOW, give)
    importing.begin()
    yield
    builtins.__import__ = before


def seen(code: str, file: str = "/home/me/train.py", name: str = "train") -> Any:
    space: dict[str, Any] = {"__name__": name, "__file__": file}
    exec(compile(code.replace("flow", FLOW), file, "exec"), space)
    return space["seen"]


# Statements, and what gives the name of the module that they end at.
STATEMENTS = {
    "import flow; seen = flow.reshape": "",
    "import flow as tf; seen = tf.reshape": "",
    "import flow.python.ops; seen = flow.python.ops.reshape": ".python.ops",
    "import flow.python.ops.array_ops as a; seen = a.reshape": ".python.ops.array_ops",
    "from flow import reshape as seen": "",
    "from flow import python; seen = python.reshape": ".python",
    "from flow.python import ops; seen = ops.reshape": ".python.ops",
    "from flow.python.ops import array_ops; seen = array_ops.reshape": ".python.ops.array_ops",
    "from flow.python.ops.array_ops import *; seen = reshape": ".python.ops.array_ops",
    "import importlib; seen = importlib.import_module('flow').reshape": "",
    "from importlib import import_module as m; seen = m('.ops', 'flow.python').reshape": (
        ".python.ops"
    ),
    "from importlib import import_module as m; seen = m('flow.python').reshape": ".python",
    "seen = __import__('flow').reshape": "",
    "seen = __import__('flow.python', fromlist=['ops']).ops.reshape": ".python.ops",
    "def f():\n    import flow as tf\n    return tf.reshape\nseen = f()": "",
    "exec('import flow'); seen = flow.reshape": "",
    "import sys, flow.python; seen = sys.modules['flow.python'].reshape": ".python",
    "seen = __import__('flow.python', fromlist=['']).reshape": ".python",
    "seen = __import__('flow.python', {}, {}, ['whatever']).reshape": ".python",
    "own = {}; exec('import flow', own); seen = own['flow'].reshape": "",
    "import pydoc; seen = pydoc.locate('flow.python.ops').reshape": ".python.ops",
    "import pydoc; seen = pydoc.locate('flow.python.reshape')": ".python",
    "import timeit; seen = []; timeit.timeit('a.append(b)', 'from flow import reshape as b',"
    " number=1, globals={'a': seen}); seen = seen[0]": "",
    "import flow\nfrom unittest import mock\nwith mock.patch('flow.reshape', 'flow.nothing'):\n"
    "    seen = flow.reshape": ".nothing",
    "import pickle; seen = pickle.loads(b'cflow.python\\nreshape\\n.')": ".python",
}


@pytest.mark.usefixtures("_provided")
@pytest.mark.parametrize("code", STATEMENTS)
def test_all_ways_to_import(code: str) -> None:
    assert seen(code) == f"{FLOW}{STATEMENTS[code]}"
    assert FLOW not in sys.modules


@pytest.mark.usefixtures("_provided")
def test_the_modules_are_one_for_all_of_old_code() -> None:
    first = seen("import flow.python.ops; seen = flow.python.ops")
    assert seen("from flow.python import ops as seen", "/home/me/a.py", "a") is first


@pytest.mark.usefixtures("_provided")
@pytest.mark.parametrize(
    "statement",
    ["import flow", "from flow import python", "import flow.python.ops as seen"],
)
def test_nobody_else_finds_it(statement: str) -> None:
    seen("import flow; seen = 1")
    with pytest.raises(ModuleNotFoundError, match="No module named"):
        seen(statement, "/x/site-packages/tensorboard/compat.py", "tensorboard.compat")


LACKING = {
    "import flow.nothing": "flow.nothing: use K",
    "from flow.nothing import a": "flow.nothing: use K",
    "from flow.python import nothing": "flow.python.nothing: use K",
    "import importlib; importlib.import_module('flow.nothing')": "flow.nothing: use K",
}


@pytest.mark.usefixtures("_provided")
@pytest.mark.parametrize("statement", LACKING)
def test_what_is_lacking_says_what_to_use(statement: str) -> None:
    with pytest.raises(ImportError) as caught:
        seen(statement)
    assert str(caught.value) == LACKING[statement].replace("flow", FLOW)


@pytest.mark.usefixtures("_provided")
def test_programs_may_look_for_it() -> None:
    code = """
import importlib.util, sys
before = "flow" in sys.modules
specs = [importlib.util.find_spec("flow"), importlib.util.find_spec("flow.nothing")]
import flow
after = "flow" in sys.modules, "flow" in list(sys.modules), "flow" in sys.modules.copy()
counts = len(sys.modules) == len(list(sys.modules)), "json.nothing" in sys.modules
seen = before, specs[0].name, specs[1], after, counts
"""
    assert seen(code) == (False, FLOW, None, (True, True, True), (True, False))


@pytest.mark.usefixtures("_provided")
def test_programs_may_put_something_in_its_place() -> None:
    set_to = "import sys; sys.modules['flow'] = {}; import flow as seen"
    assert seen(set_to.format("len")) is len
    with pytest.raises(ModuleNotFoundError, match=r"None in sys\.modules"):
        seen(set_to.format("None"))
    assert seen("import sys; del sys.modules['flow']; import flow; seen = flow.reshape") == FLOW
    assert seen("import sys; sys.modules['kameleon_mine'] = 1; seen = sys.modules") is not None
    assert sys.modules.pop("kameleon_mine") == 1


# --- tensorflow -------------------------------------------------------------------------------

INSTALLED = """
from importlib.util import find_spec
find_spec("keras")
__version__ = "2.99"
"""
ASKS = """
import sys
before = "tensorflow" in sys.modules
import tensorflow as tf
from tensorflow.python.framework import ops
import tensorflow.compat.v1 as tf1
import tensorflow.keras.backend as TK
from tensorflow.python.keras import layers as TL
from tensorflow import keras as TF
import kameleon.backend
assert tf.__version__ == "1.15.5" and tf1.Session is tf.Session
assert hasattr(ops, "get_gradient_function")
assert TK is tf.keras.backend and TL.Dense is tf.keras.layers.Dense is TF.layers.Dense
assert sys.modules["tensorflow"] is tf
x = tf.placeholder(tf.float32, (2,))
print(tf.Session().run(tf.reduce_mean(x), {x: [1, 2]}), before)
import library, modern
print(library.version, library.is_there, modern.version, modern.is_there)
"""
LOOKS = """
import sys
is_there = "tensorflow" in sys.modules
try:
    import tensorflow
    version = tensorflow.__version__
except ImportError:
    version = None
"""
MODERN = "Name: modern\nRequires-Python: >=3.11\n"


@pytest.fixture
def surroundings(tmp_path: Path) -> dict[str, str]:
    """Settings with a small Keras, an old library and a modern one; TensorFlow isn't there."""
    libraries = tmp_path / "site-packages"
    told = libraries / "modern-1.0.dist-info"
    told.mkdir(parents=True)
    (told / "METADATA").write_text(MODERN, "utf-8")
    (told / "top_level.txt").write_text("modern", "utf-8")
    for name in ("library", "modern"):
        (libraries / f"{name}.py").write_text(LOOKS, "utf-8")
    (libraries / "sitecustomize.py").write_text(NO_TENSORFLOW, "utf-8")
    (tmp_path / "program.py").write_text(ASKS, "utf-8")
    paths = {"PYTHONPATH": f"{SOURCE}:{libraries}"}
    return write_small_keras(tmp_path / "original") | paths


def install(folder: Path) -> None:
    """A TensorFlow of a few lines, beside the libraries."""
    libraries = folder / "site-packages"
    (libraries / "sitecustomize.py").unlink()
    (libraries / "tensorflow").mkdir()
    (libraries / "tensorflow" / "__init__.py").write_text(INSTALLED, "utf-8")


@needs_tensorflows_files
@pytest.mark.parametrize("there", [False, True])
@pytest.mark.parametrize("how", ["run", "import"])
def test_old_code_gets_tensorflows_files(
    tmp_path: Path, surroundings: dict[str, str], there: bool, how: str
) -> None:
    if there:
        install(tmp_path)
    if how == "run":
        found = run([*RUN, "program.py"], tmp_path, surroundings)
    else:
        found = run_code("import kameleon.as_keras\n" + ASKS, tmp_path, surroundings)
    others = "2.99" if there else "None"
    said = f"1.5 False\n1.15.5 True {others} False\n"
    assert (found.returncode, found.stdout) == (0, said), found.stderr


@pytest.mark.parametrize("there", [False, True])
def test_where_the_files_lack_the_line_that_installs_them_is_said(
    tmp_path: Path, surroundings: dict[str, str], there: bool
) -> None:
    if there:
        install(tmp_path)
    (tmp_path / "program.py").write_text("import modern\nimport tensorflow", "utf-8")
    settings = surroundings | {"KAMELEON_TENSORFLOW1": "nowhere"}
    found = run([*RUN, "program.py"], tmp_path, settings)
    assert (found.returncode, found.stdout) == (1, "")
    assert "MissingLibraryError" in found.stderr
    assert "kameleon tensorflow install" in found.stderr.splitlines()[-1]


@pytest.mark.parametrize("by", ["option", "variable"])
def test_the_installed_one_where_it_is_asked_for(
    tmp_path: Path, surroundings: dict[str, str], by: str
) -> None:
    install(tmp_path)
    code = "import tensorflow as tf, library; print(tf.__version__, library.version)"
    (tmp_path / "program.py").write_text(code, "utf-8")
    options = ["--tensorflow", "installed"] if by == "option" else []
    variable = {"KAMELEON_TENSORFLOW": "installed"} if by == "variable" else {}
    found = run([*RUN, *options, "program.py"], tmp_path, surroundings | variable)
    assert (found.returncode, found.stdout) == (0, "2.99 2.99\n"), found.stderr


def test_a_choice_that_there_is_not(tmp_path: Path, surroundings: dict[str, str]) -> None:
    found = run([*RUN, "--tensorflow", "2", "program.py"], tmp_path, surroundings)
    assert (found.returncode, found.stdout) == (2, "")
    said = "kameleon run: --tensorflow: '2' is none of original, installed"
    assert found.stderr.startswith(said)


ENGINE = """
import tensorflow as tf
from keras import backend as K
from keras.layers import Dense
import kameleon.backend, sys
print(tf.__version__, kameleon.backend.backend(), "tensorflow" in sys.modules)
x = K.constant([1.0, 3.0])
mean = K.function([], [tf.reduce_mean(x)])
print(mean([])[0], type(x).__module__)
y = kameleon.backend.constant([1.0, 3.0])
found = kameleon.backend.function([], [y], as_numpy=False)([])[0]
print(type(found).__module__)
"""


@needs_original
@needs_tensorflows_files
@pytest.mark.slow
def test_the_engine_keeps_the_real_one(tmp_path: Path) -> None:
    pytest.importorskip("tensorflow", reason="needs TensorFlow")
    (tmp_path / "program.py").write_text(ENGINE, "utf-8")
    found = run([*RUN, "--engine", "tensorflow", "program.py"], tmp_path, ANYWHERE)
    assert found.returncode == 0 and "Traceback" not in found.stderr, found.stderr
    first, second, third = found.stdout.splitlines()
    assert first == "1.15.5 tensorflow True"
    assert second == "2.0 tensorflow_core.python.framework.ops"
    assert third.startswith("tensorflow.python")
