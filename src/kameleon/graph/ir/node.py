"""Nodes of the graph, immutable and built in order, and the primitives that compute them.

A node is what users call a tensor. Its operands were made before it, so `serial` numbers order
any graph topologically, and all walks are loops. A node with several results (`scan`, say) is
never seen by users: they hold its `results`, one `item` node each.

A primitive is declared once: `infer` gives the result's type, `expand` its meaning in simpler
primitives (composites only). Its gradient stands in the table of `gradients/`; engines hold the
numerics. Operators on nodes are installed by the K surface; rules call primitives.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Container, Iterable, Mapping
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..._utils.threads import counter
from ...errors import GraphError, UnpicklableError
from .context import Source, context, unique_name, user_frame
from .types import DType, Shape, TensorType, as_dtype

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .kinds import Kind

Attrs = Mapping[str, Any]
NO_ATTRS: dict[str, Any] = {}

Infer = Callable[..., TensorType | tuple[TensorType, ...]]
Part = Literal["space", "places", "kernel", "cells"]
Accuracy = Literal["moved", "exact", "rounded"]

_next_serial = counter()


class Tensor:
    """A tensor: one value in the graph, computed by `primitive` from `operands`.

    Attributes: `shape` (ints and None), `dtype`, `name`, `source` (the user's line).
    Two tensors are equal only if they are the same; use `K.equal` to compare values.
    """

    __module__ = "kameleon"  # where users find it
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

    graph_of: Any = None  # the graph in which it was given a name, if not the session's own
    # Of a body's parameter, while the body is built: what it stands for, and how many more axes
    # that has in front.
    given: tuple[Node, int] | None = None

    primitive: Primitive
    operands: tuple[Tensor, ...]
    attrs: Attrs
    type: TensorType
    effects: tuple[Effect, ...]

    __array_priority__ = 1000
    is_phase = False  # whether it's the learning phase

    if TYPE_CHECKING:  # the K surface gives tensors their operators

        def _of_two(self, other: Any) -> Tensor: ...
        def _of_one(self) -> Tensor: ...
        def __getitem__(self, key: Any) -> Tensor: ...
        def __len__(self) -> int: ...
        def __iter__(self) -> Iterator[Tensor]: ...
        def eval(self, session: Any = None, feed_dict: Any = None) -> Any: ...
        def __deepcopy__(self, memo: Any) -> Tensor: ...  # by `runtime.copies`

        # Marks that the K surface sets on some nodes.
        default: Any  # the value of a placeholder that isn't fed
        constraint: Any
        _keras_shape: Shape
        _uses_learning_phase: bool

        # As NumPy's arrays have them. NumPy's functions take what has the first two.
        def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray: ...
        def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **given: Any) -> Any: ...

        T: Tensor
        size: int

        def _reduced(
            self, axis: Any = None, dtype: Any = None, out: None = None, keepdims: bool = False
        ) -> Tensor: ...
        def _extremum(
            self, axis: Any = None, out: None = None, keepdims: bool = False
        ) -> Tensor: ...
        def _spread(
            self,
            axis: Any = None,
            dtype: Any = None,
            out: None = None,
            ddof: float = 0,
            keepdims: bool = False,
        ) -> Tensor: ...
        def _place(
            self, axis: int | None = None, out: None = None, *, keepdims: bool = False
        ) -> Tensor: ...
        def _running(self, axis: int | None = None, dtype: Any = None) -> Tensor: ...
        def _moved(self, *places: Any) -> Tensor: ...
        def astype(self, dtype: Any) -> Tensor: ...
        def clip(self, min: Any = None, max: Any = None) -> Tensor: ...
        def copy(self) -> Tensor: ...
        def dot(self, b: Any) -> Tensor: ...
        def flatten(self) -> Tensor: ...
        def ravel(self) -> Tensor: ...
        def repeat(self, repeats: Any, axis: int | None = None) -> Tensor: ...
        def round(self, decimals: int = 0) -> Tensor: ...
        def squeeze(self, axis: Any = None) -> Tensor: ...
        def swapaxes(self, axis1: int, axis2: int) -> Tensor: ...
        def take(self, indices: Any, axis: int | None = None) -> Tensor: ...

        sum = prod = mean = _reduced
        max = min = any = all = _extremum
        var = std = _spread
        argmax = argmin = _place
        cumsum = cumprod = _running
        reshape = transpose = _moved

        __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _of_two
        __truediv__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = _of_two
        __mod__ = __rmod__ = __pow__ = __rpow__ = __matmul__ = __rmatmul__ = _of_two
        __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = _of_two
        __lt__ = __le__ = __gt__ = __ge__ = _of_two
        __neg__ = __pos__ = __abs__ = __invert__ = _of_one

    def __init__(
        self,
        primitive: Primitive,
        operands: tuple[Tensor, ...],
        attrs: Attrs,
        type: TensorType,
        name: str | None = None,
    ):
        self.primitive = primitive
        self.operands = operands
        self.attrs = attrs
        self.type = type
        self.serial = _next_serial()
        self._source = context.source or user_frame()
        self.effects = context.control
        self._results: tuple[Tensor, ...] | None = None
        self._name = name
        scope = context.scope
        if scope:
            if isinstance(self._source, tuple):
                self._source = (*self._source[:2], scope)
            if name is None:
                self._name = unique_name(scope + primitive.title)
        if self._name is not None and context.graph is not None:
            self.graph_of = context.graph

    @property
    def results(self) -> tuple[Tensor, ...]:
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
            self._source = Source.of(self._source)
        return self._source

    def __repr__(self) -> str:
        shape = ", ".join(map(str, self.shape)) + ("," if len(self.shape) == 1 else "")
        return f"<kameleon.{type(self).__name__} '{self.name}' shape=({shape}) dtype={self.dtype}>"

    def __bool__(self) -> bool:
        raise TypeError(
            f"{self!r} has no truth value: it is a symbolic tensor, its numbers are known only"
            " when it runs; use K.switch for a choice inside the graph, K.eval(x) for its value"
        )

    def __copy__(self) -> Tensor:
        return self

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise UnpicklableError(
            f"{self!r} can't be pickled: it's part of a graph. Pickle the K.function that computes"
            " it, save that to a file (`save`, `kameleon.load`), or pickle K.get_value(variable)"
        )


# What the core, the passes and the engines call it: there a tensor is an array of a library.
Node = Tensor


class Variable(Tensor):
    """A tensor with state. As a node it stands for the value at the start of a call."""

    __module__ = "kameleon"
    __slots__ = ("cell",)

    cell: Any
    trainable = True  # may be set on a variable: layers ask for it
    initial: Any = None  # the tensor that it began with

    def __str__(self) -> str:
        return self.name[:-2]


class Effect:
    """Something that a node carries: it happens where a program with that node runs."""

    __slots__ = ()


class Update(Tensor, Effect):
    """The new value of a variable; evaluating this node changes the variable.

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
    """Show `value` behind `message` whenever the node that carries this effect is computed."""

    __slots__ = ("message", "value")

    def __init__(self, message: str, value: Node):
        self.message, self.value = message, value

    def of(self, value: Node) -> Print:
        """The same for another value."""
        return type(self)(self.message, value)


class Watch(Print):
    """Keep statistics of `value`, whose name is `message`."""

    __slots__ = ()


# Primitives ------------------------------------------------------------------------------------

REGISTRY: dict[str, Primitive] = {}


class Primitive:
    """One operation of the table.

    Args:
        name: its name, snake_case; the key of every table.
        infer: `(*operands, **attrs) -> TensorType`, or a tuple of types for several results;
            raises ShapeError or DTypeError. The attributes are its keyword-only parameters; what
            each may be is declared in `graph.ir.attributes`.
        expand: `(*operands, **attrs) -> Node or tuple`, for composites.
        title: the name in the repr of a tensor.
        elementwise: operands and result have equal shapes.
        host_callback: the embedded engine does it, between compiled parts, where an engine doesn't.
        kinds: attributes that mean something else here than by that name elsewhere.
        bodies: the attributes that are graphs, of a loop or a condition.
        parts: of an operation with windows, what its operands are, and its first result behind
            them: the "space" that windows move over, their "places", a "kernel", chosen "cells".
        index: the number of the operand whose elements choose elements of another one.
        bound: given a node, the size below which these must lie, or the size for each of their
            columns; None, if they may be any numbers.
        accuracy: "moved", if results are elements of operands, or facts about these for which the
            dtype doesn't matter (of loops and conditions their bodies decide, and a function of
            Python has its own types); "exact", if they're exact in any precision, so that no other
            one is needed wherever the operands are really rounded; or "rounded".
        passes: operands whose elements are results, up to the sign, at their own place.
        moves: operands whose elements are results, up to the sign, at any place.
        is_cheap: it costs less to compute it again than to keep its result.
        may_alias: a library's result may be an operand as it is, or share memory with it.
    """

    __slots__ = (
        "_first_size",
        "accuracy",
        "bodies",
        "bound",
        "doc",
        "elementwise",
        "expand",
        "host_callback",
        "index",
        "infer",
        "is_cheap",
        "kinds",
        "may_alias",
        "moves",
        "name",
        "parts",
        "passes",
        "title",
    )

    def __init__(
        self,
        name: str,
        infer: Infer,
        doc: str,
        expand: Callable[..., Any] | None = None,
        title: str | None = None,
        elementwise: bool = False,
        host_callback: bool = False,
        *,
        kinds: Mapping[str, Kind] | None = None,
        bodies: tuple[str, ...] = (),
        parts: tuple[Part, ...] = (),
        index: int | None = None,
        bound: Callable[[Node], Any] | None = None,
        accuracy: Accuracy = "rounded",
        passes: slice | None = None,
        moves: slice | None = None,
        is_cheap: bool = False,
        may_alias: bool = False,
    ):
        self.name, self.infer, self.doc = name, infer, doc
        self.expand, self.host_callback = expand, host_callback
        self.title = title or name.title().replace("_", "")
        self.elementwise, self.kinds = elementwise, kinds or {}
        self.bodies, self.parts = bodies, parts
        self.index, self.bound = index, bound
        self.accuracy, self.passes, self.moves = accuracy, passes, moves
        self.is_cheap, self.may_alias = is_cheap, may_alias
        self._first_size: int | None = -1  # not yet known
        if name in REGISTRY:
            raise GraphError(f"primitive {name!r} is declared twice")
        REGISTRY[name] = self

    def __repr__(self) -> str:
        return f"<primitive {self.name}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return REGISTRY.__getitem__, (self.name,)

    @property
    def tier(self) -> str:
        """'core' (each engine must do it), 'composite' (it has an expansion), 'host callback'."""
        if self.host_callback:
            return "host callback"
        return "core" if self.expand is None else "composite"

    @property
    def first_size(self) -> int | None:
        """The number of the first operand that is a size, as all behind it; None, if none is."""
        if self._first_size == -1:
            names = list(inspect.signature(self.infer).parameters)
            self._first_size = names.index("sizes") if "sizes" in names else None
        return self._first_size

    @property
    def moves_windows(self) -> bool:
        """Whether it moves a window over its first operand, and gives something for each place."""
        return self.parts[:1] == ("space",) and "kernel" not in self.parts[2:]

    def __call__(self, *operands: Node, **attrs: Any) -> Node:
        """Build a node, or the one with all results of a primitive that has several."""
        if context.control:
            operands = tuple(map(current, operands))
        type = self.infer(*operands, **attrs)
        node = Node(self, operands, attrs or NO_ATTRS, type)  # type: ignore[arg-type]
        if not isinstance(type, TensorType):
            node._results = tuple(Node(ITEM, (node,), {"index": i}, t) for i, t in enumerate(type))
        return node


def current(node: Node) -> Node:
    """`node`, or the new value of the variable that the control dependencies in force update."""
    for update in context.control:
        if isinstance(update, Update) and update.variable is node:
            value: Node = update.value
            return value
    return node


def _infer_item(producer: Node, *, index: int) -> TensorType:
    types: Any = producer.type  # of several results: a tuple
    found: TensorType = types[index]
    return found


class _Item(Primitive):
    """One of several results. Its cotangent is read by the producer's own rule."""

    __slots__ = ()

    def __call__(self, *operands: Node, **attrs: Any) -> Node:
        index: int = attrs["index"]
        return operands[0].results[index]


ITEM = _Item(
    "item",
    _infer_item,
    "result number `index` of a node that has several",
    accuracy="moved",
    may_alias=True,
)


def producer(node: Node) -> Node:
    """The node itself; for an item, the node with several results that the item is taken from."""
    return node.operands[0] if node.primitive is ITEM else node


# Walks -----------------------------------------------------------------------------------------


def walk(outputs: Iterable[Node], stop: Container[Node] = ()) -> list[Node]:
    """All nodes that `outputs` need, operands first; the walk does not look behind `stop`."""
    seen: set[Node] = set()
    stack = list(outputs)
    while stack:
        node = stack.pop()
        if node not in seen:
            seen.add(node)
            if node not in stop:
                stack.extend(node.operands)
    return sorted(seen, key=attrgetter("serial"))


def dependents(order: Iterable[Node], roots: Collection[Node]) -> set[Node]:
    """Those nodes of `order` (operands first) that are in `roots` or depend on them."""
    found = set(roots)
    for node in order:
        if node not in found and not found.isdisjoint(node.operands):
            found.add(node)
    return found


def new_serial() -> int:
    """A serial above those of all nodes made so far, below those of all to come."""
    return _next_serial()


def frozen(value: Any, dtype: Any = None) -> np.ndarray:
    """A private read-only copy of `value` as an array; a number must fit."""
    array = np.array(value, dtype=None if dtype is None else as_dtype(dtype))
    array.flags.writeable = False
    return array
