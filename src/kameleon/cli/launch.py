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
from dataclasses import dataclass
from typing import IO, Any

from kameleon.cli.parsing import WRONG, Parser, number, seconds
from kameleon.cli.run import add_options, plan_of, words
from kameleon.config.processes import ASIDE, COORDINATOR, COUNT, LAUNCHER, NUMBER, PATIENCE, SEED

USAGE = """\
kameleon launch --processes N [OPTIONS] SCRIPT [ARGUMENT ...]
       kameleon launch --processes N [OPTIONS] -m MODULE [ARGUMENT ...]"""
ABOUT = """\
Run a program in N processes on this machine, as `kameleon run` does in one: they share the work,
and give one process's numbers. The first one prints and writes files; what others say of errors is
shown where one of them fails, and then all are ended. Options stand before the program."""
RESTARTS = """where a process fails, start all again, up to N times: a program that keeps
checkpoints goes on from its last one"""
PATIENT = "for how many seconds processes wait for one that doesn't come to a step (600)"
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
    """How many processes, and the command line of `kameleon run` in each."""

    processes: int
    line: list[str]
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


def understand(arguments: Sequence[str]) -> Plan:
    """What a command line asks for."""
    parser = Parser("launch", ABOUT, USAGE)
    parser.option("--processes", "N", "how many processes", number(1), required=True)
    parser.option("--restarts", "N", RESTARTS, number(0), default=0)
    parser.option("--patience", "S", PATIENT, seconds)
    add_options(
        parser,
        "how many devices all processes have together, or a mesh (data=4,model=2); as many as"
        " processes, if it isn't given",
    )
    found = parser.understood(arguments)
    run = plan_of(found, parser)
    run.devices = run.devices or str(found.processes)
    return Plan(found.processes, words(run), found.restarts, found.patience or "")


def started(plan: Plan, environment: Mapping[str, str]) -> list[Worker]:
    """The processes, which find this in their environment, too."""
    shared = {
        **environment,
        COORDINATOR: f"127.0.0.1:{_free_port()}",
        COUNT: str(plan.processes),
        LAUNCHER: str(os.getpid()),
        **({PATIENCE: plan.patience} if plan.patience else {}),
    }
    line = [sys.executable, "-m", "kameleon", "run", *plan.line]
    workers = []
    for each in range(plan.processes):
        said = tempfile.TemporaryFile()  # noqa: SIM115 (it's read when the process has ended)
        quiet: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": said, "stderr": said}
        process = subprocess.Popen(
            line,
            env={**os.environ, **shared, NUMBER: str(each)},
            **(quiet if each else {}),
        )
        workers.append(Worker(each, process, said))
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
