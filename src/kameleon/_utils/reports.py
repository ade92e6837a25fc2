"""What is told of a function that runs on many devices."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from .machines import Cost, Machine, seconds
from .tables import Part, Shown, Table


class Collective(NamedTuple):
    """Operations by which devices tell each other something.

    Attributes:
        kind: such as "all-reduce", in XLA's words.
        number: how many there are in a call; those in the body of a loop count once.
        bytes: of all their results, on one device.
    """

    kind: str
    number: int
    bytes: int


class Layout(NamedTuple):
    """How an argument of compiled code lies.

    Attributes:
        name: of the variable or placeholder.
        shape: of the whole array.
        axes: for each of its axes the mesh's axis that it's cut along, or None.
        bytes: of the part that one device holds.
    """

    name: str
    shape: tuple[int, ...]
    axes: tuple[str | None, ...]
    bytes: int

    @property
    def cut(self) -> str:
        """How it's cut, in words."""
        named = [f"axis {i} along {axis}" for i, axis in enumerate(self.axes) if axis is not None]
        return ", ".join(named) or "whole"


@dataclass(frozen=True)
class Report(Shown):
    """What a distributed function does on each device, in its last call.

    Attributes:
        mesh: the axes of the mesh and their sizes.
        layouts: of variables and of what was given.
        collectives: by kind.
        held: bytes of all arguments on one device.
        scratch: bytes that one device needs while it computes, beside arguments and results.
        flops: floating point operations of one device, as XLA counts them: those in the body of a
            loop once.
        accessed: bytes that one device reads and writes in its memory, counted in the same way.

    >>> layouts = (Layout("w", (2, 3), (None, None), 24), Layout("x", (4,), ("data",), 8))
    >>> print(Report({"data": 2}, layouts, (), 32, 0))
    mesh: data 2
    on each device:
      w  2x3  whole                       24 bytes
      x  4    axis 0 along data            8 bytes
      arguments 32 bytes, scratch 0 bytes
    collectives in a call:
      none
    >>> Report({"data": 2}, layouts, (), 32, 0)._repr_html_().count("<tr>")
    2
    """

    mesh: dict[str, int]
    layouts: tuple[Layout, ...]
    collectives: tuple[Collective, ...]
    held: int
    scratch: int
    flops: float = 0.0
    accessed: float = 0.0

    def cost(self, machine: Machine, devices: int | None = None) -> Cost:
        """What a call takes on other devices, where each has as many rows as here.

        Collective operations are taken to be over all devices: that's so where batches are spread
        over them and nothing else is.

        Args:
            machine: what they are.
            devices: how many; as many as here, if it's None.

        >>> report = Report({"data": 8}, (), (Collective("all-reduce", 1, 10**8),), 0, 0, 1e12)
        >>> fast = Machine(flops=1e14, memory=1e12, inside=1e11, between=1e10)
        >>> [round(report.cost(fast, n).telling, 4) for n in (1, 8, 64)]
        [0.0, 0.0018, 0.0041]
        >>> report.cost(fast).computing
        0.01
        """
        count = math.prod(self.mesh.values()) if devices is None else devices
        computing = max(self.flops / machine.flops, self.accessed / machine.memory)
        times = (seconds(*c, count, machine) for c in self.collectives)
        return Cost(computing, sum(times))

    def _parts(self) -> list[Part]:
        mesh = " x ".join(f"{name} {size}" for name, size in self.mesh.items())
        rows = [
            (x.name, "x".join(map(str, x.shape)) or "scalar", x.cut, f"{x.bytes:>12,} bytes")
            for x in self.layouts
        ]
        parts: list[Part] = [f"mesh: {mesh}", "on each device:"]
        parts += [Table(rows, head=False, indent="  ")] if rows else []
        if self.flops:
            parts.append(f"  {self.flops:,.0f} operations, {self.accessed:,.0f} bytes of memory")
        parts.append(f"  arguments {self.held:,} bytes, scratch {self.scratch:,} bytes")
        lines = [f"  {c.number} {c.kind}, {c.bytes:,} bytes" for c in self.collectives]
        return [*parts, "collectives in a call:", *(lines or ["  none"])]
