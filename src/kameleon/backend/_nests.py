"""Nests of tensors, in lists, tuples and dicts, as functions take and give them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ..errors import ArgumentError
from ..graph.ir.node import Node
from ..graph.ir.types import Shape
from ._tensors import as_tensor
from .sparse_tensor import SparseTensor


class Sparse(NamedTuple):
    """Stands for a sparse tensor in a nest without tensors."""

    shape: Shape
    name: str


def mapped(function: Callable[[Any], Any], nest: Any) -> Any:
    """A nest with what a function gives for its leaves, which it gets in order."""
    if isinstance(nest, Mapping):
        return {key: mapped(function, part) for key, part in nest.items()}
    if isinstance(nest, (list, tuple)) and not isinstance(nest, Sparse):
        parts = [mapped(function, part) for part in nest]
        return tuple(parts) if isinstance(nest, tuple) else parts
    return function(nest)


def leaves(nest: Any, path: str = "") -> Iterator[tuple[Any, str]]:
    """What a nest holds, with the keys of the dicts around it."""
    if isinstance(nest, Mapping):
        for key, value in nest.items():
            yield from leaves(value, f"{path}_{key}" if path else str(key))
    elif isinstance(nest, (list, tuple)):
        for value in nest:
            yield from leaves(value, path)
    else:
        yield nest, path


def structure_of(nest: Any) -> Any:
    """A nest of tensors without the tensors, as it's pickled."""

    def stand_in(x: Any) -> Any:
        return Sparse(x.shape, x.name) if isinstance(x, SparseTensor) else x is not None

    return mapped(stand_in, nest)


def filled(structure: Any, nodes: Iterable[Node]) -> Any:
    """A nest of that structure, with these tensors."""
    rest = iter(nodes)

    def tensor(x: Any) -> Any:
        if isinstance(x, Sparse):
            return SparseTensor(next(rest), next(rest), next(rest), *x)
        return next(rest) if x else None

    return mapped(tensor, structure)


def _as_scipy(x: SparseTensor, parts: Sequence[Any]) -> Any:
    from .sparse import to_scipy

    return to_scipy(parts)


class Outputs:
    """The tensors of a nest: taken out, and their values put back.

    Args:
        nest: of tensors, and None.
        what: what errors call the function.
        of_sparse: gives the value of a sparse tensor, given those of its parts.

    Attributes:
        nodes: the tensors, with the parts of sparse ones.
        rebuild: from values of the nodes to the nest of values.
    """

    def __init__(
        self, nest: Any, what: str, of_sparse: Callable[[SparseTensor, Any], Any] = _as_scipy
    ):
        self.nodes: list[Node] = []
        self._what, self._of_sparse = what, of_sparse
        self.rebuild = self._plan(nest)

    def _plan(self, item: Any) -> Callable[[Sequence[Any]], Any]:
        """A plan is made once, since calls are many."""
        if isinstance(item, Mapping):
            plans = {k: self._plan(v) for k, v in item.items()}
            return lambda values: {k: plan(values) for k, plan in plans.items()}
        if isinstance(item, (list, tuple)):
            each = [self._plan(v) for v in item]
            kind = tuple if isinstance(item, tuple) else list
            return lambda values: kind(plan(values) for plan in each)
        at = len(self.nodes)
        if isinstance(item, SparseTensor):
            self.nodes += item.parts
            return lambda values: self._of_sparse(item, values[at : at + 3])
        if item is None:
            return lambda values: None
        self.nodes.append(as_tensor(item, self._what))
        return lambda values: values[at]


class Inputs:
    """The inputs of a function: sparse ones are three tensors."""

    def __init__(self, inputs: Sequence[Any], what: str):
        self.nodes: list[Node] = []
        self.sparse: list[SparseTensor | None] = []
        for x in inputs:
            if isinstance(x, SparseTensor):
                self.nodes += x.parts
                self.sparse.append(x)
            elif isinstance(x, Node):
                self.nodes.append(x)
                self.sparse.append(None)
            else:
                raise ArgumentError(f"{what}: inputs must be tensors, got {x!r}")
        self.plain = not any(x is not None for x in self.sparse)

    def values(self, given: Sequence[Any]) -> Sequence[Any]:
        """One value for each node."""
        if self.plain or len(given) != len(self.sparse):
            return given
        from .sparse import feed_parts

        values: list[Any] = []
        for x, value in zip(self.sparse, given, strict=True):
            values += [value] if x is None else feed_parts(value, x)
        return values

    def parts(self, given: Iterable[Any]) -> dict[Node, Any]:
        """The value of each node."""
        return dict(zip(self.nodes, self.values(list(given)), strict=True))
