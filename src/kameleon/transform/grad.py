"""Gradients as users ask for them."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import GradientError
from ..ir.node import Node, built_for
from ..ir.reverse import pullback
from ..prims.elementwise import full_like


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
        with built_for(loss):
            seed = full_like(loss, 1)
    return pullback([loss], [seed], wrt)
