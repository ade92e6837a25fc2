"""What programs of Keras 2 ask of tensors, variables and dtypes: TensorFlow's were theirs.

`install` gives these to the nodes of the graph. Programs also see `x.shape` as TensorFlow gave it;
Keras and Kameleon see the tuple.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ....backend import surface as K
from ....errors import ShapeError
from ....graph.ir.node import Node, Variable
from ....graph.ir.types import DType, TensorType, join_shapes
from ..naming import INSIDE
from .shapes import TensorShape


@dataclass(frozen=True)
class Operation:
    """What makes a tensor: `x.op.name`, `x.op.type`, `x.op.inputs`, `x.op.outputs`."""

    tensor: Node

    @property
    def name(self) -> str:
        return str(self.tensor.name).partition(":")[0]

    @property
    def type(self) -> str:
        return self.tensor.primitive.title

    @property
    def inputs(self) -> list[Node]:
        return list(self.tensor.operands)

    @property
    def outputs(self) -> list[Node]:
        return [self.tensor]


def get_shape(self: Node) -> TensorShape:
    """The sizes of the axes, as far as they're known."""
    return TensorShape(self.type.shape)


def set_shape(self: Node, shape: Any) -> None:
    """Say what's known of the sizes beside what the graph knows.

    Raises:
        ShapeError: (a ValueError) the two contradict each other.
    """
    wanted = TensorShape(shape)
    if wanted.dims is None:
        return
    if len(wanted) != len(self.type.shape):
        raise ShapeError(f"Shapes {get_shape(self)} and {wanted} must have the same rank")
    known = join_shapes(self.type.shape, tuple(wanted.as_list()), "set_shape")
    self.type = TensorType(known, self.type.dtype)


def evaluated(self: Node, feed_dict: Any = None, session: Any = None) -> Any:
    """The tensor's value; the two arguments come in either order."""
    if isinstance(session, Mapping) or hasattr(feed_dict, "run"):
        feed_dict, session = session, feed_dict
    return (session or K.get_session()).run(self, feed_dict)


def numpy(self: Node) -> Any:
    raise AttributeError(
        f"{self!r} is symbolic: it has no numpy(); K.eval(x) or session.run(x, feed_dict) computes"
        " its value"
    )


def load(self: Variable, value: Any, session: Any = None) -> None:
    """Set the value at once."""
    K.set_value(self, value)


def read_value(self: Variable) -> Any:
    """A tensor with the variable's value."""
    return K.identity(self)


OF_TENSORS: dict[str, Any] = {
    "get_shape": get_shape,
    "set_shape": set_shape,
    "eval": evaluated,
    "numpy": numpy,
    "op": property(Operation),
    "graph": property(lambda self: K.get_session().graph),
    "device": property(lambda self: ""),
}
OF_VARIABLES: dict[str, Any] = {
    "assign": lambda self, value, *more, **options: K.update(self, value),
    "assign_add": lambda self, delta, *more, **options: K.update_add(self, delta),
    "assign_sub": lambda self, delta, *more, **options: K.update_sub(self, delta),
    "initialized_value": read_value,
    "read_value": read_value,
    "value": read_value,
    "load": load,
}
OF_DTYPES: dict[str, Any] = {
    "as_numpy_dtype": property(lambda self: np.dtype(str(self)).type),
    "is_floating": property(lambda self: self.is_float),
    "is_compatible_with": lambda self, other: str(self) == str(other),
    "size": property(lambda self: self.itemsize),
}


def install() -> None:
    """Give the nodes of the graph and the dtypes what TensorFlow's have, as programs see them."""
    tables: dict[type, dict[str, Any]] = {
        Node: OF_TENSORS, Variable: OF_VARIABLES, DType: OF_DTYPES,
    }  # fmt: skip
    for kind, table in tables.items():
        for name, value in table.items():
            setattr(kind, name, value)
    Node.shape = property(_shape)  # type: ignore[assignment]


def _shape(self: Node) -> Any:
    caller = sys._getframe(1).f_globals.get("__name__") or ""
    if caller.startswith("kameleon.") or caller.partition(".")[0] in INSIDE:
        return self.type.shape
    return TensorShape(self.type.shape)
