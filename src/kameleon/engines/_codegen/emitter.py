"""From a graph to straight-line code: every node is asked for its line, by the engine's table."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

from ...graph.analysis.agreement import sizes_of, unproven
from ...graph.analysis.broadcasts import AxisSize, Read
from ...graph.ir.leaves import CONSTANT
from ...graph.ir.node import Node
from ...graph.ir.program import Graph
from . import code as code_module
from .blocks import Block, Run
from .code import Arg, Code, Language
from .literal import literal, quoted, shape_literal
from .schedule import WHEN_NEEDED, consumers_of, scheduled

Rule = Callable[[Any, Node], None]


class Emitter:
    """Emits the code of one graph: asks the table for each node, in order. Engines subclass it.

    Attributes:
        language: what lines are written in.
        rules: the table; a rule emits the line of a node.
        transpose: the method of arrays that brings axes into another order.
        pooled: large values come from the pool of buffers, and go back to it.
        in_place: lines may write into memory that is there: of operands, or block by block.
    """

    language: ClassVar[Language]
    rules: ClassVar[Mapping[str, Rule]]
    transpose: ClassVar[str] = "transpose"
    pooled: bool = True
    in_place: ClassVar[bool] = True

    def __init__(self, graph: Graph, more: int = 0, results: Collection[Node] | None = None):
        """
        Args:
            graph: what to emit.
            more: how many parameters beside the graph's inputs there are.
            results: of the body of a loop, a condition or a block: those of its outputs that are
                results of the whole program.
        """
        self.graph, self.of_body = graph, results is not None
        self.results = dict.fromkeys(graph.outputs if results is None else results)
        self.code = Code(len(graph.inputs) + more, self.language, self.pooled)
        self.sizes = sizes_of(graph)
        self._members = set(graph.nodes)
        self._slots: dict[Node, int] = {n: i for i, n in enumerate(graph.inputs)}

    # What engines say ------------------------------------------------------------------------

    def value(self, array: Any) -> Any:
        """The engine's array for a constant."""
        raise NotImplementedError

    def scalar(self, array: Any) -> Arg | None:
        """How a scalar constant is written as an operand, where it isn't an array like others."""
        return None

    def private(self, node: Node, slot: int) -> int:
        """A slot with a copy of the value of `node` that shares memory with nothing."""
        raise NotImplementedError

    def product(self, node: Node) -> str:
        """The function that multiplies the matrices, or batches of them, of a contraction."""
        return "matmul" if node.attrs["batch"][0] else "dot"

    def size(self, node: Node) -> Arg:
        """The value of an integer scalar where it's a size."""
        return self.slot(node)

    def held(self, node: Node, inside: Node, body: Graph) -> int:
        """A slot for a node that every step of a loop reads; `inside` is its stand-in there."""
        return self.slot(node)

    def is_blocked(self, node: Node) -> bool:
        """Whether an elementwise node may be computed block by block."""
        return self.in_place

    def is_late(self, node: Node) -> bool:
        """Whether a node makes no line before another node needs it."""
        return node.primitive.name in WHEN_NEEDED

    # The walk --------------------------------------------------------------------------------

    def run(self, own_outputs: bool, into: int | None = None) -> Code:
        """The finished code.

        Args:
            own_outputs: no output shares memory with anything.
            into: the outputs from this number on may be written into arrays; each has a further
                parameter for its array (or None).
        """
        self._emit_all(scheduled(self.graph))
        slots = [self.slot(n) for n in self.graph.outputs]
        if own_outputs:
            slots = self._own(slots)
        if into is not None:
            for parameter, slot in enumerate(slots[into:], len(self.graph.inputs)):
                self.code.write_into(slot, parameter)
        self.code.finish(slots)
        return self.code

    def _emit_all(self, order: Sequence[Node]) -> None:
        """Emit nodes; elementwise ones on large arrays block by block."""
        run = Run(self.sizes)
        for node in order:
            blocked = not self.of_body and node.primitive.elementwise and self.is_blocked(node)
            if blocked and run.takes(node):
                continue
            operands, doubts = self._doubts(node)
            if self.is_late(node) and not doubts:
                continue
            self._emit_run(run)
            run = Run(self.sizes)
            for reads in doubts:
                self.agree(node, reads, operands)
            if not (self.is_late(node) or (blocked and run.takes(node))):
                self.rules[node.primitive.name](self, node)
        self._emit_run(run)

    def _doubts(self, node: Node) -> tuple[Sequence[Node], list[list[Read]]]:
        """See `unproven`; rules of elementwise nodes ask for themselves, by `stretched`."""
        if node.primitive.elementwise:
            return (), []
        operands, groups = unproven(node, self.sizes)
        return operands, list(groups)

    @cached_property
    def users(self) -> dict[Node, list[Node]]:
        """By node of the graph, the nodes that use it as an operand."""
        return consumers_of(self.graph.nodes)

    def _emit_run(self, run: Run) -> None:
        """Emit elementwise nodes of one shape: together, where there are so many that it pays."""
        block = run.block(self.users, self.results) if run.nodes else None
        if block is None:
            for node in run.nodes:
                if not self.is_late(node):
                    self.rules[node.primitive.name](self, node)
        else:
            self._emit_block(block)

    def _emit_block(self, block: Block) -> None:
        outputs = block.outputs
        pairs = zip(outputs, block.graph.outputs, strict=True)
        results = [inside for n, inside in pairs if n in self.results]
        inner = self.inner(block.graph, len(outputs), results)
        block.state_sizes(inner.sizes)
        step = self.constant(self.function(inner.run(own_outputs=True, into=0)))
        given = [self.slot(x) for x in (*block.sliced, *block.whole)]
        a, b = len(block.sliced), len(given)
        dtypes = ", ".join(quoted(n.dtype) for n in outputs)
        names = [f"{{{i}}}" for i in range(b)]
        text = f"blocked({{{b}}}, [{', '.join(names[:a])}], [{', '.join(names[a:])}], [{dtypes}])"
        made = self.code.emit(outputs[-1], text, [*given, step], code_module.LOOSE, shares=())
        for i, node in enumerate(outputs):
            self.emit(node, f"{{0}}[{i}]", [made])

    def _own(self, slots: list[int]) -> list[int]:
        taken: set[int] = set()
        owned = []
        for node, slot in zip(self.graph.outputs, slots, strict=True):
            if not self.code.is_owned(slot) or self.code.group(slot) in taken:
                slot = self.private(node, slot)
            taken.add(self.code.group(slot))
            owned.append(slot)
        return owned

    # What rules ask for ----------------------------------------------------------------------

    def slot(self, node: Node) -> int:
        """Where the value of `node` is; constants and broadcasts are made when first needed."""
        slot = self._slots.get(node)
        if slot is None:
            if node.primitive is CONSTANT:
                slot = self.code.constant(self.value(node.attrs["value"].array))
                self._slots[node] = slot
            else:
                self.rules[node.primitive.name](self, node)
                slot = self._slots[node]
        return slot

    def arg(self, node: Node) -> Arg:
        """The value of `node` as an operand of an elementwise line."""
        if node.primitive is CONSTANT and not node.shape:
            found = self.scalar(node.attrs["value"].array)
            if found is not None:
                return found
        return self.slot(node)

    def operands(self, node: Node) -> list[Arg]:
        """The values of a node's operands; those of sizes are as `size` gives them."""
        first = node.primitive.first_size
        values: list[Arg] = [self.slot(x) for x in node.operands[:first]]
        return values if first is None else values + [self.size(x) for x in node.operands[first:]]

    def emit(
        self,
        node: Node,
        text: str,
        operands: Sequence[Node | Arg],
        kind: str = code_module.FRESH,
        reusable: Sequence[int] = (),
        dims: str | None = None,
        shares: Sequence[int] | None = None,
        full: Sequence[int] = (),
    ) -> None:
        """Compute `node` by `text` over `operands`: see `Code.emit`; those numbered in `full` have
        the type of the result.
        """
        args = [self.slot(x) if isinstance(x, Node) else x for x in operands]
        text = text if self.in_place else text.replace("{out}", "")
        if dims is None and "{out}" in text:
            known = f"{{{full[0]}}}.shape" if full else None
            dims = shape_literal(node.shape) if node.type.is_static else known
        self._slots[node] = self.code.emit(node, text, args, kind, reusable, dims, shares)

    def is_made(self, node: Node) -> bool:
        """Whether the value of `node` has its slot already."""
        return node in self._slots

    def constant(self, value: Any) -> int:
        """A slot for any object that the code needs."""
        return self.code.constant(value)

    def inner(self, graph: Graph, more: int = 0, results: Collection[Node] = ()) -> Emitter:
        """An emitter for the code of a body."""
        return type(self)(graph, more, results)

    def body(self, graph: Graph) -> int:
        """A slot for the function that runs a body."""
        return self.constant(self.function(self.inner(graph).run(own_outputs=False)))

    def function(self, code: Code) -> Callable[..., Any]:
        """The function that runs finished code of a body."""
        return code.join()

    def is_used(self, node: Node) -> bool:
        """Whether anything needs the value of `node` (a result that may be dead)."""
        return node in self._members

    # Elementwise -----------------------------------------------------------------------------

    def stretched(self, node: Node) -> tuple[list[Arg], list[int]]:
        """The operands of an elementwise node, with broadcasts left to the library where
        something else has the full size; and which of them have the type of the result.

        Sizes that are not provably equal are checked by a line of their own.
        """
        bare, groups = unproven(node, self.sizes)
        args = [self.arg(b) for b in bare]
        for reads in groups:
            self.agree(node, reads, bare)
        pairs = enumerate(zip(bare, node.operands, strict=True))
        full = [i for i, (b, x) in pairs if b is x and b.type == node.type]
        return args, [i for i in full if node.shape]

    def agree(self, node: Node, reads: Sequence[Read], operands: Sequence[Node]) -> None:
        """A line that checks that sizes are equal."""
        texts: list[str] = []
        used: list[Arg] = []
        for read in reads:
            if isinstance(read, int):
                texts.append(literal(read))
                continue
            if isinstance(read, AxisSize):
                texts.append(f"{{{len(used)}}}.shape[{literal(read.axis)}]")
                used.append(self.arg(operands[read.operand]))
            else:
                texts.append(f"{{{len(used)}}}")
                used.append(self.size(read))
        equal = " == ".join(texts)
        self.code.emit(node, f"{equal} or mismatch({', '.join(texts)})", used)
