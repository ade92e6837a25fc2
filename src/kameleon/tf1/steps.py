"""Calls of the installed TensorFlow's functions, put together to one function of tensors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from typing import Any

import numpy as np

from .._scopes import Scope
from ..backend.sparse_tensor import SparseTensor
from ..calls import Comparable, library_named
from ..errors import FOREIGN, ArgumentError
from ..ir.node import Node

# Whether TensorFlow's functions run: functions that they are given are called with its tensors.
_calling: ContextVar[bool] = ContextVar("kameleon_tensorflow_calls", default=False)


def tensorflow_calls() -> bool:
    """Whether it's TensorFlow that calls a function, with tensors of its own."""
    return _calling.get()


class Step:
    """A call of a function of TensorFlow's.

    Attributes:
        path: the function's dotted name in `tf.compat.v1`; after a dot, a method of the first
            argument.
        args, kwargs: nests in which tensors and results of other steps stand for their values.
    """

    def __init__(self, path: str, args: Sequence[Any], kwargs: Mapping[str, Any]):
        self.path, self.args, self.kwargs = path, args, kwargs


class Outcome:
    """A result of a step.

    Attributes:
        step: the call that gives it.
        index: its number among the results.
    """

    def __init__(self, step: Step, index: int):
        self.step, self.index = step, index


class Composed(Comparable):
    """Steps as one function of the values of all tensors in them.

    Attributes:
        nodes: these tensors.
    """

    def __init__(self, steps: Sequence[Step], wanted: Sequence[tuple[Step, int]] | None = None):
        """
        Args:
            steps: the last ones; those before them are found by their arguments.
            wanted: steps and numbers of results: the function gives these alone, a sparse one as
                its three parts. All that the first step gives, if None.
        """
        self.steps, self.wanted = tuple(steps), wanted
        self.nodes: list[Node] = []
        found: dict[Step, tuple[Any, ...]] = {}
        for step in steps:
            _collected(step, self.nodes, found)
        last = None if wanted is None else tuple((list(found).index(s), i) for s, i in wanted)
        self.key = (tuple(found.values()), last)
        self.__name__ = f"tf.{steps[0].path.lstrip('.')}"

    def __call__(self, *values: Any) -> Any:
        """The results for TensorFlow's tensors."""
        known = dict(zip(map(id, self.nodes), values, strict=True))
        made: dict[Step, Any] = {}
        with Scope(_calling, lambda outer: True):
            if self.wanted is None:
                return _run(self.steps[0], known, made)
            return self._wanted(known, made)

    def _wanted(self, known: Mapping[int, Any], made: dict[Step, Any]) -> list[Any]:
        """The results that are wanted."""
        import tensorflow as tf

        assert self.wanted is not None
        found: list[Any] = []
        for step, index in self.wanted:
            value = tf.nest.flatten(_run(step, known, made))[index]
            is_sparse = isinstance(value, tf.SparseTensor)
            found += (
                [value.indices, value.values, value.dense_shape]
                if is_sparse
                else [tf.convert_to_tensor(value)]
            )
        return found

    def evaluated(self) -> Any:
        """What TensorFlow says of the results before they're computed, in their nest.

        Raises:
            ArgumentError: it doesn't take these arguments.
        """
        seen: list[Any] = []

        def run(*values: Any) -> Any:
            # As they are in here: what a traced function gives knows less of sparse tensors' sizes.
            seen.append(self(*values))
            return seen[-1]

        try:
            library_named("tensorflow").evaluate(run, [x.type for x in self.nodes])
            return seen[-1]
        except FOREIGN:
            raise
        except Exception as error:
            raise ArgumentError(f"{self.__name__}: {type(error).__name__}: {error}") from error

    def on_host(self, arrays: Sequence[Any], index: int) -> Any:
        """One result of the first step in NumPy's types, for arrays of the tensors."""
        import tensorflow as tf

        with tf.init_scope():
            value = tf.nest.flatten(self(*map(tf.convert_to_tensor, arrays)))[index]
            if isinstance(value, tf.SparseTensor):
                parts = (value.indices, value.values, value.dense_shape)
                return tf.compat.v1.SparseTensorValue(*(x.numpy() for x in parts))
            return value.to_list() if isinstance(value, tf.RaggedTensor) else value.numpy()

    def evaluate(self) -> list[np.ndarray]:
        """The results, where there are no tensors in the steps.

        Raises:
            ArgumentError: TensorFlow doesn't take these arguments.
        """
        import tensorflow as tf

        with tf.init_scope():
            return [np.asarray(x) for x in self()]


