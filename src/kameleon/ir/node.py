"""Nodes of the graph: immutable, built in order, each with the user's line that made it.

A node is what users call a tensor. Its operands were made before it, so `serial` numbers order
any graph topologically, and all walks are loops. A node with several results (`scan`, say) is
never seen by users: they hold its `results`, one `item` node each.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from contextvars import ContextVar, copy_context
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from .._locks import lock
from .._scopes import Scope
from .._threads import counter
from ..errors import UnpicklableError
from .types import DType, Shape, TensorType, as_dtype

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .primitive import Primitive

T = TypeVar("T")
Attrs = Mapping[str, Any]
NO_ATTRS: dict[str, Any] = {}

_next_serial = counter()
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


class Source:
    """A place in the user's code."""

    __slots__ = ("filename", "function", "line")

    def __init__(self, filename: str, line: int, function: str):
        self.filename, self.line, self.function = filename, line, function

    def __str__(self) -> str:
        return f'File "{self.filename}", line {self.line}, in {self.function}'


class _Setting(Generic[T]):
    """An attribute whose value is one of the running context: of a thread, or of a task in it."""

    def __init__(self, default: T):
        self.variable = ContextVar("kameleon_setting", default=default)

    def __get__(self, owner: Context, kind: type[Context]) -> T:
        return self.variable.get()

    def __set__(self, owner: Context, value: T) -> None:
        self.variable.set(value)


class Context:
    """What code has set for the nodes that it builds.

    scope: prefix of names; control: updates that reads see (`control_dependencies`);
    source: stands for the user's line where a transform builds nodes on behalf of another node.
    """

    scope = _Setting("")
    control = _Setting[tuple["Update", ...]](())
    source = _Setting[Source | tuple[Any, int] | None](None)

    @classmethod
    def within(cls, name: str, change: Callable[[Any], Any], gives: bool = False) -> Scope[Any]:
        """A block in which the setting of this name has another value: see `Scope`."""
        return Scope(vars(cls)[name].variable, change, gives)


context = Context()


class Node:
    """A tensor: one value in the graph, computed by `primitive` from `operands`.

    Attributes: `shape` (ints and None), `dtype`, `name`, `source` (the user's line).
    Two nodes are equal only if they are the same node; use `K.equal` to compare values.
    """

    __slots__ = (
        "__dict__",
        "__weakref__",
        "_name",
        "_results",
        "_source",
        "attrs",
        "effects",
        "operands",
        "primitive",
        "serial",
        "type",
    )

    primitive: Primitive
    operands: tuple[Node, ...]
    attrs: Attrs
    type: TensorType
    effects: tuple[Effect, ...]

    __array_priority__ = 1000

    if TYPE_CHECKING:  # the K surface gives nodes their operators

        def _of_two(self, other: Any) -> Node: ...
        def _of_one(self) -> Node: ...
        def __getitem__(self, key: Any) -> Node: ...
        def __len__(self) -> int: ...
        def __iter__(self) -> Iterator[Node]: ...
        def eval(self, session: Any = None, feed_dict: Any = None) -> Any: ...
        def __deepcopy__(self, memo: Any) -> Node: ...  # by `runtime.copies`

        # Marks that it sets on some of them.
        default: Any  # the value of a placeholder that isn't fed
        is_phase: bool
        constraint: Any
        _keras_shape: Shape
        _uses_learning_phase: bool

        __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _of_two
        __truediv__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = _of_two
        __mod__ = __rmod__ = __pow__ = __rpow__ = __matmul__ = __rmatmul__ = _of_two
        __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = _of_two
        __lt__ = __le__ = __gt__ = __ge__ = _of_two
        __neg__ = __pos__ = __abs__ = __invert__ = _of_one

    def __init__(
        self,
        primitive: Primitive,
        operands: tuple[Node, ...],
        attrs: Attrs,
        type: TensorType,
        name: str | None = None,
    ):
        self.primitive = primitive
        self.operands = operands
        self.attrs = attrs
        self.type = type
        self.serial = _next_serial()
        self._source = context.source or _user_frame()
        self.effects = context.control
        self._results: tuple[Node, ...] | None = None
        self._name = name
        if name is None and context.scope:
            self._name = unique_name(context.scope + primitive.title)

    @property
    def results(self) -> tuple[Node, ...]:
        """The node itself; or an item for each result, if there are several."""
        return (self,) if self._results is None else self._results

    @property
    def shape(self) -> Shape:
        """The sizes of the axes; None where one is known only at run time."""
        return self.type.shape

    @property
    def dtype(self) -> DType:
        """The element type, a string such as 'float32'."""
        return self.type.dtype

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.type.shape)

    @property
    def name(self) -> str:
        """The name, unique in the session, with ':0' behind it."""
        if self._name is None:
            self._name = unique_name(self.primitive.title)
        return self._name + ":0"

    @property
    def source(self) -> Source:
        """The place in the user's code that made this node."""
        if isinstance(self._source, tuple):
            code, line = self._source
            self._source = Source(code.co_filename, line, code.co_name)
        return self._source

    def __repr__(self) -> str:
        shape = ", ".join(map(str, self.shape)) + ("," if len(self.shape) == 1 else "")
        kind = type(self).__name__.replace("Node", "Tensor")
        return f"<kameleon.{kind} '{self.name}' shape=({shape}) dtype={self.dtype}>"

    def __bool__(self) -> bool:
        raise TypeError(
            f"{self!r} has no truth value: it is a symbolic tensor, its numbers are known only"
            " when it runs; use K.switch for a choice inside the graph, K.eval(x) for its value"
        )

    def __copy__(self) -> Node:
        return self

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise UnpicklableError(
            f"{self!r} can't be pickled: it's part of a graph. Pickle the K.function that computes"
            " it, save that to a file (`save`, `kameleon.load`), or pickle K.get_value(variable)"
        )


