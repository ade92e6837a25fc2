"""`tf.GradientTape` over a graph: what was built while it recorded has gradients."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ..backend import surface as K
from ..backend._tensors import as_tensor
from ..errors import ArgumentError
from ..ir.leaves import input_node
from ..ir.node import Node, Variable, walk
from ..ir.types import TensorType, as_dtype
from .differentiation import UnconnectedGradients, gradients
from .nests import flatten, pack


def _now() -> int:
    """A number between those of the nodes that there are and those to come."""
    return input_node(TensorType((), as_dtype("float32"))).serial


class GradientTape:
    """Gradients of what is built in its block, with respect to variables and watched tensors.

    Args:
        persistent: whether gradients may be asked for more than once.
        watch_accessed_variables: whether trainable variables are watched.

    >>> from kameleon import backend as K
    >>> x = K.constant(3.0)
    >>> with GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = x * x
    >>> float(K.eval(tape.gradient(y, x)))
    6.0
    """

    def __init__(self, persistent: bool = False, watch_accessed_variables: bool = True):
        self._persistent, self._watches_variables = persistent, watch_accessed_variables
        self._watched: set[Node] = set()
        self._recorded: list[tuple[int, int]] = []  # first and last numbers of nodes
        self._since: int | None = None
        self._used = False

    def __enter__(self) -> GradientTape:
        self._begin()
        return self

    def __exit__(self, *raised: object) -> None:
        if self._since is not None:
            self._end()

    def _begin(self) -> None:
        if self._since is not None:
            raise ArgumentError("Tape is already recording.")
        self._since = _now()

    def _end(self) -> None:
        if self._since is None:
            raise ArgumentError("Tape is not recording.")
        self._recorded.append((self._since, _now()))
        self._since = None

    def watch(self, tensor: Any) -> None:
        """Follow a tensor, or the tensors in a nest."""
        self._watched.update(x for x in flatten(tensor) if isinstance(x, Node))

    def watched_variables(self) -> tuple[Any, ...]:
        """The variables that were asked for by `watch`: which others are read isn't known here."""
        return tuple(x for x in self._watched if isinstance(x, Variable))

    @contextmanager
    def stop_recording(self) -> Iterator[None]:
        """A block whose operations count as constants."""
        self._end()
        try:
            yield
        finally:
            self._begin()

    def reset(self) -> None:
        """Forget what was recorded."""
        self._recorded, self._watched = [], set()
        if self._since is not None:
            self._since = _now()

    def gradient(
        self, target: Any, sources: Any, output_gradients: Any = None,
        unconnected_gradients: Any = UnconnectedGradients.NONE,
    ) -> Any:  # fmt: skip
        """The gradients of the sum of `target`, in the nest of the sources.

        Args:
            target: a tensor, or a nest of tensors.
            sources: a tensor or variable, or a nest of them; None stands for what isn't followed.
            output_gradients: for each target what its elements are weighted with.
            unconnected_gradients: 'none' or 'zero': what stands where there's no influence.

        Raises:
            RuntimeError: it was asked before, and isn't persistent.
        """
        if self._used and not self._persistent:
            raise RuntimeError(
                "GradientTape.gradient can only be called once on non-persistent tapes."
            )
        self._used = True
        if self._since is not None and not self._persistent:
            self._end()
        targets = [as_tensor(x, "GradientTape.gradient") for x in flatten(target)]
        wrt = [as_tensor(x, "GradientTape.gradient") for x in flatten(sources)]
        nodes = walk(targets)
        stops = [x for x in nodes if x.operands and not self._is_recorded(x)]
        weights = None if output_gradients is None else flatten(output_gradients)
        slopes = gradients(targets, wrt, weights, stop_gradients=stops)
        found = [g if self._is_followed(x) else None for g, x in zip(slopes, wrt, strict=True)]
        if unconnected_gradients == UnconnectedGradients.ZERO:
            found = [K.zeros_like(x) if g is None else g for g, x in zip(found, wrt, strict=True)]
        return pack(sources, found)

    def jacobian(
        self, target: Any, sources: Any,
        unconnected_gradients: Any = UnconnectedGradients.NONE,
        parallel_iterations: Any = None, experimental_use_pfor: bool = True,
    ) -> Any:  # fmt: skip
        """The derivatives of each element of `target`: its shape, then that of the source.

        Raises:
            ArgumentError: (a ValueError) the target's sizes aren't known.
        """
        y = as_tensor(target, "GradientTape.jacobian")
        if None in y.shape:
            raise ArgumentError("GradientTape.jacobian: the target's sizes must be known")
        count = math.prod(n or 0 for n in y.shape)

        def elements() -> list[Any]:
            flat = K.reshape(y, (-1,))
            return [flat[i] for i in range(count)]

        rows = self._rows(elements, sources, unconnected_gradients)
        found = [
            None if row[0] is None else K.reshape(K.stack(row), (*y.shape, *row[0].shape))
            for row in rows
        ]
        return pack(sources, found)

    def batch_jacobian(
        self, target: Any, source: Any,
        unconnected_gradients: Any = UnconnectedGradients.NONE,
        parallel_iterations: Any = None, experimental_use_pfor: bool = True,
    ) -> Any:  # fmt: skip
        """For each sample, the derivatives of its targets with respect to its sources.

        Raises:
            ArgumentError: (a ValueError) the sizes of a sample's targets aren't known.
        """
        y = as_tensor(target, "GradientTape.batch_jacobian")
        sizes = K.int_shape(y)[1:]
        if None in sizes:
            raise ArgumentError("GradientTape.batch_jacobian: a sample's sizes must be known")

        def columns() -> list[Any]:
            flat = K.reshape(y, (-1, math.prod(sizes)))
            return [flat[:, i] for i in range(math.prod(sizes))]

        (row,) = self._rows(columns, source, unconnected_gradients)
        if row[0] is None:
            return None
        return K.reshape(K.stack(row, axis=1), (-1, *sizes, *K.int_shape(row[0])[1:]))

    def _rows(
        self, parts: Callable[[], list[Any]], sources: Any, unconnected: Any
    ) -> list[list[Any]]:
        """For each source, its gradients of the parts of a target."""
        since = _now()
        targets = parts()
        self._recorded.append((since, _now()))
        persistent, self._persistent = self._persistent, True
        try:
            found = [
                flatten(self.gradient(y, sources, unconnected_gradients=unconnected))
                for y in targets
            ]
        finally:
            self._persistent = persistent
        return [list(row) for row in zip(*found, strict=True)]

    def _is_recorded(self, x: Node) -> bool:
        if self._since is not None and x.serial > self._since:
            return True
        return any(first < x.serial < last for first, last in self._recorded)

    def _is_followed(self, x: Node) -> bool:
        """Whether a source is watched, or was made of something that is while this recorded."""
        followed: set[Node] = set()
        for n in walk([x]):
            is_variable = isinstance(n, Variable) and n.trainable and self._watches_variables
            made = self._is_recorded(n) and not followed.isdisjoint(n.operands)
            if is_variable or made or n in self._watched:
                followed.add(n)
        return x in followed


PLAIN: dict[str, Any] = {"GradientTape": GradientTape}
NAMES: dict[str, Any] = {}
