"""Writing ONNX: one graph at a time, with names for values; graphs of a model share constants."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import onnx
from onnx import helper, numpy_helper

from ...graph.ir.node import Node
from ...graph.ir.sizes import Sizes
from ...graph.ir.types import TensorType

# The operator set that models are written for, and operators that need a later one.
OPSET = 21
LATER = {"BitCast": 26, "CumProd": 26}
IR_VERSION = 10
# Larger constants (bytes) are given to each call instead of being copied into the model.
LARGE = 1 << 20

ONNX_TYPES = {
    name: helper.np_dtype_to_tensor_dtype(np.dtype(name))
    for name in (
        "bool uint8 uint16 uint32 uint64 int8 int16 int32 int64 float16 float32 float64".split()
    )
}


class Body(NamedTuple):
    """A finished subgraph, and the names from outside that it reads."""

    proto: onnx.GraphProto
    captured: frozenset[str]


class _Line(NamedTuple):
    proto: onnx.NodeProto
    reads: frozenset[str]


class Shared:
    """What all graphs of one model have in common."""

    def __init__(self) -> None:
        self.opset = OPSET
        self.numbers = itertools.count()
        self.constants: dict[Any, str] = {}
        self.initializers: list[onnx.TensorProto] = []
        self.large: dict[str, np.ndarray[Any, Any]] = {}
        self.lines = 0
        self.node: Node | None = None  # what lines are written for
        self.made_for: dict[str, Node | None] = {}  # by the name of a line's first value

    def name(self) -> str:
        """A name that no other value has."""
        return f"v{next(self.numbers)}"


class Writer:
    """One graph: the main one, or the body of a loop or a condition, which sees outer values.

    Operators are pure: one that was already written with the same operands isn't repeated.
    """

    def __init__(self, outer: Writer | None = None):
        self.outer = outer
        self.shared: Shared = outer.shared if outer else Shared()
        self._lines: list[_Line] = []
        self._known: dict[Any, tuple[str, ...]] = {}
        self._own: set[str] = set()
        self._declared: dict[str, TensorType] = {}

    # Values ----------------------------------------------------------------------------------

    def constant(self, array: np.ndarray[Any, Any]) -> str:
        """A value that is always the same."""
        shared = self.shared
        array = np.ascontiguousarray(array).reshape(array.shape)
        large = array.nbytes > LARGE
        key = id(array) if large else (array.dtype.name, array.shape, array.tobytes())
        name = shared.constants.get(key)
        if name is None:
            name = shared.constants[key] = shared.name()
            if large:
                shared.large[name] = array
            else:
                shared.initializers.append(numpy_helper.from_array(array, name))
        return name

    def scalar(self, value: Any, dtype: str) -> str:
        """A constant number."""
        return self.constant(np.array(value, dtype))

    def ints(self, *values: int) -> str:
        """A constant int64 vector."""
        return self.constant(np.array(values, np.int64))

    def op(self, kind: str, *inputs: str, **attrs: Any) -> str:
        """Apply an operator; gives the name of its result."""
        return self.ops(kind, *inputs, outputs=1, **attrs)[0]

    def ops(self, kind: str, *inputs: str, outputs: int, **attrs: Any) -> tuple[str, ...]:
        """Apply an operator; gives the names of its results.

        Bodies among the attributes are given as `Body`.
        """
        bodies = {k: v for k, v in attrs.items() if isinstance(v, Body)}
        key = None
        if not bodies:
            key = (kind, inputs, outputs, *((k, _key(v)) for k, v in sorted(attrs.items())))
            found = self._find(key)
            if found is not None:
                return found
        names = tuple(self.shared.name() for _ in range(outputs))
        self.shared.made_for[names[0]] = self.shared.node
        plain = {k: v.proto if k in bodies else v for k, v in attrs.items()}
        self.shared.opset = max(self.shared.opset, LATER.get(kind, OPSET))
        self.shared.lines += 1
        proto = helper.make_node(kind, inputs, names, **plain)
        reads = frozenset(inputs).union(*(b.captured for b in bodies.values()))
        self._lines.append(_Line(proto, reads))
        self._own.update(names)
        if key is not None:
            self._known[key] = names
        return names

    def declare(self, names: Sequence[str], types: Sequence[TensorType]) -> None:
        """Say what ONNX doesn't infer: the ranks of loops' results, which other loops need."""
        self._declared.update(zip(names, types, strict=True))

    def _find(self, key: Any) -> tuple[str, ...] | None:
        writer: Writer | None = self
        while writer is not None:
            if key in writer._known:
                return writer._known[key]
            writer = writer.outer
        return None

    # Finishing -------------------------------------------------------------------------------

    def owned(self, names: Iterable[str]) -> list[str]:
        """The same values as outputs, each computed here and listed once."""
        taken: set[str] = set()
        result = []
        for name in names:
            if name not in self._own or name in taken:
                copy = self.shared.name()
                line = helper.make_node("Identity", [name], [copy])
                self._lines.append(_Line(line, frozenset((name,))))
                name = copy
            taken.add(name)
            result.append(name)
        return result

    def _needed(self, outputs: Sequence[str]) -> tuple[list[onnx.NodeProto], set[str]]:
        """The lines that the outputs need, and all names that these lines read."""
        wanted, kept = set(outputs), []
        for line in reversed(self._lines):
            if not wanted.isdisjoint(line.proto.output):
                kept.append(line.proto)
                wanted |= line.reads
        return kept[::-1], wanted

    def body(
        self,
        inputs: Sequence[onnx.ValueInfoProto],
        outputs: Sequence[str],
        types: Sequence[TensorType],
    ) -> Body:
        """The graph as a body with these inputs, and outputs of these types."""
        outputs = self.owned(outputs)
        lines, reads = self._needed(outputs)
        results = [typed(n, t.dtype, t.shape) for n, t in zip(outputs, types, strict=True)]
        proto = helper.make_graph(lines, "body", inputs, results, value_info=self._infos())
        made = {x.name for x in inputs}.union(*(line.output for line in lines))
        return Body(proto, frozenset(reads - made))

    def _infos(self) -> list[onnx.ValueInfoProto]:
        return [typed(n, t.dtype, t.shape) for n, t in self._declared.items()]

    def model(
        self, inputs: Sequence[onnx.ValueInfoProto], outputs: Sequence[str]
    ) -> onnx.ModelProto:
        """The graph as a model; large constants are further inputs, in the order of `large`."""
        lines, reads = self._needed(outputs)
        more = [typed(n, a.dtype.name, a.shape) for n, a in self.shared.large.items()]
        graph = helper.make_graph(
            lines,
            "graph",
            [*inputs, *more],
            [onnx.ValueInfoProto(name=n) for n in outputs],  # whose types ONNX infers
            [x for x in self.shared.initializers if x.name in reads],
            value_info=self._infos(),
        )
        return helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid("", self.shared.opset)],
            ir_version=IR_VERSION,
        )


def _key(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def operators(graph: onnx.GraphProto) -> Iterator[onnx.NodeProto]:
    """The operators of a graph, and of its bodies."""
    for line in graph.node:
        yield line
        for attribute in line.attribute:
            if attribute.HasField("g"):
                yield from operators(attribute.g)


def typed(name: str, dtype: str, shape: Sequence[int | str | None] | None) -> onnx.ValueInfoProto:
    """The declaration of an input; None as shape: of any rank."""
    return helper.make_tensor_value_info(name, ONNX_TYPES[dtype], shape)


def declared(name: str, node: Node, sizes: Sizes, labels: dict[Any, str]) -> onnx.ValueInfoProto:
    """The declaration of a node; sizes that are unknown have names, equal ones the same: `labels`
    are those of the whole graph.
    """
    roots = [d if d is not None else sizes.of(node, axis) for axis, d in enumerate(node.shape)]
    dims = [
        x if isinstance(x, int) else labels.setdefault(x, f"{name}_dim_{axis}")
        for axis, x in enumerate(roots)
    ]
    return typed(name, node.dtype, dims)
