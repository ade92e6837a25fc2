"""How kinds of nodes are told apart: by colour and by form, in light and in dark.

Boxes have a paper of their own, so that they can be read on any page.
"""

from __future__ import annotations

from typing import NamedTuple

INK, FAINT = "#1b1f24", "#808790"  # of words in boxes; of lines, legible on white and on black


class Look(NamedTuple):
    """How a kind of node looks.

    Attributes:
        title: what the legend says.
        paper, edge: colours.
        form: of the box: a rectangle, or one that's "slanted", "round", "cut", with a second edge
            ("double"), or with bars at its sides ("barred").
        mermaid: what stands before and behind a node's text there.
    """

    title: str
    paper: str
    edge: str
    form: str
    mermaid: tuple[str, str]


LOOKS = {
    "input": Look("placeholder", "#fff6d6", "#a37f00", "slanted", ("[/", "/]")),
    "variable": Look("variable", "#e3f5ea", "#2f9e62", "round", ("([", "])")),
    "constant": Look("constant", "#eeeeee", "#777777", "cut", ("{{", "}}")),
    "random": Look("random numbers", "#fbe6f1", "#c03f83", "cut", ("{{", "}}")),
    "operation": Look("operation", "#e8f1fc", "#3a86d8", "plain", ("[", "]")),
    "loop": Look("loop or condition", "#efeafc", "#7a5cc8", "double", ("[", "]")),
    "python": Look("function of Python", "#e2f4f6", "#1d8a99", "barred", ("[[", "]]")),
}
# Nodes of gradients have the form of their kind, in these colours, and a dashed edge.
GRADIENT = Look("made by a gradient", "#fdeddf", "#d9730d", "plain", ("[", "]"))


def look_of(kind: str, is_gradient: bool) -> Look:
    """How a node looks; its edge is dashed besides, where a gradient made it."""
    look = LOOKS[kind]
    return look._replace(paper=GRADIENT.paper, edge=GRADIENT.edge) if is_gradient else look
