"""The settings, their three layers, and keras.json."""

from __future__ import annotations

import errno
import json
import ntpath
import os
import stat
import sys
import tempfile
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _support.common import forget_settings, run_python, write_keras_json

from kameleon import config
from kameleon.config import keras_json
from kameleon.errors import ArgumentError, ConfigWarning, MissingLibraryError

pytestmark = pytest.mark.usefixtures("folder")

DEFAULTS = {"image_data_format": "channels_last", "epsilon": 1e-07, "floatx": "float32"}
OTHERS = {"image_data_format": "channels_first", "epsilon": 1e-05, "floatx": "float64"}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder, with KERAS_HOME not set."""
    monkeypatch.delenv("KERAS_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def read_only_home(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home that can't be written, for any user: root isn't stopped by permissions."""
    access = os.access

    def denied(path: str, mode: int) -> bool:
        return access(path, mode) and not (str(path) == str(home) and mode & os.W_OK)

    monkeypatch.setattr(os, "access", denied)
    return home


def values() -> dict[str, Any]:
    """The settings that have a documented default."""
    return {key: getattr(config.settings, key) for key in DEFAULTS}


# --- the functions ------------------------------------------------------------------------------


def test_defaults() -> None:
    assert values() == DEFAULTS
    assert config.settings.backend is None
    assert (config.epsilon(), config.floatx()) == (1e-07, "float32")
    assert (config.image_data_format(), config.image_dim_ordering()) == ("channels_last", "tf")


@pytest.mark.parametrize("e", [1, 1e-3, np.float32(0.5), np.float64(2.0), "tiny"])
def test_set_epsilon_takes_positive_numbers(e: Any) -> None:
    e = sys.float_info.min if e == "tiny" else e
    config.set_epsilon(e)
    assert type(config.epsilon()) is float
    assert config.epsilon() == float(e)


BAD_EPSILONS = [0, -1e-7, True, "1e-7", None, [1e-7], {}, 10**400, float("inf"), float("nan")]


@pytest.mark.parametrize("e", BAD_EPSILONS, ids=repr)
def test_set_epsilon_refuses_the_rest(e: Any) -> None:
    with pytest.raises(ArgumentError, match=r"^set_epsilon: e is .+; expected a positive, finite"):
        config.set_epsilon(e)
    assert config.epsilon() == 1e-07


@pytest.mark.parametrize("name", ["float16", "float32", "float64"])
@pytest.mark.parametrize("kind", [str, np.str_, np.dtype])
def test_set_floatx(name: str, kind: Callable[[str], Any]) -> None:
    config.set_floatx(kind(name))
    assert config.floatx() == name
    assert type(config.floatx()) is str


def test_bfloat16_needs_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ml_dtypes", reason="bfloat16 arrays need the package ml_dtypes")
    config.set_floatx("bfloat16")
    assert config.floatx() == "bfloat16"
    config.set_floatx("float32")
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    with pytest.raises(MissingLibraryError, match="pip install ml_dtypes"):
        config.set_floatx("bfloat16")
    assert config.floatx() == "float32"


@pytest.mark.parametrize("name", ["int32", "float", "Float32", "", None, 32, np.ones(2)], ids=repr)
def test_set_floatx_refuses_other_names(name: Any) -> None:
    with pytest.raises(ValueError, match=r"^set_floatx: floatx is .*expected 'float16'") as caught:
        config.set_floatx(name)
    assert repr(name) in str(caught.value)
    assert config.floatx() == "float32"


def test_set_image_data_format() -> None:
    config.set_image_data_format("channels_first")
    assert (config.image_data_format(), config.image_dim_ordering()) == ("channels_first", "th")
    with pytest.raises(ValueError, match=r"^set_image_data_format: data_format is 'middle'; exp"):
        config.set_image_data_format("middle")
    assert config.image_data_format() == "channels_first"


def test_set_image_dim_ordering() -> None:
    for name, layout in (("th", "channels_first"), ("tf", "channels_last")):
        config.set_image_dim_ordering(name)
        assert (config.image_dim_ordering(), config.image_data_format()) == (name, layout)
    with pytest.raises(ValueError, match=r"^set_image_dim_ordering: dim_ordering is 'mx'; exp"):
        config.set_image_dim_ordering("mx")


def test_normalize_data_format() -> None:
    assert config.normalize_data_format("Channels_FIRST") == "channels_first"
    assert config.normalize_data_format("channels_last") == "channels_last"
    assert config.normalize_data_format(None) == "channels_last"
    config.set_image_data_format("channels_first")
    assert config.normalize_data_format(None) == "channels_first"


