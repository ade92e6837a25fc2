"""What an engine is: a table of rules, and a way to turn a closed graph into a callable."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from ..ir.node import Node
from ..ir.program import Graph


@runtime_checkable
class Executable(Protocol):
    """A compiled graph.

    It's pure: arrays of the graph's inputs go in, fresh arrays of its outputs come out, which
    share no memory with anything.
    """

    def __call__(self, arguments: Sequence[Any]) -> Sequence[Any]:
        """Run it."""
        ...

    def culprit(self, error: BaseException) -> Node | None:
        """The node at which a call failed with `error`, if that can be told."""
        ...


@runtime_checkable
class Engine(Protocol):
    """The contract. Third parties register an instance by the entry point `kameleon.engines`.

    name: how users choose it.
    rules: by name of a primitive, the engine's own way to do it. A composite primitive that has
        no rule is expanded into simpler ones before `compile` sees it.
    """

    name: str
    rules: Mapping[str, Callable[..., Any]]

    def compile(self, graph: Graph) -> Executable:
        """Turn a closed graph (its leaves are inputs and constants) into a callable."""
        ...

    def discard(self, arrays: list[Any]) -> None:
        """Take a list of values that the caller needs no longer, and empty it.

        Their memory may be used again where nobody else holds it.
        """
        ...

    def release(self) -> None:
        """Free what is kept for reuse: the session was cleared."""
        ...

    def from_numpy(self, array: Any) -> Any:
        """The engine's own array with the values of a NumPy array; they share no memory."""
        ...

    def to_numpy(self, array: Any) -> Any:
        """A NumPy array with the values of one of the engine's; they share no memory."""
        ...
