"""The table of calls: by name, a function that draws the text of an expression.

Each function is given the draft, picks operands that fit, and gives None where there are none.
"""

from __future__ import annotations

from collections.abc import Callable

from ..draft import Draft, Entry

Call = Callable[[Draft], str | None]
# How often a call is drawn relative to others, where not 1: loops and windows compile slowly.
WEIGHTS: dict[str, float] = {}


class Table(dict[str, Call]):
    """Calls by name."""

    def add(self, f: Call) -> Call:
        """Put a call into the table under its name, where no other is."""
        name = f.__name__.rstrip("_")
        assert name not in self, f"{name} is there already"
        self[name] = f
        return f


# What calls of several subjects draw.


def float_of(d: Draft, shape: tuple[int, ...]) -> Entry:
    """A float tensor of these sizes."""
    found = d.pick(lambda e: e.is_float and e.shape == shape) if d.flag(0.4) else None
    return found or d.input(shape)


def layout(d: Draft) -> str:
    """Where the channels are."""
    return str(d.choice(["channels_last", "channels_last", "channels_first"]))
