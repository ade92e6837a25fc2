"""Where NaN or Inf begins: the first node that makes it of operands that have none."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...engines._base import Engine
from ...engines._kernels.quiet import quiet
from ...graph.ir.leaves import CONSTANT, INPUT, VARIABLE
from ...graph.ir.node import Node, producer
from ...graph.ir.program import Graph
from ...graph.primitives.control import scan_parts
from .values import evaluator, in_chunks, without_conditions

Array = Any
Test = Callable[[Array], Array]


def _are(test: Test) -> Test:
    """For each element of an array of floats whether it's such a number."""
    return lambda x: test(x) if np.asarray(x).dtype.kind not in "biu" else np.zeros((), bool)


# What is looked for, by name; NaN goes before Inf, since it tells more.
TESTS: Mapping[str, Test] = {"NaN": _are(np.isnan), "Inf": _are(np.isinf)}

_range = quiet(lambda numbers: (numbers.min(), numbers.max(), numbers.mean()))


def kinds_in(value: Array) -> list[str]:
    """Which of `TESTS` a value has.

    >>> kinds_in(np.array([1.0, np.nan])), kinds_in(np.arange(3))
    (['NaN'], [])
    """
    return [kind for kind, test in TESTS.items() if test(value).any()]


class Step(NamedTuple):
    """A step of a loop: the loop, and the step's number in the order in which they're made."""

    loop: Node
    number: int

    def __str__(self) -> str:
        return f"in step {self.number} (from 0) of the loop that was made at {self.loop.source}"


class Origin(NamedTuple):
    """Where NaN or Inf begins.

    Attributes:
        kind: which of them.
        node: what makes it: a primitive; or an input, or a variable, that has it already.
        value: what comes out, in words.
        operands: what goes in, in words, one line each.
        steps: the loops that the node is in, the outermost first.
        before: where the Inf begins that the NaN is made of, if it's made of one.
    """

    kind: str
    node: Node
    value: str
    operands: tuple[str, ...]
    steps: tuple[Step, ...]
    before: Origin | None = None

    def __str__(self) -> str:
        return "\n".join(f"  {line}" for line in self._lines())

    def _lines(self) -> Iterator[str]:
        node = self.node
        if node.primitive in (INPUT, VARIABLE):
            what = "input" if node.primitive is INPUT else "variable"
            yield f"it comes in with {what} '{node.name}', which is {self.value}"
            return
        types = ", ".join(str(x.type) for x in node.operands)
        yield f"it begins in {node.primitive.name}({types})"
        yield f"which was made at {node.source}"
        yield from map(str, reversed(self.steps))
        yield f"and gives {self.value}"
        yield from self.operands
        if self.before is not None:
            yield "Inf came before:"
            yield from (f"  {line}" for line in self.before._lines())


def in_words(value: Array) -> str:
    """Shape, dtype and range of a value, and how much of it isn't finite.

    >>> in_words(np.array([[1.0, np.nan], [-3.0, np.inf]]))
    'float64[2, 2]: 1 of 4 elements NaN, 1 Inf, the others from -3 to 1, mean -1'
    """
    array = np.asarray(value)
    numbers = array.astype("float64").reshape(-1)
    counts = [(int(test(numbers).sum()), kind) for kind, test in TESTS.items()]
    parts = [f"{count} {kind}" for count, kind in counts if count]
    if parts:
        count, _, kind = parts[0].partition(" ")
        parts[0] = f"{count} of {numbers.size} elements {kind}"
        numbers = numbers[np.isfinite(numbers)]
    if numbers.size:
        low, high, mean = _range(numbers)
        parts.append(f"{'the others ' * bool(parts)}from {low:.6g} to {high:.6g}, mean {mean:.6g}")
    return f"{array.dtype}{list(array.shape)}: {', '.join(parts) or 'no elements'}"


def origin(graph: Graph, values: Sequence[Array], engine: Engine) -> Origin | None:
    """Where what isn't finite in the outputs of a graph begins; None where nothing makes it: all of
    it came in, as constants, or as Inf.

    Args:
        graph: a pure graph. Functions of Python in it are called again.
        values: of its inputs.
        engine: on which nodes are computed.
    """
    search = _Search(engine)
    outputs = search.evaluate(graph, values)
    for kind, test in TESTS.items():
        bad = [x for x, y in zip(graph.outputs, outputs, strict=True) if test(y).any()]
        if bad:
            found = search.first(graph.to(bad), values, kind)
            if found is not None or kind == "NaN":
                return found
    return None


