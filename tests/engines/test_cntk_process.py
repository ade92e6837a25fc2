"""CNTK's process: how it starts, how it may end, and what is left then: nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _support.common import SOURCE, needs_cntk

from kameleon import backend as K
from kameleon.engines.cntk.engine import KEEPER
from kameleon.engines.cntk.memory import LINES, NUMBER
from kameleon.engines.cntk.process import Worker
from kameleon.errors import EngineError
from kameleon.runtime import engines

pytestmark = needs_cntk
TICKS = os.sysconf("SC_CLK_TCK")


@pytest.fixture(autouse=True)
def _on_cntk() -> Iterator[None]:
    with engines.using("cntk"):
        yield


def worker() -> Worker:
    """The process in use."""
    return KEEPER._ready()


def test_it_starts_within_a_second() -> None:
    """A second of work of both processes: on a busy machine, others take the rest of the time."""

    def start() -> float:
        KEEPER.stop()
        before = time.process_time()
        pid = worker()._process.pid
        mine = time.process_time() - before
        user, system = (
            Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[11:13]
        )
        return mine + (int(user) + int(system)) / TICKS

    assert min(start() for _ in range(3)) < 1.0


def when_it_computes(act: Any, first: int = LINES + 1) -> threading.Thread:
    """Do something to the process as soon as CNTK computes, or with LINES NumPy beside it."""
    used = worker()

    def wait() -> None:
        while used.memory.number < first:
            time.sleep(0.001)
        act(used._process.pid)

    thread = threading.Thread(target=wait)
    thread.start()
    return thread


def test_a_process_that_dies_is_an_error_that_names_the_nodes() -> None:
    w, count = K.variable(np.ones((1500, 1500))), K.variable(0.0)
    x = K.placeholder((1500, 1500))
    y = x
    for _ in range(6):
        y = K.tanh(K.dot(y, w))
    f = K.function([x], [y], [(count, count + 1.0)])
    thread = when_it_computes(lambda pid: os.kill(pid, signal.SIGKILL))
    with pytest.raises(
        EngineError, match=r"signal 9(.|\n)*contract, tanh(.|\n)*test_cntk_process\.py"
    ):
        f([np.zeros((1500, 1500))])
    thread.join()
    assert K.get_value(count) == 0.0
    f([np.zeros((1500, 1500))])  # in another process
    assert K.get_value(count) == 1.0


def test_a_process_that_dies_beside_cntk_names_what_numpy_did() -> None:
    x = y = K.placeholder((3_000_000,))
    for _ in range(30):
        y = K.cumsum(y)
    f = K.function([x], [y])
    thread = when_it_computes(lambda pid: os.kill(pid, signal.SIGKILL), LINES)
    with pytest.raises(EngineError, match=r"by NumPy, beside CNTK, one of cumsum"):
        f([np.zeros(3_000_000)])
    thread.join()


def test_a_process_that_died_between_calls() -> None:
    v = K.variable(np.ones(3))
    f = K.function([], [v * 2.0], [(v, v + 1.0)])
    f([])
    os.kill(worker()._process.pid, signal.SIGKILL)
    with pytest.raises(EngineError, match="the next call starts another one"):
        f([])
    assert f([])[0].tolist() == [4.0] * 3
    assert K.get_value(v).tolist() == [3.0] * 3


class Killer:
    """Kills the process some time after it was asked something of a kind.

    Attributes:
        what: the kind: "start", "program" or "run".
        part: when, as a part of the time that the fastest answer of that kind took.
        dead: how many were killed.
    """

    def __init__(self) -> None:
        self.what, self.part, self.dead = "", 0.0, 0
        self.times: dict[str, float] = {}

    def ask(self, worker: Worker, what: str, **more: Any) -> Any:
        """What stands in for `Worker.ask`."""
        timer = None
        if what == self.what:
            self.what, self.dead = "", self.dead + 1
            timer = threading.Timer(self.times[what] * self.part, worker._process.kill)
            timer.start()
        before = time.perf_counter()
        try:
            found = ASK(worker, what, **more)
        finally:
            if timer is not None:
                timer.join()
        self.times[what] = min(time.perf_counter() - before, self.times.get(what, 60.0))
        return found


ASK = Worker.ask


def test_fifty_processes_that_are_killed_at_any_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """While they start, get a program, compute, or wait: a call is made, or nothing of it is."""
    killer = Killer()
    monkeypatch.setattr(Worker, "ask", lambda *given, **more: killer.ask(*given, **more))
    rng = np.random.default_rng(0)
    x, w = K.placeholder((200, 200)), K.variable(np.zeros((200, 200)))
    count, total = K.variable(0, dtype="int32"), K.variable(0.0)
    y = x
    for _ in range(4):
        y = K.softmax(K.cumsum(K.dot(y, x + w), axis=1))
    f = K.function([x], [K.sum(y)], [(count, count + 1), (total, total + K.sum(y)), (w, w + 1.0)])
    data = np.eye(200, dtype="float32")
    made = 0

    def call() -> bool:
        """Make a call; whether it came through. Its updates were made then, or none of them was."""
        nonlocal made
        try:
            assert abs(float(f([data])[0]) - 200.0) < 1e-2
            made += 1
        except EngineError as error:
            assert "the next call starts another one" in str(error)
            return False
        finally:
            values = K.batch_get_value([count, total, w])
            assert values[0] == made and abs(values[1] - 200.0 * made) < 1e-2 * (made + 1)
            assert (values[2] == made).all()
        return True

    KEEPER.stop()
    assert call() and call()  # it's known now how long answers take
    lost = 0
    for _ in range(50):
        killer.what, killer.part = rng.choice(["start", "program", "run"]), rng.uniform(0.0, 1.2)
        if killer.what != "run":
            KEEPER.stop()
        while not call():  # a process that's killed behind its answer fails the next call
            lost += 1
    assert killer.dead == 50 and 40 <= lost <= 50


DRIVER = """
import sys, time
import numpy as np
from kameleon import backend as K
from kameleon.engines.cntk.engine import KEEPER

