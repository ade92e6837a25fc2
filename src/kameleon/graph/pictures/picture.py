"""What `K.show` gives: a graph as SVG, as Mermaid's text, and as plain text."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any

from ..._utils.files import checked, replace
from ...errors import ArgumentError
from ..ir.program import Graph
from ..ir.text import text_of
from .boxes import Sheet, sheet_of

MORE = "function.explore('page.html') shows all"
IN_NOTEBOOKS = 40  # nodes of a tensor or a function that ends a cell
FORMATS = {".svg": "svg", ".mmd": "mermaid", ".txt": "text"}  # by a file's ending


class Picture:
    """A picture of a graph, which notebooks show.

    Args:
        graph: what is shown.
        limit: at most so many nodes; those that are nearest to the outputs.
    """

    def __init__(self, graph: Graph, limit: int | None):
        self._graph, self._limit = graph, limit

    @cached_property
    def _sheet(self) -> Sheet:
        return sheet_of(self._graph, self._limit)

    @cached_property
    def svg(self) -> str:
        """The picture as SVG."""
        from .svg import svg_of  # late: few programs draw

        return svg_of(self._sheet, MORE)

    @cached_property
    def mermaid(self) -> str:
        """The picture as text of Mermaid, for a README."""
        from .mermaid import mermaid_of

        return mermaid_of(self._sheet, MORE)

    @cached_property
    def text(self) -> str:
        """The whole graph as text, a line for each node."""
        return text_of(self._graph)

    def save(self, path: Any) -> None:
        """Write the picture to a file.

        Args:
            path: what it ends with says what is written: `.svg`, `.mmd` (Mermaid) or `.txt`.

        Raises:
            ArgumentError: it has another ending, or is no path.
        """
        name = checked("save", path)
        kind = FORMATS.get(Path(name).suffix)
        if kind is None:
            raise ArgumentError(f"save: the name {name!r} ends with none of {', '.join(FORMATS)}")
        text: str = getattr(self, kind)
        replace(name, f"{text.rstrip()}\n".encode())

    def _repr_html_(self) -> str:
        return f'<div style="overflow: auto; max-height: 60em">{self.svg}</div>'

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<kameleon.Picture of {len(self._graph.nodes)} nodes>"
