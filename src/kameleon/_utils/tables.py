"""Reports as text and as HTML: lines and tables, of which notebooks show the second."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple


class Table(NamedTuple):
    """Rows of cells, the first of which may be a head."""

    rows: Sequence[Sequence[str]]
    head: bool = True
    indent: str = ""


Part = str | Table  # of a report: lines of text, or a table


def text(parts: Iterable[Part]) -> str:
    """A report as text, whose columns are aligned.

    >>> print(text(["two engines", Table([("engine", "agrees"), ("numpy", "yes")])]))
    two engines
    engine  agrees
    numpy   yes
    """
    return "\n".join(p if isinstance(p, str) else _aligned(p) for p in parts)


def _aligned(table: Table) -> str:
    widths = [max(map(len, column)) for column in zip(*table.rows, strict=True)]
    lines = []
    for row in table.rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        lines.append(f"{table.indent}{'  '.join(cells)}".rstrip())
    return "\n".join(lines)


def html(parts: Iterable[Part]) -> str:
    """A report as a notebook shows it.

    >>> html(["a < b", Table([("x",), ("y",)])])
    '<pre>a &lt; b</pre><table><tr><th>x</th></tr><tr><td>y</td></tr></table>'
    """
    from html import escape  # late: few programs run in a notebook

    shown = []
    for part in parts:
        if isinstance(part, str):
            shown.append(f"<pre>{escape(part.strip(chr(10)))}</pre>")
            continue
        tags = ["th" if part.head and not i else "td" for i in range(len(part.rows))]
        rows = (
            "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in row)
            for row, tag in zip(part.rows, tags, strict=True)
        )
        shown.append(f"<table>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>")
    return "".join(shown)


def rich(parts: Iterable[Part]) -> Any:
    """A report as Rich shows it: `rich.print(report)` asks for it, in the report's `__rich__`."""
    from rich.console import Group  # late: the core does without Rich
    from rich.table import Table as RichTable
    from rich.text import Text

    shown: list[Any] = []
    for part in parts:
        if isinstance(part, str):
            shown.append(Text(part))
            continue
        head, rows = (part.rows[0], part.rows[1:]) if part.head else ((), part.rows)
        table = RichTable(show_header=part.head, box=None)
        for cell in head:
            table.add_column(Text(cell))
        for row in rows:
            table.add_row(*map(Text, row))
        shown.append(table)
    return Group(*shown)


class Shown(ABC):
    """A report that prints as its parts: as text, in a notebook, and by `rich.print`."""

    @abstractmethod
    def _parts(self) -> Iterable[Part]: ...

    def __str__(self) -> str:
        return text(self._parts())

    def _repr_html_(self) -> str:
        return html(self._parts())

    def __rich__(self) -> Any:
        return rich(self._parts())
