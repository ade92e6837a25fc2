"""`kameleon launch`: one program in several processes, which are watched until all have ended."""

from __future__ import annotations

import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import IO, Any, NoReturn

from kameleon.config.processes import ASIDE, COORDINATOR, COUNT, LAUNCHER, NUMBER, PATIENCE, SEED

USAGE = """\
Usage: kameleon launch --processes N [OPTIONS] SCRIPT [ARGUMENT ...]
       kameleon launch --processes N [OPTIONS] -m MODULE [ARGUMENT ...]

Run a program in N processes on this machine, as `kameleon run` does in one: they share the work,
and give one process's numbers. The first one prints and writes files; what others say of errors is
shown where one of them fails, and then all are ended.

Options, before the program:
  --processes N  How many processes.
  --devices N    How many devices all processes have together, or a mesh (data=4,model=2); as many
                 as processes, if it isn't given.
  --restarts N   Where a process fails, start all again, up to N times: a program that keeps
                 checkpoints goes on from its last one.
  --patience S   For how many seconds processes wait for one that doesn't come to a step (600).
  --help         Show this message.
Others are those of `kameleon run`.
"""
WRONG = 2
GRACE = 5.0  # seconds between asking processes to end and ending them
PAUSE = 0.1  # seconds between looks at the processes
SHOWN = 20  # the last lines of what a process wrote that failed


@dataclass
class Worker:
    """A process of the program, and where it writes what isn't shown."""

    number: int
    process: subprocess.Popen[bytes]
    said: IO[bytes]

    @property
    def failed(self) -> bool:
        """Whether it has ended, with an error."""
        return self.process.poll() not in (None, 0)

    @property
    def how(self) -> str:
        """How it ended."""
        status = self.process.returncode
        if status < 0:
            return f"was ended by {signal.Signals(-status).name}"
        return f"ended with exit status {status}"

    def last_lines(self) -> str:
        """The end of what it wrote."""
        self.said.seek(0)
        return "\n".join(self.said.read().decode(errors="replace").splitlines()[-SHOWN:])


@dataclass
class Plan:
    """How many processes, and what `kameleon run` is told in each."""

    processes: int
    devices: str
    rest: list[str] = field(default_factory=list)
    restarts: int = 0
    patience: str = ""


def main(arguments: Sequence[str]) -> None:
    """Run the program that the command line names, until all processes have ended."""
    plan = understand(arguments)
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    seed = os.environ.get(SEED) or str(secrets.randbelow(2**32))
    for left in reversed(range(plan.restarts + 1)):
        with tempfile.TemporaryDirectory(prefix="kameleon-launch-") as aside:
            status = once(plan, {SEED: seed, ASIDE: aside})
        if status in (0, WRONG, 128 + signal.SIGINT):
            break
        if left:
            print(f"kameleon launch: starting again, {left} of {plan.restarts}", file=sys.stderr)
    sys.exit(status)


def once(plan: Plan, environment: Mapping[str, str]) -> int:
    """Start the processes, and wait for their end; the exit status of the whole."""
    workers = started(plan, environment)
    try:
        return watch(workers)
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    finally:
        end(workers)


OPTIONS = ("--processes", "--devices", "--restarts", "--patience")


def understand(arguments: Sequence[str]) -> Plan:
    """What a command line asks for; options end where the program is named."""
    told: dict[str, str] = {}
    rest = list(arguments)
    while rest and rest[0].startswith("--"):
        word, equals, value = rest[0].partition("=")
        if word == "--help":
            print(USAGE, end="")
            sys.exit()
        if word not in OPTIONS:
            break
        del rest[0]
        if not equals:
            value = rest.pop(0) if rest else ""
        told[word] = value
    count = _number(told, "--processes", "", 1)
    restarts = _number(told, "--restarts", "0", 0)
    if not rest:
        _stop(f"there's no program to run\n\n{USAGE}")
    devices = told.get("--devices", str(count))
    return Plan(count, devices, rest, restarts, told.get("--patience", ""))


def _number(told: Mapping[str, str], option: str, default: str, least: int) -> int:
    value = told.get(option, default)
    if not value.isdigit() or int(value) < least:
        _stop(f"{option} takes a number of {least} or more, not {value!r}")
    return int(value)


def _stop(message: str) -> NoReturn:
    print(f"kameleon launch: {message}", file=sys.stderr)
    sys.exit(WRONG)


def started(plan: Plan, environment: Mapping[str, str]) -> list[Worker]:
    """The processes, which find this in their environment, too."""
    shared = {
        **environment,
        COORDINATOR: f"127.0.0.1:{_free_port()}",
        COUNT: str(plan.processes),
        LAUNCHER: str(os.getpid()),
        **({PATIENCE: plan.patience} if plan.patience else {}),
    }
    line = [sys.executable, "-m", "kameleon", "run", f"--devices={plan.devices}", *plan.rest]
    workers = []
    for number in range(plan.processes):
        said = tempfile.TemporaryFile()  # noqa: SIM115 (it's read when the process has ended)
        quiet: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": said, "stderr": said}
        process = subprocess.Popen(
            line,
            env={**os.environ, **shared, NUMBER: str(number)},
            **(quiet if number else {}),
        )
        workers.append(Worker(number, process, said))
    return workers


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


def watch(workers: Sequence[Worker]) -> int:
    """Wait until all have ended, or one has failed; the exit status of the whole."""
    while any(w.process.poll() is None for w in workers):
        if any(w.failed for w in workers):
            break
        time.sleep(PAUSE)
    failed = [w for w in workers if w.failed]
    for worker in failed:
        said = worker.last_lines()
        print(
            f"kameleon launch: process {worker.number} of {len(workers)} {worker.how}"
            + (f"; it said last:\n{said}" if said else ""),
            file=sys.stderr,
        )
    return abs(failed[0].process.returncode) if failed else 0


def end(workers: Sequence[Worker]) -> None:
    """End those that haven't: the others wait for one that is gone."""
    running = [w.process for w in workers if w.process.poll() is None]
    for process in running:
        process.terminate()
    until = time.monotonic() + GRACE
    for process in running:
        try:
            process.wait(max(0.0, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
