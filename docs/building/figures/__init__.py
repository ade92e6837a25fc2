"""Figures, drawn by matplotlib as SVG that stands in the page and takes the page's colour."""

from __future__ import annotations

import importlib
import io
import re
from pathlib import Path

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from docs.building.drawings import DRAWINGS, Drawing

INK = "#010203"  # stands for the colour of the page's text
ZOOM = 1.4  # the most that a figure is enlarged: its letters are then as large as the page's
# Legible on white and on black alike.
FIRST, SECOND, THIRD = "#3a86d8", "#d9730d", "#2f9e62"
STYLE = {
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "font.family": "sans-serif",
    "axes.titlesize": 11,
    "font.size": 11,
    "grid.color": INK,
    "grid.alpha": 0.15,
    "legend.frameon": False,
    "lines.linewidth": 2.2,
    "svg.fonttype": "none",
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
}


def figure(columns: int = 1, rows: int = 1, width: float = 5.4, height: float = 2.3) -> list[Axes]:
    """The axes of a new figure, row by row."""
    made = Figure(figsize=(width, height), layout="constrained")
    found = made.subplots(rows, columns, squeeze=False)
    return [axes for row in found for axes in row]


def write(folder: Path) -> None:
    """Draw all figures that have changed into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for drawing in {drawing.file: drawing for drawing in DRAWINGS.values()}.values():
        path, text = folder / f"{drawing.file}.svg", svg(drawing)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def svg(drawing: Drawing) -> str:
    """A figure as text."""
    module, _, name = drawing.maker.partition(".")
    draw = getattr(importlib.import_module(f"{__name__}.{module}"), name)
    file = io.StringIO()
    with matplotlib.rc_context({**STYLE, "svg.hashsalt": drawing.file}):
        made = draw(drawing.subject)
        bare = {"Date": None, "Creator": None}
        made.savefig(file, format="svg", bbox_inches="tight", pad_inches=0.03, metadata=bare)
    return plain(file.getvalue())


def plain(text: str) -> str:
    """SVG to stand in a page: in the page's colour and font, of any width up to one, without names
    that two figures would both have.
    """
    text = text[text.index("<svg") :]
    for part in ("metadata", "style"):  # a style would hold for the whole page; see site.css
        text = re.sub(rf"<{part}\b.*?</{part}>", "", text, flags=re.DOTALL)
    text = re.sub(r' (?:width|height)="[^"]*pt"', "", text)
    width = float(re.search(r'viewBox="0 0 ([\d.]+) ', text)[1])  # type: ignore[index]
    text = text.replace("<svg ", f'<svg style="max-width: {width * ZOOM:.0f}px" ', 1)
    text = re.sub(r"font: ([\d.]+)px [^;\"]*", r"font-size: \1px", text)
    text = re.sub(r"font-family: [^;\"]*(?:; )?", "", text)
    text = text.replace(INK, "currentColor")
    used = set(re.findall(r"#([\w-]+)[\")]", text))
    return re.sub(r' id="([\w.-]+)"', lambda m: m[0] if m[1] in used else "", text)
