"""What a program costs on machines: seconds from operations, bytes and bandwidths."""

from __future__ import annotations

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


# By kind of operation: how often, in a ring of n, the bytes of its result (of one device) pass a
# link, and how many messages follow each other.
PASSES: dict[str, Callable[[int], tuple[float, int]]] = {
    "all-reduce": lambda n: (2 * (n - 1) / n, 2 * (n - 1)),
    "all-gather": lambda n: ((n - 1) / n, n - 1),
    "reduce-scatter": lambda n: (n - 1, n - 1),
    "all-to-all": lambda n: ((n - 1) / n, n - 1),
    "collective-permute": lambda n: (1.0, 1),
}


def seconds(kind: str, size: int, devices: int, machine: Machine) -> float:
    """How long a collective operation takes: a ring inside of each node, then one over the nodes in
    which each device passes on its part.

    Args:
        kind: of the operation, in XLA's words.
        size: bytes of its result on one device.
        devices: how many take part.
        machine: what joins them.

    >>> machine = Machine(1e12, 1e11, inside=1e10, between=1e9, per_node=2, latency=0.0)
    >>> seconds("all-reduce", 1000, 2, machine)
    1e-07
    >>> seconds("all-reduce", 1000, 4, machine) == 1e-7 + 500 / 1e9
    True
    >>> seconds("all-reduce", 1000, 1, machine)
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
            passes, messages = PASSES[kind](count)
            total += passes * part / bandwidth + messages * machine.latency
    return total
