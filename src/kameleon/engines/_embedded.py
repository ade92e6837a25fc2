"""Nodes computed by the embedded engine, one by one: numbers that are known while code is made, and
what an engine's runtime calls back for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..graph.ir.leaves import input_node
from ..graph.ir.node import Node
from ..graph.ir.program import Graph, attrs_key
from ..graph.ir.types import TensorType, as_dtype
from ..graph.passes.pipeline import prepared
from ._base import Executable
from .numpy.engine import engine

# Compiled operations by primitive, types and attributes; few occur, again and again.
CACHE_SIZE = 1024
_compiled: dict[Any, Executable] = {}


def alone(node: Node, types: Iterable[TensorType]) -> Executable:
    """Code for the operation of a node, over operands of the given types."""
    inputs = [input_node(t) for t in types]
    graph = Graph(inputs, node.primitive(*inputs, **node.attrs).results)
    return engine.compile(prepared(graph, engine))


def computed(node: Node, operands: Sequence[Any]) -> Any:
    """The value of one node over NumPy values; integers wrap, as in any graph.

    Args:
        node: any node of one result.
        operands: their values; sizes of an elementwise node may be stretched to a common one.
    """
    if node.primitive.elementwise and len({x.shape for x in operands}) > 1:
        operands = np.broadcast_arrays(*operands)
    types = tuple([TensorType(x.shape, as_dtype(x.dtype)) for x in operands])
    key = (node.primitive, types, attrs_key(node))
    found = _compiled.get(key)
    if found is None:
        found = alone(node, types)
        if len(_compiled) >= CACHE_SIZE:
            _compiled.clear()
        _compiled[key] = found
    return found([np.asarray(x) for x in operands])[0]
