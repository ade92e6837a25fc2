"""TensorFlow's and PyTorch's functions of K tensors: `tf.reduce_mean(x)`, `torch.softmax(x, -1)`.

Both libraries ask foreign arguments what a function shall do with them. Where K has a function of
the same meaning it's that one; else the library's function becomes a node (`kameleon.call`).
"""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from types import FrameType
from typing import Any

from .._utils.tracebacks import boundary
from ..graph.ir.node import Node
from ._nests import leaves, mapped
from ._tensors import named
from .calling import call
from .counterparts import COUNTERPARTS

Function = Callable[..., Any]


def applied(library: str, function: Function, args: Any, kwargs: Any) -> Any:
    """What a function of a library gives for arguments with K tensors among them."""
    name = str(getattr(function, "__name__", "function"))
    found = _counterpart(library, name, args, kwargs)
    if found is not NotImplemented:
        return found
    nodes: list[Node] = []
    plan = _planned((list(args), dict(kwargs)), nodes)

    kinds: list[type] = []

    def run(*arrays: Any) -> Any:
        given, named = _filled(plan, arrays)
        found = function(*given, **named)
        kinds[:] = [type(found)]
        return found

    run.__name__ = name
    if library == "tensorflow" and name in OF_PYTHON:
        return _of_python(run, nodes, name)
    made = call(run, nodes, library)
    return _with_names(made, kinds[0]) if isinstance(made, list) else made


def _with_names(made: list[Node], kind: Any) -> Any:
    """Results under the names that the library gives them: `torch.topk(x, 2).values`."""
    if hasattr(kind, "_make"):
        return kind._make(made)
    return kind(made) if hasattr(kind, "n_fields") else made


def _counterpart(library: str, name: str, args: Any, kwargs: Any) -> Any:
    """What the K function of the same meaning gives; NotImplemented if there's none for these
    arguments.
    """
    title = kwargs.get("name") if library == "tensorflow" else None
    kwargs = {key: x for key, x in kwargs.items() if key != "name"}
    nodes: list[Node] = []
    _planned((list(args), kwargs), nodes)
    of_floats, of_any = COUNTERPARTS[library]
    ours = of_any.get(name)
    if ours is None and all(x.dtype.is_float or x.dtype.is_bool for x in nodes):
        ours = of_floats.get(name)
    if ours is None or not _is_ours((list(args), kwargs)):
        return NotImplemented
    try:
        bound = inspect.signature(ours).bind(*args, **kwargs)
    except TypeError:  # other arguments than K has
        return NotImplemented
    result = ours(*bound.args, **bound.kwargs)
    return result if result is NotImplemented or title is None else named(result, str(title))


def _is_ours(nest: Any) -> bool:
    """Whether K functions take all arguments in a nest as the libraries do."""
    plain = (Node, bool, int, float, str)
    return all(
        x is None or isinstance(x, plain) or hasattr(x, "as_numpy_dtype") for x, _ in leaves(nest)
    )


# TensorFlow's functions that call Python, of whose results it knows no number of axes; and whether
# there's a gradient through them.
OF_PYTHON = {"eager_py_func": True, "py_function": True, "numpy_function": False, "py_func": False}


def _of_python(run: Function, nodes: Sequence[Node], name: str) -> Any:
    """A call of such a function. To learn the number of axes, it's called once with ones."""
    import tensorflow as tf

    ones = [tf.ones([1 if d is None else d for d in x.shape], x.dtype) for x in nodes]
    given = run(*ones)
    several = isinstance(given, (list, tuple))
    results = [tf.convert_to_tensor(x) for x in (given if several else [given])]
    shapes = [(None,) * x.ndim for x in results]
    dtypes = [x.dtype.name for x in results]
    flows = OF_PYTHON[name]
    made = call(
        run,
        list(nodes),
        "tensorflow",
        shapes=shapes,
        dtypes=dtypes,
        pure=flows,
        gradient=None if flows else lambda *given: [None] * len(nodes),
    )
    return made if several else made[0]


class _Place:
    """Stands for a K tensor among arguments."""

    def __init__(self, index: int):
        self.index = index


def _planned(nest: Any, nodes: list[Node]) -> Any:
    """The arguments with places for tensors, which go to `nodes`."""

    def place(x: Any) -> Any:
        if not isinstance(x, Node):
            return x
        nodes.append(x)
        return _Place(len(nodes) - 1)

    return mapped(place, nest)


def _filled(plan: Any, arrays: Any) -> Any:
    return mapped(lambda x: arrays[x.index] if isinstance(x, _Place) else x, plan)


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


@boundary
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
            if op.__name__ == "rank" and _asked_by_tensorflow(sys._getframe(1)):
                return self.NOT_SUPPORTED  # so the function that asks comes here itself
            return applied("tensorflow", op, args, kwargs)

    tf._kameleon_dispatcher = Dispatcher()
    tf._kameleon_dispatcher.register()


def _asked_by_tensorflow(frame: FrameType | None) -> bool:
    """Whether TensorFlow's own code calls a function, as seen from its dispatching."""
    while frame is not None:
        file = frame.f_code.co_filename.replace(os.sep, "/")
        if "tensorflow/python/" not in file:
            return False
        if "tensorflow/python/util/" not in file:
            return frame.f_code.co_name != "rank"
        frame = frame.f_back
    return False


def install() -> None:
    """Let the libraries' functions take nodes, as far as the libraries are there."""
    Node.__torch_function__ = classmethod(torch_function)  # type: ignore[attr-defined]
    if hasattr(sys.modules.get("tensorflow"), "__internal__"):
        extend_tensorflow()