K.set_engine("cntk")
last, w = K.placeholder((), dtype="int32"), K.variable(np.ones((9, 9)))
body = lambda i, m: (i + 1, K.tanh(K.dot(m, w)))
f = K.function([last], K.while_loop(lambda i, m: i < last, body, [K.constant(0, "int32"), w]))
f([1])
print(KEEPER._worker._process.pid, flush=True)
"""
LAST = {
    "idle": "time.sleep(60)",
    "in a loop": "f([2**31 - 1])",
    "in a function of CNTK": (
        "x = K.variable(np.ones((6000, 6000)));"
        "K.function([], [K.tanh(K.dot(x, x))])([])"  # some ten seconds
    ),
    "by itself": "sys.exit()",
}


@pytest.mark.parametrize("how", LAST)
def test_nothing_is_left_behind(how: str, tmp_path: Path) -> None:
    """The driver is killed, idle or in the middle of a call; or ends by itself."""
    settings = {"PYTHONPATH": str(SOURCE), "KERAS_BACKEND": "numpy", "TMPDIR": str(tmp_path)}
    with subprocess.Popen(
        [sys.executable, "-c", DRIVER + LAST[how]],
        env=os.environ | settings,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as driver:
        assert driver.stdout is not None
        try:
            pid = int(driver.stdout.readline())
            if how != "by itself":
                wait_until_it_computes(pid, "in a" in how)
                assert not files_to_be_left(pid)
        finally:
            if how != "by itself":
                driver.kill()
        driver.wait()
    gone = is_gone(pid, 3.0)
    if not gone:
        os.kill(pid, signal.SIGKILL)
    assert gone
    assert not of_session(pid)
    assert not list(tmp_path.iterdir())


def wait_until_it_computes(pid: int, computes: bool) -> None:
    """Wait until a process is in a segment, if it's to be in one."""
    folder = Path(f"/proc/{pid}/fd")
    memory = next(path for path in folder.iterdir() if "kameleon-cntk " in os.readlink(path))
    with memory.open("rb") as head:
        while computes and NUMBER.unpack(os.pread(head.fileno(), NUMBER.size, 0))[0] <= LINES:
            time.sleep(0.01)
    time.sleep(0.2)


def files_to_be_left(pid: int) -> list[str]:
    """What a process has open, or mapped, that has a name and is there to be written to.

    An environment may lie there, too.
    """
    maps = Path(f"/proc/{pid}/maps").read_text("utf-8").splitlines()
    names = [line.split(maxsplit=5)[5] for line in maps if len(line.split(maxsplit=5)) == 6]
    names += [os.readlink(path) for path in Path(f"/proc/{pid}/fd").iterdir()]
    places = ("/dev/shm/", "/tmp/", "/var/tmp/", "/run/", "/SYSV")
    named = [name for name in names if name.startswith(places) and "memfd:" not in name]
    return [name for name in named if not name.startswith(sys.prefix)]


def of_session(pid: int) -> list[int]:
    """The processes of a session, which is named after its first one, but for those that ended."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, _, session = path.read_text("utf-8").rpartition(")")[2].split()[:4]
        except OSError:  # it ended meanwhile
            continue
        if int(session) == pid and state != "Z":
            found.append(int(path.parent.name))
    return found


def is_gone(pid: int, patience: float) -> bool:
    """Whether a process ends within so many seconds."""
    end = time.monotonic() + patience
    while time.monotonic() < end:
        try:
            with open(f"/proc/{pid}/stat") as stat:
                if stat.read().rpartition(")")[2].split()[0] == "Z":
                    return True
        except FileNotFoundError:
            return True
        time.sleep(0.01)
    return False
