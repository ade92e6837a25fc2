"""From a program with state to a pure graph that an engine compiles."""

from __future__ import annotations

from ..ir.program import Graph, Program
from ..ir.rewrite import closed


def pure_graph(program: Program) -> Graph:
    """Inputs, variables' values and keys in; outputs, new values and printed values out."""
    inputs = (*program.inputs, *program.variables, *program.sources)
    return closed(inputs, program.roots)
