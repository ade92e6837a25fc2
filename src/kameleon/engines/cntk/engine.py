"""The CNTK engine: programs run in CNTK 2.7 itself, in a process of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...errors import EngineError
from ...ir.program import Graph
from ...ir.text import text_of
from ...ir.types import TensorType, as_dtype
from ...prims.division import divides_safely
from .._base import Engine, Executable
from .._exchange import numpy_view
from .._lowering import Rule
from .process import Held, Keeper, Program, WorkerDiedError
from .segments import RULES, Segment, SegmentEmitter, to_data

KEEPER = Keeper()


class CntkEngine(Engine):
    """Runs graphs in CNTK, and what that lacks in NumPy beside it."""

    name = "cntk"
    title = "CNTK"
    rules: Mapping[str, Rule] = RULES
    where = dict.fromkeys(("floor_div", "mod"), divides_safely)
    lacks: Mapping[str, str] = {"bfloat16": "NumPy has no arithmetic for it"}

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

    def release(self) -> None:
        """See `Engine.release`."""

    def version(self) -> str:
        """See `Engine.version`."""
        return KEEPER.versions()["version"]


class CntkExecutable(Executable, Program):
    """A program that the worker keeps."""

    def __init__(self, graph: Graph):
        super().__init__(len(graph.outputs))
        emitter = SegmentEmitter(graph)
        self.graph, self.code = graph, emitter.run(own_outputs=True)
        self.segments: dict[int, Segment] = {s.number: s for s in emitter.segments}
        self.others = emitter.others

    def __call__(self, arguments: Sequence[Any]) -> Sequence[Any]:
        """See `Executable`."""
        given = [x if isinstance(x, Held) else np.asarray(x) for x in arguments]
        try:
            return KEEPER.run(self, given)
        except WorkerDiedError as death:
            at = self.segments.get(death.number)
            doing = f"\n  while it computed {at}" if at else ""
            raise EngineError(f"{death}{doing}\n  the next call starts another one") from None

    def data(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """See `Program.data`."""
        arrays: dict[str, Any] = {}
        return to_data(self.code, arrays), arrays

    @property
    def share(self) -> float:
        """Which part of the nodes CNTK computes; the rest is done by NumPy beside it."""
        ours = sum(len(s.nodes) for s in self.segments.values())
        return ours / max(1, ours + len(self.others))

    @property
    def source(self) -> str:
        """The lines of the program, and the segments that they call."""
        names = ", ".join(sorted({n.primitive.name for n in self.others})) or "nothing"
        parts = [f"# CNTK computes {self.share:.0%} of the nodes, NumPy the rest: {names}"]
        parts.append(self.code.source())
        for number, segment in self.segments.items():
            why = self.by_numpy.get(number)
            note = f", in the last call by NumPy: {why}" if why else ""
            parts.append(f"# segment {number}{note}\n{text_of(segment.graph)}")
        return "\n\n".join(parts)


engine = CntkEngine()
