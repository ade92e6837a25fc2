"""Pictures of graphs: what is shown of a node, where it's placed, and how it's drawn.

`boxes` reads the graph, `layout` knows sizes and edges alone, `svg` and `mermaid` write. The page
of `runtime.explorer` shows the same boxes.
"""

from __future__ import annotations
