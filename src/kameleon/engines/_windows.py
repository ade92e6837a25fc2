"""Which windows are left to a library, and which are expanded."""

from __future__ import annotations

from ..graph.ir.node import Node
from ..graph.primitives.windows import is_of_single_cells

# What libraries' kernels take no empty tensors for: see `Engine.nonempty_dims`.
NONEMPTY = dict.fromkeys(
    "conv conv_input conv_kernel depthwise_conv depthwise_input depthwise_kernel sum_pool"
    " sum_unpool".split(),
    ("samples", "places", "channels"),
)


def has_neighbours(node: Node) -> bool:
    """Whether a convolution mixes neighbours; else it's a product of matrices, and the libraries'
    products are faster than their convolutions, most of all where the kernel's gradient is taken.
    """
    return not is_of_single_cells(node.attrs["window"])


def is_trusted(node: Node) -> bool:
    """Whether oneDNN, by which PyTorch and TensorFlow convolve, gives right values, whatever the
    unknown sizes will be.

    They are garbage where a single input channel, and strides along the last axis but not
    along the one before, meet one place along the last axis. Where sizes are known, the graph has
    no such strides (`graph.passes.windows`); else the convolution is left to its expansion.
    """
    x, window = node.operands[0], node.attrs["window"]
    if x.shape[-2] is not None or x.shape[-1] not in (None, 1) or window.rank < 2:
        return True
    before, last = window.strides[-2:]
    return bool(before > 1 or last == 1)
