"""What code has set for the nodes that it builds: scope, control dependencies, source."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextvars import ContextVar, copy_context
from typing import Any, Generic, TypeVar

from ..._utils.locks import lock
from ..._utils.scopes import Scope

T = TypeVar("T")

_PACKAGE = os.path.abspath(__file__).removesuffix(os.path.join("graph", "ir", "context.py"))


class Source:
    """A place in the user's code, or a file (line 0); and what is told of nodes made for it.

    Passes hand a node's source on to what they make of it, and so these marks.

    Attributes:
        scope: the name scope in force there (`a/b/`).
        name: of the operation of TensorFlow's that they're made of.
        is_gradient: a gradient made them.
    """

    __slots__ = ("filename", "function", "is_gradient", "line", "name", "scope")

    def __init__(self, filename: str, line: int, function: str, scope: str = "", name: str = ""):
        self.filename, self.line, self.function = filename, line, function
        self.scope, self.name, self.is_gradient = scope, name, False

    @classmethod
    def of(cls, place: Source | tuple[Any, ...]) -> Source:
        """A source as it is, or made of a frame's code, the line and, perhaps, the scope."""
        if isinstance(place, Source):
            return place
        code, line, *scope = place
        return Source(code.co_filename, line, code.co_name, *scope)

    def for_gradient(self) -> Source:
        """The same place, of what a gradient makes."""
        made = Source(self.filename, self.line, self.function, self.scope, self.name)
        made.is_gradient = True
        return made

    def __str__(self) -> str:
        within = f", line {self.line}, in {self.function}" if self.line else ""
        return f'File "{self.filename}"{within}'


class _Setting(Generic[T]):
    """An attribute whose value belongs to the running context: to a thread, or to an async task."""

    def __init__(self, default: T):
        self.variable = ContextVar("kameleon_setting", default=default)

    def __get__(self, owner: Context, kind: type[Context]) -> T:
        return self.variable.get()

    def __set__(self, owner: Context, value: T) -> None:
        self.variable.set(value)


class Context:
    """What code has set for the nodes that it builds.

    scope: prefix of names; control: updates that reads see (`control_dependencies`);
    source: stands for the user's line where a transform builds nodes on behalf of another node;
    graph: a space of names of its own, with a table `names`.
    """

    scope = _Setting("")
    control = _Setting[tuple[Any, ...]](())
    source = _Setting[Source | tuple[Any, ...] | None](None)
    graph = _Setting[Any](None)

    @classmethod
    def within(cls, name: str, change: Callable[[Any], Any], gives: bool = False) -> Scope[Any]:
        """A block in which the setting of this name has another value: see `Scope`."""
        return Scope(vars(cls)[name].variable, change, gives)


context = Context()


def user_frame(beside: str | None = None) -> tuple[Any, int]:
    """The innermost frame outside of this package, as (code, line).

    Args:
        beside: the name of a folder whose files don't count, either.
    """
    frame: Any = sys._getframe(2)
    while frame.f_back is not None:
        name = frame.f_code.co_filename
        if not (name.startswith(_PACKAGE) or (beside is not None and beside in name)):
            break
        frame = frame.f_back
    return frame.f_code, frame.f_lineno


def rewriting(call: Callable[..., T], *arguments: Any) -> T:
    """The result of a call; nodes made in the call have no control dependencies and no scope.

    The call may set `context.source`: that setting ends with the call, whatever is raised.
    """
    return built_for(None, call, *arguments)


def built_for(node: Any, call: Callable[..., T], *arguments: Any) -> T:
    """The result of a call; nodes made in the call bear the source of `node`, and have neither
    control dependencies nor a scope.
    """
    # What the call sets is in a context of its own, which C code leaves, whatever is raised.
    return copy_context().run(_built_for, node, call, arguments)


def _built_for(node: Any, call: Callable[..., T], arguments: tuple[Any, ...]) -> T:
    context.control, context.scope = (), ""
    if node is not None:
        context.source = node._source
    return call(*arguments)


# Names -----------------------------------------------------------------------------------------

_name_counts: dict[str, int] = {}
_name_lock = lock()


def unique_name(name: str) -> str:
    """`name`, or `name_1`, `name_2` … where it was given before in this session (or graph)."""
    graph = context.graph
    counts = _name_counts if graph is None or graph.names is None else graph.names
    with _name_lock:
        count = counts.get(name, 0)
        counts[name] = count + 1
        while count:
            candidate = f"{name}_{count}"
            if candidate not in counts:
                counts[candidate] = 1
                return candidate
            count += 1
        return name


def reset_names() -> None:
    """Start counting names anew."""
    with _name_lock:
        _name_counts.clear()
