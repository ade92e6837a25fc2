"""Which of several processes this one is, where one program runs in many."""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Callable, Mapping
from typing import NamedTuple

from ..errors import ArgumentError

COORDINATOR = "KAMELEON_COORDINATOR"  # where the first one listens: host:port
COUNT = "KAMELEON_PROCESSES"
NUMBER = "KAMELEON_PROCESS"  # of this one, from 0 on
SEED = "KAMELEON_SEED"  # what all of them seed Python's and NumPy's generators with
ASIDE = "KAMELEON_ASIDE"  # a folder, removed at the end, for what the others would write
LAUNCHER = "KAMELEON_LAUNCHER"  # the number of the process that `kameleon launch` is
PATIENCE = "KAMELEON_PATIENCE"  # for how many seconds processes wait for one of them
PATIENT = 600.0

Environment = Mapping[str, str]


class Process(NamedTuple):
    """One of the processes that run a program together.

    Attributes:
        coordinator: where the first one listens, as "host:port".
        processes: how many there are.
        number: of this one, from 0 on.
    """

    coordinator: str
    processes: int
    number: int


class Launcher(NamedTuple):
    """A program that starts processes, and how it tells each of them which one it is.

    Attributes:
        title: its name.
        number, size: the variables that say it and how many there are.
        coordinator: where the first process listens, or "" where it isn't said.
    """

    title: str
    number: str
    size: str
    coordinator: Callable[[Environment], str]


def this_process(environment: Environment | None = None) -> Process | None:
    """What the environment says of this process; None, where it runs alone.

    Kameleon's own variables come before a launcher's.

    Raises:
        ArgumentError: it says a part of it, or numbers that don't go together.
    """
    given = os.environ if environment is None else environment
    values = {name: given.get(name, "").strip() for name in (COORDINATOR, COUNT, NUMBER)}
    found = next((launcher for launcher in LAUNCHERS if given.get(launcher.number)), None)
    if found is not None:
        others = COUNT, found.size
        values[NUMBER] = values[NUMBER] or given[found.number]
        values[COUNT] = next((given[name] for name in others if given.get(name)), "")
        if values[COUNT] == "1" or not values[COUNT]:
            return None  # it's started by a launcher, alone
        values[COORDINATOR] = values[COORDINATOR] or found.coordinator(given)
    if not any(values.values()):
        return None
    lacking = [name for name, value in values.items() if not value]
    if lacking:
        by = f" ({found.title} has started this process)" if found else ""
        raise ArgumentError(f"{', '.join(lacking)} isn't set; {', '.join(values)} go together{by}")
    try:
        count, number = int(values[COUNT]), int(values[NUMBER])
    except ValueError:
        count, number = 0, 0
    if not 0 <= number < count:
        raise ArgumentError(
            f"{NUMBER} is a number from 0 on, below {COUNT}; they are {values[NUMBER]!r} and"
            f" {values[COUNT]!r}"
        )
    return Process(values[COORDINATOR], count, number)


def is_first() -> bool:
    """Whether this is the process that prints and writes files; so it is where it's alone."""
    process = this_process()
    return process is None or process.number == 0


def patience() -> float:
    """For how many seconds processes wait for one of them.

    Raises:
        ArgumentError: the environment says something else than a number above 0.
    """
    seconds = os.environ.get(PATIENCE, "").strip()
    try:
        found = float(seconds) if seconds else PATIENT
    except ValueError:
        found = 0.0
    if not 0 < found < float("inf"):
        raise ArgumentError(f"{PATIENCE} is a number of seconds above 0, not {seconds!r}")
    return found


# Launchers --------------------------------------------------------------------------------------


def _port(job: str) -> int:
    """The same for all processes of a job, and mostly another one for another job: a port of those
    that are nobody's (RFC 6335, section 6).
    """
    return 49152 + zlib.crc32(job.encode()) % 16384


# The first host of SLURM's list, such as node[003-007,9],other: what stands before brackets, and
# the first number in them.
_FIRST = re.compile(r"([^,\[]+)(?:\[([^\],-]+))?")


def _of_slurm(given: Environment) -> str:
    match = _FIRST.match(given.get("SLURM_STEP_NODELIST") or given.get("SLURM_NODELIST", ""))
    if match is None:
        return ""
    job = f"{given.get('SLURM_JOB_ID', '')}.{given.get('SLURM_STEP_ID', '')}"
    return f"{match[1]}{match[2] or ''}:{_port(job)}"


def _of_open_mpi(given: Environment) -> str:
    """On one machine; on several it has to be said."""
    if given.get("OMPI_COMM_WORLD_LOCAL_SIZE") != given.get("OMPI_COMM_WORLD_SIZE"):
        return ""
    return f"127.0.0.1:{_port(given.get('PMIX_NAMESPACE', given.get('PMIX_ID', '')))}"


def _of_torchrun(given: Environment) -> str:
    # Its own service listens at the port that it names.
    host, port = given.get("MASTER_ADDR", ""), given.get("MASTER_PORT", "")
    return f"{host}:{_port(port)}" if host else ""


def _unsaid(given: Environment) -> str:
    return ""


LAUNCHERS = (
    Launcher("SLURM", "SLURM_PROCID", "SLURM_NTASKS", _of_slurm),
    Launcher("Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", _of_open_mpi),
    Launcher("MPICH", "PMI_RANK", "PMI_SIZE", _unsaid),
    # Its indexed jobs don't tell a process how many there are.
    Launcher("Kubernetes", "JOB_COMPLETION_INDEX", COUNT, _unsaid),
    Launcher("torchrun", "RANK", "WORLD_SIZE", _of_torchrun),
)
