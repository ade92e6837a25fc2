"""A graph in what an engine does, by the passes that the engine asks for."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, Protocol

from ...errors import DTypeError
from ..ir.node import Node
from ..ir.program import Graph, bodies
from ..ir.types import TensorType
from .carriers import in_carriers
from .half import half_in_single
from .loops import with_steps
from .simplify import simplify
from .storage import in_storage


class Declared(Protocol):
    """What passes read of an engine; `Engine` says what it is."""

    title: str
    lacks: Mapping[str, str]
    half: Collection[str] | None
    carriers: Mapping[str, Mapping[str, str]]
    storage: Mapping[str, str]
    empty_loops: bool

    def native(self, node: Node) -> bool:
        """Whether there's a rule for this node."""
        ...


def legal(
    graph: Graph,
    engine: Declared,
    fold: Callable[[Node], Any] | None = None,
    keep: Collection[str] = (),
) -> Graph:
    """The graph in primitives and dtypes that the engine has.

    Args:
        graph: any closed graph.
        engine: the engine that it's for, which needn't be able to run graphs.
        fold: gives the value of a node whose operands are constants, or None.
        keep: names of annotations that shall stay, which only gradients read.

    Raises:
        DTypeError: the engine has no such dtype.
    """
    return prepared(simplify(graph, engine.native, fold, keep), engine)


def prepared(graph: Graph, engine: Declared) -> Graph:
    """A simplified graph after the passes that the engine asks for.

    Raises:
        DTypeError: the engine lacks a dtype of the graph.
    """
    _check_dtypes(graph, engine)
    if engine.half is not None:
        graph = half_in_single(graph, engine.half)
    if engine.carriers:
        graph = in_carriers(graph, lambda node: engine.carriers.get(node.primitive.name, {}))
    graph = in_storage(graph, engine.storage)
    return graph if engine.empty_loops else with_steps(graph)


def _check_dtypes(graph: Graph, engine: Declared) -> None:
    if not engine.lacks:
        return
    for node in graph.nodes:
        types = (node.type,) if isinstance(node.type, TensorType) else node.type
        for type in types:
            if type.dtype in engine.lacks:
                raise DTypeError(
                    f"{engine.title} doesn't compute with {type.dtype}: "
                    f"{engine.lacks[type.dtype]}; K.cast it, or choose another engine\n"
                    f"  for {node.primitive.name}, which was made at {node.source}"
                )
        for body in bodies(node):
            _check_dtypes(body, engine)
