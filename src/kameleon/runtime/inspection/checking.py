"""Checks of what calls give: `K.set_check('nan')`, `K.function(…, check='nan')`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol
from weakref import WeakSet

from ..._utils.locks import rlock
from ..._utils.suggestions import suggestion
from ...engines._base import Engine
from ...errors import ArgumentError, NonFiniteError
from ...graph.ir.program import Graph, Program, has_effects
from ..engines import embedded
from .nonfinite import Origin, kinds_in, origin

Array = Any


class Function(Protocol):
    """What is asked of a function; `runtime.function.Function` has it."""

    name: str
    program: Program

    def graph_for(self, values: Sequence[Array]) -> Graph:
        """The pure graph of a call, given NumPy arrays for its inputs."""
        ...

    def forget_fast_paths(self) -> None:
        """Make the next call in all its parts."""
        ...


MODES = ("nan",)


class _Setting:
    """The check of all functions that say nothing themselves; and these functions."""

    mode: str | None = None

    def __init__(self) -> None:
        self.functions: WeakSet[Function] = WeakSet()
        self.lock = rlock()


_setting = _Setting()


def mode_of(check: Any, what: str) -> str | None:
    """A check that a user names.

    Raises:
        ArgumentError: there's no such check.
    """
    if check is not None and not (isinstance(check, str) and check in MODES):
        meant = suggestion(str(check), MODES)
        raise ArgumentError(f"{what}: there is no check {check!r}; it's 'nan' or None{meant}")
    return check


def follow(function: Function) -> None:
    """From now on, tell a function of changes of the setting: its calls take a shorter way while
    there's none.
    """
    with _setting.lock:
        _setting.functions.add(function)


def setting() -> str | None:
    """The check of functions that say nothing themselves."""
    return _setting.mode


def set_setting(mode: str | None) -> None:
    """Change it; calls that have begun aren't checked."""
    with _setting.lock:
        _setting.mode = mode
        for function in _setting.functions:
            function.forget_fast_paths()


def check_results(
    function: Function, results: Sequence[Array], values: Sequence[Array], engine: Engine
) -> None:
    """Look at what a call of a function gives.

    Args:
        function: whose graph is run.
        results: what the graph gives, as the engine's arrays.
        values: of the graph's inputs: the engine's arrays, or NumPy's.
        engine: what the call ran on.

    Raises:
        NonFiniteError: something has NaN or Inf that didn't come in as a constant, or as Inf.
    """
    found = [kinds_in(engine.to_numpy(x, copy=False)) for x in results]
    if not any(found):
        return
    given = [_as_numpy(x, engine) for x in values]
    what = _named(function, found)
    if any(map(has_effects, function.program.nodes)):
        raise NonFiniteError(
            f"{what}\n  (a function of Python with effects is part of the graph, so the call can't"
            " be made again to see where that begins)"
        )
    first = _origin(function, given, engine)
    if first is not None:
        raise NonFiniteError(f"{what}\n{first}")
    if any("NaN" in kinds for kinds in found):
        raise NonFiniteError(f"{what}\n  (node by node, neither {engine.title} nor NumPy gives it)")


def _origin(function: Function, given: list[Array], engine: Engine) -> Origin | None:
    """Where it begins: on the embedded engine, which is the quickest; else on the engine itself."""
    graph, own = function.graph_for(given), embedded()
    found = origin(graph, given, own)
    return found if found is not None or engine is own else origin(graph, given, engine)


def _as_numpy(value: Array, engine: Engine) -> Array:
    own: Callable[[Any], Any] = engine.to_numpy
    return own(value) if engine.type_of(value) is not None else value


def _named(function: Function, found: Sequence[Sequence[str]]) -> str:
    """Which of the results have what."""
    program = function.program
    names = [f"output {i}" for i in range(len(program.outputs))]
    names += [f"the new value of '{v.name}'" for v, _ in program.updates]
    names += [f"what '{p.message}' prints" for p in program.prints]
    faulty = [
        f"{name} has {' and '.join(kinds)}"
        for name, kinds in zip(names, found, strict=True)
        if kinds
    ]
    rest = f", and {len(faulty) - MOST} more" if len(faulty) > MOST else ""
    return f"{function.name}: {', '.join(faulty[:MOST])}{rest}"


MOST = 3  # results that a message names
