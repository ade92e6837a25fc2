"""Calls that the embedded engine makes in place of another one: those that this can't make, with
empty arguments, and those of ever new sizes, for which it would compile each time.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from time import perf_counter
from typing import Any

import numpy as np

from ..engines._base import Engine, Executable, Timing
from ..graph.ir.node import Node
from ..graph.ir.program import Graph
from ..graph.passes.pipeline import prepared
from ..graph.passes.populated import Counted, populated
from ..graph.primitives.shaping import shape_inputs
from .engines import embedded

FEW = 3  # combinations of sizes for which an engine compiles at once
REMEMBERED = 1000  # combinations of sizes of which it's known what they've cost


def compiled_for_any_size(graph: Graph, engine: Engine) -> Executable:
    """The engine's code for a graph; calls that it can't make, or that aren't worth compiling for,
    run on the embedded one.
    """
    safe, counted = populated(graph, engine.nonempty_dims) if engine.nonempty_dims else (graph, [])
    sizes = _Sizes(graph) if engine.compiles_each_size else None
    code = engine.compile(safe)
    if counted or (sizes and sizes.vary):
        return Assisted(code, graph, engine, counted, sizes)
    return code


class Assisted(Executable):
    """An engine's code, and the embedded engine's for some of the calls.

    Args:
        code: the engine's.
        graph: what it computes.
        engine: the engine.
        counted: the inputs, and their axes, that mustn't be empty.
        sizes: for which sizes there's code; None, if it's the same for all.
    """

    def __init__(
        self, code: Executable, graph: Graph, engine: Engine, counted: Counted, sizes: _Sizes | None
    ):
        self._code, self._graph, self._engine = code, graph, engine
        self._counted, self._sizes = counted, sizes
        self._other: Executable | None = None

    def __call__(self, arguments: Sequence[Any]) -> Sequence[Any]:
        """See `Executable`."""
        if self._counted and not self._brings_elements(arguments):
            return self._by_embedded(arguments)
        sizes = self._sizes
        if sizes is None or (key := sizes.key(arguments)) in sizes.made:
            return self._code(arguments)
        run = self._by_embedded if sizes.are_cheaper_without_code(key) else self._code
        begun = perf_counter()
        results = run(arguments)
        sizes.note(key, perf_counter() - begun, compiled=run is self._code)
        return results

    @property
    def fast_path(self) -> Any:  # type: ignore[override]
        """See `Executable`."""
        return None if self._code.fast_path is None else self._guarded

    def _guarded(self, *arrays: Any) -> list[Any] | None:
        short, sizes = self._code.fast_path, self._sizes
        if short is None or not self._brings_elements(arrays):
            return None
        return short(*arrays) if sizes is None or sizes.key(arrays) in sizes.made else None

    def _brings_elements(self, arguments: Sequence[Any]) -> bool:
        return all(arguments[number].shape[axis] for number, axis in self._counted)

    def _by_embedded(self, arguments: Sequence[Any]) -> list[Any]:
        if self._other is None:
            self._other = embedded().compile(prepared(self._graph, embedded()))
        to_numpy = self._engine.to_numpy
        arrays = [x if isinstance(x, np.ndarray | np.generic) else to_numpy(x) for x in arguments]
        return [self._engine.from_numpy(np.asarray(y)) for y in self._other(arrays)]

    def culprit(self, error: BaseException) -> Node | None:
        """See `Executable`."""
        found = self._code.culprit(error)
        return found if found is not None or self._other is None else self._other.culprit(error)

    def made_of(self) -> Mapping[Node, str]:
        """See `Executable`."""
        return self._code.made_of()

    def timings(self, arguments: Sequence[Any]) -> Iterator[list[Timing]]:
        """See `Executable`."""
        brings = self._brings_elements(arguments)
        return self._code.timings(arguments) if brings else super().timings(arguments)

    @property
    def compilations(self) -> int:  # type: ignore[override]
        """How often the engine has compiled."""
        return self._code.compilations

    @property
    def source(self) -> str:
        """See `Executable`."""
        return self._code.source


class _Sizes:
    """For which sizes of a graph's inputs an engine has compiled, and what others have cost.

    Sizes that come again are compiled for once the calls without code have taken as long as
    compiling does: so no sizes cost more than twice what they must.

    Attributes:
        made: the sizes that there's code for.
        vary: whether there are sizes that may differ from call to call.
    """

    def __init__(self, graph: Graph) -> None:
        self._open = [i for i, x in enumerate(graph.inputs) if not x.type.is_static]
        self._deciding = shape_inputs(graph)  # numbers that are sizes
        self.vary = bool(self._open or self._deciding)
        self.made: set[Hashable] = set()
        self._spent: dict[Hashable, float] = {}  # seconds without code
        self._compiling = self._longest = 0.0

    def key(self, arguments: Sequence[Any]) -> Hashable:
        """The sizes of a call."""
        shapes = tuple([arguments[i].shape for i in self._open])
        if not self._deciding:
            return shapes
        return shapes, tuple([np.asarray(arguments[i]).tobytes() for i in self._deciding])

    def are_cheaper_without_code(self, key: Hashable) -> bool:
        """Whether a call of sizes that there's no code for had better do without."""
        if len(self.made) < FEW:
            return False
        return self._spent.get(key, 0.0) + self._longest < self._compiling

    def note(self, key: Hashable, seconds: float, compiled: bool) -> None:
        """Note what a call of new sizes has taken: compiling, or without code."""
        if compiled:
            self.made.add(key)
            self._spent.pop(key, None)
            self._compiling = seconds
            return
        if len(self._spent) >= REMEMBERED:
            self._spent.clear()
        self._spent[key] = self._spent.get(key, 0.0) + seconds
        self._longest = max(0.9 * self._longest, seconds)
