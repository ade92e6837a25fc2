"""Which variables of a function training changes."""

from __future__ import annotations

from ...errors import GradientError
from ...runtime.compiler import prepared
from ...runtime.engines import embedded
from .pure import Pure, Stateless

ANNOTATIONS = ("stop_gradient", "with_gradient")


def influential(program: Stateless) -> set[int]:
    """The numbers of the variables that training changes: outputs are differentiated by them, in
    the training phase, and nobody has set their `trainable` to False."""
    graph = program.pure(None if program.phase is None else True).graph
    pure = Pure(prepared(graph, embedded(), ANNOTATIONS))  # without dead branches
    first, outputs = len(program.inputs), len(program.function.outputs)
    given = [i < outputs for i in range(len(pure.graph.outputs))]
    wanted = [first <= i < first + len(program.variables) for i in range(len(pure.graph.inputs))]
    try:
        flows = pure.reverse(wanted, given).flows[first:]
    except GradientError:  # then each float may be one
        flows = [0 if x.dtype.is_float else None for x in program.variables]
    pairs = enumerate(zip(program.variables, flows, strict=False))
    return {i for i, (v, flow) in pairs if flow is not None and v.trainable}
