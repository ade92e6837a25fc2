"""TensorFlow's and PyTorch's functions of K tensors: `tf.reduce_mean(x)`, `torch.softmax(x, -1)`.

Both libraries ask foreign arguments what a function shall do with them. Where K has a function of
the same meaning it's that one; else the library's function becomes a node (`kameleon.call`).
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from typing import Any

from ..ir.node import Node
from . import surface as K
from .calling import call

Function = Callable[..., Any]

# By the library's name of a function, the K function that means the same for these arguments.
OURS: dict[str, Function] = {
    "tanh": lambda x: K.tanh(x),
    "exp": lambda x: K.exp(x),
    "log": lambda x: K.log(x),
    "sqrt": lambda x: K.sqrt(x),
    "square": lambda x: K.square(x),
    "sigmoid": lambda x: K.sigmoid(x),
    "abs": lambda x: K.abs(x),
    "relu": lambda features: K.relu(features),
    "add": lambda x, y: x + y,
    "subtract": lambda x, y: x - y,
    "multiply": lambda x, y: x * y,
    "divide": lambda x, y: x / y,
    "matmul": lambda a, b: a @ b,
    "reshape": lambda tensor, shape: K.reshape(tensor, shape),
    "reduce_sum": lambda input_tensor, axis=None, keepdims=False: K.sum(
        input_tensor, axis, bool(keepdims)
    ),
    "reduce_mean": lambda input_tensor, axis=None, keepdims=False: K.mean(
        input_tensor, axis, bool(keepdims)
    ),
    "reduce_max": lambda input_tensor, axis=None, keepdims=False: K.max(
        input_tensor, axis, bool(keepdims)
    ),
}  # fmt: skip


def applied(library: str, function: Function, args: Any, kwargs: Any) -> Any:
    """What a function of a library gives for arguments with K tensors among them."""
    ours = OURS.get(str(getattr(function, "__name__", "")))
    if ours is not None and all(isinstance(x, (Node, int, float, list, tuple)) for x in args):
        try:
            bound = inspect.signature(ours).bind(*args, **kwargs)
        except TypeError:
            pass  # other arguments than K has
        else:
            return ours(*bound.args, **bound.kwargs)
    nodes: list[Node] = []
    plan = _planned((list(args), dict(kwargs)), nodes)

    def run(*arrays: Any) -> Any:
        given, named = _filled(plan, arrays)
        return function(*given, **named)

    run.__name__ = str(getattr(function, "__name__", "function"))
    return call(run, nodes, library)


class _Place:
    """Stands for a K tensor among arguments."""

    def __init__(self, index: int):
        self.index = index


def _planned(item: Any, nodes: list[Node]) -> Any:
    """The arguments with places for tensors, which go to `nodes`."""
    if isinstance(item, Node):
        nodes.append(item)
        return _Place(len(nodes) - 1)
    if isinstance(item, Mapping):
        return {key: _planned(value, nodes) for key, value in item.items()}
    if type(item) in (list, tuple):
        return type(item)(_planned(value, nodes) for value in item)
    return item


def _filled(plan: Any, arrays: Any) -> Any:
    if isinstance(plan, _Place):
        return arrays[plan.index]
    if isinstance(plan, Mapping):
        return {key: _filled(value, arrays) for key, value in plan.items()}
    if type(plan) in (list, tuple):
        return type(plan)(_filled(value, arrays) for value in plan)
    return plan


def _holds(item: Any) -> bool:
    """Whether there's a K tensor in a nest of arguments."""
    if isinstance(item, Node):
        return True
    if isinstance(item, Mapping):
        return any(map(_holds, item.values()))
    return type(item) in (list, tuple) and any(map(_holds, item))


def torch_function(
    cls: type, func: Function, types: Any, args: Any = (), kwargs: Any = None
) -> Any:
    """PyTorch's protocol: what `func` gives where an argument is a node."""
    return applied("torch", func, args, kwargs or {})


def extend_tensorflow() -> None:
    """Let TensorFlow's functions take K tensors: `tf.image.resize(x, (8, 8))`.

    Kameleon does so by itself where TensorFlow is imported before `kameleon.backend`. PyTorch's
    functions always take K tensors; for those of JAX there's `kameleon.call`.

    Raises:
        ModuleNotFoundError: TensorFlow isn't installed.
    """
    import tensorflow as tf

    if getattr(tf, "_kameleon_dispatcher", None) is not None:
        return

    class Dispatcher(tf.__internal__.dispatch.GlobalOpDispatcher):  # type: ignore[misc]
        """Answers for operations that are given K tensors."""

        def handle(self, op: Function, args: Any, kwargs: Any) -> Any:
            """The result as a K tensor."""
            if not _holds(list(args)) and not _holds(dict(kwargs)):
                return self.NOT_SUPPORTED
            return applied("tensorflow", op, args, kwargs)

    tf._kameleon_dispatcher = Dispatcher()
    tf._kameleon_dispatcher.register()


def install() -> None:
    """Let the libraries' functions take nodes, as far as the libraries are there."""
    Node.__torch_function__ = classmethod(torch_function)  # type: ignore[attr-defined]
    if hasattr(sys.modules.get("tensorflow"), "__internal__"):
        extend_tensorflow()