@pytest.mark.parametrize("value", ["middle", "", 3, ["channels_last"]], ids=repr)
def test_normalize_data_format_says_what_came(value: Any) -> None:
    with pytest.raises(ValueError) as caught:
        config.normalize_data_format(value, "conv2d")
    assert str(caught.value).startswith(f"conv2d: data_format is {value!r}; expected")


def test_settings_know_their_names() -> None:
    with pytest.raises(AttributeError, match=r"no setting 'floatX'; there are .*floatx"):
        config.settings.floatX = "float64"
    with pytest.raises(AttributeError, match="no setting 'floatX'"):
        _ = config.settings.floatX
    with pytest.raises(ArgumentError, match="settings: floatx is 'int8'"):
        config.settings.floatx = "int8"


def test_reads_while_others_write_see_whole_values() -> None:
    layouts = {"channels_last", "channels_first"}

    def work(turn: int) -> bool:
        if turn % 2:
            config.set_image_data_format(sorted(layouts)[turn // 2 % 2])
        return config.normalize_data_format(None) in layouts

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(2000)))


# --- where keras.json is ------------------------------------------------------------------------


def test_keras_home_is_the_folder(folder: Path) -> None:
    assert keras_json.find() == (str(folder / "keras.json"), False)


def test_keras_home_may_begin_with_the_home(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KERAS_HOME", "~/settings")
    assert keras_json.find()[0] == str(home / "settings" / "keras.json")


def test_empty_keras_home_is_none(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KERAS_HOME", "")
    assert keras_json.find()[0] == str(home / ".keras" / "keras.json")


def test_home_is_the_default(home: Path) -> None:
    assert keras_json.find() == (str(home / ".keras" / "keras.json"), False)


def test_windows_has_its_home_elsewhere(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    profile = home / "profile"
    profile.mkdir()
    monkeypatch.setenv("USERPROFILE", str(profile))
    monkeypatch.setattr(os.path, "expanduser", ntpath.expanduser)
    assert keras_json.find()[0] == str(profile / ".keras" / "keras.json")


def test_read_only_home_gives_way_to_tmp(read_only_home: Path) -> None:
    assert keras_json.find() == ("/tmp/.keras/keras.json", True)


def test_read_only_home_that_has_the_file_is_read(read_only_home: Path) -> None:
    (read_only_home / ".keras").mkdir()
    path = write_keras_json(read_only_home / ".keras", OTHERS)
    assert keras_json.find() == (str(path), False)
    config.load()
    assert values() == OTHERS


def test_read_only_home_on_windows(read_only_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "name", "nt")
    monkeypatch.setattr(tempfile, "gettempdir", lambda: "T:")
    assert keras_json.find() == (os.path.join("T:", ".keras", "keras.json"), False)


# --- reading it ---------------------------------------------------------------------------------


def test_no_file_means_defaults() -> None:
    assert not config.settings.loaded
    config.load()
    assert config.settings.loaded
    assert values() == DEFAULTS


def test_file_is_obeyed(folder: Path) -> None:
    path = write_keras_json(
        folder, OTHERS | {"backend": "my.module", "image_dim_ordering": "th", "x": [1]}
    )
    before = path.read_bytes()
    config.load()
    assert values() == OTHERS
    assert config.settings.backend == "my.module"
    assert config.settings.source("floatx") == config.settings.source("backend") == str(path)
    assert path.read_bytes() == before


def test_file_with_a_byte_order_mark(folder: Path) -> None:
    write_keras_json(folder, "\ufeff" + json.dumps(OTHERS))
    config.load()
    assert values() == OTHERS


def test_file_may_say_a_part(folder: Path) -> None:
    write_keras_json(folder, {"floatx": "float64"})
    config.load()
    assert values() == DEFAULTS | {"floatx": "float64"}
    assert config.settings.source("epsilon") == "default"


def test_calls_win_over_the_file(folder: Path) -> None:
    write_keras_json(folder, OTHERS)
    config.set_floatx("float16")  # before and after it's read
    config.load()
    config.set_epsilon(0.25)
    assert values() == OTHERS | {"floatx": "float16", "epsilon": 0.25}
    assert config.settings.source("epsilon") == "call"


def test_file_is_read_once(folder: Path) -> None:
    config.load()
    write_keras_json(folder, OTHERS)
    config.load()
    assert values() == DEFAULTS


CORRUPT = {
    "empty": "",
    "cut off": '{"floatx": "float64"',
    "not JSON": "floatx = float64",
    "deeply nested": "[" * 100_000,
}


@pytest.mark.parametrize("text", CORRUPT.values(), ids=CORRUPT.keys())
def test_corrupt_file_gives_a_warning_and_defaults(folder: Path, text: str) -> None:
    path = write_keras_json(folder, text)
    with pytest.warns(ConfigWarning, match="isn't valid JSON: .+; the defaults are used") as seen:
        config.load()
    assert str(seen[0].message).startswith(str(path))
    assert values() == DEFAULTS
    assert path.read_text(encoding="utf-8") == text


def test_file_in_another_encoding(folder: Path) -> None:
    (folder / "keras.json").write_bytes('{"floatx": "flöat64"}'.encode("latin-1"))
    with pytest.warns(ConfigWarning, match="isn't valid JSON"):
        config.load()
    assert values() == DEFAULTS


@pytest.mark.parametrize("content", [["floatx"], "float64", 3, None], ids=repr)
def test_file_that_holds_no_object(folder: Path, content: object) -> None:
    path = write_keras_json(folder, json.dumps(content))
    with pytest.warns(ConfigWarning) as seen:
        config.load()
    assert f"{path} holds a {type(content).__name__}; expected a JSON obj" in str(seen[0].message)
    assert values() == DEFAULTS


WRONG = [
    *[("epsilon", value) for value in BAD_EPSILONS],
    *[("floatx", value) for value in ("int32", "half", 32, None, ["float32"])],
    *[("image_data_format", value) for value in ("middle", "Channels_Last", 1, None)],
    *[("backend", value) for value in ("", "  ", 3, None, ["numpy"], True)],
]


@pytest.mark.parametrize(("key", "value"), WRONG, ids=[f"{k}={v!r:.12}" for k, v in WRONG])
def test_wrong_value_gives_a_warning_and_the_default(folder: Path, key: str, value: object) -> None:
    path = write_keras_json(folder, OTHERS | {"backend": "numpy"} | {key: value})
    with pytest.warns(ConfigWarning) as seen:
        config.load()
    assert [str(warning.message) for warning in seen] == [
        f"{path}: {key} is {value!r}; expected {config.RULES[key].expected}; the default is used"
    ]
    assert values() == OTHERS | {k: v for k, v in DEFAULTS.items() if k == key}
    assert config.settings.backend == (None if key == "backend" else "numpy")


def test_each_wrong_value_is_reported(folder: Path) -> None:
    write_keras_json(
        folder, {"epsilon": -1, "floatx": "int8", "image_data_format": 0, "backend": 0}
    )
    with pytest.warns(ConfigWarning) as seen:
        config.load()
    assert len(seen) == 4
    assert values() == DEFAULTS


def test_folder_in_the_place_of_the_file(folder: Path) -> None:
    (folder / "keras.json").mkdir()
    with pytest.warns(ConfigWarning, match=r"keras\.json can't be read: .+; the defaults are"):
        config.load()
    assert values() == DEFAULTS


LOADS_SETTINGS = """
import threading, warnings
from kameleon import config
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    loader = threading.Thread(target=config.load, daemon=True)
    loader.start()
    loader.join(20)
print(loader.is_alive(), *(warning.message for warning in seen))
"""


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_pipe_in_the_place_of_the_file_keeps_nobody_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "keras.json")
    done = run_python(LOADS_SETTINGS, tmp_path)
    said = f"False {tmp_path}/keras.json can't be read: it's a pipe, not a regular file"
    assert done.stdout.startswith(said), done.stdout + done.stderr


def shared_file(folder: Path, monkeypatch: pytest.MonkeyPatch, owner: int, user: int) -> None:
    """Put a file of `owner` where anybody can write, and be `user`."""
    path = write_keras_json(folder, OTHERS | {"backend": "my.module"})
    monkeypatch.setattr(keras_json, "find", lambda: (str(path), True))
    fields = list(path.stat())
    fields[stat.ST_UID] = owner
    monkeypatch.setattr(os, "fstat", lambda descriptor: os.stat_result(fields))
    monkeypatch.setattr(os, "getuid", lambda: user)


def test_file_of_a_stranger_is_not_trusted(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shared_file(folder, monkeypatch, owner=1001, user=1000)
    with pytest.warns(ConfigWarning, match="belongs to another user; set KERAS_HOME"):
        config.load()
    assert values() == DEFAULTS
    assert config.settings.backend is None


@pytest.mark.parametrize("owner", [1000, 0])
def test_own_file_and_that_of_root_are_trusted(
    folder: Path, monkeypatch: pytest.MonkeyPatch, owner: int
) -> None:
    shared_file(folder, monkeypatch, owner, user=1000)
    config.load()
    assert values() == OTHERS
    assert config.settings.backend == "my.module"


# --- writing it ---------------------------------------------------------------------------------


def test_written_where_there_is_none(folder: Path) -> None:
    assert config.write_if_missing()
    text = (folder / "keras.json").read_text(encoding="utf-8")
    assert list(json.loads(text).items()) == list(DEFAULTS.items())
    assert '"epsilon": 1e-07' in text
    assert os.listdir(folder) == ["keras.json"]
    assert not config.write_if_missing()


def test_folders_are_made(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KERAS_HOME", str(folder / "a" / "b"))
    assert config.write_if_missing()
    assert json.loads((folder / "a" / "b" / "keras.json").read_text()) == DEFAULTS


def test_defaults_are_written_not_settings(folder: Path) -> None:
    config.set_floatx("float64")
    assert config.write_if_missing()
    assert json.loads((folder / "keras.json").read_text()) == DEFAULTS


@pytest.mark.parametrize("name", ["numpy", "jax", "my.module", None])
def test_other_keras_installations_are_not_switched(folder: Path, name: str | None) -> None:
    assert config.write_if_missing(name)
    assert "backend" not in json.loads((folder / "keras.json").read_text())


def test_tensorflow_is_written(folder: Path) -> None:
    config.settings.backend = "tensorflow"
    assert config.write_if_missing()
    assert json.loads((folder / "keras.json").read_text()) == DEFAULTS | {"backend": "tensorflow"}


@pytest.mark.parametrize("content", ["", "{", '{"floatx": "float64"}'])
def test_existing_file_is_left_alone(folder: Path, content: str) -> None:
    path = write_keras_json(folder, content)
    assert not config.write_if_missing("tensorflow")
    assert path.read_text() == content


def test_home_that_is_a_file_is_no_error(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "file").touch()
    monkeypatch.setenv("KERAS_HOME", str(folder / "file"))
    assert not config.write_if_missing()
    config.load()
    assert values() == DEFAULTS
    assert os.listdir(folder) == ["file"]


@pytest.mark.parametrize("function", ["makedirs", "open"])
def test_read_only_folder_is_no_error(
    folder: Path, monkeypatch: pytest.MonkeyPatch, function: str
) -> None:
    def refuse(*args: object, **kwargs: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(
        *((os, "makedirs", refuse) if function == "makedirs" else ("builtins.open", refuse))
    )
    assert not config.write_if_missing()
    monkeypatch.undo()
    assert os.listdir(folder) == []


def test_failed_write_leaves_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*args: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "link", full)
    monkeypatch.setattr(os, "replace", full)
    assert not config.write_if_missing()
    assert os.listdir(folder) == []


def test_file_system_without_links(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unsupported(*args: object) -> None:
        raise OSError(errno.ENOTSUP, "Operation not supported")

    monkeypatch.setattr(os, "link", unsupported)
    assert config.write_if_missing()
    assert json.loads((folder / "keras.json").read_text()) == DEFAULTS
    assert os.listdir(folder) == ["keras.json"]


@pytest.mark.parametrize("links", [True, False])
def test_file_that_another_writes_meanwhile_stays(
    folder: Path, monkeypatch: pytest.MonkeyPatch, links: bool
) -> None:
    link = os.link

    def overtaken(draft: str, path: str) -> None:
        assert json.loads(Path(draft).read_text()) == DEFAULTS, "complete before it has its name"
        Path(path).write_text("theirs")
        if not links:
            raise OSError(errno.ENOTSUP, "Operation not supported")
        link(draft, path)

    monkeypatch.setattr(os, "link", overtaken)
    assert not config.write_if_missing()
    assert (folder / "keras.json").read_text() == "theirs"
    assert os.listdir(folder) == ["keras.json"]


def write_and_load(home: str) -> tuple[bool, dict[str, Any]]:
    """What a process does on its first import of the backend, with warnings as errors."""
    os.environ["KERAS_HOME"] = home
    forget_settings()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        wrote = config.write_if_missing()
        config.load()
    return wrote, values()


def test_many_processes_write_at_once(folder: Path) -> None:
    homes = [str(folder / f"home{turn}") for turn in range(20) for _ in range(6)]
    with get_context("spawn").Pool(6) as pool:
        done = pool.map(write_and_load, homes, chunksize=1)
    assert all(settings == DEFAULTS for _, settings in done)
    assert sum(wrote for wrote, _ in done) == 20, "one process wrote each"
    assert {path.name for path in folder.glob("*/*")} == {"keras.json"}


# --- its cost -----------------------------------------------------------------------------------


def test_importing_the_settings_is_cheap(tmp_path: Path) -> None:
    code = (
        "import sys, kameleon; before = set(sys.modules); import kameleon.config;"
        "print(*sorted(set(sys.modules) - before))"
    )
    done = run_python(code, tmp_path)
    assert done.returncode == 0, done.stderr
    assert "kameleon.config" in done.stdout.split()
    assert not {"numpy", "json", "tempfile", "typing", "dataclasses"} & set(done.stdout.split())
    assert not list(tmp_path.iterdir()), "importing reads and writes nothing"
