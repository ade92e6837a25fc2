"""What calls take: values of any kind as arrays of the inputs' types, or errors that say why."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .._utils.late import is_sparse
from ..engines._base import Engine
from ..engines._followed import symbolic
from ..engines._kernels.quiet import quiet
from ..errors import FeedError
from ..graph.ir.node import Node, Variable
from ..graph.ir.types import TensorType, as_dtype
from .engines import embedded, loaded
from .pipelines import as_array, kinds, numbers, require_numbers

Feed = Callable[[Any, Engine], Any]
# What gives the value that a tensor has at this moment; `function` names it.
_evaluate: list[Callable[[Node], Any]] = []


def evaluate_by(function: Callable[[Node], Any]) -> None:
    """Have tensors that are given as values evaluated by this function."""
    _evaluate[:] = [function]


class Constants:
    """Tensors that have the same value in every call, until that value is exchanged in `given`.

    Attributes:
        given: the tensors and their values; the caller's own table.

    Raises:
        FeedError: a value doesn't fit its tensor.
    """

    def __init__(self, given: Mapping[Node, Any], what: str):
        self.given = given
        self._feeds = [(x, feed_of(x, what)) for x in given]
        self._held: tuple[list[Any], list[np.ndarray]] = ([], [])
        self.values()

    def values(self) -> list[np.ndarray]:
        """Arrays of the tensors' types; they are copies, for the user's own arrays may change."""
        if not self._feeds:
            return []
        values = [self.given[x] for x, _ in self._feeds]
        held, arrays = self._held
        if len(held) != len(values) or any(a is not b for a, b in zip(held, values, strict=True)):
            pairs = zip(self._feeds, values, strict=True)
            arrays = [np.array(feed(v, embedded())) for (_, feed), v in pairs]
            self._held = (values, arrays)
        return arrays


def feed_of(node: Node, what: str) -> Feed:
    """The function that turns a given value into an array for `node`, or refuses it."""
    type, dtype = node.type, np.dtype(node.dtype)

    def feed(value: Any, engine: Engine) -> Any:
        if value.__class__ is np.ndarray and value.dtype is dtype and type.accepts(value.shape):
            return value
        own = None if isinstance(value, np.ndarray | list | float) else engine.type_of(value)
        if own == type or (own and own.dtype == type.dtype and type.accepts(own.shape)):
            return value
        return _converted(value, node, type, what)

    return feed


def as_numpy(value: Any) -> Any:
    """An array of any library as NumPy's; anything else as it is."""
    if isinstance(value, (np.ndarray, np.generic, list, tuple, int, float)):
        return value
    for engine in loaded():
        if engine.type_of(value) is not None:
            return engine.to_numpy(value)
    if is_sparse(value):
        raise FeedError("a sparse matrix: matrix.toarray(), or K.placeholder(…, sparse=True)")
    array = as_array(value)
    if ("torch", "Tensor") in kinds(array):  # NumPy can't read all of them; the engine isn't loaded
        from ..engines.torch.tensors import as_numpy as of_torch

        return of_torch(array)
    return np.asarray(array) if hasattr(array, "__array__") else array


def value_for(variable: Variable, value: Any, what: str, truncate: bool = False) -> np.ndarray:
    """A private array of a variable's type with a value given for it. Numbers that aren't whole
    are refused for integers, unless they may be truncated.

    Raises:
        FeedError: the value has another shape, or isn't made of numbers, or of numbers that the
            dtype doesn't hold.
    """
    array = _converted(value, variable, variable.type, what, truncate)
    return np.array(array, order="C")


def _converted(
    value: Any, node: Node, want: TensorType, what: str, truncate: bool = False
) -> np.ndarray:
    kind = "variable" if isinstance(node, Variable) else "input"
    if isinstance(value, Node):
        value = _evaluate[0](value)
    followed = symbolic(value)
    if followed is not None:
        raise FeedError(
            f"{what}: the value for {kind} '{node.name}' is {followed[0]}, which has no numbers"
            f" yet: kameleon.{followed[1]}. (K.gradients makes gradients outputs of a function, and"
            " kameleon.call makes functions of libraries nodes of a graph.)"
        )
    try:
        array = numbers(np.asarray(as_numpy(value)))
        require_numbers(array)
        as_dtype(array.dtype)  # objects of other kinds
        given = _cast(array, want.dtype) if array.dtype != want.dtype else array
        whole = np.trunc(array) if truncate and given.dtype.kind in "iu" else array
        kept = given is array or _holds(given, whole)
    except (ValueError, TypeError, RuntimeError) as error:  # PyTorch raises the last one
        raise FeedError(
            f"{what}: the value for {kind} '{node.name}' is no array of {want.dtype}: {error}"
        ) from None
    if not kept:
        raise FeedError(
            f"{what}: {kind} '{node.name}' is {want}; values of dtype {array.dtype} would be"
            " changed; cast them"
        )
    if not want.accepts(array.shape):
        raise FeedError(
            f"{what}: {kind} '{node.name}' has shape {want.shape}, the value given for it"
            f" {array.shape}"
        )
    return given


# NumPy's warnings aren't needed: `_holds` finds what is out of range.
_cast: Callable[[np.ndarray, Any], np.ndarray] = quiet(lambda array, dtype: array.astype(dtype))


def _holds(given: np.ndarray, array: np.ndarray) -> bool:
    """Whether a cast, from `array` to `given`, has kept the numbers; floats may be rounded."""
    same_kind = np.can_cast(array.dtype, given.dtype, "same_kind")
    return (same_kind and given.dtype.kind not in "iu") or np.array_equal(given, array)
