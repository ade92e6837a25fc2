"""Pictures of graphs: boxes, layout, SVG, Mermaid."""
