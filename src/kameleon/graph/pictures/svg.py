"""A graph as SVG, which any browser, notebook or README shows."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import NamedTuple

from .boxes import Box, Sheet, every_box
from .layout import Placed, Point, placed
from .looks import FAINT, GRADIENT, INK, LOOKS, Look, look_of

LINE, LETTER, MARGIN = 16.0, 7.3, 10.0  # of the font's 12 pixels, all letters are as wide
LONGEST = 36  # letters of a line
FONT = "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace"


class Drawn(NamedTuple):
    """A part of the picture: its width and height, and its elements, from (0, 0) on."""

    size: Point
    elements: list[str]


def svg_of(sheet: Sheet, more: str) -> str:
    """The picture.

    Args:
        sheet: the boxes.
        more: what shows those nodes that are left out.
    """
    (width, height), elements = _sheet(sheet)
    parts = [_moved(elements, MARGIN, MARGIN)]
    y, lines = height + 2 * MARGIN, [_legend(sheet)]
    if words := sheet.rest(more):
        lines.append(Drawn((len(words) * LETTER, LINE), [_text(words, 0, 0, FAINT)]))
    for (across, down), drawn in lines:
        parts.append(_moved(drawn, MARGIN, y))
        width, y = max(width, across), y + down + MARGIN / 2
    across, down = width + 2 * MARGIN, y + MARGIN / 2
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{across:.0f}" height="{down:.0f}"'
        f' viewBox="0 0 {across:.0f} {down:.0f}" role="img" font-size="12"'
        f' font-family="{FONT}">\n' + "\n".join(parts) + "\n</svg>\n"
    )


def _sheet(sheet: Sheet) -> Drawn:
    drawn = [_box(box) for box in sheet.boxes]
    edges = [(a, b) for b, box in enumerate(sheet.boxes) for a in box.operands]
    found: Placed = placed([each.size for each in drawn], edges)
    elements = [
        f'<path class="edge" data-from="{sheet.boxes[a].key}" data-to="{sheet.boxes[b].key}"'
        f' d="{_curve(path)}" fill="none" stroke="{FAINT}"/>'
        for (a, b), path in zip(edges, found.paths, strict=True)
    ]
    for each, (x, y) in zip(drawn, found.corners, strict=True):
        elements.append(_moved(each.elements, x, y))
    return Drawn(found.size, elements)


def _curve(path: list[Point]) -> str:
    """A line through points, which leaves and arrives downwards; with a small arrow's head."""
    (x, y), rest = path[0], path[1:]
    parts = [f"M{x:.1f} {y:.1f}"]
    for to, down in rest:
        middle = (y + down) / 2
        parts.append(f"C{x:.1f} {middle:.1f} {to:.1f} {middle:.1f} {to:.1f} {down:.1f}")
        x, y = to, down
    return " ".join([*parts, "m-3 -5 l3 5 l3 -5"])


def _box(box: Box) -> Drawn:
    """A node: its title, name, type and notes, and its bodies side by side."""
    look = look_of(box.kind, box.is_gradient)
    lines = [_shortened(line) for line in box.lines]
    inner = [(name, _sheet(body)) for name, body in box.bodies.items()]
    width = max(max(map(len, lines)) * LETTER + 2 * MARGIN, 60.0)
    if inner:
        width = max(width, sum(d.size[0] for _, d in inner) + MARGIN * (len(inner) + 1))
    top = len(lines) * LINE + MARGIN
    below = max((d.size[1] for _, d in inner), default=0.0)
    height = top + (below + LINE + 2 * MARGIN if inner else 0.0)
    about = f"{box.key} {box.title}({box.attributes})\n{box.source}"
    elements = [
        f'<g class="node" data-key="{box.key}"><title>{escape(about)}</title>',
        _outline(look, width, height, box.is_gradient),
        *(
            _text(line, width / 2, MARGIN / 2 + i * LINE, INK, "middle", bold=i == 0)
            for i, line in enumerate(lines)
        ),
    ]
    x = MARGIN
    for name, drawn in inner:
        elements.append(_text(f"{name}:", x, top, INK))
        elements.append(_moved(drawn.elements, x, top + LINE + MARGIN / 2))
        x += drawn.size[0] + MARGIN
    return Drawn((width, height), [*elements, "</g>"])


def _outline(look: Look, w: float, h: float, is_dashed: bool = False) -> str:
    """The box itself, in the form of its look."""
    style = f'fill="{look.paper}" stroke="{look.edge}"'
    style += ' stroke-dasharray="5 3"' * is_dashed
    if look.form in ("slanted", "cut"):
        c = min(8.0, h / 3)
        points = {
            "slanted": [(c, 0), (w, 0), (w - c, h), (0, h)],
            "cut": [(c, 0), (w - c, 0), (w, c), (w, h - c), (w - c, h), (c, h), (0, h - c), (0, c)],
        }[look.form]
        return f'<polygon points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}" {style}/>'
    corner = h / 2 if look.form == "round" else 3
    rect = f'<rect width="{w:.1f}" height="{h:.1f}" rx="{corner:.1f}" {style}/>'
    if look.form == "double":
        style = style.replace(look.paper, "none")
        rect += f'<rect x="3" y="3" width="{w - 6:.1f}" height="{h - 6:.1f}" rx="2" {style}/>'
    if look.form == "barred":
        rect += f'<path d="M5 0 v{h:.1f} M{w - 5:.1f} 0 v{h:.1f}" {style}/>'
    return rect


def _legend(sheet: Sheet) -> Drawn:
    """What the colours and forms in the picture mean."""
    boxes = list(every_box(sheet))
    kinds = {box.kind for box in boxes if not box.is_gradient}
    shown: list[tuple[Look, bool]] = [
        (look, False) for kind, look in LOOKS.items() if kind in kinds
    ]
    shown += [(GRADIENT, True)] * any(box.is_gradient for box in boxes)
    elements, x = [], 0.0
    for look, is_dashed in shown:
        elements.append(_moved([_outline(look, 20, 12, is_dashed)], x, 2))
        elements.append(_text(look.title, x + 26, 0, FAINT))
        x += 26 + len(look.title) * LETTER + 2 * MARGIN
    return Drawn((x, LINE), elements)


def _text(
    words: str, x: float, top: float, colour: str, anchor: str = "start", bold: bool = False
) -> str:
    weight = ' font-weight="bold"' * bold
    return (
        f'<text x="{x:.1f}" y="{top + 12:.1f}" fill="{colour}" text-anchor="{anchor}"{weight}>'
        f"{escape(words)}</text>"
    )


def _moved(elements: Iterable[str], x: float, y: float) -> str:
    return "\n".join([f'<g transform="translate({x:.1f} {y:.1f})">', *elements, "</g>"])


def _shortened(line: str) -> str:
    """A line that isn't too long; the end of a name says most."""
    return line if len(line) <= LONGEST else f"…{line[1 - LONGEST :]}"
