"""The PyTorch engine: graphs become straight-line code over its functions, without autograd."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property
from operator import attrgetter
from time import perf_counter
from typing import Any, TypeVar

import torch
from torch.utils.dlpack import from_dlpack

from ...graph.ir.node import Node
from ...graph.ir.program import Graph
from ...graph.passes.indices import INDEXED
from ...graph.primitives.precision import convolves
from .._base import Engine, Executable, Timing
from .._codegen.code import Code
from .._codegen.emitter import Rule
from .._codegen.timed import timed
from .._windows import NONEMPTY
from . import pool, tensors
from .embedded import BORROWED
from .emitter import TorchEmitter
from .precision import AS_PRODUCTS
from .rules import CARRIERS, RULES, WHERE
from .tensors import ARRAY, STORAGE, as_numpy, as_tensor, shared, type_of

R = TypeVar("R")


class PlainEmitter(TorchEmitter):
    """Emits lines that PyTorch runs one by one."""

    rules = RULES


class TorchEngine(Engine):
    """Graphs run by PyTorch, on an accelerator where it has one.

    Args:
        device: where tensors live; the accelerator, if None and if there's one.
    """

    name = "torch"
    title = "PyTorch"
    library = "torch"
    rules: Mapping[str, Rule] = RULES
    where = WHERE
    storage = STORAGE
    carriers = CARRIERS
    nonempty_dims = NONEMPTY
    borrowed = ("ctc_greedy", "ctc_beam_search", *BORROWED)
    shape_of = staticmethod(attrgetter("shape"))  # type: ignore[assignment]
    type_of = staticmethod(type_of)

    def __init__(self, device: str | None = None):
        if device is None:
            device = "cuda" if torch.cuda.is_available() else "cpu"
        self.device = torch.empty(0, device=device).device

    @property
    def unchecked(self) -> Collection[str]:  # type: ignore[override]
        """See `Engine.unchecked`: accelerators look at no index."""
        return () if self.device.type == "cpu" else INDEXED

    def native(self, node: Node) -> bool:
        """See `Engine.native`: only on the processor does NumPy share PyTorch's memory."""
        if node.primitive.name in BORROWED:
            return self.device.type == "cpu" and node.dtype != "bfloat16"
        return super().native(node)

    def survives_fork(self) -> bool:
        """See `Engine.survives_fork`: a child lacks the other threads, and can't share CUDA."""
        in_use: bool = torch.cuda.is_initialized()  # type: ignore[no-untyped-call]
        return torch.get_num_threads() == 1 and not in_use

    def compile(self, graph: Graph) -> Executable:
        """See `Engine.compile`."""
        emitter = PlainEmitter(graph, self.device)
        return TorchExecutable(emitter, emitter.run(own_outputs=True))

    def from_numpy(self, array: Any) -> Any:
        """A private copy."""
        return shared(array.copy()).to(self.device)

    def to_numpy(self, array: Any, copy: bool = True) -> Any:
        """See `Engine.to_numpy`."""
        found = as_numpy(array)
        return found.copy() if copy and array.is_cpu else found

    def adopt(self, array: Any) -> Any:
        """See `Engine.adopt`."""
        try:
            own = shared(array) if isinstance(array, ARRAY) else from_dlpack(array)
        except (TypeError, ValueError, RuntimeError, BufferError, AttributeError):
            return None
        return own if own.device == self.device else None

    def discard(self, arrays: list[Any]) -> None:
        """See `Engine.discard`."""
        pool.POOL.give_all(arrays)

    def release(self) -> None:
        """See `Engine.release`."""
        pool.POOL.clear()

    def devices(self) -> Sequence[str]:
        """See `Engine.devices`."""
        return (str(self.device),) if self.device.type == "cpu" else (str(self.device), "cpu")


class TorchExecutable(Executable):
    """Code of which autograd records nothing: arguments that ask for gradients are detached."""

    def __init__(self, emitter: TorchEmitter, code: Code):
        self.code, self.graph, self.device = code, emitter.graph, emitter.device
        self.rounds = emitter.device.type != "cpu" and convolves(emitter.graph)

    def __call__(self, arguments: Sequence[Any]) -> Sequence[Any]:
        """See `Executable`."""
        return self._run(self.code, arguments)

    def _run(self, code: Callable[[Sequence[Any]], R], arguments: Sequence[Any]) -> R:
        device = self.device
        given = [as_tensor(x, device) for x in arguments]
        if self.rounds:
            with AS_PRODUCTS:
                return code(given)
        return code(given)

    def made_of(self) -> Mapping[Node, str]:
        """See `Executable.made_of`."""
        return self.code.by_node()

    def timings(self, arguments: Sequence[Any]) -> Iterator[list[Timing]]:
        """See `Executable.timings`."""
        run = lambda given: timed(self.code, given, self._clock)  # noqa: E731
        while True:
            yield Timing.of_nodes(self._run(run, arguments))

    def _clock(self) -> float:
        """The time at which an accelerator has done all that it was told."""
        if self.device.type != "cpu":
            torch.accelerator.synchronize(self.device)
        return perf_counter()

    @cached_property
    def _between_arrays(self) -> Callable[..., list[Any] | None] | None:
        program: Any = self.code.function
        return tensors.between(program, self.graph)

    @property
    def fast_path(self) -> Callable[..., list[Any] | None] | None:  # type: ignore[override]
        """See `Executable.fast_path`: once the code is one function that runs on the processor."""
        there = self.device.type == "cpu" and self.code.function is not None
        return self._between_arrays if there else None

    def culprit(self, error: BaseException) -> Node | None:
        """See `Executable.culprit`."""
        return self.code.culprit(error)

    @property
    def source(self) -> str:
        """The program as Python source."""
        return self.code.listing()


engine = TorchEngine()
