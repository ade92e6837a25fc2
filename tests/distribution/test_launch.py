"""One program in two processes: one process's numbers, and an end where one of them fails."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from support import engines_under_test

pytestmark = pytest.mark.skipif(
    "jax" not in engines_under_test(), reason="programs are distributed by JAX"
)

TRAINING = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
import numpy as np
from networks import trained
found, network = trained("dropout", "float64")
print(repr([np.round(x, 9).tolist() for x in found]))
print(len(network.variables[0].cell.value.sharding.device_set), np.random.rand())
"""
FAILING = """
import os
if os.environ["KAMELEON_PROCESS"] == "1":
    raise ValueError("the second one fails")
import time
time.sleep(600)
"""


def launched(program: str, folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    path = folder / "program.py"
    path.write_text(program)
    line = [sys.executable, "-m", "kameleon", *options, str(path)]
    return subprocess.run(line, capture_output=True, text=True, timeout=300, cwd=folder)


def test_processes_give_the_numbers_of_one(tmp_path: Path) -> None:
    one = launched(TRAINING, tmp_path, "run", "--devices", "1")
    two = launched(TRAINING, tmp_path, "launch", "--processes", "2")
    assert (one.returncode, two.returncode) == (0, 0), one.stderr + two.stderr
    numbers, spread = (done.stdout.splitlines()[-2:] for done in (one, two))
    assert spread[0] == numbers[0]
    assert spread[1].startswith("2 ")


def test_a_process_that_fails_ends_all_and_is_named(tmp_path: Path) -> None:
    done = launched(FAILING, tmp_path, "launch", "--processes", "2")
    assert done.returncode == 1
    assert "process 1 of 2 ended with exit status 1" in done.stderr
    assert "ValueError: the second one fails" in done.stderr


@pytest.mark.parametrize(
    "options, message",
    [
        (["--processes", "0"], "--processes takes a number of 1 or more, not '0'"),
        ([], "--processes takes a number"),
    ],
)
def test_mistakes_are_told(options: list[str], message: str, tmp_path: Path) -> None:
    done = launched("", tmp_path, "launch", *options)
    assert done.returncode == 2
    assert message in done.stderr
