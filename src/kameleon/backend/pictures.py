"""Pictures of graphs: `K.show`, and what notebooks show of tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..errors import ArgumentError
from ..graph.ir.node import Node
from ..graph.ir.program import collect
from ._tensors import TensorLike, as_tensor
from .functions import BackendFunction

if TYPE_CHECKING:
    from ..graph.pictures.picture import Picture

__all__ = ["show"]


def show(
    x: TensorLike | Sequence[TensorLike] | BackendFunction[Any], limit: int | None = 200
) -> Picture:
    """A picture of the graph behind tensors, or of a function's graph.

    Each node is a box with its title, name, dtype and shape; loops and conditions hold boxes of
    their bodies. Pointing at a box tells the line that made it. Notebooks show the picture.

    Args:
        x: a tensor, a list of tensors, or a function.
        limit: at most so many nodes are drawn, those that are nearest to the outputs; all, if
            None.

    Returns:
        A picture: `svg` and `mermaid` are texts, `save('graph.svg')` writes a file, `text` is the
        whole graph in lines.

    >>> from kameleon import backend as K
    >>> x = K.placeholder((None, 3), name='x')
    >>> print(K.show(K.exp(x)).text)
    () ->
      %0: float32[?, 3] = input()
      %1: float32[?, 3] = exp(%0)
      return %1
    """
    from ..graph.pictures.picture import Picture  # late: few programs need it

    if limit is not None and limit < 1:
        raise ArgumentError(f"show: limit is a number of nodes, 1 or more, or None, not {limit!r}")
    if isinstance(x, BackendFunction):
        return Picture(x.compiled.program, limit)
    tensors = x if isinstance(x, (list, tuple)) else [x]
    return Picture(collect([], [as_tensor(each, "show") for each in tensors]), limit)


def install() -> None:
    """Let notebooks show pictures of tensors."""
    setattr(Node, "_repr_html_", _shown)  # noqa: B010


def _shown(self: Node) -> str:
    from ..graph.pictures.picture import IN_NOTEBOOKS

    return show(self, IN_NOTEBOOKS)._repr_html_()