def _run(step: Step, known: Mapping[int, Any], made: dict[Step, Any]) -> Any:
    """What a step gives, given the values of tensors by their ids, and other steps' results."""
    if step not in made:
        args, kwargs = (_filled(x, known, made) for x in (step.args, step.kwargs))
        made[step] = function_at(step.path)(*args, **kwargs)
    return made[step]


def function_at(path: str) -> Callable[..., Any]:
    """A function of `tf.compat.v1`, or, after a dot, what asks for an attribute or calls it."""
    import tensorflow as tf

    if path.startswith("."):
        return lambda x, *args, **kwargs: _attribute(x, path[1:], args, kwargs)
    found: Any = tf.compat.v1
    for part in path.split("."):
        found = getattr(found, part)
    return found  # type: ignore[no-any-return]


def _attribute(x: Any, name: str, args: Any, kwargs: Any) -> Any:
    found = getattr(x, name)
    return found(*args, **kwargs) if callable(found) else found


# Nests of arguments ----------------------------------------------------------------------------


def _filled(item: Any, known: Mapping[int, Any], made: dict[Step, Any]) -> Any:
    """An argument with values in the places of tensors."""
    import tensorflow as tf

    if isinstance(item, Node):
        return known[id(item)]
    if isinstance(item, Outcome):
        return tf.nest.flatten(_run(item.step, known, made))[item.index]
    if isinstance(item, SparseTensor):
        sparse = tf.SparseTensor(*(known[id(x)] for x in item.parts))
        sparse.set_shape(item.shape)
        return sparse
    if isinstance(item, Mapping):
        return {key: _filled(value, known, made) for key, value in item.items()}
    if isinstance(item, slice):
        return slice(*(_filled(x, known, made) for x in (item.start, item.stop, item.step)))
    if type(item) in (list, tuple):
        return type(item)(_filled(value, known, made) for value in item)
    return item


def _collected(step: Step, nodes: list[Node], found: dict[Step, tuple[Any, ...]]) -> int:
    """Add the tensors of a step, and of those before it, to `nodes`, and to `found` what it's
    compared by; give its number.
    """
    if step not in found:
        parts = tuple(_compared(x, nodes, found) for x in (step.args, step.kwargs))
        found[step] = (step.path, *parts)
    return list(found).index(step)


def _compared(item: Any, nodes: list[Node], found: dict[Step, tuple[Any, ...]]) -> Any:
    """What an argument is compared by: equal for arguments of equal meaning."""
    again: Callable[[Any], Any] = lambda x: _compared(x, nodes, found)  # noqa: E731
    if isinstance(item, Node):
        places = [i for i, x in enumerate(nodes) if x is item]
        if not places:
            nodes.append(item)
        return "tensor", places[0] if places else len(nodes) - 1
    if isinstance(item, Outcome):
        return "result", _collected(item.step, nodes, found), item.index
    if isinstance(item, SparseTensor):
        return "sparse", *map(again, item.parts)
    if isinstance(item, Mapping):
        return "dict", *((key, again(value)) for key, value in item.items())
    if isinstance(item, slice):
        return "slice", *map(again, (item.start, item.stop, item.step))
    if type(item) in (list, tuple):
        return type(item).__name__, *map(again, item)
    if isinstance(item, (np.ndarray, np.generic)) and item.dtype != object:
        return "array", str(item.dtype), item.shape, item.tobytes()
    plain = item is None or type(item) in (bool, int, float, str, bytes)
    return type(item).__name__, repr(item) if plain else id(item)
