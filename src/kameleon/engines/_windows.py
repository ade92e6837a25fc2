"""What is asked of windows over space where sizes are unknown, for several engines."""

from __future__ import annotations

from ..ir.node import Node
from ..ir.primitive import ITEM
from ..ir.sizes import Root, Sizes
from ..prims.windows import OVER, space_dims


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


# Windows with nothing to see -----------------------------------------------------------------

Axis = tuple[Node, int]
# Whose axes must have elements for there to be anything to compute: the node's or an operand's.
PLACES_OF = {
    **dict.fromkeys(("conv_input", "depthwise_input", "unpool", "sum_unpool"), 0),
    **dict.fromkeys(("conv_kernel", "depthwise_kernel"), 1),
}


def counted_axes(node: Node) -> list[Axis]:
    """The axes of unknown size without which a window sees nothing: samples, places, channels."""
    operand = PLACES_OF.get(node.primitive.name)
    places = node if operand is None else node.operands[operand]
    last = len(places.shape) - 1
    source = node.operands[0] if node.primitive is ITEM else node
    tensors = [x for x in source.operands if len(x.shape) == last + 1]
    around = [(places, i) for i in range(last) if places.shape[i] is None]
    return around + [(x, last) for x in tensors if x.shape[last] is None]


def filled_by(sizes: Sizes, node: Node, axis: int) -> Root:
    """What a size is 0 with: the size itself where it's known, else the first axis on its way back
    that has no origin.

    Where a window's margins make room for it, there are places as soon as there's something.
    """
    step: Axis | None = (node, axis)
    while step is not None:
        root = sizes.of(*step)
        step = _before(*root) if isinstance(root, tuple) else None
    return root


def _before(node: Node, axis: int) -> Axis | None:
    source = node.operands[0] if node.primitive is ITEM else node
    window, last = source.attrs.get("window"), len(node.shape) - 1
    if window is None or not 0 < axis < last:
        return None
    if source.primitive.name in OVER:
        span = (window.sizes[axis - 1] - 1) * window.dilation[axis - 1] + 1
        return (source.operands[0], axis) if sum(window.padding[axis - 1]) >= span - 1 else None
    if "space" not in source.attrs:
        return None
    size = space_dims(source)[axis - 1]
    if isinstance(size, int) or size.primitive.name != "size":
        return None
    return size.operands[0], size.attrs["axis"]
