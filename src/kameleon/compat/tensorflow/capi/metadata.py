"""What a run tells of itself, where its options ask for it: the part of the graph that ran."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any

from ..graph import messages
from .graph_defs import Buffer, graph_def

if TYPE_CHECKING:
    from ..graph import Graph, Operation, Value


def tell(
    metadata: Buffer | None,
    options: Any,
    graph: Graph,
    feeds: Collection[Value],
    ends: Iterable[Operation],
) -> None:
    """Put a message RunMetadata into a buffer.

    Args:
        metadata: the buffer; None: nobody asks.
        options: a message RunOptions, or None.
        graph: what was run is a part of it.
        feeds: the values that were fed.
        ends: the operations that were fetched, and the targets.
    """
    if metadata is None or options is None or not options.output_partition_graphs:
        return
    made = messages("config_pb2", "protobuf").RunMetadata()
    ran = _before(ends, {operation for operation, _ in feeds})
    operations = [operation for operation in graph.operations if operation in ran]
    made.partition_graphs.add().CopyFrom(graph_def(graph, operations))
    metadata.data = made.SerializeToString()


def _before(ends: Iterable[Operation], fed: Collection[Operation]) -> set[Operation]:
    """The operations that these need, and themselves; what is fed needs nothing."""
    found: set[Operation] = set()
    waiting = [*ends]
    while waiting:
        operation = waiting.pop()
        if operation not in found:
            found.add(operation)
            if operation not in fed:
                waiting += [source for source, _ in operation.inputs]
                waiting += operation.control
    return found
