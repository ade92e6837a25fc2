"""Gradients as users ask for them."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import GradientError
from ..ir.node import Node, built_for
from ..ir.reverse import pullback
from ..ir.sizes import Sizes
from ..prims.elementwise import full_like
from ..prims.movement import broadcast_to
from ..prims.sizes import dims_of, size_origin


def gradients(loss: Node, wrt: Sequence[Node], seed: Node | None = None) -> list[Node | None]:
    """The gradient of the sum of `loss` with respect to each of `wrt`.

    Args:
        loss: a float tensor; where it isn't a scalar, its elements are summed.
        wrt: any tensors of the graph.
        seed: the cotangent of the loss; ones, if None.

    Returns:
        A tensor of the type of each of `wrt`, or None where it has no influence on the loss.

    Raises:
        GradientError: the loss isn't of a float dtype; or an operation on the way has no
            gradient.
    """
    if not loss.dtype.is_float:
        raise GradientError(
            f"gradients: the loss must be a float tensor, not {loss!r}; K.cast(loss, 'float32')"
        )
    if seed is None:
        seed = built_for(loss, full_like, loss, 1)
    sizes = Sizes(size_origin)
    return [
        None if g is None else _of_sizes(g, x, sizes)
        for g, x in zip(pullback([loss], [seed], wrt), wrt, strict=True)
    ]


def _of_sizes(g: Node, x: Node, sizes: Sizes) -> Node:
    """`g` with the sizes of `x`: it's an error at run time where they differ.

    The operation that took sizes as equal may be none that the gradient needs.
    """
    same = all(sizes.of(g, axis) == sizes.of(x, axis) for axis in range(len(x.shape)))
    return g if same else broadcast_to(g, dims_of(x))
