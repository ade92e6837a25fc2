"""PyTensor's thunks: Python code one by one, C code by PyTensor's own loop."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
import pytensor
from pytensor.compile.io import In, Out
from pytensor.compile.maker import FunctionMaker
from pytensor.compile.mode import Mode
from pytensor.graph.rewriting.db import RewriteDatabaseQuery
from pytensor.link.vm import VMLinker
from pytensor.printing import debugprint
from pytensor.scalar.basic import Cast
from pytensor.tensor.elemwise import Elemwise

from ..._utils.locks import lock
from ..._utils.private import Private
from ...graph.ir.leaves import input_node
from ...graph.ir.node import Node
from ...graph.ir.program import Graph
from ...graph.ir.types import TensorType, as_dtype
from ...graph.primitives.elementwise import add, mul, tanh
from .._base import Timing
from .._codegen.fixed_arity import numbered, written
from .._kernels.memory import give
from .._kernels.quiet import quiet
from .._lowering import Rule
from .lowering import TheanoLowering
from .ops import Loop, array_type
from .rewrites import REWRITES
from .rules import RULES

# PyTensor's own tables of modules and rewrites aren't made for several threads at a time.
_building = lock()

# The settings that PyTensor changes while it rewrites a graph.
MODE, LIMIT = type(pytensor.config).mode, type(pytensor.config).traceback__limit

Cell = list[Any]  # of one element
Step = tuple[Callable[[], None], list[Cell]]


class EngineLowering(TheanoLowering):
    """The walk, with all rules."""

    rules: Mapping[str, Rule] = RULES


class ThunkRunner:
    """A graph as PyTensor runs it.

    Its cells serve one call at a time: callers hold a lock.
    """

    def __init__(self, graph: Graph, in_c: bool, inside: bool | None = None):
        """
        Args:
            graph: a closed graph.
            in_c: fuse arithmetic to loops in C; else PyTensor's Python code is run.
            inside: make use of what is private to PyTensor; None: if that works when tried out.
        """
        if inside is None:
            inside = (C_CODE if in_c else THUNKS).holds
        inputs = [array_type(x.type)() for x in graph.inputs]
        low = EngineLowering(graph, inputs)
        outputs = [*low.run(), *low.guards]
        with _building:
            before = MODE.val, LIMIT.val
            try:
                function = FunctionMaker(
                    [In(x) for x in inputs],
                    # Not borrowed: no output shares memory with another, an input or a constant.
                    [Out(y, borrow=False) for y in outputs],
                    mode=_mode(in_c, inside),
                    on_unused_input="ignore",
                    trust_input=True,
                ).create()
            finally:
                # PyTensor sets them back itself, in the middle of which an exception may come.
                # Stores alone: Python runs no signal's handler between them.
                MODE.val, LIMIT.val = before
        self.fgraph = function.maker.fgraph
        self._vm: Any = None
        self.count = len(graph.outputs)
        if inside:
            self._look_inside(function, in_c)
        else:
            self.function = function
            self.run = self._as_called  # type: ignore[method-assign]
        # NumPy's floating-point warnings are to be turned off around a call.
        if any(not isinstance(node.op, Loop) for node in self.fgraph.apply_nodes):
            self.run = quiet(self.run)  # type: ignore[method-assign]

    def _look_inside(self, function: Any, in_c: bool) -> None:
        """Take thunks and cells, to do what calling the function does."""
        vm = function.vm
        self.given: list[Cell] = [c.storage for c in function.input_storage]
        self.made: list[Cell] = [c.storage for c in function.output_storage][: self.count]
        self.filled: list[Cell] = [
            cell for x, cell in vm.storage_map.items() if x.owner or x in self.fgraph.inputs
        ]
        self.busy = False
        self._vm = vm
        self.steps: list[Step] = []
        if in_c:
            self.run = self._written_out(vm)  # type: ignore[assignment, method-assign]
        else:
            steps = zip(vm.nodes, vm.thunks, vm.post_thunk_clear, strict=True)
            self.steps += [(_prepared(node, thunk), dying) for node, thunk, dying in steps]

    def _as_called(self, arguments: Sequence[Any]) -> list[Any]:
        """`run`, by PyTensor's own call."""
        results: list[Any] = self.function(*arguments)
        return results[: self.count]

    def run(self, arguments: Sequence[Any]) -> list[Any]:
        """The outputs' values."""
        if self.busy:  # an earlier call was interrupted, maybe while it emptied the cells
            self._empty()
        self.busy = True
        try:
            for cell, value in zip(self.given, arguments, strict=True):
                cell[0] = value
            for thunk, dying in self.steps:
                thunk()
                for cell in dying:
                    value, cell[0] = cell[0], None
                    give(value)
            return [cell[0] for cell in self.made]
        finally:
            self._empty()
            self.busy = False

    def _empty(self) -> None:
        for cell in self.filled:
            cell[0] = None

    def _written_out(self, vm: Any) -> Callable[[Sequence[Any]], list[Any]]:
        """`run` where PyTensor's loop does all steps, without loops of Python.

        Cells are emptied by stores alone, between which Python runs no signal's handler.
        """
        groups = {"g": self.given, "m": self.made, "f": self.filled}
        given, made, filled = (
            [f"{name}[0]" for name in numbered(letter, len(cells))]
            for letter, cells in groups.items()
        )
        rows = [
            "def written(arguments):",
            f" [{', '.join(given)}] = arguments",
            f" try: vm(); return [{', '.join(made)}]",
            f" finally: {' = '.join([*filled, 'none'])} = None",
        ]
        cells = {
            name: cell
            for letter, group in groups.items()
            for name, cell in zip(numbered(letter, len(group)), group, strict=True)
        }
        return written(rows, vm=vm, **cells)

    def timings(self, arguments: Sequence[Any]) -> list[Timing] | None:
        """What PyTensor's nodes take, in a run that does them one by one; None, where what is
        private to PyTensor isn't made use of.
        """
        vm, found = self._vm, list[Timing]()
        if vm is None:
            return None
        try:
            for cell, value in zip(self.given, arguments, strict=True):
                cell[0] = value
            for node, thunk in zip(vm.nodes, vm.thunks, strict=True):
                start = perf_counter()
                thunk()
                found.append(Timing(None, str(node.op), perf_counter() - start))
        finally:
            self._empty()
        return found

    @property
    def source(self) -> str:
        """The graph that is run, in PyTensor's own print."""
        return str(debugprint(self.fgraph, file="str"))


