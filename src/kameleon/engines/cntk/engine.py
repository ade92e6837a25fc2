"""The CNTK engine: programs run in CNTK 2.7 itself, in a process of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ...errors import EngineError
from ...graph.ir.node import Node
from ...graph.ir.program import Graph
from ...graph.ir.text import text_of
from ...graph.ir.types import TensorType, as_dtype
from ...graph.passes.storage import BITS
from ...graph.primitives.division import divides_safely
from ...graph.primitives.linalg import is_of_matrices
from .._base import Engine, Executable
from .._exchange import numpy_view
from .._lowering import Rule
from ..numpy.engine import NumpyEngine
from .memory import LINES
from .process import Held, Keeper, Program, WorkerDiedError
from .segments import RULES, Segment, SegmentEmitter, to_data

KEEPER = Keeper()
# From so many calls on that have operands for which CNTK errs in a node, NumPy computes it.
PATIENCE = 2


class CntkEngine(Engine):
    """Runs graphs in CNTK, and what that lacks in NumPy beside it."""

    name = "cntk"
    title = "CNTK"
    rules: Mapping[str, Rule] = RULES
    where: Mapping[str, Callable[[Node], bool]] = {
        "contract": is_of_matrices,
        **dict.fromkeys(("floor_div", "mod"), divides_safely),
    }
    emulated = NumpyEngine.emulated
    bits = BITS

    def compile(self, graph: Graph) -> CntkExecutable:
        """See `Engine.compile`."""
        return CntkExecutable(graph)

    def from_numpy(self, array: Any) -> Held:
        """See `Engine.from_numpy`."""
        return Held(np.array(array))

    def to_numpy(self, array: Any, copy: bool = True) -> Any:
        """See `Engine.to_numpy`."""
        return np.array(array.array) if copy else array.array

    def type_of(self, value: Any) -> TensorType | None:
        """See `Engine.type_of`."""
        if not isinstance(value, Held):
            return None
        return TensorType(value.array.shape, as_dtype(value.array.dtype))

    def adopt(self, array: Any) -> Any:
        """See `Engine.adopt`."""
        found = numpy_view(array)
        return None if found is None else Held(found)

    def after_fork(self) -> None:
        """See `Engine.after_fork`."""
        KEEPER.forget()

    def version(self) -> str:
        """See `Engine.version`."""
        return KEEPER.versions()["version"]


class CntkProgram(Program):
    """A graph as the worker keeps it.

    Attributes:
        apart: nodes that NumPy computes, though CNTK could.
        code, segments, others: see `SegmentEmitter`.
    """

    def __init__(self, graph: Graph, apart: frozenset[Node]):
        super().__init__(len(graph.outputs))
        self.apart = apart
        emitter = SegmentEmitter(graph, apart=apart)
        self.code = emitter.run(own_outputs=True)
        self.segments: dict[int, Segment] = {s.number: s for s in emitter.segments}
        self.others = emitter.others

    def data(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """See `Program.data`."""
        arrays: dict[str, Any] = {}
        return to_data(self.code, arrays), arrays

    def at(self, number: int) -> str:
        """The nodes that the worker was at, by the number that it told; nothing for none."""
        if number == LINES:
            return f"by NumPy, beside CNTK, one of {_names(self.others)}"
        return str(self.segments.get(number, ""))

    @property
    def odd(self) -> set[Node]:
        """The nodes that had operands, in the last call, for which CNTK errs."""
        pairs = [(self.segments[number].rows, rows) for number, (_, rows) in self.by_numpy.items()]
        return {nodes[row] for nodes, rows in pairs for row in rows}

    @property
    def share(self) -> float:
        """Which part of the nodes CNTK computes; the rest is done by NumPy beside it."""
        ours = sum(len(s.nodes) for s in self.segments.values())
        return ours / max(1, ours + len(self.others))

    @property
    def source(self) -> str:
        """The lines of the program, and the segments that they call."""
        names = _names(self.others) or "nothing"
        parts = [f"# CNTK computes {self.share:.0%} of the nodes, NumPy the rest: {names}"]
        parts.append(self.code.source())
        for number, segment in self.segments.items():
            why, rows = self.by_numpy.get(number, ("", []))
            at = f" ({_names(segment.rows[row] for row in rows)})" if rows else ""
            note = f", in the last call by NumPy: {why}{at}" if why else ""
            parts.append(f"# segment {number}{note}\n{text_of(segment.graph)}")
        return "\n\n".join(parts)


def _names(nodes: Iterable[Node]) -> str:
    return ", ".join(sorted({n.primitive.name for n in nodes}))


class CntkExecutable(Executable):
    """A graph in the worker.

    Where a node has operands for which CNTK errs, its whole segment is computed by NumPy in that
    call. If that happens again, another program takes the place of this one, in which NumPy
    computes that node alone.
    """

    def __init__(self, graph: Graph):
        self.graph = graph
        # In how many calls a node's operands were such ones; calls that meet may count as one.
        self.odd: Counter[Node] = Counter()
        self.program = CntkProgram(graph, frozenset())

    def __call__(self, arguments: Sequence[Any]) -> Sequence[Any]:
        """See `Executable`."""
        program = self.program
        given = [x if isinstance(x, Held) else np.asarray(x) for x in arguments]
        try:
            found = KEEPER.run(program, given)
        except WorkerDiedError as death:
            at = program.at(death.number)
            doing = f"\n  while it computed {at}" if at else ""
            raise EngineError(f"{death}{doing}\n  the next call starts another one") from None
        if program.by_numpy:
            self._set_apart(program.odd)
        return found

    def _set_apart(self, odd: set[Node]) -> None:
        self.odd.update(odd)
        apart = {node for node in odd if self.odd[node] >= PATIENCE} - self.program.apart
        if apart:
            self.program = CntkProgram(self.graph, self.program.apart | apart)

    @property
    def source(self) -> str:
        """See `Executable`."""
        return self.program.source


engine = CntkEngine()
