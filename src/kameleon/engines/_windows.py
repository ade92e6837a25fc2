"""Which convolutions are left to oneDNN, by which PyTorch and TensorFlow compute."""

from __future__ import annotations

from ..ir.node import Node


def is_trusted(node: Node) -> bool:
    """Whether oneDNN's values of a convolution are right, whatever its unknown sizes will be.

    PyTorch and TensorFlow compute with it. Of a single input channel, and with strides along the
    last axis alone of the last two, they are garbage where there's one place along the last axis.
    Where that is known the graph has no such strides (`transform.windows`); where it isn't, the
    convolution is left to its expansion.
    """
    x, window = node.operands[0], node.attrs["window"]
    if x.shape[-2] is not None or x.shape[-1] not in (None, 1) or window.rank < 2:
        return True
    before, last = window.strides[-2:]
    return bool(before > 1 or last == 1)