class Variable(Node):
    """A tensor with state. As a node it stands for the value at the start of a call."""

    __slots__ = ("cell",)

    cell: Any
    trainable = True  # may be set for one: layers ask for it

    def __str__(self) -> str:
        return self.name[:-2]


class Effect:
    """Something that a node carries: it happens where a program with that node runs."""

    __slots__ = ()


class Update(Node, Effect):
    """The new value of a variable; whoever evaluates it changes the variable.

    `increment` is set where the update adds to the old value: several such updates of one
    variable in one call add up.
    """

    __slots__ = ("increment", "value", "variable")

    variable: Variable
    value: Node
    increment: Node | None

    def __repr__(self) -> str:
        return f"<kameleon.Update of '{self.variable.name}' shape={self.shape} dtype={self.dtype}>"


class Print(Effect):
    """Show `value` behind `message` whenever the node that carries this is computed."""

    __slots__ = ("message", "value")

    def __init__(self, message: str, value: Node):
        self.message, self.value = message, value


def _user_frame() -> tuple[Any, int]:
    """The innermost frame outside of this package, as (code, line)."""
    frame: Any = sys._getframe(2)
    while frame.f_code.co_filename.startswith(_PACKAGE) and frame.f_back is not None:
        frame = frame.f_back
    return frame.f_code, frame.f_lineno


def rewriting(call: Callable[..., T], *arguments: Any) -> T:
    """What a call gives; nodes made in it wait for nothing and belong to no scope.

    It may set `context.source`: what it sets ends with it, whatever is raised.
    """
    return built_for(None, call, *arguments)


def built_for(node: Node | None, call: Callable[..., T], *arguments: Any) -> T:
    """What a call gives; nodes made in it bear the source of `node`, and none of the caller's
    context.
    """
    # In a context of its own, which C code leaves.
    return copy_context().run(_built_for, node, call, arguments)


def _built_for(node: Node | None, call: Callable[..., T], arguments: tuple[Any, ...]) -> T:
    context.control, context.scope = (), ""
    if node is not None:
        context.source = node._source
    return call(*arguments)


_name_counts: dict[str, int] = {}
_name_lock = lock()


def unique_name(name: str) -> str:
    """`name`, or `name_1`, `name_2` … where it was given before in this session."""
    with _name_lock:
        count = _name_counts.get(name, 0)
        _name_counts[name] = count + 1
        while count:
            candidate = f"{name}_{count}"
            if candidate not in _name_counts:
                _name_counts[candidate] = 1
                return candidate
            count += 1
        return name


def reset_names() -> None:
    """Start counting names anew."""
    with _name_lock:
        _name_counts.clear()


def walk(outputs: Iterable[Node], stop: Collection[Node] = ()) -> list[Node]:
    """All nodes that `outputs` need, operands first; the walk does not look behind `stop`."""
    seen: set[Node] = set()
    stack = list(outputs)
    while stack:
        node = stack.pop()
        if node not in seen:
            seen.add(node)
            if node not in stop:
                stack.extend(node.operands)
    return sorted(seen, key=_serial)


def dependents(order: Iterable[Node], roots: Collection[Node]) -> set[Node]:
    """Those nodes of `order` (operands first) that are in `roots` or depend on them."""
    found = set(roots)
    for node in order:
        if node not in found and not found.isdisjoint(node.operands):
            found.add(node)
    return found


_serial: Callable[[Node], int] = lambda node: node.serial  # noqa: E731


def new_serial() -> int:
    """A serial above those of all nodes made so far, below those of all to come."""
    return _next_serial()


def frozen(value: Any, dtype: Any = None) -> np.ndarray:
    """A private read-only copy of `value` as an array; a number must fit, on NumPy 1, too."""
    kind = None if dtype is None else as_dtype(dtype)
    if isinstance(value, int) and kind is not None and kind.kind in ("signed", "unsigned"):
        limits = np.iinfo(kind)
        if not limits.min <= value <= limits.max:
            raise OverflowError(f"{value} is out of the range of {kind}")
    array = np.array(value, dtype=kind)
    array.flags.writeable = False
    return array
