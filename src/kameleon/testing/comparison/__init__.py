"""One program on several engines: values, gradients and updates side by side."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ..._utils.tracebacks import boundary
from ...engines._base import Engine, Executable
from ...errors import ArgumentError
from ...graph.ir.node import Node
from ...runtime import engines as registry
from ...runtime.compiler import compiled_anew, run
from .bisect import Search
from .problem import Problem, problem_of
from .result import Comparison, Difference, EngineRun, FirstDifference, difference

__all__ = ["Comparison", "Difference", "EngineRun", "FirstDifference", "compare"]

# How often a warm call is timed, and after how many seconds no further one is begun; the shortest
# time counts.
REPEATS, PATIENCE = 5, 1.0


@boundary
def compare(
    function: Any,
    feeds: Any = (),
    engines: str | Engine | Iterable[str | Engine] | None = None,
    *,
    wrt: Node | Sequence[Node] | None = None,
    reference: str = "numpy",
) -> Comparison:
    """Run a function on several engines, and compare what they give.

    Outputs, gradients and the variables' new values are compared. All engines start from the
    same values and draw the same random numbers; afterwards variables and random streams are
    as they were before. Where an engine differs from the reference, the first node that differs
    is looked for, and the line that made that node.

    Args:
        function: what `K.function` returns, a tensor, or a list of tensors.
        feeds: a list with a value for each input, or a dict of tensors and their values. Where
            `function` is a tensor or a list, the inputs are the placeholders needed, in the order
            of their making.
        engines: names (or `Engine` instances); all that are installed, if None.
        wrt: tensors by which the first output that is a float scalar is differentiated (the first
            output of a float dtype, where there's no such scalar). All float variables, if None
            and there is such a scalar; no gradients, if empty.
        reference: the engine that the others are compared with; it's run in any case. Where it
            fails (there's a dtype that it lacks, say), the first engine that doesn't fail takes
            its place.

    Returns:
        A `Comparison`, which holds numbers for each engine and prints as a table.

    Raises:
        ArgumentError: `function` is no function and no tensor; or there's no engine to compare.
        FeedError: a value is missing, superfluous, or of the wrong shape or dtype.
        EngineNotFoundError: an engine that was named isn't there.
        GradientError: a gradient was asked for that doesn't exist.

    >>> import kameleon
    >>> from kameleon import backend as K
    >>> x, w = K.placeholder((None, 2)), K.variable([[1.], [2.]], name='w')
    >>> loss = K.mean(K.square(K.dot(x, w)))
    >>> found = kameleon.compare(loss, {x: [[1., 2.], [3., 4.]]}, engines=['numpy'])
    >>> found.names, found.agree()
    (['output 0', "gradient by 'w'"], True)
    >>> print(found)
    2 results compared with numpy
    engine  agrees  difference  relative  of  first call  warm call
    numpy                                     ...         ...
    """
    problem = problem_of(function, feeds, wrt)
    named, reference = _named(engines), registry.canonical(reference)
    first = named[reference] if reference in named else registry.load(reference)
    chosen = {reference: first, **named}  # the reference comes first
    runs = {name: run_on(name, engine, problem) for name, engine in chosen.items()}
    base = next((r for r in runs.values() if r.values is not None), None)
    if base is not None and base.values is not None:
        if reference not in named and runs[reference].error is not None:
            del runs[reference]  # nobody asked for the results of this engine
        for found in runs.values():
            if found is not base and found.values is not None:
                found.differences = differences(problem, found.values, base.values)
                if not found.agrees():
                    _search(found, base, chosen, problem)
    return Comparison(base.engine if base else reference, problem.names, runs)


def _named(engines: str | Engine | Iterable[str | Engine] | None) -> dict[str, str | Engine]:
    """By name, the engines to compare. Engines that nobody named are loaded later, since that may
    fail.
    """
    if engines is None:
        return {name: name for name in registry.names() if registry.runs_here(name)}
    many = isinstance(engines, Iterable) and not isinstance(engines, str)
    listed: list[Any] = list(engines) if many else [engines]  # type: ignore[arg-type]
    for x in listed:
        if not isinstance(x, str | Engine):
            raise ArgumentError(f"compare: an engine is a name or an `Engine`, not {x!r}")
    if not listed:
        raise ArgumentError("compare: no engine was named")
    loaded = [registry.load(x) if isinstance(x, str) else x for x in listed]
    return {engine.name: engine for engine in loaded}


def differences(problem: Problem, got: Sequence[Any], reference: Sequence[Any]) -> list[Difference]:
    """How far each result is from the reference's."""
    return [difference(*x) for x in zip(problem.names, got, reference, strict=True)]


def run_on(name: str, engine: str | Engine, problem: Problem) -> EngineRun:
    """Compile and call the graph; an error is kept as text."""
    result = EngineRun(name)
    try:
        engine = registry.load(engine) if isinstance(engine, str) else engine
        start = time.perf_counter()
        executable = compiled_anew(problem.graph, engine)
        arguments = _arguments(engine, problem)
        values = run(executable, arguments, lambda: _replay(problem))
        result.values = [engine.to_numpy(x) for x in values]
        result.first_call = time.perf_counter() - start
        result.warm_call = min(_timed(engine, executable, arguments))
    except Exception as error:
        result.values = None
        result.error = f"{type(error).__name__}: {error}"
    return result


def _timed(engine: Engine, executable: Executable, arguments: list[Any]) -> Iterator[float]:
    """The seconds that each of several calls takes, until its results are NumPy's arrays."""
    end = time.perf_counter() + PATIENCE
    for _ in range(REPEATS):
        start = time.perf_counter()
        for value in executable(arguments):
            engine.to_numpy(value, copy=False)
        yield time.perf_counter() - start
        if time.perf_counter() > end:
            break


def _arguments(engine: Engine, problem: Problem) -> list[Any]:
    """Arguments as calls of a function give them: variables as the engine's own arrays, all else
    as NumPy's.
    """
    return [
        engine.from_numpy(x) if i in problem.variables else x.copy()
        for i, x in enumerate(problem.values)
    ]


def _replay(problem: Problem) -> bool:
    """Run a call that failed again, on the embedded engine, whose errors name node and line."""
    run(compiled_anew(problem.graph, registry.embedded()), problem.values)
    return True


def _search(
    found: EngineRun, base: EngineRun, chosen: dict[str, str | Engine], problem: Problem
) -> None:
    """Look for the first node where an engine differs from the reference. Where the engine fails
    on a part of the graph, that is kept as the run's error.
    """
    both = [chosen[r.engine] for r in (base, found)]
    reference, engine = (registry.load(x) if isinstance(x, str) else x for x in both)
    try:
        found.first_difference = Search(problem, reference, engine).first()
    except Exception as error:
        found.error = (
            f"{type(error).__name__} when inner nodes were asked for: {error}\n"
            "  (its results differ from the reference's)"
        )
