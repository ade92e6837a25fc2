"""The core stands without its guests: it runs, and passes its tests, where `compat` isn't there."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from _support.common import PACKAGE, TESTS

GUESTS = ("compat", "as_keras.py")
FEW = (
    "tests/golden/test_golden.py",
    "tests/runtime/test_function.py",
    "tests/backend/test_operators.py",
)
# What's tested of the core with the guests there, too; programs are run by the command, which isn't
# of the core.
ALL = ("tests/backend", "tests/graph/primitives", "tests/engines", "tests/golden/test_golden.py")


@pytest.fixture
def alone(tmp_path: Path) -> Path:
    """A folder with the package, but for its guests."""
    ignored = shutil.ignore_patterns("__pycache__", *GUESTS)
    shutil.copytree(PACKAGE, tmp_path / "kameleon", ignore=ignored)
    assert not (tmp_path / "kameleon" / "compat").exists()
    return tmp_path


def passed(folder: Path, *tests: str) -> str:
    """The last line of what pytest says of tests of the package in the folder."""
    line = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not slow"]
    done = subprocess.run(
        [*line, "-o", f"pythonpath={folder} tests", *tests],
        cwd=TESTS.parent,
        env={**os.environ, "TEST_ENGINES": "numpy", "PYTHONPATH": ""},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    return done.stdout.splitlines()[-1]


def test_the_core_stands_alone(alone: Path) -> None:
    assert "passed" in passed(alone, *FEW)


@pytest.mark.nightly
def test_the_core_passes_its_tests_alone(alone: Path) -> None:
    assert "passed" in passed(alone, *ALL)
