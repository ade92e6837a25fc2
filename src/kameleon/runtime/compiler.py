"""From a graph to running code: the passes, cutting, compiling, remembering."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, NoReturn

from .._utils.collection import uncollected
from ..engines._base import Engine, Executable
from ..errors import FOREIGN, EngineError, EvaluationError, KameleonError
from ..graph.ir.leaves import CONSTANT
from ..graph.ir.node import Node
from ..graph.ir.program import Graph
from ..graph.ir.text import before
from ..graph.passes import pipeline
from ..graph.passes.simplify import simplify
from .calls.failures import own_failure
from .engines import embedded
from .stages import build
from .workspace import keep, workspace

# At most this many compiled graphs are kept for reuse; the oldest is forgotten first.
CACHE_SIZE = 1024


def compiled(graph: Graph, engine: Engine) -> Executable:
    """The graph's code; graphs of equal structure share it."""
    return uncollected(len(graph.nodes), lambda: _shared(graph, engine))


def _shared(graph: Graph, engine: Engine) -> Executable:
    key = (engine, engine.key_of(graph))
    cache = workspace.compiled
    found = cache.get(key)
    if found is None:
        found = compiled_anew(graph, engine)
        keep(cache, key, found, CACHE_SIZE)
    return found


def compiled_anew(graph: Graph, engine: Engine) -> Executable:
    """The graph's code, shared with no other graph: errors name this graph's own nodes."""
    engine.started = True
    return uncollected(len(graph.nodes), lambda: build(prepared(graph, engine), engine))


def prepared(graph: Graph, engine: Engine, keep: Collection[str] = ()) -> Graph:
    """See `graph.passes.pipeline.prepared`; the embedded engine folds constants."""
    return pipeline.prepared(graph, engine, _fold, keep)


def simplified(graph: Graph, keep: Collection[str] = ()) -> Graph:
    """See `graph.passes.simplify.simplify`: an equal graph, of which no engine asks anything."""
    return simplify(graph, fold=_fold, keep=keep)


def stages(graph: Graph, engine: Engine) -> list[tuple[str, Graph]]:
    """The graph behind each pass that the engine asks for, by what holds then."""
    asked = pipeline.Asked(engine, _fold)
    return [(step.name, found) for step, found in pipeline.steps(graph, asked)]


def _fold(node: Node, operands: Sequence[Any]) -> Any:
    """The value of a node over arrays; None where it can't be computed before a run."""
    if node.primitive is CONSTANT or node.primitive.name not in embedded().rules:
        return None
    from ..engines._embedded import computed  # which loads the embedded engine

    try:
        return computed(node, operands)
    except FOREIGN:
        raise
    except Exception:  # the node fails at run time, too, and is reported there
        return None


def run(
    executable: Executable,
    arguments: Sequence[Any],
    replay: Callable[[], bool] | None = None,
) -> Sequence[Any]:
    """Call compiled code; a failure names the node and the user's line.

    Args:
        executable: the code.
        arguments: the values of the graph's inputs.
        replay: runs the caller's own graph where every node is known; it's called after a
            failure, to learn which node has failed. False, where it can't be run again.

    Raises:
        Exception: a function of Python raised it.
        EvaluationError: a node can't be computed.
        EngineError: the engine failed where the embedded engine doesn't.
    """
    try:
        return executable(arguments)
    except Exception as error:
        explain(executable, error, replay)


def explain(
    executable: Executable, error: Exception, replay: Callable[[], bool] | None = None
) -> NoReturn:
    """Raise what is known about a failure: the node, and the line that made it.

    An error that doesn't come from computing a node is raised as it is, and so is one of a function
    of Python.
    """
    failure = own_failure(error)
    if failure is None and isinstance(error, FOREIGN):
        raise error
    if failure is not None:
        raise failure
    is_known = replay is None or replay()
    node = executable.culprit(error)
    if node is None and isinstance(error, KameleonError):
        raise error
    if node is None and not is_known:
        raise EvaluationError(
            f"{type(error).__name__}: {error}\n  (the node can't be named: a function of this graph"
            " has effects, so the call can't be made again to see where it fails)"
        ) from error
    if node is None:
        raise EngineError(
            f"the engine failed where the embedded engine doesn't: {type(error).__name__}: {error}"
        ) from error
    what = str(error) or type(error).__name__
    raise EvaluationError(what + computing(node)) from (
        error if not isinstance(error, KameleonError) else error.__cause__
    )


def computing(node: Node) -> str:
    """The end of an error message: what couldn't be computed, and the user's line."""
    operands = ", ".join(str(n.type) for n in node.operands)
    nodes = "\n".join(f"    {line}" for line in before(node).splitlines())
    return (
        f"\n  while computing {node.primitive.name}({operands})\n  which was made at {node.source}"
        f"\n  from\n{nodes}"
    )
