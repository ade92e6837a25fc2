"""The printed form of graphs: stable, for errors, tests and people."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .leaves import INPUT, VARIABLE
from .node import Node
from .program import Graph
from .types import TensorType

# How many nodes before a node are shown, and how many steps back they are at most.
SHOWN, BACK = 8, 3


def lines_by_node(lines: Iterable[tuple[Node, str]]) -> dict[Node, str]:
    """What is told of nodes, line after line, as one text for each."""
    found: dict[Node, list[str]] = {}
    for node, line in lines:
        found.setdefault(node, []).append(line)
    return {node: "\n".join(texts) for node, texts in found.items()}


def text_of(graph: Graph, indent: str = "") -> str:
    """The graph as text, a line for each node; bodies are indented below their node.

    Values are numbered in order (%0, %1 …), so that equal graphs print alike, whatever their
    nodes' names.

    >>> from kameleon.graph.ir.leaves import input_node
    >>> from kameleon.graph.ir.node import REGISTRY
    >>> import kameleon.graph.primitives
    >>> from kameleon.graph.ir.types import FLOAT32
    >>> x = input_node(TensorType((None, 3), FLOAT32))
    >>> print(text_of(Graph([x], [REGISTRY["exp"](x)])))
    (%0: float32[?, 3]) ->
      %1: float32[?, 3] = exp(%0)
      return %1
    """
    number = {node: f"%{i}" for i, node in enumerate(graph.nodes)}
    parameters = ", ".join(f"{number[n]}: {type_of(n)}" for n in graph.inputs)
    rows = [f"{indent}({parameters}) ->"]
    for node in graph.nodes[len(graph.inputs) :]:
        rows.append(f"{indent}  {number[node]}: {type_of(node)} = {_call(node, number)}")
        for name in node.primitive.bodies:
            rows.append(f"{indent}    {name}:")
            rows.append(text_of(node.attrs[name], indent + "      "))
    results = ", ".join(number[n] for n in graph.roots)
    return "\n".join([*rows, f"{indent}  return {results}"])


def before(node: Node) -> str:
    """A node and those that it's made of, near by: a line for each, without their bodies.

    >>> from kameleon.graph.ir.leaves import input_node
    >>> from kameleon.graph.ir.node import REGISTRY
    >>> import kameleon.graph.primitives
    >>> from kameleon.graph.ir.types import FLOAT32
    >>> x = input_node(TensorType((None, 3), FLOAT32), "x")
    >>> print(before(REGISTRY["log"](REGISTRY["neg"](x))))
    %0: float32[?, 3] = input 'x'
    %1: float32[?, 3] = neg(%0)
    %2: float32[?, 3] = log(%1)
    """
    seen, level = {node: None}, [node]
    for _ in range(BACK):
        level = [x for n in level for x in n.operands if x not in seen]
        seen.update(dict.fromkeys(level[: SHOWN - len(seen)]))
    order = sorted(seen, key=lambda n: n.serial)
    number = {n: f"%{i}" for i, n in enumerate(order)}
    return "\n".join(f"{number[n]}: {type_of(n)} = {_made(n, number)}" for n in order)


def _made(node: Node, number: dict[Node, str]) -> str:
    if node.primitive in (INPUT, VARIABLE):
        return f"{node.primitive.name} '{node.name[:-2]}'"
    return _call(node, number)


def type_of(node: Node) -> str:
    """The type of a node, or the types of its results."""
    if isinstance(node.type, TensorType):
        return str(node.type)
    return "(" + ", ".join(map(str, node.type)) + ")"


def _call(node: Node, number: dict[Node, str]) -> str:
    operands = [number.get(n, "…") for n in node.operands]
    return f"{node.primitive.name}({', '.join([*operands, *attributes(node)])})"


def attributes(node: Node) -> list[str]:
    """The attributes of a node but for its bodies, as they're written."""
    return [f"{k}={_show(v)}" for k, v in node.attrs.items() if k not in node.primitive.bodies]


def _show(value: Any) -> str:
    return getattr(value, "__name__", None) or repr(value)
