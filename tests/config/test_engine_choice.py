"""Which engine is chosen, by whom, and what is said when it isn't there."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from _support.common import forget_settings, write_keras_json

from kameleon import config
from kameleon.config import choice
from kameleon.errors import ConfigWarning, EngineNotFoundError

pytestmark = pytest.mark.usefixtures("folder")

Available = Callable[[str], bool]


def has(*names: str) -> Available:
    """Kameleon as it would be with just these engines."""
    return lambda name: name in names


@pytest.fixture
def everything_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the library of every engine were installed."""
    monkeypatch.setattr(choice, "installed", lambda name: True)


@pytest.fixture
def numpy_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if NumPy were the only library installed."""
    monkeypatch.setattr(choice, "installed", lambda name: name == "numpy")


def test_known_engines() -> None:
    names = "tensorflow theano cntk numpy jax torch onnxruntime"
    assert list(config.ENGINES) == names.split()
    assert config.installed("numpy")


def test_installed_looks_without_importing(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = config.Library("nothing", "no_such_library_at_all", "Nothing")
    monkeypatch.setitem(config.ENGINES, "torch", engine)
    assert not config.installed("torch")
    monkeypatch.setitem(config.ENGINES, "torch", config.Library("x", "this", "X"))
    assert config.installed("torch")
    assert "this" not in sys.modules


def test_default_is_numpy(numpy_installed: None) -> None:
    assert config.choose_backend(has("numpy")) == ("numpy", "default")


def test_default_is_tensorflow_where_both_are_there(everything_installed: None) -> None:
    assert config.choose_backend(has("numpy", "tensorflow")) == ("tensorflow", "default")


def test_library_without_engine_is_not_preferred(everything_installed: None) -> None:
    assert config.choose_backend(has("numpy", "jax")) == ("numpy", "default")


def test_engine_without_library_is_not_preferred(numpy_installed: None) -> None:
    assert config.choose_backend(has("numpy", "tensorflow")) == ("numpy", "default")


def test_order_of_sources(
    folder: Path, monkeypatch: pytest.MonkeyPatch, everything_installed: None
) -> None:
    everything = has(*config.ENGINES)
    path = write_keras_json(folder, {"backend": "torch"})
    assert config.choose_backend(everything) == ("torch", str(path))
    monkeypatch.setenv("KERAS_BACKEND", "jax")
    assert config.choose_backend(everything) == ("jax", "KERAS_BACKEND")
    monkeypatch.setenv("KAMELEON_ENGINE", "theano")
    assert config.choose_backend(everything) == ("theano", "KAMELEON_ENGINE")
    config.settings.backend = "onnxruntime"
    assert config.choose_backend(everything) == ("onnxruntime", "call")


@pytest.mark.parametrize("said", ["", "  "])
def test_empty_environment_is_no_choice(monkeypatch: pytest.MonkeyPatch, said: str) -> None:
    monkeypatch.setenv("KERAS_BACKEND", said)
    assert config.choose_backend(has("numpy")) == ("numpy", "default")


def test_blanks_around_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KERAS_BACKEND", "numpy ")  # `set KERAS_BACKEND=numpy && …` on Windows
    assert config.choose_backend(has("numpy")) == ("numpy", "KERAS_BACKEND")


def test_other_names_are_modules(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_keras_json(folder, {"backend": "my_package.my_module"})
    assert config.choose_backend(has("numpy")) == ("my_package.my_module", str(path))
    monkeypatch.setenv("KERAS_BACKEND", "other.module")
    assert config.choose_backend(has("numpy")) == ("other.module", "KERAS_BACKEND")


def test_hosted_by_keras_is_no_choice_of_engine(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KERAS_BACKEND", "kameleon.backend")
    assert config.choose_backend(has("numpy")) == ("numpy", "default")
    path = write_keras_json(folder, {"backend": "numpy"})
    forget_settings(monkeypatch.setattr)
    assert config.choose_backend(has("numpy")) == ("numpy", str(path))
    write_keras_json(folder, {"backend": "kameleon.backend"})
    forget_settings(monkeypatch.setattr)
    assert config.choose_backend(has("numpy")) == ("numpy", "default")


def test_a_hosted_keras_runs_on_the_engine_named_for_us(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KERAS_BACKEND", "kameleon.backend")
    monkeypatch.setenv("KAMELEON_ENGINE", " numpy ")
    assert config.choose_backend(has("numpy")) == ("numpy", "KAMELEON_ENGINE")
    monkeypatch.setenv("KAMELEON_ENGINE", "cntk")
    with pytest.raises(
        EngineNotFoundError, match=r"^KAMELEON_ENGINE=cntk .*set KAMELEON_ENGINE=numpy$"
    ):
        config.choose_backend(has("numpy"))


def test_what_a_hosted_keras_has_written_itself_is_no_news(
    folder: Path, monkeypatch: pytest.MonkeyPatch, numpy_installed: None
) -> None:
    write_keras_json(folder, {"backend": "tensorflow"})
    monkeypatch.setenv("KERAS_BACKEND", "kameleon.backend")
    assert config.choose_backend(has("numpy")) == ("numpy", "default")  # and no warning


def test_whether_keras_is_told_to_run_on_us(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KERAS_BACKEND", raising=False)
    assert not config.is_hosted()
    monkeypatch.setenv("KERAS_BACKEND", "kameleon.backend")
    assert config.is_hosted()
    write_keras_json(folder, {"backend": "kameleon.backend"})
    config.load()
    monkeypatch.setenv("KERAS_BACKEND", "")
    assert config.is_hosted()
    monkeypatch.setenv("KERAS_BACKEND", "numpy")
    assert not config.is_hosted()


@pytest.mark.parametrize("name", [name for name in config.ENGINES if name != "numpy"])
def test_engine_that_is_not_there_is_an_error(
    monkeypatch: pytest.MonkeyPatch, numpy_installed: None, name: str
) -> None:
    monkeypatch.setenv("KERAS_BACKEND", name)
    with pytest.raises(EngineNotFoundError) as caught:
        config.choose_backend(has("numpy"))
    message = str(caught.value)
    assert message.startswith(f"KERAS_BACKEND={name} can't be met: ")
    assert f"no engine {name!r} (it has: numpy)" in message
    assert "pip install" not in message
    assert message.endswith("set KERAS_BACKEND=numpy")
    assert isinstance(caught.value, ImportError) and isinstance(caught.value, ValueError)


def test_error_names_only_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, numpy_installed: None
) -> None:
    monkeypatch.setenv("KERAS_BACKEND", "torch")
    with pytest.raises(EngineNotFoundError, match="isn't installed: pip install torch") as caught:
        config.choose_backend(has("numpy", "torch"))
    assert "has no engine" not in str(caught.value)
    with pytest.raises(EngineNotFoundError, match="has no engine 'torch'") as caught:
        config.choose_backend(has("numpy"))
    assert "pip install" not in str(caught.value)


def test_default_entry_of_another_keras_gives_a_warning_with_both_ways_out(folder: Path) -> None:
    path = write_keras_json(folder, {"floatx": "float32", "backend": "tensorflow"})
    with pytest.warns(ConfigWarning) as caught:
        assert config.choose_backend(has("numpy")) == ("numpy", "default")
    message = str(caught[0].message)
    assert message.startswith(f'"backend": "tensorflow" in {path} can\'t be met: ')
    assert f'set KERAS_BACKEND=numpy or write "backend": "numpy" in {path}' in message


def test_any_other_engine_in_the_file_was_chosen_by_somebody(folder: Path) -> None:
    write_keras_json(folder, {"backend": "torch"})
    with pytest.raises(EngineNotFoundError, match="torch"):
        config.choose_backend(has("numpy"))


def test_environment_decides_though_the_file_is_wrong(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_keras_json(folder, {"backend": "tensorflow"})
    monkeypatch.setenv("KERAS_BACKEND", "numpy")
    assert config.choose_backend(has("numpy")) == ("numpy", "KERAS_BACKEND")


def test_call_for_a_missing_engine(numpy_installed: None) -> None:
    config.settings.backend = "jax"
    with pytest.raises(EngineNotFoundError, match=r"^the call for 'jax' can't .+ ask for 'numpy'$"):
        config.choose_backend(has("numpy"))


def test_a_folder_of_a_librarys_name_is_no_library(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "no_such_library_at_all").mkdir()
    monkeypatch.syspath_prepend(tmp_path)
    engine = config.Library("nothing", "no_such_library_at_all", "Nothing")
    monkeypatch.setitem(config.ENGINES, "torch", engine)
    assert not config.installed("torch")
