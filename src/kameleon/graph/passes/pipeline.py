"""The way of a graph to an engine: the passes, in the order in which they're taken.

Each pass gives an equal graph. The first is for all engines; the others are for those that ask for
them, by what they declare that they lack. What is left is in primitives and dtypes that the
engine has: `runtime.stages` cuts it where the engine declines a node, and the engine makes code of
the parts.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import NamedTuple, Protocol

from ...errors import DTypeError
from ..ir.node import Node
from ..ir.program import Graph
from ..primitives.precision import dtypes_in, has_dtype
from .carriers import in_carriers
from .half import half_in_single
from .indices import with_checked_indices
from .loops import with_steps
from .simplify import Fold, simplify
from .storage import in_storage


class Declared(Protocol):
    """What passes read of an engine; `Engine` says what it is."""

    title: str
    lacks: Mapping[str, str]
    emulated: Mapping[str, str]
    bits: Mapping[str, str]
    half: Collection[str] | None
    carriers: Mapping[str, Mapping[str, str]]
    storage: Mapping[str, str]
    empty_loops: bool

    @property
    def unchecked(self) -> Collection[str]:
        """Names of primitives whose indices it takes as they are."""
        ...

    def native(self, node: Node) -> bool:
        """Whether there's a rule for this node."""
        ...


class Asked(NamedTuple):
    """For what a graph is prepared.

    Attributes:
        engine: it needn't be able to run graphs.
        fold: gives the value of a node for arrays in place of its operands, or None.
        keep: names of annotations that shall stay, which only gradients read.
    """

    engine: Declared
    fold: Fold | None = None
    keep: Collection[str] = ()


class Pass(NamedTuple):
    """A step from graph to graph.

    Attributes:
        name: of what holds afterwards.
        run: gives the next graph.
        wanted: whether an engine asks for it.
    """

    name: str
    run: Callable[[Graph, Asked], Graph]
    wanted: Callable[[Declared], bool] = lambda engine: True


def _checked(graph: Graph, asked: Asked) -> Graph:
    _check_dtypes(graph, asked.engine)
    return graph


def _emulated(graph: Graph, asked: Asked) -> Graph:
    dtypes = asked.engine.emulated
    if not has_dtype(graph, dtypes):
        return graph
    return in_carriers(graph, lambda node: {} if node.primitive.name in AS_GIVEN else dtypes)


# What converts numbers, reads their bits, or hands them to a function that is told their dtypes.
AS_GIVEN = frozenset(("cast", "bitcast", "call"))


PIPELINE = (
    Pass(
        "simplified, in primitives that the engine has",
        lambda graph, asked: simplify(graph, asked.engine.native, asked.fold, asked.keep),
    ),
    Pass(
        "indices that are checked",
        lambda graph, asked: with_checked_indices(graph, asked.engine.unchecked),
        lambda engine: bool(engine.unchecked),
    ),
    Pass("of dtypes that the engine has", _checked, lambda engine: bool(engine.lacks)),
    Pass("dtypes that the engine only stores", _emulated, lambda engine: bool(engine.emulated)),
    Pass(
        "values in integers that have their bits",
        lambda graph, asked: in_storage(graph, asked.engine.bits),
        lambda engine: bool(engine.bits),
    ),
    Pass(
        "half precision rounded after each operation in single precision",
        lambda graph, asked: half_in_single(graph, asked.engine.half or ()),
        lambda engine: engine.half is not None,
    ),
    Pass(
        "operations in dtypes that the engine has kernels for",
        lambda graph, asked: in_carriers(
            graph, lambda node: asked.engine.carriers.get(node.primitive.name, {})
        ),
        lambda engine: bool(engine.carriers),
    ),
    Pass(
        "values in dtypes that the engine stores",
        lambda graph, asked: in_storage(graph, asked.engine.storage),
    ),
    Pass(
        "loops that have steps",
        lambda graph, asked: with_steps(graph),
        lambda engine: not engine.empty_loops,
    ),
)


def prepared(
    graph: Graph, engine: Declared, fold: Fold | None = None, keep: Collection[str] = ()
) -> Graph:
    """The graph behind all passes; see `Asked` for the arguments.

    Raises:
        DTypeError: the engine lacks a dtype of the graph.
    """
    return _last(graph, steps(graph, Asked(engine, fold, keep)))


def adapted(graph: Graph, engine: Declared) -> Graph:
    """A simplified graph behind the passes that the engine asks for.

    Raises:
        DTypeError: the engine lacks a dtype of the graph.
    """
    return _last(graph, steps(graph, Asked(engine), PIPELINE[1:]))


def steps(
    graph: Graph, asked: Asked, passes: Iterable[Pass] = PIPELINE
) -> Iterator[tuple[Pass, Graph]]:
    """The passes that the engine asks for, each with the graph behind it.

    Raises:
        DTypeError: the engine lacks a dtype of the graph.
    """
    for step in passes:
        if step.wanted(asked.engine):
            graph = step.run(graph, asked)
            yield step, graph


def _last(graph: Graph, found: Iterable[tuple[Pass, Graph]]) -> Graph:
    for _, graph in found:  # noqa: B007
        pass
    return graph


def _check_dtypes(graph: Graph, engine: Declared) -> None:
    for node, dtype in dtypes_in(graph):
        if dtype in engine.lacks:
            raise DTypeError(
                f"{engine.title} doesn't compute with {dtype}: "
                f"{engine.lacks[dtype]}; K.cast it, or choose another engine\n"
                f"  for {node.primitive.name}, which was made at {node.source}"
            )
