"""One program in two processes: one process's numbers, and an end where one of them fails."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _support.common import engines_under_test, needs_orbax

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
# Each network's losses and variables, with whole variables and with cut ones.
ALL = f"""
import json, sys
sys.path.insert(0, {str(HERE)!r})
import kameleon, numpy as np
from kameleon.runtime import engines
from networks import NETWORKS, trained
count = engines.current().distribution.devices
for variables in ("replicated", "sharded"):
    with kameleon.distribute(devices=count, variables=variables):
        for name in NETWORKS:
            found = trained(name, "float64", 13)[0]
            print(json.dumps({{name: [np.asarray(x).tolist() for x in found]}}))
"""
# Trains for some minutes, with a checkpoint every now and then.
KILLS = 50
LASTING = """
import hashlib, sys, time
import numpy as np
from kameleon import backend as K
from kameleon.distributed.checkpoint import Checkpoints
np.random.seed(1)
x, t = K.placeholder((None, 12)), K.placeholder((None, 8))
w = [K.variable(np.random.normal(size=s) * 0.3, name=n) for n, s in zip("ab", ((12, 32), (32, 8)))]
h = K.dropout(K.tanh(K.dot(x, w[0])), 0.4)
loss = K.mean(K.square(K.dot(h, w[1]) - t))
updates = [(v, v - 0.05 * slope) for v, slope in zip(w, K.gradients(loss, w))]
step = K.function([x, t], [loss], updates=updates)
with Checkpoints(sys.argv[1], step) as kept:
    for i in range(kept.restore(), 4000):
        step([np.random.normal(size=(16, 12)), np.random.normal(size=(16, 8))])
        time.sleep(0.02)
        if i % 5 == 4:
            kept.save(i + 1)
print(hashlib.sha256(b"".join(K.get_value(v).tobytes() for v in w)).hexdigest())
"""
# Goes on from the last checkpoint, on so many devices, until that step.
CUT = """
import json, sys
import numpy as np
import kameleon
from kameleon import backend as K
from kameleon.distributed.checkpoint import Checkpoints
folder, devices, until = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
K.set_floatx("float64")
np.random.seed(1)
x = K.placeholder((None, 12))
w = [K.variable(np.random.normal(size=s) * 0.3, name=n) for n, s in zip("ab", ((12, 32), (32, 8)))]
loss = K.mean(K.square(K.dot(K.dropout(K.tanh(K.dot(x, w[0])), 0.4), w[1]) - 1))
updates = [(v, v - 0.05 * slope) for v, slope in zip(w, K.gradients(loss, w))]
step = K.function([x], [loss], updates=updates)
with kameleon.distribute(devices=devices, variables="sharded"), Checkpoints(folder, step) as kept:
    for i in range(kept.restore(), until):
        step([np.random.RandomState(i).normal(size=(16, 12))])
        kept.save(i + 1)
    assert devices == 1 or len(w[0].cell.value.sharding.device_set) == devices
print(json.dumps([K.get_value(v).tolist() for v in w][0]))
"""
LASTS = "import time\nopen('begun', 'w').close()\ntime.sleep(600)"
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


@pytest.mark.nightly
@pytest.mark.parametrize("processes", [2, 4])
def test_all_networks_in_processes(processes: int, tmp_path: Path) -> None:
    numbers = []
    for options in (("run", "--devices", "1"), ("launch", "--processes", str(processes))):
        done = launched(ALL, tmp_path, *options)
        assert done.returncode == 0, done.stderr
        numbers.append([x for x in done.stdout.splitlines() if x.startswith("{")])
    for one, many in zip(*map(_parsed, numbers), strict=True):
        assert one.keys() == many.keys()
        for name, values in one.items():
            for a, b in zip(many[name], values, strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12, err_msg=name)


def _parsed(lines: list[str]) -> list[dict[str, list[Any]]]:
    return [json.loads(line) for line in lines]


@pytest.mark.nightly
def test_killed_processes_lose_nothing(tmp_path: Path) -> None:
    """At random moments; what is left of the program goes on from the last checkpoint."""
    done = launched(LASTING, tmp_path, "run", "--devices", "2", arguments=["whole"])
    assert done.returncode == 0, done.stderr
    program = tmp_path / "program.py"
    options = ["--processes", "2", "--restarts", "1000", str(program), "cut"]
    line = [sys.executable, "-m", "kameleon", "launch", *options]
    moment = random.Random(0)
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True, cwd=tmp_path) as launcher:
        killed = 0
        while launcher.poll() is None and killed < KILLS:
            time.sleep(moment.uniform(1, 14))
            found = _children(launcher) if launcher.poll() is None else []
            if found:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(moment.choice(found), signal.SIGKILL)
                    killed += 1
        last = launcher.communicate()[0].splitlines()[-1]
    assert (launcher.returncode, killed) == (0, KILLS)
    assert last == done.stdout.splitlines()[-1]


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


def test_nobody_is_left_behind(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(LASTS)
    line = [sys.executable, "-m", "kameleon", "launch", "--processes", "2", "program.py"]
    with subprocess.Popen(line, cwd=tmp_path, stderr=subprocess.DEVNULL) as launcher:
        _wait_for((tmp_path / "begun").exists)
        children = _children(launcher)
        launcher.kill()
    assert len(children) == 2
    _wait_for(lambda: not any(map(_runs, children)))


def _children(process: subprocess.Popen[Any]) -> list[int]:
    found = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text()
    return [int(number) for number in found.split()]


def _wait_for(condition: Callable[[], bool]) -> None:
    until = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.1)


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return "Z" not in Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]


@needs_orbax
def test_checkpoints_serve_any_number_of_devices(tmp_path: Path) -> None:
    printed = {}
    for name, runs in {"one": ((1, 7),), "many": ((4, 3), (2, 5), (1, 7))}.items():
        for devices, until in runs:
            done = launched(
                CUT, tmp_path, "run", arguments=[str(tmp_path / name), str(devices), str(until)]
            )
            assert done.returncode == 0, done.stderr
        printed[name] = json.loads(done.stdout.splitlines()[-1])
    np.testing.assert_allclose(printed["many"], printed["one"], rtol=1e-12, atol=1e-12)


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
        (["--processes", "0"], "--processes: takes a number of 1 or more, not '0'"),
        (["a.py"], "required: --processes"),
    ],
)
def test_mistakes_are_told(options: list[str], message: str, tmp_path: Path) -> None:
    done = launched("", tmp_path, "launch", *options)
    assert done.returncode == 2
    assert message in done.stderr
