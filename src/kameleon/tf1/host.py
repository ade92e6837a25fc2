"""Functions of Python inside of graphs of TensorFlow 1: `tf.py_func`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..backend.calling import call
from ..ir.node import Node
from ..ir.types import TensorType, as_dtype
from .graph import effect
from .tensors import constant

Shape = tuple[int | None, ...]


def py_func(func: Callable[..., Any], inp: Any, Tout: Any, stateful: bool = True,
            name: str | None = None) -> Any:  # fmt: skip
    """What a function of arrays gives, computed when the graph runs.

    Args:
        func: takes arrays, and gives one, or a list of them.
        inp: tensors, in a list.
        Tout: the dtype of the result, or a list of dtypes, or an empty list.
        stateful: accepted; calls are never merged.

    The graph must know how many axes a result has. To learn that, the function is called once
    with arrays of ones while the graph is built; where it fails with these, a result is taken for
    a scalar. `set_shape` on the result overrules that.
    """
    operands = [x if isinstance(x, Node) else constant(x) for x in inp]
    several = isinstance(Tout, (list, tuple))
    dtypes = [as_dtype(d) for d in (Tout if several else [Tout])]
    run = _listed(func, dtypes)
    if not dtypes:
        return effect(name or "PyFunc", [call(run, operands, "numpy", dtypes=[], pure=False)])
    shapes = _tried(run, operands, len(dtypes))
    found = call(run, operands, "numpy", shapes=shapes, dtypes=dtypes, pure=False,
                 gradient=lambda *given: [None] * len(operands))  # fmt: skip
    for i, x in enumerate(found):
        x.declare = _redeclaring(x, i)
    return list(found) if several else found[0]


def _listed(func: Callable[..., Any], dtypes: Sequence[Any]) -> Callable[..., list[Any]]:
    """The function with results in a list, of the declared dtypes where these are as wide."""

    def run(*arrays: Any) -> list[Any]:
        results = func(*arrays)
        if not isinstance(results, (list, tuple)):
            results = [results]
        return [_of_dtype(x, d) for x, d in zip(results, dtypes, strict=True)] if dtypes else []

    run.__name__ = getattr(func, "__name__", "py_func")
    return run


def _of_dtype(value: Any, dtype: Any) -> Any:
    """Python's numbers get the declared dtype; arrays keep theirs, which is checked."""
    if isinstance(value, (np.ndarray, np.generic)):
        return np.asarray(value)
    return np.asarray(value, dtype)


def _tried(run: Callable[..., list[Any]], operands: Sequence[Node], count: int) -> list[Shape]:
    """The shapes of what the function gives: the number of axes, and no sizes."""
    arrays = [
        np.ones([1 if d is None else d for d in x.type.shape], np.dtype(x.dtype)) for x in operands
    ]
    try:
        return [(None,) * np.ndim(x) for x in run(*arrays)]
    except Exception:  # the function is the program's own, and ones may be nothing for it
        return [()] * count


def _redeclaring(x: Node, index: int) -> Callable[[Shape], None]:
    """What gives a result other axes, before anything is made of it."""

    def declare(shape: Shape) -> None:
        producer = x.operands[0]
        callee: Any = producer.attrs["callee"]
        types = list(callee.results.types)
        types[index] = TensorType(shape, types[index].dtype)
        callee.results = callee.results._replace(types=tuple(types))
        producer.type = callee.results.of_node
        x.type = types[index]

    return declare


PLAIN: dict[str, Any] = {}
NAMES: dict[str, Any] = {
    "py_func": py_func,
    "py_function": lambda func, inp, Tout, name=None: py_func(func, inp, Tout),
    "numpy_function": lambda func, inp, Tout, name=None: py_func(func, inp, Tout),
}
