"""External backends: modules of the user's that supply the K functions."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

from kameleon.config import external
from kameleon.errors import ArgumentError, EngineError, EngineNotFoundError

COMPLETE = """
def placeholder(*args, **kwargs): return "their placeholder"
def variable(*args, **kwargs): return "their variable"
def function(*args, **kwargs): return "their function"
def conv2d(*args, **kwargs): return "their conv2d"
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty package `my_package` that can be imported, and is forgotten afterwards."""
    folder = tmp_path / "my_package"
    folder.mkdir()
    (folder / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    for name in [name for name in sys.modules if name.partition(".")[0] == "my_package"]:
        monkeypatch.delitem(sys.modules, name)
    return folder


def write(package: Path, source: str) -> None:
    """Make the source `my_package.my_module`."""
    (package / "my_module.py").write_text(source, encoding="utf-8")
    importlib.invalidate_caches()


def test_complete_module_is_loaded(package: Path) -> None:
    write(package, COMPLETE)
    module = external.load("my_package.my_module")
    assert module is sys.modules["my_package.my_module"]
    assert module.variable() == "their variable"


def test_callables_of_any_kind_serve(package: Path) -> None:
    write(package, "class variable: ...\nplaceholder = function = print")
    assert external.load("my_package.my_module").__name__ == "my_package.my_module"


LACKING = {
    "": "placeholder, variable, function",
    "def placeholder(): ...": "variable, function",
    "def function(): ...\ndef placeholder(): ...": "variable",
    "variable = placeholder = print\nfunction = 3": "function",
}


@pytest.mark.parametrize("source", LACKING, ids=LACKING.values())
def test_all_missing_functions_are_named_at_once(package: Path, source: str) -> None:
    write(package, source)
    with pytest.raises(ValueError, match=rf"it lacks {LACKING[source]}$") as caught:
        external.load("my_package.my_module", "KERAS_BACKEND")
    assert isinstance(caught.value, ArgumentError)
    assert str(caught.value).startswith("KERAS_BACKEND=my_package.my_module can't be met: ")


@pytest.mark.parametrize("path", ["nonsense", "my_package.absent", "my_package.absent.deeper"])
def test_absent_module(package: Path, path: str) -> None:
    with pytest.raises(EngineNotFoundError, match="nor a module that can be imported") as caught:
        external.load(path, "/etc/keras.json")
    message = str(caught.value)
    assert message.startswith(f'"backend": "{path}" in /etc/keras.json can\'t be met: ')
    assert "tensorflow, theano, cntk, numpy, jax, torch, onnxruntime" in message
    assert 'set KERAS_BACKEND=numpy or write "backend": "numpy" in /etc/keras.json' in message
    assert isinstance(caught.value.__cause__, ModuleNotFoundError)
    assert isinstance(caught.value, ImportError) and isinstance(caught.value, ValueError)


def test_misspelt_engine_is_recognised() -> None:
    with pytest.raises(EngineNotFoundError, match=r"; did you mean 'numpy'\?"):
        external.load("NumPy", "KERAS_BACKEND")


FAILURES = {
    "import no_such_library": "ModuleNotFoundError: No module named 'no_such_library'",
    "from os import nothing_like_it": "ImportError: cannot import name",
    "1 / 0": "ZeroDivisionError: division by zero",
    "def (": "SyntaxError: ",
}


@pytest.mark.parametrize("source", FAILURES)
def test_module_that_fails_is_told_from_an_absent_one(package: Path, source: str) -> None:
    write(package, source)
    with pytest.raises(EngineNotFoundError) as caught:
        external.load("my_package.my_module", "KERAS_BACKEND")
    found = f"importing the module 'my_package.my_module' failed with {FAILURES[source]}"
    assert found in str(caught.value)
    assert type(caught.value.__cause__).__name__ == FAILURES[source].partition(":")[0]
    assert "my_package.my_module" not in sys.modules


@pytest.mark.parametrize("path", ["", ".relative", "not a module", "a..b"])
def test_paths_that_name_no_module(path: str) -> None:
    with pytest.raises(EngineNotFoundError, match="can't be met"):
        external.load(path)


def test_a_stop_by_the_user_passes_through(package: Path) -> None:
    write(package, "raise KeyboardInterrupt")
    with pytest.raises(KeyboardInterrupt):
        external.load("my_package.my_module")


def test_missing_raises_when_called() -> None:
    dot = external.missing("dot", "my_package.my_module")
    assert (dot.__name__, dot.__qualname__) == ("dot", "dot")
    assert "my_package.my_module" in (dot.__doc__ or "")
    with pytest.raises(EngineError, match=r"^dot: the external backend 'my_package\.my_module' "):
        dot(1, y=2)
