"""Which function's page has which figure."""

from __future__ import annotations

from typing import NamedTuple


class Drawing(NamedTuple):
    """A figure.

    Attributes:
        file: its name.
        caption: what it shows, also to those who don't see it.
    """

    file: str
    caption: str


DRAWINGS: dict[str, Drawing] = {}
