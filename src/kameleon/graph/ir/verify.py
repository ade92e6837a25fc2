"""Verifying that a graph keeps the invariants that everything else relies on."""

from __future__ import annotations

from ...errors import GraphError
from .attributes import check_attributes
from .leaves import CONSTANT, LEAVES
from .node import ITEM, Node
from .program import Graph, bodies
from .types import TensorType


def verify(graph: Graph) -> None:
    """Infer every node's type anew and check the structure; bodies, too.

    Raises:
        GraphError: operands come after their node; a leaf is neither input nor constant; an
            attribute isn't what is declared; a type isn't what its primitive infers.
        ShapeError, DTypeError: operands or bodies don't fit their node.
    """
    inputs = set(graph.inputs)
    if len(inputs) != len(graph.inputs):
        raise GraphError("a graph's inputs must be distinct")
    for node in graph.nodes:
        if node not in inputs:
            _verify_node(node)


def _verify_node(node: Node) -> None:
    if any(n.serial >= node.serial for n in node.operands):
        raise GraphError(f"{node.primitive.name} was made before one of its operands")
    if node.primitive in LEAVES:
        if node.primitive is not CONSTANT:
            raise GraphError(f"leaf {node.name} is neither an input nor a constant")
        return
    check_attributes(node.primitive, node.operands, node.attrs)
    inferred = node.primitive.infer(*node.operands, **node.attrs)
    if not _agrees(node.type, inferred):
        raise GraphError(
            f"{node.primitive.name} has type {node.type}; its operands give {inferred}"
            f" (made at {node.source})"
        )
    if node.primitive is not ITEM and not isinstance(node.type, TensorType):
        for i, result in enumerate(node.results):
            if result.operands != (node,) or result.attrs["index"] != i:
                raise GraphError(f"result {i} of {node.primitive.name} isn't its own")
    for body in bodies(node):
        verify(body)


def _agrees(stated: object, inferred: object) -> bool:
    """Whether a stated type is the inferred one, or a more specific one."""
    if isinstance(stated, TensorType) and isinstance(inferred, TensorType):
        dims = zip(stated.shape, inferred.shape, strict=False)
        return (
            stated.dtype == inferred.dtype
            and len(stated.shape) == len(inferred.shape)
            and all(b is None or a == b for a, b in dims)
        )
    if isinstance(stated, tuple) and isinstance(inferred, tuple):
        return len(stated) == len(inferred) and all(map(_agrees, stated, inferred))
    return False
