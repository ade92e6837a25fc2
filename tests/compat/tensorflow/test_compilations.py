"""A program that runs with ever new values isn't compiled for ever, and its loops are compiled."""

from __future__ import annotations

import json
from pathlib import Path

from _support.originals import needs_tensorflows_files
from _support.programs import ANYWHERE, COMMAND, run

pytestmark = needs_tensorflows_files
SCRIPT = Path(__file__).with_name("compilations.py")


def test_regions_are_compiled_for_a_few_values_alone(tmp_path: Path) -> None:
    line = ["run", "--engine", "numpy", str(SCRIPT)]
    ended = run(["-W", "ignore", "-c", COMMAND, *line], tmp_path, ANYWHERE)
    assert ended.returncode == 0, ended.stderr[-3000:]
    found = json.loads(ended.stdout)
    assert found and set(map(tuple, found.values())) == {(0, 0)}, found
