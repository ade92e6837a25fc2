"""What type checkers say of a user's page: they find its mistakes, and nothing else."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest
from support import SOURCE, TESTS

PAGE = TESTS / "user_page.py"


def _mypy(folder: Path) -> set[int]:
    settings = folder / "mypy.ini"
    settings.write_text(f"[mypy]\nstrict = True\nfollow_imports = silent\nmypy_path = {SOURCE}\n")
    line = [sys.executable, "-m", "mypy", "--config-file", str(settings), "--output", "json"]
    line += ["--cache-dir", str(folder / "cache"), str(PAGE)]
    done = subprocess.run(line, capture_output=True, text=True, timeout=600)
    assert done.returncode == 1, done.stderr
    found = [json.loads(text) for text in done.stdout.splitlines() if text.startswith("{")]
    return {told["line"] for told in found if told["severity"] == "error"}


def _pyright(folder: Path) -> set[int]:
    (folder / PAGE.name).write_text(PAGE.read_text())
    (folder / "pyrightconfig.json").write_text(json.dumps({"extraPaths": [str(SOURCE)]}))
    line = [sys.executable, "-m", "pyright", "--project", str(folder), "--outputjson"]
    line += ["--pythonpath", sys.executable]
    done = subprocess.run(line, capture_output=True, text=True, timeout=600)
    assert done.returncode == 1, done.stderr
    found = json.loads(done.stdout)["generalDiagnostics"]
    return {told["range"]["start"]["line"] + 1 for told in found if told["severity"] == "error"}


@pytest.mark.parametrize("checker", [_mypy, _pyright], ids=["mypy", "pyright"])
def test_mistakes_of_users_are_found(checker: object, tmp_path: Path) -> None:
    assert callable(checker)
    name = checker.__name__.strip("_")
    if importlib.util.find_spec(name) is None:
        pytest.skip(f"needs {name}: pip install {name}")
    lines = PAGE.read_text().splitlines()
    wrong = {i for i, line in enumerate(lines, 1) if line.endswith("# wrong")}
    assert checker(tmp_path) == wrong
