"""The embedded engine: graphs become straight-line NumPy code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...ir.node import Node
from ...ir.primitive import CONSTANT
from ...ir.program import Graph
from ...ir.sizes import Sizes
from ...ir.types import TensorType, as_dtype
from ...prims.sizes import size_origin
from .._base import Engine, Executable
from .._stretch import AxisSize, Read, bare_operands, unproven
from . import code as code_module
from . import pool
from .code import Arg, Code, literal
from .namespace import NAMESPACE
from .rules import RULES, Rule
from .schedule import WHEN_NEEDED, scheduled


class Emitter:
    """Emits the code of one graph: asks the table for each node, in order."""

    def __init__(self, graph: Graph):
        self.graph = graph
        self.code = Code(len(graph.inputs), NAMESPACE)
        self.sizes = Sizes(size_origin)
        self._members = set(graph.nodes)
        self._slots: dict[Node, int] = {n: i for i, n in enumerate(graph.inputs)}

    def run(self, own_outputs: bool) -> Code:
        """The finished code; with `own_outputs` no output shares memory with anything."""
        for node in scheduled(self.graph):
            if node.primitive.name not in WHEN_NEEDED:
                RULES[node.primitive.name](self, node)
        slots = [self.slot(n) for n in self.graph.outputs]
        if own_outputs:
            slots = self._own(slots)
        self.code.finish(slots)
        return self.code

    def _own(self, slots: list[int]) -> list[int]:
        taken: set[int] = set()
        owned = []
        for node, slot in zip(self.graph.outputs, slots, strict=True):
            if not self.code.is_owned(slot) or self.code.group(slot) in taken:
                text = "{0}.copy()" if node.shape else "{0}[()]"
                if slot in self.code.constants and not node.shape:
                    slot = self.code.constant(self.code.constants[slot][()])
                else:
                    slot = self.code.emit(node, text, [slot])
            taken.add(self.code.group(slot))
            owned.append(slot)
        return owned

    # What rules ask for ----------------------------------------------------------------------

    def slot(self, node: Node) -> int:
        """Where the value of `node` is; constants and broadcasts are made when first needed."""
        slot = self._slots.get(node)
        if slot is None:
            if node.primitive is CONSTANT:
                slot = self.code.constant(node.attrs["value"].array)
                self._slots[node] = slot
            else:
                RULES[node.primitive.name](self, node)
                slot = self._slots[node]
        return slot

    def arg(self, node: Node) -> Arg:
        """The value of `node` as an operand: scalar constants are written out."""
        if node.primitive is CONSTANT and not node.shape:
            text = literal(node.attrs["value"].array)
            if text is not None:
                return text
        return self.slot(node)

    def emit(
        self,
        node: Node,
        text: str,
        operands: Sequence[Node | Arg],
        kind: str = code_module.FRESH,
        reusable: Sequence[int] = (),
        dims: str | None = None,
    ) -> None:
        """Compute `node` by `text` over `operands`."""
        args = [self.slot(x) if isinstance(x, Node) else x for x in operands]
        if dims is None and "{out}" in text and node.type.is_static:
            dims = str(node.shape)
        self._slots[node] = self.code.emit(node, text, args, kind, reusable, dims)

    def constant(self, value: Any) -> int:
        """A slot for any object that the code needs."""
        return self.code.constant(value)

    def body(self, graph: Graph) -> int:
        """A slot for the function that runs a body."""
        return self.constant(Emitter(graph).run(own_outputs=False).join())

    def is_used(self, node: Node) -> bool:
        """Whether anything needs the value of `node` (a result that may be dead)."""
        return node in self._members

    # Elementwise -----------------------------------------------------------------------------

    def stretched(self, node: Node) -> tuple[list[Arg], list[int]]:
        """The operands of an elementwise node, with broadcasts left to NumPy where something
        else has the full size; and which of them have the type of the result.

        Sizes that are not provably equal are checked by a line of their own.
        """
        bare = bare_operands(node)
        args = [self.arg(b) for b in bare]
        for reads in unproven(node, bare, self.sizes):
            self._agree(node, reads, args)
        pairs = enumerate(zip(bare, node.operands, strict=True))
        full = [i for i, (b, x) in pairs if b is x and b.type == node.type]
        return args, [i for i in full if node.shape]

    def _agree(self, node: Node, reads: list[Read], args: list[Arg]) -> None:
        """A line that checks that sizes are equal."""
        texts: list[str] = []
        used: list[Arg] = []
        for read in reads:
            if isinstance(read, int):
                texts.append(str(read))
                continue
            axis = f".shape[{read.axis}]" if isinstance(read, AxisSize) else ""
            texts.append(f"{{{len(used)}}}{axis}")
            used.append(args[read.operand] if isinstance(read, AxisSize) else self.slot(read))
        equal = " == ".join(texts)
        self.code.emit(node, f"{equal} or mismatch({', '.join(texts)})", used)


class NumpyEngine(Engine):
    """The engine that is always there."""

    name = "numpy"
    title = "NumPy"
    rules: Mapping[str, Rule] = RULES

    def compile(self, graph: Graph) -> _Executable:
        """See `Engine.compile`."""
        return _Executable(Emitter(graph).run(own_outputs=True))

    def discard(self, arrays: list[Any]) -> None:
        """See `Engine.discard`."""
        pool.give_all(arrays)

    def release(self) -> None:
        """See `Engine.release`."""
        pool.clear()

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
        return TensorType(value.shape, as_dtype(value.dtype))

    def adopt(self, array: Any) -> Any:
        """See `Engine.adopt`."""
        if isinstance(array, np.ndarray):
            return array
        try:
            return np.from_dlpack(array)
        except (TypeError, ValueError, RuntimeError, BufferError, AttributeError):
            return None

    def version(self) -> str:
        """See `Engine.version`."""
        return np.__version__


class _Executable(Executable):
    """Code that runs with NumPy's floating-point warnings off: graphs follow IEEE silently."""

    def __init__(self, code: Code):
        self.code = code

    def __call__(self, arguments: Sequence[Any]) -> Sequence[Any]:
        with np.errstate(all="ignore"):
            return self.code(arguments)

    def culprit(self, error: BaseException) -> Node | None:
        return self.code.culprit(error)

    @property
    def source(self) -> str:
        """The program as Python source."""
        return self.code.source()


engine = NumpyEngine()
