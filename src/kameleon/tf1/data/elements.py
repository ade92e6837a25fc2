"""The structure of a dataset's elements: nests of tuples and dicts, and the type of each part."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...backend._tensors import as_tensor
from ...errors import ArgumentError
from ...ir.node import Node
from ...ir.types import DType, TensorType, as_dtype
from ..nests import pack
from ..shapes import TensorShape
from ..tensors import constant
from ..variables import natural_dtype

Element = Sequence[Any]


class Spec(NamedTuple):
    """The type of a part of an element."""

    dtype: DType
    shape: tuple[int | None, ...]

    @property
    def type(self) -> TensorType:
        """As a tensor's."""
        return TensorType(self.shape, self.dtype)


def flat(nest: Any) -> list[Any]:
    """The parts of an element. Lists are no structure here: they stand for arrays.

    >>> flat((1, {"b": [2, 3], "a": 4}))
    [1, 4, [2, 3]]
    """
    if isinstance(nest, Mapping):
        return [x for key in sorted(nest) for x in flat(nest[key])]
    if isinstance(nest, tuple) and not isinstance(nest, Spec):
        return [x for item in nest for x in flat(item)]
    return [nest]


def packed(structure: Any, parts: Sequence[Any]) -> Any:
    """Parts in the structure of an element."""
    marks = pack_marks(structure)
    return pack(marks, list(parts))


def pack_marks(structure: Any) -> Any:
    """The structure, with 0 for each part."""
    if isinstance(structure, Mapping):
        kind: Any = type(structure)
        return kind((k, pack_marks(v)) for k, v in structure.items())
    if isinstance(structure, tuple) and not isinstance(structure, Spec):
        items = [pack_marks(x) for x in structure]
        return type(structure)(*items) if hasattr(structure, "_fields") else tuple(items)
    return 0


def mapped(function: Callable[[Any], Any], structure: Any) -> Any:
    """A function of each part, in the structure."""
    return packed(structure, [function(x) for x in flat(structure)])


def array_of(value: Any, what: str) -> Any:
    """A part of an element as an array of TensorFlow's natural dtype; a tensor as it is."""
    if isinstance(value, Node):
        return value
    if isinstance(value, (list, tuple)) and any(isinstance(x, Node) for x in value):
        return as_tensor(value, what)
    array = np.asarray(value, natural_dtype(value))
    if array.dtype.kind in "USO":
        raise ArgumentError(
            f"{what}: {value!r} is made of strings or objects, which the graph hasn't got; read"
            " files in a Python generator, and give it to tf.data.Dataset.from_generator"
        )
    return array


def tensor_of(value: Any) -> Node:
    """What a function of a dataset returns, as a tensor."""
    return value if isinstance(value, Node) else constant(value)


def spec_of(value: Any) -> Spec:
    """The type of an array or tensor."""
    if isinstance(value, Node):
        return Spec(value.dtype, value.type.shape)
    return Spec(as_dtype(value.dtype), value.shape)


def joined(a: Spec, b: Spec, what: str) -> Spec:
    """What's true of two types."""
    if a.dtype != b.dtype:
        raise TypeError(f"{what}: Two datasets have different types {a.dtype} and {b.dtype}")
    if len(a.shape) != len(b.shape):
        raise ArgumentError(
            f"{what}: elements of shape {TensorShape(a.shape)} and of shape"
            f" {TensorShape(b.shape)} have different numbers of axes"
        )
    pairs = zip(a.shape, b.shape, strict=True)
    return Spec(a.dtype, tuple(m if m == n else None for m, n in pairs))


def shape_of(shape: Any) -> tuple[int | None, ...]:
    """A shape; -1 stands for an unknown size, too."""
    if isinstance(shape, (np.ndarray, list, tuple)):
        shape = [None if n is None or int(n) < 0 else int(n) for n in shape]
    return tuple(TensorShape(shape).as_list())


def shapes_of(shapes: Any, like: Any) -> list[tuple[int | None, ...]]:
    """The shape of each part of an element, of shapes in its structure."""
    return [shape_of(x) for x in flat(_structured(shapes, like))]


def _structured(shapes: Any, like: Any) -> Any:
    """Shapes in the structure of an element: there tuples of numbers are shapes."""
    if isinstance(like, dict):
        return {k: _structured(shapes[k], v) for k, v in like.items()}
    if isinstance(like, tuple) and not isinstance(like, Spec):
        return tuple(_structured(s, x) for s, x in zip(shapes, like, strict=True))
    return TensorShape(None if shapes is None else shape_of(shapes))


def as_structure(value: Any, like: Any) -> Any:
    """A value in the structure of an element, where lists may stand for tuples."""
    if isinstance(like, dict):
        return {k: as_structure(value[k], v) for k, v in like.items()}
    if isinstance(like, tuple) and not isinstance(like, Spec):
        if len(value) != len(like):
            raise TypeError(f"`generator` yielded {value!r}, not {len(like)} parts.")
        return tuple(as_structure(x, y) for x, y in zip(value, like, strict=True))
    return value


def of_spec(value: Any, spec: Spec) -> Any:
    """What a generator yields, as an array of its type."""
    try:
        array = np.asarray(value, spec.dtype)
    except (TypeError, ValueError):
        raise TypeError(
            "`generator` yielded an element that could not be converted to the expected type. The"
            f" expected type was {spec.dtype}, but the yielded element was {value!r}."
        ) from None
    if not spec.type.accepts(array.shape):
        raise ValueError(
            f"`generator` yielded an element of shape {array.shape} where an element of shape"
            f" {TensorShape(spec.shape)} was expected."
        )
    return array
