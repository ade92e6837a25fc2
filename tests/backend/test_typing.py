"""What type checkers say of users' programs: they find the mistakes, and nothing else."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from _support.common import SOURCE, TESTS

FOLDER = TESTS / "user_programs"
PROGRAMS = sorted(FOLDER.glob("*.py"))
# A mistake is a line that ends so. It's found by each checker, and left out where programs run.
WRONG = "# wrong"

Found = set[tuple[str, int]]


def _mypy(folder: Path) -> Found:
    settings = folder / "mypy.ini"
    settings.write_text(f"[mypy]\nstrict = True\nfollow_imports = silent\nmypy_path = {SOURCE}\n")
    line = [sys.executable, "-m", "mypy", "--config-file", str(settings), "--output", "json"]
    line += ["--cache-dir", str(folder / "cache"), *map(str, PROGRAMS)]
    done = subprocess.run(line, capture_output=True, text=True, timeout=600)
    assert done.returncode == 1, done.stderr
    told = [json.loads(text) for text in done.stdout.splitlines() if text.startswith("{")]
    return {(Path(t["file"]).name, t["line"]) for t in told if t["severity"] == "error"}


def _pyright(folder: Path) -> Found:
    for program in PROGRAMS:
        shutil.copy(program, folder)
    settings = {"extraPaths": [str(SOURCE)], "reportAttributeAccessIssue": "error"}
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))
    line = [sys.executable, "-m", "pyright", "--project", str(folder), "--outputjson"]
    line += ["--pythonpath", sys.executable]
    done = subprocess.run(line, capture_output=True, text=True, timeout=600)
    assert done.returncode == 1, done.stderr
    told = json.loads(done.stdout)["generalDiagnostics"]
    return {
        (Path(t["file"]).name, t["range"]["start"]["line"] + 1)
        for t in told
        if t["severity"] == "error"
    }


def test_there_are_ten_programs() -> None:
    assert len(PROGRAMS) == 10


@pytest.mark.parametrize("checker", [_mypy, _pyright], ids=["mypy", "pyright"])
def test_mistakes_of_users_are_found(checker: Callable[[Path], Found], tmp_path: Path) -> None:
    name = checker.__name__.strip("_")
    if importlib.util.find_spec(name) is None:
        pytest.skip(f"needs {name}: pip install {name}")
    wrong = {
        (program.name, i)
        for program in PROGRAMS
        for i, line in enumerate(program.read_text("utf-8").splitlines(), 1)
        if line.endswith(WRONG)
    }
    assert checker(tmp_path) == wrong


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_programs_run_without_the_mistakes(program: Path) -> None:
    lines = program.read_text("utf-8").splitlines()
    text = "\n".join("" if line.endswith(WRONG) else line for line in lines)
    exec(compile(text, str(program), "exec"), {"__name__": "program"})
