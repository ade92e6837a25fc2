"""Which of several processes this one is, where one program runs in many."""

from __future__ import annotations

import os
from typing import NamedTuple

from ..errors import ArgumentError

COORDINATOR = "KAMELEON_COORDINATOR"  # where the first one listens: host:port
COUNT = "KAMELEON_PROCESSES"
NUMBER = "KAMELEON_PROCESS"  # of this one, from 0 on
SEED = "KAMELEON_SEED"  # what all of them seed Python's and NumPy's generators with


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


def this_process() -> Process | None:
    """What the environment says of this process; None, where it runs alone.

    Raises:
        ArgumentError: it says a part of it, or numbers that don't go together.
    """
    told = {name: os.environ.get(name, "").strip() for name in (COORDINATOR, COUNT, NUMBER)}
    if not any(told.values()):
        return None
    lacking = [name for name, value in told.items() if not value]
    if lacking:
        raise ArgumentError(f"{', '.join(lacking)} isn't set; {', '.join(told)} go together")
    try:
        count, number = int(told[COUNT]), int(told[NUMBER])
    except ValueError:
        count, number = 0, 0
    if not 0 <= number < count:
        raise ArgumentError(
            f"{NUMBER} is a number from 0 on, below {COUNT}; they are {told[NUMBER]!r} and"
            f" {told[COUNT]!r}"
        )
    return Process(told[COORDINATOR], count, number)