class _Search:
    """Computes nodes, in order, until one makes what is looked for."""

    def __init__(self, engine: Engine):
        self.evaluate = evaluator(engine)

    def first(
        self, graph: Graph, values: Sequence[Array], kind: str, steps: tuple[Step, ...] = ()
    ) -> Origin | None:
        """The first node that makes it, among those that the graph's outputs need."""
        graph = without_conditions(graph, self.evaluate, values)
        test, has = TESTS[kind], set[Node]()
        for node, value in zip(graph.inputs, values, strict=True):
            if test(value).any():
                if kind == "NaN" and not steps:
                    return Origin(kind, node, in_words(value), (), ())
                has.add(node)
        constants = (n for n in graph.nodes if n.primitive is CONSTANT)
        has |= {n for n in constants if test(n.attrs["value"].array).any()}
        for chunk in in_chunks(graph):
            for node, value in zip(chunk.outputs, self.evaluate(chunk, values), strict=True):
                if test(value).any():
                    has.add(node)
                    if has.isdisjoint(producer(node).operands):
                        return self._made(graph, values, kind, (node, value), steps)
        return None

    def _made(
        self,
        graph: Graph,
        values: Sequence[Array],
        kind: str,
        found: tuple[Node, Array],
        steps: tuple[Step, ...],
    ) -> Origin:
        """What is told of a node that makes it; where the node is a loop, of a node within."""
        made_by = producer(found[0])
        distinct = list(dict.fromkeys(made_by.operands))
        known = dict(zip(distinct, self.evaluate(graph.to(distinct), values), strict=True))
        given = [known[x] for x in made_by.operands]
        within = self._in_loop(made_by, given, kind, steps)
        if within is not None:
            return within
        infinite = [x for x in distinct if kind == "NaN" and TESTS["Inf"](known[x]).any()]
        before = infinite and self.first(graph.to(infinite), values, "Inf", steps)
        operands = (f"operand {i} is {in_words(x)}" for i, x in enumerate(given))
        return Origin(kind, made_by, in_words(found[1]), tuple(operands), steps, before or None)

    def _in_loop(
        self, loop: Node, given: Sequence[Array], kind: str, steps: tuple[Step, ...]
    ) -> Origin | None:
        """The first node within the first step of a loop whose results have it."""
        turns = TURNS.get(loop.primitive.name)
        if turns is None:
            return None
        body, test = loop.attrs["body"], TESTS[kind]
        for number, (arguments, results) in enumerate(turns(loop, given, self.evaluate)):
            bad = [x for x, y in zip(body.outputs, results, strict=True) if test(y).any()]
            if bad:
                inside = (*steps, Step(loop, number))
                return self.first(body.to(bad), arguments, kind, inside)
        return None


# Loops ------------------------------------------------------------------------------------------

# What a step is given, and what it gives.
Turn = tuple[list[Array], list[Array]]


def _scanned(loop: Node, given: Sequence[Array], evaluate: Any) -> Iterator[Turn]:
    consts, initial, _ = (len(part) for part in scan_parts(loop))
    carry, sequences = list(given[consts : consts + initial]), given[consts + initial :]
    places = range(len(sequences[0]))
    for t in reversed(places) if loop.attrs["backwards"] else places:
        arguments = [*given[:consts], *carry, *(x[t] for x in sequences)]
        results = evaluate(loop.attrs["body"], arguments)
        yield arguments, results
        carry = results[:initial]


def _while(loop: Node, given: Sequence[Array], evaluate: Any) -> Iterator[Turn]:
    count = loop.attrs["consts"]
    consts, carry = list(given[:count]), list(given[count:])
    while evaluate(loop.attrs["condition"], [*consts, *carry])[0]:
        arguments = [*consts, *carry]
        carry = evaluate(loop.attrs["body"], arguments)
        yield arguments, carry


TURNS = {"scan": _scanned, "while": _while}
