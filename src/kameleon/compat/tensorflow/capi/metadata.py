"""What a run tells of itself, where its options ask for it: the part of the graph that ran."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from ..graph import Graph, Operation, Value, messages
from ..walks import reached
from .graph_defs import Buffer, graph_def


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
    fed = {operation for operation, _ in feeds}  # what is fed needs nothing
    ran = reached(ends, lambda operation: [] if operation in fed else operation.before)
    operations = [operation for operation in graph.operations if operation in ran]
    made.partition_graphs.add().CopyFrom(graph_def(graph, operations))
    metadata.data = made.SerializeToString()
