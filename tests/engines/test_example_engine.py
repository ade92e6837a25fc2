"""An engine of another package: found by its entry point, and it passes the conformance kit."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

import pytest
from _support.common import TESTS, run_python, shortened
from example_engine.plain_engine import RULES, engine

from kameleon.graph.ir.node import REGISTRY
from kameleon.testing import Check, conformance_checks

FOLDER = TESTS / "example_engine"
PROJECT = tomllib.loads((FOLDER / "pyproject.toml").read_text(encoding="utf-8"))["project"]
GROUP = "kameleon.engines"


@pytest.mark.parametrize("check", shortened(conformance_checks()))
def test_conformance(check: Check) -> None:
    check(engine)


def test_it_has_no_rule_for_any_composite() -> None:
    assert {REGISTRY[name].tier for name in RULES} == {"core"}


# --- entry points --------------------------------------------------------------------------------


def distribution(folder: Path, **points: str) -> Path:
    """An installed distribution with these entry points, as pip leaves it."""
    info = folder / f"{PROJECT['name'].replace('-', '_')}-{PROJECT['version']}.dist-info"
    info.mkdir()
    head = f"Metadata-Version: 2.1\nName: {PROJECT['name']}\nVersion: {PROJECT['version']}\n"
    (info / "METADATA").write_text(head, encoding="utf-8")
    lines = [f"[{GROUP}]", *(f"{name} = {value}" for name, value in points.items())]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


@pytest.fixture
def installed(tmp_path: Path) -> str:
    """The folders that are on the path where the example engine is installed."""
    site = tmp_path / "site"
    site.mkdir()
    distribution(site, **PROJECT["entry-points"][GROUP])
    return os.pathsep.join([str(site), str(FOLDER)])


USE = """
from kameleon import backend as K
v = K.variable([1., 2.])
f = K.function([], [K.softmax(v)], [(v, v * 2.)])
f([])
print(K.backend(), K.get_value(v).tolist(), f.compiled.engine.title)
"""


def test_keras_backend_finds_it(tmp_path: Path, installed: str) -> None:
    done = run_python(USE, tmp_path, {"KERAS_BACKEND": "plain", "PYTHONPATH": paths(installed)})
    assert done.stdout == "plain [2.0, 4.0] Plain\n", done.stderr
    assert done.stderr == "Using plain backend.\n"


def test_keras_json_finds_it(tmp_path: Path, installed: str) -> None:
    (tmp_path / "keras.json").write_text('{"backend": "plain"}', encoding="utf-8")
    done = run_python(USE, tmp_path, {"PYTHONPATH": paths(installed)})
    assert done.stdout == "plain [2.0, 4.0] Plain\n", done.stderr


CALLS = ["K.set_engine('plain')", "within = K.using_engine('plain'); within.__enter__()"]


@pytest.mark.parametrize("call", CALLS)
def test_calls_find_it(tmp_path: Path, installed: str, call: str) -> None:
    code = (
        "import sys; from kameleon import backend as K; from kameleon.runtime import engines\n"
        "assert 'plain' in engines.names() and 'plain_engine' not in sys.modules\n"
        f"{call}{USE}"
    )
    done = run_python(code, tmp_path, {"KERAS_BACKEND": "numpy", "PYTHONPATH": paths(installed)})
    assert done.stdout == "plain [2.0, 4.0] Plain\n", done.stderr


def test_state_moves_to_it_and_back(tmp_path: Path, installed: str) -> None:
    code = """
from kameleon import backend as K
v, x = K.variable([1., 2.]), K.placeholder((2,))
f = K.function([x], [K.sum(v * x)], [(v, v + x)])
for name in ("plain", "numpy", "plain"):
    K.set_engine(name)
    f([[1., 1.]])
print(K.get_value(v).tolist(), f([[0., 1.]])[0].tolist())
"""
    done = run_python(code, tmp_path, {"KERAS_BACKEND": "numpy", "PYTHONPATH": paths(installed)})
    assert done.stdout == "[4.0, 5.0] 5.0\n", done.stderr


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("no_such_module:engine", "can't be loaded: ModuleNotFoundError: No module named"),
        ("plain_engine:motor", "can't be loaded: AttributeError"),
        ("plain_engine:RULES", "which is no kameleon.engines.Engine"),
        ("plain_engine:Engine", "can't be loaded: TypeError"),
        ("plain_engine:engine", "gives an engine that calls itself 'plain'"),
    ],
)
def test_broken_entry_points_are_clear_errors(tmp_path: Path, value: str, words: str) -> None:
    site = tmp_path / "site"
    site.mkdir()
    distribution(site, torn=value)
    path = paths(os.pathsep.join([str(site), str(FOLDER)]))
    done = run_python(
        "import kameleon.backend", tmp_path, {"KERAS_BACKEND": "torn", "PYTHONPATH": path}
    )
    assert done.returncode != 0
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("kameleon.errors.EngineError: the entry point 'torn = " + value)
    assert f"({GROUP}) of kameleon-plain" in last
    assert words in last


def test_another_package_cannot_take_the_name_of_an_engine(tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    distribution(site, numpy="plain_engine:engine", pytorch="plain_engine:engine")
    path = paths(os.pathsep.join([str(site), str(FOLDER)]))
    done = run_python(USE, tmp_path, {"KERAS_BACKEND": "numpy", "PYTHONPATH": path})
    assert done.stdout == "numpy [2.0, 4.0] NumPy\n", done.stderr


def paths(first: str) -> str:
    """PYTHONPATH with Kameleon's sources behind."""
    return os.pathsep.join([first, str(TESTS.parent / "src")])
