"""The TensorFlow engine: each graph becomes one concrete function, called almost directly."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from ..._utils.threads import uninterrupted
from ...graph.analysis.aliasing import shared_outputs
from ...graph.ir.node import Node
from ...graph.ir.program import Graph, all_nodes
from ...graph.ir.types import DTYPES, TensorType
from ...graph.passes.indices import INDEXED
from ...graph.primitives.precision import CONTRACTIONS, EXACT
from .._base import Engine, Executable, Timing
from .._exchange import numpy_view
from .._lowering import Rule
from .._profiles import Event, by_node, marked, timings
from .arrays import EAGER, SHAPE, as_tensor, eager, private
from .call import lean_call
from .control import BORROWED
from .kernels import on_gpu
from .lowering import Tracing
from .rules import CARRIERS, NEEDS, RULES, WHERE


class TensorflowEngine(Engine):
    """Graphs are traced once, with unknown sizes left open; state goes in and out as tensors."""

    name = "tensorflow"
    title = "TensorFlow"
    library = "tensorflow"
    started = True  # loading TensorFlow starts its threads
    rules: Mapping[str, Rule] = RULES
    where: Mapping[str, Callable[[Node], bool]] = WHERE
    half = CONTRACTIONS | EXACT
    carriers = CARRIERS
    nonempty_dims = NEEDS
    deepest = 16  # it takes a minute for deeper ones
    empty_loops = False
    borrowed = BORROWED
    shape_of = staticmethod(SHAPE)  # type: ignore[assignment]

    @property
    def unchecked(self) -> Collection[str]:  # type: ignore[override]
        """See `Engine.unchecked`: a GPU's kernels look at no index."""
        return INDEXED if on_gpu() else ("scatter_add", "minus_one_hot")

    def survives_fork(self) -> bool:
        """See `Engine.survives_fork`: TensorFlow computes in threads, which a child lacks."""
        return False

    def compile(self, graph: Graph) -> _Executable:
        """See `Engine.compile`."""
        return _Executable(graph)

    def from_numpy(self, array: Any) -> Any:
        """See `Engine.from_numpy`."""
        return eager(private(array))

    def to_numpy(self, array: Any, copy: bool = True) -> Any:
        """A copy: tensors can't be written to, and may share their memory with others."""
        return np.asarray(array.numpy())

    def type_of(self, value: Any) -> TensorType | None:
        """See `Engine.type_of`; variables count, too."""
        if not isinstance(value, EAGER | tf.Variable):
            return None
        dtype = DTYPES.get(value.dtype.name)
        return None if dtype is None else TensorType(tuple(value.shape), dtype)

    def adopt(self, array: Any) -> Any:
        """See `Engine.adopt`; the memory must be aligned as TensorFlow wants it."""
        if isinstance(array, EAGER):
            return array
        view = numpy_view(array)
        if view is None:
            return None
        return eager(view) if view.flags.c_contiguous and view.dtype.name in DTYPES else None

    def devices(self) -> Sequence[str]:
        """See `Engine.devices`."""
        names = [d.name.removeprefix("/device:").lower() for d in tf.config.list_logical_devices()]
        return (*(n for n in names if n.startswith("gpu")), "cpu")


# What the profiler records: operations, and nothing of Python.
OPERATIONS = tf.profiler.experimental.ProfilerOptions(host_tracer_level=2, python_tracer_level=0)


class _Tracing(Tracing):
    rules: Mapping[str, Rule] = RULES


class _Executable(Executable):
    """A concrete function."""

    def __init__(self, graph: Graph):
        self._graph = graph
        shared = shared_outputs(graph)

        def traced(*arguments: Any) -> list[Any]:
            values = _Tracing(graph, arguments).run()
            return [
                tf.raw_ops.DeepCopy(x=v) if i in shared else tf.convert_to_tensor(v)
                for i, v in enumerate(values)
            ]

        specs = [tf.TensorSpec(x.shape, x.dtype) for x in graph.inputs]

        def concrete() -> Any:
            with tf.init_scope():
                function = tf.function(traced, input_signature=specs, autograph=False)
                return function.get_concrete_function()

        self._function = uninterrupted(concrete)  # else TensorFlow may stay in a graph's scope
        self._captured = list(self._function.captured_inputs)
        self._call = lean_call(self._function) or self._public_call

    def __call__(self, arguments: Sequence[Any]) -> Sequence[Any]:
        """See `Executable`."""
        tensors = [x if isinstance(x, EAGER) else as_tensor(x) for x in arguments]
        tensors += self._captured
        return self._call(tensors)

    def _public_call(self, tensors: list[Any]) -> Sequence[Any]:
        count = len(tensors) - len(self._captured)
        results: Sequence[Any] = self._function(*tensors[:count])
        return results

    def made_of(self) -> Mapping[Node, str]:
        """See `Executable.made_of`."""
        made = marked(tf.name_scope, lambda: _Executable(self._graph))
        graph = made._function.graph.as_graph_def()
        operations = [*graph.node, *(x for each in graph.library.function for x in each.node_def)]
        texts = ((x.name, f"{x.op}({', '.join(x.input)})") for x in operations)
        return by_node(texts, all_nodes(self._graph))

    def timings(self, arguments: Sequence[Any]) -> Iterator[list[Timing]]:
        """See `Executable.timings`."""
        from tensorflow.tsl.profiler.protobuf import xplane_pb2

        made = marked(tf.name_scope, lambda: _Executable(self._graph))
        made(arguments)
        while True:
            with tempfile.TemporaryDirectory() as folder:
                tf.profiler.experimental.start(folder, OPERATIONS)
                try:
                    made(arguments)
                finally:
                    tf.profiler.experimental.stop()
                [path] = Path(folder).rglob("*.xplane.pb")
                profile = xplane_pb2.XSpace.FromString(path.read_bytes())
            yield timings(_events(profile), all_nodes(self._graph))

    @property
    def source(self) -> str:
        """The operations of the graph, a line each."""
        lines = (
            f"{op.name} = {op.type}({', '.join(x.name for x in op.inputs)})"
            for op in self._function.graph.get_operations()
        )
        return "\n".join(lines)


def _events(profile: Any) -> Iterator[Event]:
    """What operations did: their events are called by name and type."""
    for plane in profile.planes:
        for line in plane.lines:
            for event in line.events:
                name, _, kind = plane.event_metadata[event.metadata_id].name.rpartition(":")
                if kind.isidentifier() and name[-1:] not in ("", ":"):
                    start, length = event.offset_ps / 1e12, event.duration_ps / 1e12
                    yield Event((plane.name, line.name), name, start, length)


engine = TensorflowEngine()
