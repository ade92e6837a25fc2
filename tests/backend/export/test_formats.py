"""What `export` asks for, where it writes, and what it makes sure of before."""

from __future__ import annotations

import os
import signal
import stat
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from _support.common import run_python

import kameleon
from kameleon import backend as K
from kameleon.backend.export import examples, formats
from kameleon.backend.export.formats import FORMATS, AtOneMoment
from kameleon.errors import (
    ArgumentError,
    EngineError,
    FeedError,
    MissingLibraryError,
    TargetError,
)

# A format of the tests' own: its files say nothing, and reading them gives twice the input.
TWICE = "def load(path):\n    open(path).close()\n    return lambda arrays: [arrays[0] * 2]\n"
FOLDER = "def load(path):\n    open(path + '/saved_model.pb').close()\n" + TWICE.splitlines()[2]


def made(reload: str = TWICE, text: str = "new") -> SimpleNamespace:
    """A module that writes files of such a format."""

    def write(program: Any, path: str, level: int = 0) -> None:
        Path(path).write_text(text, "utf-8")

    return SimpleNamespace(write=write, RELOAD=reload)


def in_folder(reload: str = FOLDER) -> SimpleNamespace:
    """A module that writes folders."""

    def write(program: Any, path: str) -> None:
        Path(path, "variables").mkdir(parents=True)
        Path(path, "saved_model.pb").write_text("new", "utf-8")

    return SimpleNamespace(write=write, RELOAD=reload)


