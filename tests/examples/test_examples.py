"""The programs of `examples/`, on the original Keras, hosted: each reaches its figure.

Each runs unchanged by `kameleon run`, in a process of its own, with its default seed.
"""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from _support.common import TESTS, engines_under_test
from _support.originals import needs_original
from _support.programs import run

from docs.building.recorded import ONE_THREAD, recorded
from examples.table import PROGRAMS, Program, assert_figures, wording
from kameleon.config import ENGINES
from kameleon.runtime import engines

EXAMPLES = TESTS.parent / "examples"


def here() -> list[object]:
    """The programs, each on those of its engines that are installed: on one of them with every
    change, dealt out so that all engines have their turn, and on all of them nightly.
    """
    installed = engines_under_test()
    found = []
    for first, program in enumerate(PROGRAMS):
        names = [name for name in program.engines.split() if name in installed]
        for i, engine in enumerate(names):
            late = (i - first) % len(names) > 0
            marks = [pytest.mark.nightly] if late else []
            found.append(pytest.param(program, engine, id=f"{program.name}-{engine}", marks=marks))
    return found


def assert_picture(path: Path) -> None:
    """It's a PNG, large enough, and shows something."""
    from matplotlib.image import imread

    assert path.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    pixels = imread(path)[..., :3]
    assert min(pixels.shape[:2]) >= 200, pixels.shape
    assert pixels.std() > 0.05
    assert len(np.unique(pixels.reshape(-1, 3), axis=0)) > 50


@needs_original
@pytest.mark.slow
@pytest.mark.parametrize(("program", "engine"), here())
def test_reaches_its_figure(program: Program, engine: str, tmp_path: Path) -> None:
    command = ["-m", "kameleon", "run", str(EXAMPLES / f"{program.name}.py")]
    picture = tmp_path / "picture.png"
    ended = run(
        [*command, "--out", str(picture)], tmp_path, {"KAMELEON_ENGINE": engine, **ONE_THREAD}
    )
    assert ended.returncode == 0, ended.stdout[-3000:] + ended.stderr[-3000:]
    assert f"Using {ENGINES[engine].title} backend" in ended.stderr
    assert_figures(program, ended.stdout)
    said = "\n".join(recorded()[program.name]["output"])  # on the site
    assert wording(ended.stdout) == wording(said)
    assert_picture(picture)
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"picture.png", "home"}  # the latter has keras.json


@needs_original
@pytest.mark.slow
def test_a_figure_that_is_missed_is_a_failure(tmp_path: Path) -> None:
    code = (
        f"import sys; sys.path.insert(0, {str(EXAMPLES)!r})\n"
        "import kameleon.as_keras, style_transfer as program\n"
        "program.ROUNDS, program.STYLE_WANTED = 1, 0.0\n"
        "sys.exit(program.main(['--out', 'picture.png']))\n"
    )
    ended = run(["-c", code], tmp_path, ONE_THREAD)
    assert ended.returncode == 1, ended.stderr
    assert "style loss left: " in ended.stdout


# What holds of all of them ----------------------------------------------------------------------

FILES = sorted(EXAMPLES.glob("*.py"))


def test_all_programs_and_engines_are_in_the_table() -> None:
    assert {path.stem for path in FILES} == {program.name for program in PROGRAMS}
    used = {name for program in PROGRAMS for name in program.engines.split()}
    assert used == set(engines.names())
    assert all(len(program.engines.split()) >= 3 for program in PROGRAMS)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_is_a_program_of_its_time(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    tree = ast.parse(source, feature_version=(3, 7))
    roots = {
        name.split(".")[0]
        for node in ast.walk(tree)
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    assert "keras" in roots
    assert roots <= {"keras", "matplotlib", "numpy", "scipy", "sklearn", *sys.stdlib_module_names}
    assert "kameleon" not in source.lower()
    said = ast.get_docstring(tree) or ""
    assert "Reached: " in said
    assert re.search(r"^Sources?: ", said, re.MULTILINE)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_is_listed(path: Path) -> None:
    assert f"[`{path.name}`]({path.name})" in (EXAMPLES / "README.md").read_text(encoding="utf-8")
