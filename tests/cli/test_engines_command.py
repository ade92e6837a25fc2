"""`kameleon engines`: what is listed, who chose, and that no broken library stops it."""

from __future__ import annotations

import json
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
from _support.commands import kameleon
from _support.common import forget_settings, run_python

pytest.importorskip("rich", reason="the command line needs Rich")

from kameleon import config
from kameleon.cli import engines as listing
from kameleon.cli import probe
from kameleon.cli.probe import Answer
from kameleon.config import ENGINES, choice
from kameleon.runtime import engines


@pytest.fixture
def nobody_chose(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Fresh settings in a folder of the test's own."""
    settings = forget_settings(monkeypatch.setattr)
    monkeypatch.setattr(listing, "settings", settings)
    monkeypatch.setenv("KERAS_HOME", str(tmp_path))
    monkeypatch.delenv("KERAS_BACKEND", raising=False)
    return tmp_path


def has(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """As if the libraries of just these engines were installed."""
    for module in (choice, engines, listing):
        monkeypatch.setattr(module, "installed", lambda name: name in names)


def row(name: str, **known: Any) -> listing.EngineRow:
    return listing.EngineRow(name, name.title(), **known)


# The list -------------------------------------------------------------------------------------


def test_all_names_are_listed_with_their_aliases() -> None:
    result = kameleon("engines", "--no-devices", settings={"COLUMNS": "160"})
    assert result.status == 0
    lines = {line.split()[1]: line for line in result.said.splitlines() if "│" in line}
    assert set(ENGINES) <= set(lines)
    assert "theano or pytensor" in lines["theano"]
    assert "torch or pytorch" in lines["torch"]
    assert "installed" in lines["numpy"] and "not installed" not in lines["numpy"]


def test_what_is_missing_comes_with_the_line_that_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    has(monkeypatch, "numpy")
    result = kameleon("engines", settings={"COLUMNS": "160"})
    for name in engines.MODULES:
        said = f"not installed: {ENGINES[name].install}"
        assert (said in result.said) == (name != "numpy")


def test_json_holds_it_all() -> None:
    found = json.loads(kameleon("engines", "--json", "--no-devices").out)
    by_name = {entry["name"]: entry for entry in found["engines"]}
    assert list(by_name)[: len(ENGINES)] == list(ENGINES)
    numpy = by_name["numpy"]
    import numpy as np

    assert (numpy["library"], numpy["version"]) == ("numpy", np.__version__)
    assert numpy["installed"] is True and numpy["devices"] is None and numpy["install"] == ""
    assert by_name["theano"]["aliases"] == ["pytensor"]
    assert by_name["cntk"]["install"] in ("", "kameleon cntk install")
    assert found["in_force"]["name"] in by_name


def test_listing_without_devices_loads_no_library(tmp_path: Path) -> None:
    code = (
        "import sys; sys.argv = ['kameleon', 'engines', '--json', '--no-devices']\n"
        "from kameleon.cli import main\n"
        "try: main()\n"
        "finally: print(*sys.modules, file=sys.stderr)"
    )
    done = run_python(code, tmp_path)
    assert done.returncode == 0
    versions = {entry["name"]: entry["version"] for entry in json.loads(done.stdout)["engines"]}
    modules = done.stderr.split()
    for name, known in ENGINES.items():
        if name != "numpy":
            assert known.module not in modules
            assert bool(versions[name]) == config.installed(name)
    assert not list(tmp_path.iterdir()), "it writes no keras.json"


def test_engines_tell_their_devices(engine_name: str) -> None:
    (found,) = listing.answered([row(engine_name, installed=True)])
    assert (found.error, found.devices) == ("", tuple(engines.load(engine_name).devices()))
    assert found.version == engines.load(engine_name).version()


def test_the_table_shows_what_engines_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    has(monkeypatch, "numpy", "torch", "jax")
    answers = {
        "numpy": Answer(("cpu",), "2.0"),
        "torch": Answer(("cuda:0", "cpu"), "9.9"),
        "jax": Answer(error="ImportError: jaxlib [is] too old"),
    }
    told = listing.answered
    monkeypatch.setattr(
        listing, "answered", lambda rows, show: told(rows, show, answers.__getitem__)
    )
    result = kameleon("engines", settings={"COLUMNS": "160"})
    assert result.status == 0
    lines = {line.split()[1]: line for line in result.said.splitlines() if "│" in line}
    assert "cuda:0, cpu" in lines["torch"]
    assert "ImportError: jaxlib [is] too old" in lines["jax"]
    assert "installed" not in lines["jax"]


def test_a_narrow_screen_shows_a_list() -> None:
    result = kameleon("engines", "--no-devices", settings={"COLUMNS": "50"})
    assert result.status == 0
    assert "theano or pytensor\n    title: Theano\n" in result.said
    assert len(result.said.splitlines()) < 5 * len(ENGINES)


def test_progress_tells_what_is_waited_for() -> None:
    waits: list[list[str]] = []
    rows = [row("a", installed=True), row("b"), row("c", installed=True)]
    found = listing.answered(
        rows, lambda titles: waits.append(titles[:]), lambda name: Answer((name,))
    )
    assert [r.devices for r in found] == [("a",), None, ("c",)]
    assert [len(w) for w in waits] == [2, 1, 0]
    assert waits[0] == ["A", "C"]


# Engines of other packages --------------------------------------------------------------------


def announce(folder: Path, source: str) -> dict[str, str]:
    """A package on the path that announces the engine `mine`; the environment to see it."""
    (folder / "mine.py").write_text(source, encoding="utf-8")
    info = folder / "mine-1.5.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1.5\n", "utf-8")
    (info / "entry_points.txt").write_text("[kameleon.engines]\nmine = mine:Engine\n", "utf-8")
    return {"PYTHONPATH": f"{Path(listing.__file__).parents[2]}:{folder}"}


MINE = """
from kameleon.engines.numpy.engine import NumpyEngine
class Engine(NumpyEngine):
    name, title = "mine", "Mine"
    def version(self): return "7"
    def devices(self): return ("npu", "cpu")
"""
LIST = (
    "import sys; sys.argv = ['kameleon', 'engines', '--json']\n"
    "from kameleon import config\n"
    "config.installed = config.choice.installed = lambda name: name == 'numpy'\n"
    "from kameleon.cli import main; main()"
)


def listed(folder: Path, source: str, **settings: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The entry of `mine`, and what is said of the one in force."""
    environment = announce(folder, source)
    done = run_python(LIST, folder / "home", environment | settings)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    return next(e for e in found["engines"] if e["name"] == "mine"), found["in_force"]


def test_engines_of_other_packages_are_listed(tmp_path: Path) -> None:
    entry, chosen = listed(tmp_path, MINE, KERAS_BACKEND="mine")
    assert entry["devices"] == ["npu", "cpu"]
    assert (entry["library"], entry["version"], entry["installed"]) == ("mine", "1.5", True)
    assert entry["in_force"] is True
    assert chosen == {"name": "mine", "source": "KERAS_BACKEND", "reason": "KERAS_BACKEND=mine"}


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (
            "raise RuntimeError('the driver [1.0] is too old\\nupdate it')",
            "the driver [1.0] is too",
        ),
        ("import nothing_of_this_name", "No module named 'nothing_of_this_name'"),
        ("Engine = 5", "which is no kameleon.engines.Engine"),
        ("import os; print('hello', flush=True); os._exit(9)", "ended with status 9"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "ended with status -9"),
    ],
)
def test_a_broken_library_is_a_row_that_says_why(tmp_path: Path, source: str, said: str) -> None:
    entry, _ = listed(tmp_path, source)
    assert said in entry["error"]
    assert "\n" not in entry["error"]
    assert entry["devices"] is None


def test_a_library_that_never_loads_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    announce(tmp_path, "import time; time.sleep(60)")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert probe.ask("mine", patience=1.5) == Answer(error="not loaded after 1.5 seconds")


# The choice -----------------------------------------------------------------------------------


def test_nobody_chose(nobody_chose: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    has(monkeypatch, "numpy")
    found = listing.choice()
    assert (found.name, found.source) == ("numpy", "default")
    assert found.reason.startswith("the default: neither KERAS_BACKEND nor ")
    assert str(nobody_chose) in found.reason


def test_the_environment_chose(nobody_chose: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KERAS_BACKEND", "numpy")
    assert listing.in_force(listing.choice()) == "In force: numpy – KERAS_BACKEND=numpy"


def test_an_alias_is_the_engine(nobody_chose: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KERAS_BACKEND", "pytorch")
    assert listing.choice() == listing.Choice("torch", "KERAS_BACKEND", "KERAS_BACKEND=pytorch")


def test_the_file_chose(nobody_chose: Path) -> None:
    path = nobody_chose / "keras.json"
    path.write_text('{"backend": "numpy"}', encoding="utf-8")
    assert listing.choice() == listing.Choice("numpy", str(path), f'"backend": "numpy" in {path}')


def test_a_file_of_another_keras_is_explained(
    nobody_chose: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    has(monkeypatch, "numpy")
    path = nobody_chose / "keras.json"
    path.write_text('{"backend": "tensorflow"}', encoding="utf-8")
    found = listing.choice()
    assert (found.name, found.source) == ("numpy", "default")
    assert "pip install tensorflow" in found.reason and str(path) in found.reason


def test_what_cannot_be_met_is_said(nobody_chose: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    has(monkeypatch, "numpy")
    monkeypatch.setenv("KERAS_BACKEND", "torch")
    result = kameleon("engines", "--no-devices", settings={"COLUMNS": "120"})
    assert result.status == 0
    assert "No engine is in force: KERAS_BACKEND=torch can't be met" in result.said


def test_an_external_backend(nobody_chose: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KERAS_BACKEND", "my_package.my_module")
    found = listing.choice()
    assert found.name == "my_package.my_module"
    assert found.reason == "KERAS_BACKEND=my_package.my_module, an external backend"


def test_entry_points_without_a_package_are_rows() -> None:
    found = listing._third_party(EntryPoint("mine", "package:engine", engines.GROUP))
    assert (found.name, found.library, found.note) == ("mine", "", "by package:engine")
