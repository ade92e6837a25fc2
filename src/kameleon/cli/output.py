"""What commands show: tables, and what goes on meanwhile. By Rich."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from rich.console import Console
from rich.status import Status
from rich.table import Table
from rich.text import Text

UNBOUNDED = 10_000  # columns: lines that go to a file or to another program aren't broken


def console() -> Console:
    """Where results go: as wide as the terminal, or without bounds where there's none."""
    is_bounded = sys.stdout.isatty() or "COLUMNS" in os.environ
    return Console(width=None if is_bounded else UNBOUNDED)


def waiting_console() -> Console:
    """Where it's shown what goes on: errors go there, too, results don't."""
    return Console(stderr=True)


def waiting(what: str) -> Status:
    """Says on the terminal what is waited for."""
    return waiting_console().status(what)


def show(head: Sequence[str], rows: Sequence[Sequence[Text]], caption: str | None = None) -> None:
    """Print a table; where the terminal is too narrow for it, a list. No cell is broken up, so
    that paths and commands can be copied.
    """
    there = console()
    table = Table(*head, caption=caption)
    for column in table.columns:
        column.no_wrap = True
    for row in rows:
        table.add_row(*row)
    wide = there.options.update(width=UNBOUNDED)
    if there.measure(table, options=wide).maximum <= there.width:
        there.print(table)
        return
    for row in rows:
        there.print(row[0], soft_wrap=True)
        for title, cell in zip(head[1:], row[1:], strict=True):
            if cell:
                there.print(Text.assemble(f"    {title}: ", cell), soft_wrap=True)
