"""From a program with state to a pure graph that an engine compiles."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..errors import FeedError
from ..graph.ir.node import REGISTRY, Node
from ..graph.ir.program import Graph, Program
from ..graph.ir.rewrite import closed, substitute
from ..graph.ir.sizes import Sizes
from ..graph.primitives.elementwise import constant
from ..graph.primitives.sizes import size_origin


def pure_graph(program: Program) -> Graph:
    """Inputs, variables' values and keys in; outputs, new values and printed values out."""
    inputs = (*program.inputs, *program.variables, *program.sources)
    return closed(inputs, program.roots)


def with_values(graph: Graph, first: int, values: Sequence[np.ndarray]) -> Graph:
    """The graph in which inputs, from the `first` one on, are constants of these values."""
    fixed = graph.inputs[first : first + len(values)]
    known = {x: constant(value) for x, value in zip(fixed, values, strict=True)}
    inputs = [x for x in graph.inputs if x not in known]
    return Graph(inputs, substitute(graph.outputs, known) if known else graph.outputs)


def fed(program: Program) -> Program:
    """The program, where every placeholder that it needs is an input or has a default.

    Sizes are read as early in the graph as possible; where an input is a tensor computed from
    a placeholder, the sizes that they share are read from the input instead.

    Raises:
        FeedError: names the placeholders that are missing.
    """
    if _missing(program):
        program = _sized_by_inputs(program)
    missing = _missing(program)
    if missing:
        names = ", ".join(f"'{n.name}' {n.type}, made at {n.source}" for n in missing)
        raise FeedError(f"no value was given for placeholder {names}: add it to the inputs")
    return program


def _missing(program: Program) -> list[Node]:
    return [n for n in program.unfed if not hasattr(n, "default")]


def _sized_by_inputs(program: Program) -> Program:
    sizes, read = Sizes(size_origin), REGISTRY["size"]
    known: dict[object, Node] = {}
    for x in program.inputs:
        for axis, dim in enumerate(x.shape):
            if dim is None:
                known.setdefault(sizes.of(x, axis), read(x, axis=axis))
    replaced = {n: n for n in program.inputs}
    replaced |= {
        n: known[root]
        for n in program.nodes
        if n.primitive is read and (root := sizes.of(n.operands[0], n.attrs["axis"])) in known
    }
    roots = iter(substitute(program.roots, replaced))
    return Program(
        program.inputs,
        [next(roots) for _ in program.outputs],
        [(variable, next(roots)) for variable, _ in program.updates],
        [p.of(next(roots)) for p in program.prints],
    )