@pytest.fixture
def use(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Put a module in the place of what writes any format."""
    return lambda module: monkeypatch.setattr(formats, "_module", lambda chosen: module)


def twice(*shape: int | None) -> Any:
    x = K.placeholder(shape or (None, 3), name="x")
    return K.function([x], [x * 2.0])


def names(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))


# What is asked for -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FORMATS)
def test_a_suffix_tells_the_format(name: str) -> None:
    row = FORMATS[name]
    assert formats._chosen(f"model{row.suffix}", None) is row
    assert formats._chosen(Path(f"model{row.suffix.upper()}"), None) is row
    assert formats._chosen("model.bin", name) is row


def test_a_folder_is_a_savedmodel(tmp_path: Path) -> None:
    assert formats._chosen(tmp_path, None).name == "savedmodel"
    assert formats._chosen(f"{tmp_path}/new/", None).name == "savedmodel"


WRONG: dict[str, tuple[tuple[Any, ...], dict[str, Any], str]] = {
    "suffix": (("f.onx",), {}, r"'.onx' is no format's; did you mean '.onnx'\?.*savedmodel"),
    "no suffix": (("f",), {}, r"'.*f' has no suffix; there are: onnx \(.onnx\)"),
    "name": (("f.onnx", "onx"), {}, r"no format 'onx'; did you mean 'onnx'\?"),
    "no name": (("f.onnx", 3), {}, "no format 3"),
    "option": (("f.onnx",), {"levl": 1}, r"no option 'levl'; it has level; did you mean 'level'"),
    "no path": ((3,), {}, "a path is text or a Path"),
    "verify": (("f.onnx",), {"verify": 1}, r"True, False, or a list .*\[\[x\], …\]"),
    "examples": (("f.onnx",), {"verify": [np.ones((2, 3))]}, r"a list of the inputs' values"),
    "no examples": (("f.onnx",), {"verify": []}, r"True, False, or a list"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_makes_no_sense_is_refused(case: str, tmp_path: Path, use: Any) -> None:
    use(made())
    (path, *rest), options, message = WRONG[case]
    path = str(tmp_path / path) if isinstance(path, str) else path
    with pytest.raises(ArgumentError, match=message):
        twice().export(path, *rest, **options)
    assert names(tmp_path) == []


def test_examples_must_fit(tmp_path: Path, use: Any) -> None:
    use(made())
    with pytest.raises(FeedError, match=r"input 'x:0' has shape \(None, 3\)"):
        twice().export(tmp_path / "f.onnx", verify=[[np.ones((2, 4))]])
    twice().export(tmp_path / "f.onnx", verify=[[np.ones((2, 3))], [[[1, 2, 3]]]])


def test_a_missing_library_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formats, "find_spec", lambda name: None)
    with pytest.raises(MissingLibraryError, match="pip install onnx onnxruntime"):
        twice().export(tmp_path / "f.onnx")


def test_importing_loads_no_library(tmp_path: Path) -> None:
    code = (
        "import sys, kameleon; from kameleon import backend as K;"
        "from kameleon.backend.export import formats;"
        "print([m for m in ('onnx', 'onnxruntime', 'jax', 'torch') if m in sys.modules])"
    )
    done = run_python(code, tmp_path, {"KERAS_BACKEND": "numpy"})
    assert done.stdout.strip() == "[]", done.stderr


# Where it goes -----------------------------------------------------------------------------------


def test_a_file_is_replaced(tmp_path: Path, use: Any) -> None:
    use(made())
    path, link = tmp_path / "f.onnx", tmp_path / "link.onnx"
    twice().export(path)
    path.chmod(0o640)
    link.symlink_to(path)
    use(made(text="newer"))
    twice().export(link)
    assert link.is_symlink()
    assert path.read_text("utf-8") == "newer"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert names(tmp_path) == ["f.onnx", "link.onnx"]


FAULTS = {
    "killed": ("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)", r"signal 9 \(SIGKILL\)"),
    "raises": ("raise RuntimeError('no')", "RuntimeError: no"),
    "numbers": (TWICE.replace("* 2", "* 2.001"), r"output 0 \('Mul'\)\[.*6 of 6 numbers differ"),
    "dtype": (TWICE.replace("* 2", ".astype('f8') * 2"), r"float64\[2, 3\], not float32\[2, 3\]"),
    "shape": (TWICE.replace("* 2", "[:1] * 2"), r"float32\[1, 3\], not float32\[2, 3\]"),
    "fewer": (TWICE.replace("[arrays[0] * 2]", "[]"), "0 results, not 1"),
    "kameleon": (f"import kameleon\n{TWICE}", "import of kameleon halted"),
    "one size": (TWICE.replace("* 2", "* (2 if len(arrays[0]) == 2 else 3)"), r"float32\[3, 3\]"),
}


@pytest.mark.parametrize("case", FAULTS)
def test_what_fails_leaves_the_old_file(case: str, tmp_path: Path, use: Any) -> None:
    code, message = FAULTS[case]
    use(made(code))
    path = tmp_path / "f.onnx"
    path.write_text("old", "utf-8")
    with pytest.raises(EngineError, match=message):
        twice().export(path)
    assert path.read_text("utf-8") == "old"
    assert names(tmp_path) == ["f.onnx"]
    twice().export(path, verify=False)
    assert path.read_text("utf-8") == "new"


def test_a_folder_is_replaced_by_a_folder(tmp_path: Path, use: Any) -> None:
    use(in_folder())
    path = tmp_path / "model"
    twice().export(path, format="savedmodel")
    (path / "saved_model.pb").write_text("old", "utf-8")
    use(in_folder("raise RuntimeError('no')"))
    with pytest.raises(EngineError):
        twice().export(path)
    assert (path / "saved_model.pb").read_text("utf-8") == "old"
    use(in_folder())
    twice().export(path)
    assert (path / "saved_model.pb").read_text("utf-8") == "new"
    assert names(tmp_path) == ["model"]


def test_a_folder_of_something_else_stays(tmp_path: Path, use: Any) -> None:
    use(in_folder())
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "1.png").touch()
    (tmp_path / "notes").touch()
    for name, what in (("photos", "holds no SavedModel"), ("notes", "a file")):
        with pytest.raises(TargetError, match=what):
            twice().export(tmp_path / name, format="savedmodel")
    twice().export(tmp_path / "photos" / "model", format="savedmodel")
    assert names(tmp_path / "photos") == ["1.png", "model"]


def test_a_folder_that_cannot_be_moved_is_put_back(
    tmp_path: Path, use: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(in_folder())
    path = tmp_path / "model"
    twice().export(path, format="savedmodel", verify=False)
    (path / "saved_model.pb").write_text("old", "utf-8")
    rename = os.rename

    def failing(source: str, target: str) -> None:
        if target == str(path) and "old" not in os.path.basename(source):
            raise KeyboardInterrupt
        rename(source, target)

    monkeypatch.setattr(os, "rename", failing)
    with pytest.raises(KeyboardInterrupt):
        twice().export(path, verify=False)
    assert (path / "saved_model.pb").read_text("utf-8") == "old"


KILLED = """
import os, signal
from kameleon import backend as K
from kameleon.backend.export import formats
from types import SimpleNamespace
def write(program, path):
    open(path, "w").write("half")
    os.kill(os.getpid(), signal.SIGKILL)
formats._module = lambda chosen: SimpleNamespace(write=write, RELOAD="")
x = K.placeholder((2,))
K.function([x], [x]).export({path!r})
"""


def test_a_process_that_is_killed_leaves_the_old_file(tmp_path: Path, use: Any) -> None:
    path = tmp_path / "f.onnx"
    path.write_text("old", "utf-8")
    done = run_python(KILLED.format(path=str(path)), tmp_path / "home")
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert path.read_text("utf-8") == "old"
    assert len(names(tmp_path)) > 1
    use(made())
    twice().export(path)
    assert set(names(tmp_path)) <= {"f.onnx", "home"}


def test_paths_that_cannot_be_written(
    tmp_path: Path, use: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(made())
    for format in ("onnx", "savedmodel"):
        with pytest.raises(FileNotFoundError, match="there is no folder"):
            twice().export(tmp_path / "nowhere" / "f", format)
    with pytest.raises(TargetError, match="is a device"):
        twice().export(os.devnull, "onnx")

    def refuse(path: str, mode: int) -> None:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(os, "mkdir", refuse)
    with pytest.raises(PermissionError, match=r"f\.onnx'$"):
        twice().export(tmp_path / "f.onnx", verify=False)


# The inputs that verification makes up -----------------------------------------------------------


def drawn(function: Any) -> list[list[Any]]:
    """The inputs of the calls that are made up."""
    found = examples.calls_of(AtOneMoment(function, "export"), None)
    return [call.given for call in found]


def shapes(function: Any) -> list[list[tuple[int, ...]]]:
    return [[x.shape for x in call] for call in drawn(function)]


def test_unknown_sizes_are_two_sizes() -> None:
    assert shapes(twice(None, 3)) == [[(2, 3)], [(3, 3)]]
    assert shapes(twice(2, 3)) == [[(2, 3)], [(2, 3)]]
    (first, *_), (second, *_) = drawn(twice(2, 3))
    assert not np.array_equal(first, second)


def test_sizes_that_meet_are_equal_and_others_are_not() -> None:
    x, y, z = (K.placeholder((None,)) for _ in range(3))
    for each in shapes(K.function([x, y, z], [x + y, z])):
        assert each[0] == each[1] != each[2]


def odd_sizes() -> Iterator[Any]:
    """Functions that take some sizes and some numbers alone."""
    x, n = K.placeholder((None,)), K.placeholder((), dtype="int32")
    i, image = K.placeholder((None,), dtype="int32"), K.placeholder((None, None, None, 1))
    yield pytest.param(K.function([x], [K.reshape(x, (3, 4))]), id="just 12")
    yield pytest.param(K.function([i], [K.gather(K.ones((1, 2)), i)]), id="just index 0")
    yield pytest.param(K.function([x, i], [K.gather(x, i)]), id="index of an input")
    yield pytest.param(K.function([n], [K.arange(1, 4) // n]), id="a divisor")
    yield pytest.param(K.function([x], [K.log(x), K.sqrt(x)]), id="positive")
    deep = K.conv2d(K.conv2d(image, K.ones((5, 5, 1, 1))), K.ones((5, 5, 1, 1)))
    yield pytest.param(K.function([image], [K.reshape(deep[:, 0, 0], (-1,))]), id="large images")
    a, b = K.placeholder((None, None)), K.placeholder((None, None))
    yield pytest.param(K.function([a, b], [K.dot(a, b)]), id="products")


@pytest.mark.parametrize("case", range(7))
def test_inputs_are_made_up_that_make_sense(case: int) -> None:
    (function,) = list(odd_sizes())[case].values
    for call in drawn(function):
        assert all(np.isfinite(x).all() for x in function(call))


def test_sparse_inputs_are_made_up() -> None:
    x = K.placeholder((None, 4), sparse=True)
    calls = drawn(K.function([x], [K.dot(x, K.ones((4, 2)))]))
    assert [call[2].tolist() for call in calls] == [[2, 4], [3, 4]]


def test_where_nothing_makes_sense_the_user_is_asked(tmp_path: Path, use: Any) -> None:
    use(made())
    x, i = K.placeholder((3,), name="x"), K.placeholder((), dtype="int32", name="i")
    function = K.function([x, i], [x * K.gather(K.ones((200,)), i + 100) * 2.0])
    function.export(tmp_path / "f.onnx")
    impossible = K.function([x, i], [K.gather(x * 2.0, i + 100)])
    with pytest.raises(ArgumentError, match=r"can't be verified(.|\n)*verify=\[\[…\], \[…\]\]"):
        impossible.export(tmp_path / "g.onnx")
    fitting = K.function([x, i], [K.gather(K.ones((200,)), i) * x * 2.0])
    fitting.export(tmp_path / "g.onnx", verify=[[np.ones(3), 150]])


def test_values_are_those_of_one_moment() -> None:
    v = K.variable([1.0, 2.0])
    program = AtOneMoment(K.function([], [v * 1.0]), "export")
    K.set_value(v, [5.0, 5.0])
    assert program.values[0].tolist() == [1.0, 2.0]


# Our own format ----------------------------------------------------------------------------------


def test_our_own_format(tmp_path: Path) -> None:
    x, w = K.placeholder((None, 2), name="x"), K.variable(np.ones((2, 2)), name="w")
    function = K.function([x], [K.dot(x, w)], [(w, w + 1.0)])
    function.export(tmp_path / "f.safetensors")
    again = kameleon.load(tmp_path / "f.safetensors")
    np.testing.assert_array_equal(again([np.ones((1, 2), "float32")])[0], [[2, 2]])
    np.testing.assert_array_equal(K.get_value(w), np.ones((2, 2)))
