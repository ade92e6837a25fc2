"""`kameleon profile` runs a program, and tells what its functions take."""

from __future__ import annotations

import json
from pathlib import Path

from _support.programs import COMMAND, run

PROGRAM = """
import numpy as np
from keras import backend as K
x = K.placeholder((None, 64), name='x')
w = K.variable(np.ones((64, 64)))
f = K.function([x], [K.dot(x, w)], [K.update(w, w * 1.)], name='large')
g = K.function([x], [K.sum(x)], name='small')
for _ in range(5):
    f([np.ones((2000, 64))])
print(float(g([np.ones((1, 64))])[0]))
"""


def profiled(folder: Path, program: str, *options: str) -> tuple[int, str, str]:
    (folder / "program.py").write_text(program)
    done = run(["-c", COMMAND, "profile", *options, "program.py"], folder)
    return done.returncode, done.stdout, done.stderr


def test_functions_are_told_those_that_took_longest_first(tmp_path: Path) -> None:
    status, out, told = profiled(tmp_path, PROGRAM, "-n", "1", "-o", "profiles")
    assert (status, out) == (0, "64.0\n"), told
    lines = told[told.index("kameleon profile:") :].splitlines()
    rows = {line.rpartition("  ")[2]: line.split() for line in lines[2:4]}
    assert rows["large (1 outputs, 1 updates)"][2] == "5"
    assert rows["small (1 outputs, 0 updates)"][2] == "1"
    assert "program.py:6  f = K.function([x], [K.dot(x, w)]" in told
    assert "K.sum(x)" not in told.partition("of these took")[2]
    page, trace = sorted((tmp_path / "profiles").iterdir())
    assert page.name == "001-large.html" and '"seconds":' in page.read_text("utf-8")
    assert json.loads(trace.read_text("utf-8"))["traceEvents"]


def test_a_program_that_fails_is_profiled_and_fails(tmp_path: Path) -> None:
    status, _, told = profiled(tmp_path, PROGRAM + "1 / 0\n")
    assert status == 1 and "ZeroDivisionError" in told and "large (1 outputs" in told


def test_a_program_without_functions(tmp_path: Path) -> None:
    status, out, told = profiled(tmp_path, "print(1)\n")
    assert (status, out) == (0, "1\n") and "kameleon profile: the program took" in told
