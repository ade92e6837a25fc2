"""What tensors, variables and dtypes of TensorFlow 1 have beside those of K.

`install` gives these to the nodes of the graph. Programs that the hosted Keras runs also see
`x.shape` as TensorFlow gives it; Keras and Kameleon see the tuple.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary, ref

import numpy as np

from ..backend import surface as K
from ..backend._tensors import as_tensor
from ..backend.sparse_tensor import SparseTensor
from ..errors import ArgumentError, ShapeError
from ..hosting.naming import INSIDE
from ..ir.context import context
from ..ir.node import Node, Variable
from ..ir.types import DType, TensorType, join_shapes
from . import scattering, several, variables
from .graph import get_default_graph
from .operations import operation_of
from .sessions import Session, evaluated
from .shapes import TensorShape
from .sparse.tensors import times_dense


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
    declare = self.__dict__.get("declare")
    if declare is not None:
        declare(tuple(wanted.as_list()))
    if len(wanted) != len(self.type.shape):
        raise ShapeError(f"Shapes {get_shape(self)} and {wanted} must have the same rank")
    known = join_shapes(self.type.shape, tuple(wanted.as_list()), "set_shape")
    self.type = TensorType(known, self.type.dtype)


def numpy(self: Node) -> Any:
    raise AttributeError(
        f"{self!r} is symbolic: it has no numpy(); K.eval(x) or session.run(x, feed_dict) computes"
        " its value"
    )


def consumers(self: Node) -> list[Any]:
    """The operations that take this tensor, as far as their results are held by somebody."""
    held = (taker() for taker in _takers().get(self, ()))
    return list(dict.fromkeys(operation_of(node) for node in held if node is not None))


class _Takers:
    """Which tensors are made of which others; nothing is kept alive by it."""

    last = -1  # the serial of the last tensor that was known when it was found out
    of: WeakKeyDictionary[Node, list[ref[Node]]] = WeakKeyDictionary()


def _takers() -> WeakKeyDictionary[Node, list[ref[Node]]]:
    """By tensor, those that are made of it: found anew where tensors have been made since."""
    alive = sorted(
        (x for x in gc.get_objects() if issubclass(type(x), Node)), key=lambda x: x.serial
    )
    if _Takers.last != alive[-1].serial:
        found: WeakKeyDictionary[Node, list[ref[Node]]] = WeakKeyDictionary()
        for node in alive:
            if isinstance(node.type, TensorType):
                for x in operation_of(node).inputs:
                    found.setdefault(x, []).append(ref(node))
        _Takers.last, _Takers.of = alive[-1].serial, found
    return _Takers.of


def load(self: Variable, value: Any, session: Any = None) -> None:
    """Set the value at once."""
    K.set_value(self, value)


def read_value(self: Variable) -> Any:
    """A tensor with the variable's value."""
    return K.identity(self)


def initial_value(self: Variable) -> Any:
    """The tensor, or array, that the variable began with."""
    found = self.__dict__.get("initial")
    return (
        K.identity(self)
        if found is None
        else K.constant(found)
        if not isinstance(found, Node)
        else found
    )


def _quotient(x: Any, y: Any) -> Any:
    """x / y; of integers, x // y."""
    return x / y if x.dtype.is_float else x // y


# The operators that classes of programs take over from tensors.
OPERATORS = {
    f"__{name}__"
    for name in """
        abs add and div eq floordiv ge getitem gt invert le lt matmul mod mul ne neg or pow radd
        rand rdiv rfloordiv rmatmul rmod rmul ror rpow rsub rtruediv rxor sub truediv xor
    """.split()
}

