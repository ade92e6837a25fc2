"""Which convolutions are left to oneDNN, by which PyTorch and TensorFlow compute."""

from __future__ import annotations

from ..graph.ir.node import Node


def is_trusted(node: Node) -> bool:
    """Whether oneDNN's values of a convolution are right, whatever its unknown sizes will be.

    The values are garbage where a single input channel, and strides along the last axis but not
    along the one before, meet one place along the last axis. Where sizes are known, the graph has
    no such strides (`graph.passes.windows`); else the convolution is left to its expansion.
    """
    x, window = node.operands[0], node.attrs["window"]
    if x.shape[-2] is not None or x.shape[-1] not in (None, 1) or window.rank < 2:
        return True
    before, last = window.strides[-2:]
    return bool(before > 1 or last == 1)
