"""Calls with empty arguments, which some engines can't make: the embedded engine makes them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..engines._base import Engine, Executable, Timing
from ..graph.ir.node import Node
from ..graph.ir.program import Graph
from ..graph.passes.populated import Counted, populated
from ..graph.passes.simplify import simplify
from .engines import embedded


def compiled_for_any_size(graph: Graph, engine: Engine) -> Executable:
    """The engine's code for a graph; calls that the engine can't make run on the embedded one."""
    if not engine.nonempty_dims:
        return engine.compile(graph)
    safe, counted = populated(graph, engine.nonempty_dims)
    code = engine.compile(safe)
    return Populated(code, graph, engine, counted) if counted else code


class Populated(Executable):
    """An engine's code for calls that bring elements; other calls run on the embedded engine."""

    def __init__(self, code: Executable, graph: Graph, engine: Engine, counted: Counted):
        self._code, self._graph, self._engine, self._counted = code, graph, engine, counted
        self._other: Executable | None = None
        if code.fast_path is not None:
            self.fast_path = self._guarded

    def __call__(self, arguments: Sequence[Any]) -> Sequence[Any]:
        """See `Executable`."""
        if self._brings_elements(arguments):
            return self._code(arguments)
        return self._without_elements(arguments)

    def _brings_elements(self, arguments: Sequence[Any]) -> bool:
        return all(arguments[number].shape[axis] for number, axis in self._counted)

    def _guarded(self, *arrays: Any) -> list[Any] | None:
        short = self._code.fast_path
        return short(*arrays) if short is not None and self._brings_elements(arrays) else None

    def _without_elements(self, arguments: Sequence[Any]) -> list[Any]:
        if self._other is None:
            ours = embedded()
            self._other = ours.compile(simplify(self._graph, ours.native))
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
    def source(self) -> str:
        """See `Executable`."""
        return self._code.source