OF_TENSORS: dict[str, Any] = {
    "OVERLOADABLE_OPERATORS": OPERATORS,
    # By their names in Python 2.
    "__nonzero__": Node.__bool__,
    "__div__": lambda self, other: _quotient(self, other),
    "__rdiv__": lambda self, other: _quotient(as_tensor(other, "/"), self),
    "get_shape": get_shape,
    "set_shape": set_shape,
    "_shape_as_list": lambda self: list(self.type.shape),
    "numpy": numpy,
    "consumers": consumers,
    "eval": evaluated,
    "op": property(operation_of),
    "graph": property(lambda self: context.graph or get_default_graph()),
    "device": property(lambda self: ""),
    "value_index": property(lambda self: 0),
    "_as_graph_element": lambda self: self,
    "_as_tf_output": lambda self: self,
    "experimental_ref": lambda self: self,
    "ref": lambda self: self,
}
OF_SPARSE: dict[str, Any] = {
    "get_shape": lambda self: TensorShape(self.shape),
    "__mul__": times_dense(lambda x, y: x * y),
    "__truediv__": times_dense(lambda x, y: x / y),
    "__div__": times_dense(_quotient),
}
_UPDATES = ("update", "add", "sub")
OF_VARIABLES: dict[str, Any] = {
    "assign": variables.assign,
    "assign_add": variables.assign_add,
    "assign_sub": variables.assign_sub,
    **{f"scatter_{name}": scattering.PLAIN[f"scatter_{name}"] for name in scattering.COMBINATIONS},
    **{f"scatter_nd_{name}": scattering.PLAIN[f"scatter_nd_{name}"] for name in _UPDATES},
    "initializer": property(variables.initializer),
    "initial_value": property(initial_value),
    "initialized_value": initial_value,
    "read_value": read_value,
    "value": read_value,
    "_ref": lambda self: self,
    "load": load,
    "is_initialized": variables.always,
    "synchronization": property(lambda self: None),
    "aggregation": property(lambda self: None),
    "sparse_read": lambda self, indices, name=None: K.gather(self, indices),
    "count_up_to": several.PLAIN["count_up_to"],
    "to_proto": lambda self, export_scope=None: None,
}


def _limits(which: str) -> Callable[[DType], Any]:
    def limit(self: DType) -> Any:
        if self.is_bool:
            raise ArgumentError(f"dtype {self} has no {which}imum")
        kind = np.dtype(self)
        info = np.finfo(kind) if self.is_float else np.iinfo(kind)
        return getattr(info, which)

    return limit


NUMBERS = {
    "float32": 1, "float64": 2, "int32": 3, "uint8": 4, "int16": 5, "int8": 6, "int64": 9,
    "bool": 10, "bfloat16": 14, "uint16": 17, "float16": 19, "uint32": 22, "uint64": 23,
}  # fmt: skip
OF_DTYPES: dict[str, Any] = {
    "as_numpy_dtype": property(lambda self: np.dtype(str(self)).type),
    "as_datatype_enum": property(lambda self: NUMBERS[self]),
    "is_floating": property(lambda self: self.is_float),
    "is_complex": property(lambda self: False),
    "is_quantized": property(lambda self: False),
    "is_unsigned": property(lambda self: self.kind == "unsigned"),
    "is_numpy_compatible": property(lambda self: True),
    "real_dtype": property(lambda self: self),
    "size": property(lambda self: self.itemsize),
    "min": property(_limits("min")),
    "max": property(_limits("max")),
    "limits": property(lambda self: (0 if not self.is_integer else self.min, self.max)),
    "is_compatible_with": lambda self, other: str(self) == str(other),
}


def install() -> None:
    """Give the nodes of the graph and the dtypes what those of TensorFlow 1 have."""
    tables: dict[type, dict[str, Any]] = {
        Node: OF_TENSORS, Variable: OF_VARIABLES, DType: OF_DTYPES, SparseTensor: OF_SPARSE,
    }  # fmt: skip
    for kind, table in tables.items():
        for name, value in table.items():
            setattr(kind, name, value)
    if not isinstance(K.get_session(), Session):
        K.set_session(Session())  # type: ignore[arg-type]


def show_shapes() -> None:
    """Let programs see `x.shape` as TensorFlow's; Keras and Kameleon go on to see a tuple."""

    def shape(self: Node) -> Any:
        caller = sys._getframe(1).f_globals.get("__name__") or ""
        if caller.startswith("kameleon.") or caller.partition(".")[0] in INSIDE:
            return self.type.shape
        return TensorShape(self.type.shape)

    Node.shape = property(shape)  # type: ignore[assignment]
