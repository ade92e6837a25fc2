"""Sparse tensors: three dense parts in the graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..graph.ir.node import Node
from ..graph.ir.types import DType, Shape


class SparseTensor:
    """A matrix or tensor given by its non-zero elements.

    Attributes:
        indices: int64 tensor (count, rank), a row for each element.
        values: tensor (count,).
        dense_shape: int64 tensor (rank,).
        shape: the static shape.
    """

    def __init__(self, indices: Node, values: Node, dense_shape: Node, shape: Shape, name: str):
        self.indices, self.values, self.dense_shape = indices, values, dense_shape
        self.shape, self.name = shape, name

    @property
    def dtype(self) -> DType:
        """The element type."""
        return self.values.dtype

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def parts(self) -> tuple[Node, Node, Node]:
        """Indices, values, dense shape."""
        return self.indices, self.values, self.dense_shape

    def __repr__(self) -> str:
        return f"<kameleon.SparseTensor '{self.name}' shape={self.shape} dtype={self.dtype}>"

    if TYPE_CHECKING:
        # `operators` adds this: the value as a SciPy matrix (rank 2) or a dense array.
        def eval(self, session: Any = None, feed_dict: Any = None) -> Any: ...
