"""The engine on PyTensor, whose functions graphs become: first interpreted, then compiled to C."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..._utils.locks import lock
from ...graph.ir.node import Node
from ...graph.ir.program import Graph
from ...graph.passes.storage import BITS
from .._base import Executable, Timing
from .._lowering import Rule
from ..numpy.engine import NumpyEngine
from .rules import RULES, embedded
from .thunk_runner import ThunkRunner, has_compiler, operations_of

# What PyTensor's C code raises for arguments that are no plain arrays: unaligned, or scalars.
REFUSALS = (NotImplementedError, ValueError)


class TheanoExecutable(Executable):
    """Runs in Python until C code will pay for itself, then compiles the graph to C, once."""

    def __init__(self, graph: Graph, engine: TheanoEngine):
        self.graph, self.engine = graph, engine
        self.lock = lock()
        self.spent = 0.0
        self.settled = False  # for C, or for Python where there's no compiler
        self.runner = ThunkRunner(graph, in_c=False)
        self._compile_if_due()

    def __call__(self, arguments: Sequence[Any]) -> Sequence[Any]:
        """See `Executable`."""
        try:
            with self.lock:
                return self.runner.run(arguments) if self.settled else self._timed(arguments)
        except REFUSALS:
            plain = [_plain(x) for x in arguments]
            if all(a is b for a, b in zip(plain, arguments, strict=True)):
                raise
        with self.lock:  # C code has refused an argument that is no plain array
            return self.runner.run(plain)

    @property
    def fast_path(self) -> Callable[..., list[Any] | None] | None:  # type: ignore[override]
        """See `Executable.fast_path`: once calls aren't timed any longer."""
        return self._between_arrays if self.settled else None

    def _between_arrays(self, *arrays: Any) -> list[Any] | None:
        try:
            with self.lock:
                return self.runner.run(arrays)
        except REFUSALS:
            if all(x.flags.aligned for x in arrays):
                raise
            return None

    def _timed(self, arguments: Sequence[Any]) -> list[Any]:
        """A call of Python code, which brings compiling nearer."""
        start = time.perf_counter()
        results = self.runner.run(arguments)
        self.spent += time.perf_counter() - start
        self._compile_if_due()
        return results

    def _compile_if_due(self) -> None:
        seconds = self.engine.compile_after
        if seconds is None or self.spent < seconds * (1 + len(self.graph.nodes) / 100):
            return
        try:  # where this is interrupted, a later call tries again
            self.runner = ThunkRunner(self.graph, in_c=True) if has_compiler() else self.runner
            self.settled = True
        except (MemoryError, TimeoutError):  # a signal's handler may raise these: not the graph
            raise
        except Exception as error:  # Python code gives the results, too
            self.settled = True
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            warnings.warn(
                f"Theano goes on in Python, as C code can't be compiled: {reason}",
                RuntimeWarning,
                stacklevel=2,
            )

    def made_of(self) -> Mapping[Node, str]:
        """See `Executable.made_of`."""
        return operations_of(self.graph)

    def timings(self, arguments: Sequence[Any]) -> Iterator[list[Timing]]:
        """See `Executable.timings`."""
        plain = list(map(_plain, arguments))
        while True:
            with self.lock:
                found = self.runner.timings(plain)
            yield next(super().timings(plain)) if found is None else found

    @property
    def source(self) -> str:
        """The graph as PyTensor prints it."""
        return self.runner.source


def _plain(x: Any) -> Any:
    """An array as C code takes it: aligned, of no derived class."""
    plain = np.asarray(x)
    return plain if plain.flags.aligned else plain.copy()


class TheanoEngine(NumpyEngine):
    """Arrays of this engine are NumPy's, so all but compiling is as on the embedded engine.

    Attributes:
        compile_after: a graph is compiled to C when its calls have taken so many seconds, and as
            many again for each hundred nodes: about what compiling takes. None: never.
    """

    name = "theano"
    title = "Theano (PyTensor)"
    library = "pytensor"
    rules: Mapping[str, Rule] = RULES
    where: Mapping[str, Callable[[Node], bool]] = {"call": lambda node: False}
    borrowed = frozenset(name for name, rule in RULES.items() if rule is embedded)
    bits = BITS
    compile_after: float | None = 5.0

    def compile(self, graph: Graph) -> TheanoExecutable:
        """See `Engine.compile`."""
        return TheanoExecutable(graph, self)


engine = TheanoEngine()
