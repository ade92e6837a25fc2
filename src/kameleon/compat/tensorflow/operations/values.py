"""What operations take and give while a region is compiled.

A value is a tensor of K's; or an array, where it's known already; or a reference to a variable.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from operator import attrgetter
from typing import Any, NewType

import numpy as np

from kameleon import backend as K
from kameleon.backend._known import known_int, scalar_behind
from kameleon.backend._tensors import broadcast_together, dims_from
from kameleon.graph.ir.leaves import CONSTANT, INPUT
from kameleon.graph.ir.node import Tensor as Node
from kameleon.graph.ir.program import has_effects
from kameleon.graph.primitives.elementwise import cast
from kameleon.graph.primitives.movement import broadcast_to, reshape, stack
from kameleon.graph.primitives.sizes import Size, as_node

from ..dtypes import name_of
from ..graph import Operation
from ..tensors import UnknownSizeError as UnknownSizeError
from ..tensors import dims as dims
from ..tensors import sizes_of as sizes_of
from ..tensors import tensor as tensor
from ..walks import reached

Kind = NewType("Kind", str)  # the name of a data type, which an attribute tells
Texts = np.ndarray  # of bytes


class NeedsValueError(Exception):
    """A value must be known before its region can be compiled.

    Attributes:
        value: the tensor.
        operation: what needs it.
    """

    def __init__(self, what: str, value: Node, operation: Any = None) -> None:
        super().__init__(what)
        self.value, self.operation = value, operation


def is_text(value: Any) -> bool:
    """Whether a value holds strings, or objects, which K doesn't compute with."""
    if isinstance(value, bytes | str):
        return True
    return getattr(getattr(value, "dtype", None), "kind", "") in ("O", "S", "U")


def texts(value: Any) -> np.ndarray:
    """Strings, or one, as bytes in an array.

    >>> texts(["a", b"b"]).tolist()
    [b'a', b'b']
    """
    given = np.asarray(value, object)
    if {*map(type, given.flat)} == {bytes}:
        return given
    found = np.empty(given.size, object)
    found[:] = [each.encode() if isinstance(each, str) else each for each in given.flat]
    return found.reshape(given.shape)


def text(value: Any) -> str:
    """A scalar of bytes, or of text, as a string."""
    found = np.asarray(value, object).item()
    return found.decode() if isinstance(found, bytes) else str(found)


def data_in(value: Any) -> bytes:
    """A scalar of text as bytes."""
    return bytes(texts(value).item())


def scalar(value: str | bytes) -> np.ndarray:
    """A string as a value of a graph."""
    return np.array(value.encode() if isinstance(value, str) else value, object)


def objects(values: Sequence[Any]) -> np.ndarray:
    """A vector of strings, or of what is no array."""
    found = np.empty(len(values), object)
    found[:] = values
    return found


def plain(value: Any) -> np.ndarray:
    """A value as an array; strings as bytes."""
    return texts(value) if np.asarray(value).dtype.kind in "OSU" else np.asarray(value)


def array(value: Any) -> np.ndarray:
    """The value, where it's known.

    Raises:
        NeedsValueError: it isn't.
    """
    if not isinstance(value, Node):
        return np.asarray(value)
    if value.dtype.is_integer and value.shape == () and (known := known_int(value)) is not None:
        return np.array(known, str(value.dtype))
    if origins(value):
        found = dims_from(value, "sizes") if value.shape and may_be_sizes(value) else [value]
        if all(isinstance(each, int) for each in found):
            return np.array(found, str(value.dtype))
        raise NeedsValueError(f"a tensor of shape {value.shape}", value)
    return np.asarray(K.eval(value))


def origins(value: Node) -> set[Node]:
    """What a tensor depends on, but for constants: placeholders, variables, what is drawn."""
    return {node for node in reached([value], attrgetter("operands")) if _is_origin(node)}


def _is_origin(node: Node) -> bool:
    return (not node.operands and node.primitive is not CONSTANT) or has_effects(node)


MANY = 32  # more numbers than a shape has
OF_SHAPES = frozenset({"Const", "Shape", "ShapeN", "Size", "Rank"})


def follows_from_shapes(operation: Operation, place: int) -> bool:
    """Whether what an operation takes at a place is the same in each run with the same shapes."""
    rest, seen = [operation.inputs[place][0]], set[Any]()
    while rest:
        source = rest.pop()
        if source in seen or source.type in OF_SHAPES:
            continue
        if not source.inputs:
            return False
        seen.add(source)
        rest += [before for before, _ in source.inputs]
    return True


def elements(value: Any) -> list[Size]:
    """The numbers of a vector: ints where they're known, else scalars of K's."""
    if not isinstance(value, Node):
        return [*integers(value)]
    return [cast(x, "int32") if isinstance(x, Node) else x for x in dims_from(value, "numbers")]


