"""What a program costs on machines: seconds from operations, bytes and bandwidths."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple


class Machine(NamedTuple):
    """Devices and what joins them.

    Attributes:
        flops: floating point operations per second of one device, as it reaches them.
        memory: bytes per second between a device and its memory.
        inside: bytes per second that a device sends to another one of its node.
        between: bytes per second that a node sends to another one, for each of its devices.
        per_node: how many devices a node has.
        latency: seconds that a message takes, however small it is.
    """

    flops: float
    memory: float
    inside: float
    between: float
    per_node: int = 8
    latency: float = 5e-6


class Cost(NamedTuple):
    """Seconds of one call.

    Attributes:
        computing: what each device needs for operations, or for its memory where that is more.
        telling: what collective operations need.
    """

    computing: float
    telling: float

    @property
    def least(self) -> float:
        """Where devices compute while they tell."""
        return max(self.computing, self.telling)

    @property
    def most(self) -> float:
        """Where they wait."""
        return self.computing + self.telling


Way = tuple[float, float]
# By kind of operation, the ways to do it among n: how often the bytes of its result (of one device)
# pass a link, and how many messages follow each other. A ring passes the fewest bytes, a tree needs
# the fewest messages.
WAYS: dict[str, Callable[[int], list[Way]]] = {
    "all-reduce": lambda n: [(2 * (n - 1) / n, 2 * (n - 1)), (2.0, 2 * math.log2(n))],
    "all-gather": lambda n: [((n - 1) / n, n - 1)],
    "reduce-scatter": lambda n: [(n - 1, n - 1)],
    "all-to-all": lambda n: [((n - 1) / n, n - 1)],
    "collective-permute": lambda n: [(1.0, 1)],
}


def seconds(kind: str, number: int, size: int, devices: int, machine: Machine) -> float:
    """How long collective operations take: inside of each node, then over the nodes, where each
    device passes on its part; in each case by the quickest way.

    Args:
        kind: of the operations, in XLA's words.
        number: how many there are, one after the other.
        size: bytes of all their results on one device.
        devices: how many take part.
        machine: what joins them.

    >>> machine = Machine(1e12, 1e11, inside=1e10, between=1e9, per_node=2, latency=0.0)
    >>> seconds("all-reduce", 1, 1000, 2, machine)
    1e-07
    >>> seconds("all-reduce", 1, 1000, 4, machine) == 1e-7 + 500 / 1e9
    True
    >>> seconds("all-reduce", 1, 1000, 1, machine)
    0.0
    """
    within = min(devices, machine.per_node)
    nodes = -(-devices // machine.per_node)
    total = 0.0
    for count, bandwidth, part in (
        (within, machine.inside, size),
        (nodes, machine.between, size / within),
    ):
        if count > 1:
            total += min(
                passes * part / bandwidth + number * messages * machine.latency
                for passes, messages in WAYS[kind](count)
            )
    return total
