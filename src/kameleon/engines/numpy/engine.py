"""The embedded engine: graphs become straight-line NumPy code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...ir.node import Node
from ...ir.primitive import CONSTANT
from ...ir.program import Graph
from ...ir.sizes import Sizes
from ...prims.sizes import size_origin
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
        operands = list(node.operands)
        bare = [self._bare(x) for x in operands]
        for axis in range(len(node.shape)):
            if all(self._stretches(b, axis, node) for b in bare):
                bare[0] = operands[0]
        args = [self.arg(b) for b in bare]
        for axis, dim in enumerate(node.shape):
            self._agree(node, operands, bare, args, axis, dim)
        full = [i for i, b in enumerate(bare) if b.type == node.type and b is operands[i]]
        return args, [i for i in full if node.shape]

    def _bare(self, x: Node) -> Node:
        while x.primitive.name == "broadcast_to":
            x = x.operands[0]
        return x

    def _stretches(self, bare: Node, axis: int, node: Node) -> bool:
        at = axis - len(node.shape) + len(bare.shape)
        return at < 0 or (bare.shape[at] == 1 and node.shape[axis] != 1)

    def _agree(
        self,
        node: Node,
        operands: list[Node],
        bare: list[Node],
        args: list[Arg],
        axis: int,
        dim: int | None,
    ) -> None:
        """Check that all operands have one size along `axis`, where that isn't known."""
        roots = dict.fromkeys(self.sizes.of(x, axis) for x in operands)
        if len(roots) < 2:
            return
        texts: list[str] = []
        used: list[Arg] = []
        for x, b, arg in zip(operands, bare, args, strict=True):
            known = x.shape[axis]
            if known is not None:
                texts.append(str(known))
            elif self._stretches(b, axis, node):
                size = _size_operand(x, axis)
                texts.append(f"{{{len(used)}}}")
                used.append(self.slot(size))
            else:
                texts.append(f"{{{len(used)}}}.shape[{axis - len(node.shape)}]")
                used.append(arg)
        first, *rest = dict.fromkeys(texts)
        if rest:
            equal = " == ".join([first, *rest])
            text = f"{equal} or mismatch({', '.join([first, *rest])})"
            self.code.emit(node, text, used)
        base = next(iter(roots))
        for root in roots:
            self.sizes.state(root, base)


def _size_operand(x: Node, axis: int) -> Node:
    """The scalar that says how far a chain of broadcasts stretches an axis."""
    shape = x.attrs["shape"]
    if shape[axis] is None:
        return x.operands[len(x.operands) - sum(d is None for d in shape[axis:])]
    inner = x.operands[0]
    return _size_operand(inner, axis - len(shape) + len(inner.shape))


class NumpyEngine:
    """The engine that is always there."""

    name = "numpy"
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

    def to_numpy(self, array: Any) -> Any:
        """A private copy."""
        return np.array(array)


class _Executable:
    """Code that runs with NumPy's floating-point warnings off: graphs follow IEEE silently."""

    __slots__ = ("code",)

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
