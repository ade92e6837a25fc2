"""One program in two processes: one process's numbers, and an end where one of them fails."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from support import engines_under_test

pytestmark = pytest.mark.skipif(
    "jax" not in engines_under_test(), reason="programs are distributed by JAX"
)

HERE = Path(__file__).parent
TRAINING = f"""
import sys
sys.path.insert(0, {str(HERE)!r})
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


SECOND = "os.environ['KAMELEON_PROCESS'] == '1'"
STEPS = """
import os, time
import numpy as np
from kameleon import backend as K
x, v = K.placeholder((None, 4)), K.variable(np.zeros(4))
f = K.function([x], [K.sum(x)], [(v, v + K.sum(x, 0))])
g = K.function([x], [K.max(x) + K.sum(v)])
rows = np.ones((8, 4))
f([rows])
"""
# What one of the processes does otherwise, by what is said of it.
DISAGREEING = {
    "asks for something else than process 0": f"(g if {SECOND} else f)([rows + 1])",
    "gives other sizes than process 0": f"f([rows[:6] if {SECOND} else rows[:4]])",
    "gives other values than process 0": "g([np.random.default_rng().normal(size=(8, 4))])",
    "process 1 has ended after step 1": f"if {SECOND}: raise SystemExit\ng([rows])",
    "hasn't come there from step 1": f"if {SECOND}: time.sleep(600)\ng([rows])",
    "process 0 hasn't come there from step 1": (f"if not {SECOND}: time.sleep(600)\nf([rows])"),
}


def launched(
    program: str, folder: Path, *options: str, arguments: Sequence[str] = ()
) -> subprocess.CompletedProcess[str]:
    path = folder / "program.py"
    path.write_text(program)
    line = [sys.executable, "-m", "kameleon", *options, str(path), *arguments]
    return subprocess.run(line, capture_output=True, text=True, timeout=300, cwd=folder)


def test_processes_give_the_numbers_of_one(tmp_path: Path) -> None:
    one = launched(TRAINING, tmp_path, "run", "--devices", "1")
    two = launched(TRAINING, tmp_path, "launch", "--processes", "2")
    assert (one.returncode, two.returncode) == (0, 0), one.stderr + two.stderr
    numbers, spread = (done.stdout.splitlines()[-2:] for done in (one, two))
    assert spread[0] == numbers[0]
    assert spread[1].startswith("2 ")


def test_files_and_lines_are_written_once(tmp_path: Path) -> None:
    found = {}
    program = (HERE / "files_program.py").read_text()
    for options in (("run", "--devices", "1"), ("launch", "--processes", "2")):
        folder = tmp_path / options[0]
        (folder / "old" / "deep").mkdir(parents=True)
        (folder / "old" / "file").touch()
        done = launched(program, tmp_path, *options, arguments=[str(folder)])
        assert done.returncode == 0, done.stderr
        names = sorted(str(p.relative_to(folder)) for p in folder.rglob("*"))
        lines = [line for line in done.stdout.splitlines() if "Epoch" in line or "written" in line]
        found[options[0]] = names, lines[:-1], np.load(folder / "predictions.npy")
        assert lines[-1] == f"written in {folder.name}"
    (names, lines, one), (same_names, same_lines, two) = found.values()
    assert (same_names, same_lines) == (names, lines)
    np.testing.assert_allclose(two, one, rtol=1e-5, atol=1e-6)


def test_rows_of_generators_are_made_once(tmp_path: Path) -> None:
    program = (HERE / "generators_program.py").read_text()
    done = launched(program, tmp_path, "launch", "--processes", "2", arguments=[str(tmp_path)])
    assert done.returncode == 0, done.stderr
    assert "(16, 1)" in done.stdout
    assert (tmp_path / "made-1").read_text() == ""
    made = (tmp_path / "made-0").read_text().split()
    for kind, least in {"generator": 8, "sequence": 15, "validation": 4, "prediction": 2}.items():
        assert least <= made.count(kind) <= least + 12, made  # queues run ahead


def test_a_process_that_fails_ends_all_and_is_named(tmp_path: Path) -> None:
    done = launched(FAILING, tmp_path, "launch", "--processes", "2")
    assert done.returncode == 1
    assert "process 1 of 2 ended with exit status 1" in done.stderr
    assert "ValueError: the second one fails" in done.stderr


@pytest.mark.parametrize("message", DISAGREEING)
def test_processes_that_do_not_agree_end_and_are_named(
    message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KAMELEON_PATIENCE", "4")
    done = launched(STEPS + DISAGREEING[message], tmp_path, "launch", "--processes", "2")
    assert done.returncode == 1
    assert message in done.stderr


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
