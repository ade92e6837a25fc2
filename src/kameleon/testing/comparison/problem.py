"""What is compared: one pure graph, and one value for each of its inputs.

Engines get the graph that a call of the function gives them, with variables' values and random
keys as arguments. So nothing that an engine does can change a variable or advance a stream.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...backend.functions import BackendFunction, built
from ...errors import ArgumentError, FeedError, GradientError
from ...graph.gradients import gradients
from ...graph.ir.node import Node
from ...graph.ir.program import Graph, Program, collect
from ...graph.ir.rewrite import closed, substitute
from ...runtime.engines import embedded
from ...runtime.feeds import feed_of
from ...runtime.function import Function

Array = Any
NAME = "compare"


@dataclass(frozen=True)
class Problem:
    """A closed graph with its arguments.

    Attributes:
        graph: takes inputs, variables' values and random keys; gives what `names` names.
        values: a value for each input of the graph.
        variables: the numbers of those inputs that are variables.
        names: what each output of the graph is, in words for people.
    """

    graph: Graph
    values: list[Array]
    variables: frozenset[int]
    names: list[str]


def problem_of(subject: Any, feeds: Any, wrt: Node | Sequence[Node] | None) -> Problem:
    """The problem that the arguments of `compare` pose; see there.

    Raises:
        ArgumentError, FeedError: an argument is none of what `compare` expects.
        GradientError: a gradient was asked for that doesn't exist.
    """
    function, given = _function(subject, feeds)
    program = function.program
    state = function.state.values(embedded())
    values = [*given, *function.constants.values(), *state]
    first = len(program.inputs)
    phase = None if function.phase is None else bool(given[function.phase])
    graph, names = _graph(program, function.fixed(phase), wrt)
    return Problem(graph, values, frozenset(range(first, first + len(program.variables))), names)


def _function(subject: Any, feeds: Any) -> tuple[Function, list[Array]]:
    """The compiled function, and a value for each of its inputs."""
    if not isinstance(subject, BackendFunction | Function):
        subject = _of_tensors(subject, feeds)
    given = _in_order(subject.inputs, feeds)
    if isinstance(subject, BackendFunction):
        given = list(subject.entries.values(given))
        subject = subject.compiled
    if len(given) != len(subject.inputs):
        names = ", ".join(f"'{x.name}'" for x in subject.inputs) or "none"
        raise FeedError(f"{NAME}: {len(given)} values were given for the inputs {names}")
    pairs = zip(subject.inputs, given, strict=True)
    return subject, [feed_of(x, NAME)(value, embedded()) for x, value in pairs]


def _of_tensors(tensors: Any, feeds: Any) -> BackendFunction[Any]:
    """A function of the tensors that a dict feeds; else of the placeholders that tensors need."""
    items = _tensors(tensors)
    inputs = feeds
    if not isinstance(feeds, Mapping):
        inputs = [x for x in collect([], items).unfed if not hasattr(x, "default")]
    return built(list(inputs), items, name=NAME)


def _tensors(value: Any) -> list[Node]:
    """A tensor, or several of them."""
    items = list(value) if isinstance(value, list | tuple) else [value]
    for x in items:
        if not isinstance(x, Node):
            raise ArgumentError(f"{NAME}: expected what K.function returns, or tensors, got {x!r}")
    return items


def _in_order(inputs: Sequence[Any], feeds: Any) -> list[Any]:
    """The values in the order of the inputs; an input's default, where a dict has no value."""
    if not isinstance(feeds, Mapping):
        return list(feeds) if isinstance(feeds, list | tuple) else [feeds]
    given = dict(feeds)
    values = [given.pop(x, getattr(x, "default", None)) for x in inputs]
    missing = [x.name for x, value in zip(inputs, values, strict=True) if value is None]
    if missing or given:
        wrong = f"no value for {', '.join(missing)}" if missing else f"no inputs {list(given)}"
        raise FeedError(f"{NAME}: {wrong}; the inputs are {[x.name for x in inputs]}")
    return values


def _graph(
    program: Program, known: Mapping[Node, Node], wrt: Node | Sequence[Node] | None
) -> tuple[Graph, list[str]]:
    """Outputs, new values and gradients over inputs, variables and keys."""
    by = _differentiated(program) if wrt is None else _tensors(wrt)
    roots = [*program.outputs, *(value for _, value in program.updates)]
    inputs = (*program.inputs, *program.variables, *program.sources)
    cut = closed(inputs, [*roots, *by])
    # `closed` puts parameters in the place of inputs that are computed: to differentiate by such
    # an input is to differentiate by its parameter.
    own = dict(zip(inputs, cut.inputs, strict=True))
    found = substitute(cut.outputs, dict(known))
    outputs = found[: len(roots)]
    points = [own.get(x, y) for x, y in zip(by, found[len(roots) :], strict=True)]
    names = [f"output {i}" for i in range(len(program.outputs))]
    names += [f"new value of '{v}'" for v, _ in program.updates]
    parts = _gradients(outputs[: len(program.outputs)], points, by, explicit=wrt is not None)
    names += [f"gradient by '{x.name[:-2]}'" for x, _ in parts]
    return Graph(cut.inputs, [*outputs, *(g for _, g in parts)]), names


def _differentiated(program: Program) -> list[Node]:
    """The float variables, where an output is a float scalar."""
    if not any(x.dtype.is_float and x.shape == () for x in program.outputs):
        return []
    return [v for v in program.variables if v.dtype.is_float]


def _gradients(
    outputs: Sequence[Node], points: Sequence[Node], by: Sequence[Node], explicit: bool
) -> list[tuple[Node, Node]]:
    """Pairs of a tensor in `by` and the gradient, by it, of the first float scalar among the
    outputs; where there's no such scalar, of the first float tensor."""
    if not by:
        return []
    floats = [x for x in outputs if x.dtype.is_float]
    if not floats:
        raise GradientError(f"{NAME}: no output is of a float dtype, so nothing has a gradient")
    loss = next((x for x in floats if x.shape == ()), floats[0])
    try:
        found = gradients(loss, points)
    except GradientError:
        if explicit:
            raise
        return []
    missing = [x.name for x, g in zip(by, found, strict=True) if g is None]
    if explicit and missing:
        raise GradientError(f"{NAME}: the output doesn't depend on {', '.join(missing)}")
    return [(x, g) for x, g in zip(by, found, strict=True) if g is not None]