def operations_of(graph: Graph) -> dict[Node, str]:
    """By node, PyTensor's operation for it, before PyTensor rewrites anything."""
    low = EngineLowering(graph, [array_type(x.type)() for x in graph.inputs])
    low.run()
    owners = ((node, getattr(value, "owner", None)) for node, value in low.values.items())
    return {node: str(owner.op) for node, owner in owners if owner is not None}


def has_compiler() -> bool:
    """Whether PyTensor has found a compiler for C."""
    return bool(pytensor.config.cxx)


def _mode(in_c: bool, vectorised: bool) -> Mode:
    tags = ["c", "vectorised"][: 1 + vectorised] if in_c else ["python"]
    linker = VMLinker(allow_gc=True, use_cloop=in_c, c_thunks=in_c)
    return Mode(linker, REWRITES.query(RewriteDatabaseQuery(include=tags)))


def _prepared(node: Any, thunk: Any) -> Callable[[], None]:
    """The thunk; of an elementwise operation, without PyTensor's checks at each call."""
    op = node.op
    if type(op) is not Elemwise:
        return thunk  # type: ignore[no-any-return]
    inputs, (output,) = thunk.inputs, thunk.outputs
    function, check = op.nfunc, op._check_runtime_broadcast
    if isinstance(op.scalar_op, Cast):
        function = operator.methodcaller("astype", op.scalar_op.o_type.dtype)
    elif function is None or op.nfunc_spec[1:] != (len(inputs), 1):
        return thunk  # type: ignore[no-any-return]
    numbers = [all(x.type.broadcastable) for x in node.inputs]
    arrays = [i for i, number in enumerate(numbers) if not number]

    def run() -> None:
        values = [cell[0] for cell in inputs]
        if len({values[i].shape for i in arrays}) > 1:
            check(node, values)
        value = function(*values)
        output[0] = value if type(value) is np.ndarray else np.asarray(value)

    return run


# Trying out what is private ------------------------------------------------------------------


def _computes(in_c: bool) -> bool:
    """Whether a machine gives the right numbers, however arrays lie, again and again; refuses sizes
    that differ; and holds nothing afterwards."""
    close = partial(np.allclose, rtol=1e-4, atol=1e-4)
    x, y, z = (input_node(TensorType((3, 3), as_dtype("float32"))) for _ in range(3))
    inner = add(mul(x, y), z)
    machine = ThunkRunner(Graph([x, y, z], [tanh(inner), mul(inner, x)]), in_c, inside=True)
    a = np.linspace(-2, 2, 9, dtype=np.float32).reshape(3, 3)
    for given in ((a, a, a), (a.T, a, a[::-1]), (a, a + 1, a.T)):
        u = given[0] * given[1] + given[2]
        if not all(map(close, machine.run(given), (np.tanh(u), u * given[0]))):
            return False
    if any(cell[0] is not None for cell in machine.filled):
        return False
    try:
        machine.run((a, a[:1], a))
    except ValueError:
        return True
    return False


THUNKS = Private("PyTensor", "thunks and cells of functions", lambda: _computes(False))
C_CODE = Private("PyTensor", "C code of elementwise loops", lambda: _computes(True))
