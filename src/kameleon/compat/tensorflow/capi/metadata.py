"""What a run tells of itself, where its options ask for it: the part of the graph that ran, and
how long its operations took.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from ..graph import DEVICE, Graph, Operation, Value, messages
from ..running.spans import Span, Trace
from ..walks import reached
from .graph_defs import Buffer, graph_def


def new_trace(metadata: Buffer | None, options: Any) -> Trace | None:
    """What is to take when something ran; None, if nobody asks."""
    return [] if metadata is not None and options is not None and options.trace_level else None


def tell(
    metadata: Buffer | None,
    options: Any,
    graph: Graph,
    feeds: Collection[Value],
    ends: Iterable[Operation],
    trace: Trace | None,
) -> None:
    """Put a message RunMetadata into a buffer.

    Args:
        metadata: the buffer; None: nobody asks.
        options: a message RunOptions, or None.
        graph: what was run is a part of it.
        feeds: the values that were fed.
        ends: the operations that were fetched, and the targets.
        trace: what ran, and when.
    """
    if metadata is None or options is None:
        return
    made = messages("config_pb2", "protobuf").RunMetadata()
    if trace is not None:
        device = made.step_stats.dev_stats.add(device=DEVICE)
        for span in trace:
            _add_times(device, span)
    if options.output_partition_graphs:
        made.partition_graphs.add().CopyFrom(_part(graph, feeds, ends))
    metadata.data = made.SerializeToString()


def _add_times(device: Any, span: Span) -> None:
    """Add operations that ran, one behind the other. What ran as one compiled function shares its
    time equally.
    """
    operations = sorted(span.operations, key=lambda operation: operation.serial)
    share = (span.end - span.start) / max(len(operations), 1)
    for at, operation in enumerate(operations):
        start, end = (int(span.start + place * share) for place in (at, at + 1))
        taken = ", ".join(source.name for source, _ in operation.inputs)
        device.node_stats.add(
            node_name=operation.name,
            timeline_label=f"{operation.name} = {operation.type}({taken})",
            scheduled_micros=start // 1000, scheduled_nanos=start,
            all_start_micros=start // 1000, all_start_nanos=start,
            op_end_rel_micros=(end - start) // 1000, op_end_rel_nanos=end - start,
            all_end_rel_micros=(end - start) // 1000, all_end_rel_nanos=end - start,
        )  # fmt: skip


def _part(graph: Graph, feeds: Collection[Value], ends: Iterable[Operation]) -> Any:
    """The part of a graph that ran, as a message GraphDef."""
    fed = {operation for operation, _ in feeds}  # what is fed needs nothing
    ran = reached(ends, lambda operation: [] if operation in fed else operation.before)
    return graph_def(graph, [operation for operation in graph.operations if operation in ran])
