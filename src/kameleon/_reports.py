"""What is told of a function that runs on many devices."""

from __future__ import annotations

from typing import NamedTuple


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


class Report(NamedTuple):
    """What a distributed function does on each device, in its last call.

    Attributes:
        mesh: the axes of the mesh and their sizes.
        layouts: of variables and of what was given.
        collectives: by kind.
        held: bytes of all arguments on one device.
        scratch: bytes that one device needs while it computes, beside arguments and results.
    """

    mesh: dict[str, int]
    layouts: tuple[Layout, ...]
    collectives: tuple[Collective, ...]
    held: int
    scratch: int

    def __str__(self) -> str:
        mesh = " x ".join(f"{name} {size}" for name, size in self.mesh.items())
        lines = [f"mesh: {mesh}", "on each device:"]
        lines += [
            f"  {x.name:<30} {'x'.join(map(str, x.shape)) or 'scalar':<16}"
            f" {_cut(x.axes):<24} {x.bytes:>12,} bytes"
            for x in self.layouts
        ]
        lines.append(f"  arguments {self.held:,} bytes, scratch {self.scratch:,} bytes")
        told = [f"  {c.number} {c.kind}, {c.bytes:,} bytes" for c in self.collectives]
        return "\n".join([*lines, "collectives in a call:", *(told or ["  none"])])


def _cut(axes: tuple[str | None, ...]) -> str:
    named = [f"axis {i} along {axis}" for i, axis in enumerate(axes) if axis is not None]
    return ", ".join(named) or "whole"
