"""The embedded engine: graphs become straight-line NumPy code."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from operator import attrgetter
from typing import Any

import numpy as np

from ...errors import DTypeError
from ...graph.ir.node import Node
from ...graph.ir.program import Graph
from ...graph.ir.types import TensorType, as_dtype
from ...graph.primitives.choices import needs_no_branch
from ...graph.primitives.linalg import is_of_matrices
from .._base import Engine, Executable, Timing
from .._codegen.code import Arg, Code, Language
from .._codegen.emitter import Emitter, Rule
from .._codegen.literal import literal
from .._codegen.timed import timed
from .._exchange import numpy_view
from .._kernels import memory
from .._kernels.quiet import quiet
from .namespace import NAMESPACE
from .rules import RULES


class NumpyEmitter(Emitter):
    """Emits lines of NumPy."""

    language = Language("numpy", NAMESPACE)
    rules = RULES

    def value(self, array: Any) -> Any:
        """See `Emitter.value`."""
        return array

    def scalar(self, array: Any) -> Arg | None:
        """The Python text of a scalar, where it has one that NumPy takes for the same value."""
        value = array.item()
        if isinstance(value, bool):
            return literal(value)
        if isinstance(value, int):
            text = literal(value)
            return text if abs(value) < 2**31 or array.itemsize == 8 else f"({text})"
        return literal(value) if np.isfinite(value) else None

    def product(self, node: Node) -> str:
        """See `Emitter.product`; `dot` makes 0 of 0 times infinity where a factor is one number."""
        (a, b), (over, _), (batch, _) = node.operands, node.attrs["over"], node.attrs["batch"]
        if not batch and all(a.shape[i] == 1 for i in over):
            return "multiply"  # of a column and a row
        single = any(all(d in (1, None) for d in x.shape) for x in (a, b))
        return "matmul" if single else super().product(node)

    def private(self, node: Node, slot: int) -> int:
        """See `Emitter.private`."""
        if slot in self.code.constants and not node.shape:
            return self.code.constant(self.code.constants[slot][()])
        return self.code.emit(node, "{0}.copy()" if node.shape else "{0}[()]", [slot])


class NumpyEngine(Engine):
    """The engine that is always there."""

    name = "numpy"
    title = "NumPy"
    library = "numpy"
    rules: Mapping[str, Rule] = RULES
    where: Mapping[str, Callable[[Node], bool]] = {
        "contract": is_of_matrices,
        "select": lambda node: not needs_no_branch(node),
    }
    shape_of = staticmethod(attrgetter("shape"))  # type: ignore[assignment]
    emulated: Mapping[str, str] = {"bfloat16": "float32"}

    def compile(self, graph: Graph) -> Executable:
        """See `Engine.compile`."""
        return _Executable(NumpyEmitter(graph).run(own_outputs=True))

    def discard(self, arrays: list[Any]) -> None:
        """See `Engine.discard`."""
        memory.POOL.give_all(arrays)

    def release(self) -> None:
        """See `Engine.release`."""
        memory.POOL.clear()

    def from_numpy(self, array: Any) -> Any:
        """A private copy."""
        return np.array(array)

    def to_numpy(self, array: Any, copy: bool = True) -> Any:
        """The array itself, or a private copy."""
        return np.array(array) if copy else array

    def type_of(self, value: Any) -> TensorType | None:
        """See `Engine.type_of`."""
        if not isinstance(value, np.ndarray | np.generic):
            return None
        try:
            return TensorType(value.shape, as_dtype(value.dtype))
        except DTypeError:  # of texts, say
            return None

    def adopt(self, array: Any) -> Any:
        """See `Engine.adopt`."""
        return numpy_view(array)


class _Executable(Executable):
    """Code that runs with NumPy's floating-point warnings off: graphs follow IEEE silently."""

    def __init__(self, code: Code):
        self.code = code
        self._run: Callable[..., Sequence[Any]] = quiet(code.__call__)

    def __call__(self, arguments: Sequence[Any]) -> Sequence[Any]:
        return self._run(arguments)

    @cached_property
    def _listed(self) -> Callable[..., list[Any]]:
        function: Any = self.code.function
        return quiet(lambda *arrays: list(function(*arrays)))

    @property
    def fast_path(self) -> Callable[..., list[Any]] | None:  # type: ignore[override]
        """See `Executable.fast_path`: once the code is one function."""
        return self._listed if self.code.function else None

    def culprit(self, error: BaseException) -> Node | None:
        return self.code.culprit(error)

    @property
    def source(self) -> str:
        """The program as Python source."""
        return self.code.listing()

    def made_of(self) -> Mapping[Node, str]:
        """See `Executable.made_of`."""
        return self.code.by_node()

    def timings(self, arguments: Sequence[Any]) -> Iterator[list[Timing]]:
        """See `Executable.timings`."""
        while True:
            yield Timing.of_nodes(quiet(timed)(self.code, arguments))


engine = NumpyEngine()