def integers(value: Any) -> list[int]:
    """A known vector, or number, of integers."""
    return [int(number) for number in np.ravel(array(value))]


def integer(value: Any) -> int:
    """A known integer."""
    return int(array(value))


def may_be_sizes(value: Node) -> bool:
    """Whether a tensor is an integer, or a short vector of them."""
    is_one = value.dtype.is_integer and not value.shape
    return is_one or (_is_vector(value) and (value.shape[0] or 0) < MANY)


def vector_of(sizes: Sequence[Size], dtype: str) -> Any:
    """Sizes as an array; as a tensor, where some aren't known."""
    if all(isinstance(size, int) for size in sizes):
        return np.array(sizes, dtype)
    return cast(stack([as_node(size) for size in sizes], 0), dtype)


def _is_vector(value: Node) -> bool:
    return value.dtype.is_integer and len(value.shape) == 1 and value.shape[0] is not None


_open_sizes: ContextVar[list[Node] | None] = ContextVar("open sizes", default=None)


@contextmanager
def open_sizes() -> Iterator[list[Node]]:
    """Sizes need not be known here: tensors may have axes of unknown size; those of these that are
    taken to be no single element.
    """
    several: list[Node] = []
    token = _open_sizes.set(several)
    try:
        yield several
    finally:
        _open_sizes.reset(token)


def are_sizes_open() -> bool:
    """Whether tensors may have axes of unknown size."""
    return _open_sizes.get() is not None


def take_as_several(size: Node) -> bool:
    """Take it that an open size isn't 1, if it's computed of sizes alone; whether it is."""
    several, are_sizes = _open_sizes.get(), is_of_sizes(size)
    if several is not None and are_sizes and size.primitive.name != "size":
        several.append(size)
    return are_sizes


def is_of_sizes(size: Size) -> bool:
    """Whether a number is known, or computed of sizes alone."""
    if isinstance(size, int):
        return True
    behind = reached([size], lambda node: () if node.primitive.name == "size" else node.operands)
    return all(node.operands or node.primitive is CONSTANT for node in behind) and not any(
        map(has_effects, behind)
    )


def sizes_in(value: Any) -> list[Size]:
    """The sizes that a vector holds; where sizes are open, scalars of K's for unknown ones.

    Raises:
        NeedsValueError: they aren't known.
        UnknownSizeError: where sizes are open, it isn't known how many they are.
    """
    if not isinstance(value, Node) or not are_sizes_open():
        return [*integers(value)]
    if not value.shape:
        value = reshape(value, [1])
    if not _is_vector(value):
        raise UnknownSizeError(f"sizes in a tensor of shape {value.shape}")
    return elements(value)


def is_open_size(value: Any) -> bool:
    """Whether a number is a size that was left open: those are 2 at least."""
    found = scalar_behind(value) if isinstance(value, Node) else None
    if found is None or found.primitive.name != "size" or not are_sizes_open():
        return False
    return found.operands[0].primitive is INPUT


def margins(pads: Any) -> list[tuple[Size, Size]]:
    """What is put before and behind each axis, of a matrix that says so."""
    sizes = sizes_in(reshape(pads, [-1]) if isinstance(pads, Node) else pads)
    return [*zip(sizes[::2], sizes[1::2], strict=True)]


def size_in(value: Any) -> Size:
    """The size that a number says; where sizes are open, a scalar of K's for an unknown one."""
    return sizes_in(value)[0]


def axis_of(value: Any, rank: int) -> int:
    """A known axis, counted from the front."""
    axis = integer(value)
    if not -rank <= axis < max(rank, 1):
        raise ValueError(f"axis {axis} of a tensor with {rank} axes")
    return axis % rank if rank else 0


def broadcast(*values: Any) -> list[Node]:
    """Values as tensors of one shape."""
    found = [tensor(value) for value in values]
    shapes = {node.shape for node in found}
    if len(shapes) == 1:
        return found
    if any(None in shape for shape in shapes):
        return broadcast_together(found, "broadcast")
    shape = np.broadcast_shapes(*map(sizes_of, found))
    return [broadcast_to(node, shape) for node in found]


def dtype_of(operation: Operation, attribute: str) -> str:
    """The data type that an attribute names."""
    return name_of(operation.attribute(attribute))


def result_type(operation: Operation, index: int = 0) -> str:
    """The data type of an operation's output."""
    return name_of(operation.types[index])


def positions(axes: Sequence[int], rank: int) -> list[int]:
    """Axes counted from the front, each once, in order."""
    return sorted({axis % rank for axis in axes}) if rank else []
