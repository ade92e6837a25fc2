"""What is loaded late is there for who asks, whatever a program asks for first."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from hosting.originals import needs_tensorflows_files
from hosting.programs import ANYWHERE, COMMAND, run

HERE = Path(__file__).parent
pytestmark = needs_tensorflows_files


def printed(folder: Path, *line: str) -> Any:
    """What a program beside this file prints last, from JSON."""
    command = ["-W", "ignore", "-c", COMMAND, "run", "--engine", "numpy"]
    ended = run([*command, str(HERE / line[0]), *line[1:]], folder, ANYWHERE, seconds=3600)
    assert ended.returncode == 0, ended.stderr[-3000:]
    return json.loads(ended.stdout.splitlines()[-1])


def test_each_name_of_the_api(tmp_path: Path) -> None:
    found = printed(tmp_path, "names.py")
    assert found["count"] > 10_000 and found["missing"] == {}


@pytest.mark.skipif(sys.platform == "win32", reason="needs os.fork")
@pytest.mark.parametrize("step", [40, pytest.param(1, marks=pytest.mark.nightly)])
def test_each_module_first(tmp_path: Path, step: int) -> None:
    found = printed(tmp_path, "orders.py", str(step))
    assert found["count"] >= 700 // step and found["failed"] == {}
