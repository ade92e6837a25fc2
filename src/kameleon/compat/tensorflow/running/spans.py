"""What ran when, for runs whose options ask."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from ..graph import Operation


class Span(NamedTuple):
    """What ran at once, and when, in nanoseconds since 1970."""

    operations: Collection[Operation]
    start: int
    end: int


Trace = list[Span]
