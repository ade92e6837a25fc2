"""A graph as text of Mermaid, which READMEs and notebooks draw."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .boxes import Box, Sheet, every_box
from .looks import INK, look_of


def mermaid_of(sheet: Sheet, more: str) -> str:
    """The text of a flowchart.

    Args:
        sheet: the boxes.
        more: what shows those nodes that are left out.

    >>> from kameleon.graph.ir.leaves import input_node
    >>> from kameleon.graph.ir.program import Graph
    >>> from kameleon.graph.ir.types import FLOAT32, TensorType
    >>> from kameleon.graph.pictures.boxes import sheet_of
    >>> from kameleon.graph.primitives.elementwise import exp
    >>> x = input_node(TensorType((3,), FLOAT32), "x")
    >>> print(mermaid_of(sheet_of(Graph([x], [exp(x)])), "explore() shows them"))
    flowchart TD
        n0[/"Placeholder<br>x:0<br>float32[3]"/]:::input
        n1["Exp<br>float32[3]<br>→ output"]:::operation
        n0 --> n1
        classDef input fill:#fff6d6,stroke:#a37f00,color:#1b1f24
        classDef operation fill:#e8f1fc,stroke:#3a86d8,color:#1b1f24
    """
    lines = ["flowchart TD", *_sheet(sheet, "    ")]
    if words := sheet.rest(more):
        lines.append(f'    more["{_escaped(words)}"]')
    for kind, is_gradient in sorted({(b.kind, b.is_gradient) for b in every_box(sheet)}):
        look = look_of(kind, is_gradient)
        dashed = ",stroke-dasharray:5 3" * is_gradient
        colours = f"fill:{look.paper},stroke:{look.edge},color:{INK}{dashed}"
        lines.append(f"    classDef {_class(kind, is_gradient)} {colours}")
    return "\n".join(lines)


def _sheet(sheet: Sheet, indent: str) -> Iterator[str]:
    for box in sheet.boxes:
        yield from _box(box, indent)
    for box in sheet.boxes:
        for operand in box.operands:
            yield f"{indent}{_id(sheet.boxes[operand])} --> {_id(box)}"


def _box(box: Box, indent: str) -> Iterator[str]:
    text = f'"{"<br>".join(map(_escaped, box.lines))}"'
    style = _class(box.kind, box.is_gradient)
    if not box.bodies:
        before, behind = look_of(box.kind, box.is_gradient).mermaid
        yield f"{indent}{_id(box)}{before}{text}{behind}:::{style}"
        return
    yield f"{indent}subgraph {_id(box)}[{text}]"
    for name, body in box.bodies.items():
        yield f'{indent}    subgraph {_id(box)}_{name}["{name}"]'
        yield from _sheet(body, indent + " " * 8)
        yield f"{indent}    end"
    yield f"{indent}end"
    yield f"{indent}class {_id(box)} {style}"


def _class(kind: str, is_gradient: bool) -> str:
    return f"{kind}_of_gradient" if is_gradient else kind


def _id(box: Box) -> str:
    return "n" + re.sub(r"\W", "", box.key.replace(".", "_"))


def _escaped(text: str) -> str:
    """Text between quotes, of which Mermaid reads nothing as its own, nor as HTML."""
    return re.sub(r'[#&<>"`]', lambda found: f"#{ord(found[0])};", text)
