"""What launchers say of a process: where it meets the others, and which one it is."""

from __future__ import annotations

import re

import pytest

from kameleon.config.processes import PATIENCE, Process, patience, this_process
from kameleon.errors import ArgumentError

OWN = {
    "KAMELEON_COORDINATOR": "first:1234",
    "KAMELEON_PROCESSES": "4",
    "KAMELEON_PROCESS": "2",
}
AT = {"KAMELEON_COORDINATOR": "first:1234"}
SLURM = {"SLURM_PROCID": "3", "SLURM_NTASKS": "8", "SLURM_JOB_ID": "77", "SLURM_STEP_ID": "0"}
MPI = {"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "4"}
LOCAL = {"OMPI_COMM_WORLD_LOCAL_SIZE": "4", "PMIX_NAMESPACE": "prterun-host-4711@1"}
TORCH = {"RANK": "1", "WORLD_SIZE": "2", "MASTER_ADDR": "node1", "MASTER_PORT": "29500"}


@pytest.mark.parametrize(
    "given, host, count, number",
    [
        (OWN, "first", 4, 2),
        (SLURM | {"SLURM_STEP_NODELIST": "node[003-007,9],other"}, "node003", 8, 3),
        (SLURM | {"SLURM_STEP_NODELIST": "alpha,beta[1-2]"}, "alpha", 8, 3),
        (SLURM | {"SLURM_STEP_NODELIST": "gpu-a[12,14]"}, "gpu-a12", 8, 3),
        (SLURM | {"SLURM_STEP_NODELIST": "n1"} | AT, "first", 8, 3),
        (SLURM | OWN, "first", 4, 2),
        (MPI | LOCAL, "127.0.0.1", 4, 1),
        (MPI | AT, "first", 4, 1),
        ({"PMI_RANK": "0", "PMI_SIZE": "2"} | AT, "first", 2, 0),
        ({"JOB_COMPLETION_INDEX": "3", "KAMELEON_PROCESSES": "4"} | AT, "first", 4, 3),
        (TORCH, "node1", 2, 1),
    ],
)
def test_launchers(given: dict[str, str], host: str, count: int, number: int) -> None:
    found = this_process(given)
    assert found is not None
    assert (found.processes, found.number) == (count, number)
    name, _, port = found.coordinator.rpartition(":")
    assert name == host
    assert 1024 <= int(port) < 65536


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"SLURM_PROCID": "0", "SLURM_NTASKS": "1"},
        {"RANK": "0", "WORLD_SIZE": "1"},
        {"JOB_COMPLETION_INDEX": "3"},  # jobs that share nothing
        {"RANK": "somebody's own variable"},
    ],
)
def test_alone(given: dict[str, str]) -> None:
    assert this_process(given) is None


def test_processes_of_a_job_meet_at_one_port_and_jobs_at_others() -> None:
    def meet(**more: str) -> Process | None:
        return this_process(SLURM | {"SLURM_STEP_NODELIST": "n1"} | more)

    first, second, other = meet(SLURM_PROCID="0"), meet(), meet(SLURM_JOB_ID="78")
    assert first and second and other
    assert first.coordinator == second.coordinator != other.coordinator


@pytest.mark.parametrize(
    "given, message",
    [
        ({"KAMELEON_PROCESS": "1"}, "KAMELEON_COORDINATOR, KAMELEON_PROCESSES isn't set"),
        (OWN | {"KAMELEON_PROCESS": "4"}, "below KAMELEON_PROCESSES; they are '4' and '4'"),
        (OWN | {"KAMELEON_PROCESSES": "two"}, "they are '2' and 'two'"),
        (MPI, "KAMELEON_COORDINATOR isn't set; KAMELEON_COORDINATOR, KAMELEON_PROCESSES,"),
        (MPI, "(Open MPI has started this process)"),
    ],
)
def test_what_does_not_go_together_is_told(given: dict[str, str], message: str) -> None:
    with pytest.raises(ArgumentError, match=re.escape(message)):
        this_process(given)


def test_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(PATIENCE, raising=False)
    assert patience() == 600.0
    monkeypatch.setenv(PATIENCE, "2.5")
    assert patience() == 2.5
    for wrong in ("soon", "0", "-1", "inf", "nan"):
        monkeypatch.setenv(PATIENCE, wrong)
        with pytest.raises(ArgumentError, match="a number of seconds above 0"):
            patience()
