"""What a format can't hold: how all of them say it."""

from __future__ import annotations

from ...engines._lowering import made
from ...graph.ir.node import Node

ELSEWHERE = (
    "export what it's computed from, and do the rest in the program that loads the file; Kameleon's"
    " own format (.safetensors) holds all of it"
)


def refusal(title: str, node: Node, why: str, remedy: str = ELSEWHERE) -> str:
    """The message of an error: a format can't hold a node.

    Args:
        title: of the format.
        node: what it can't hold.
        why: in words.
        remedy: what to do.
    """
    return f"export: {title} can't hold {node.primitive.name}: {why}{made(node)}\n  {remedy}"
