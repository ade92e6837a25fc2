"""Which nodes CNTK computes."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum

from ...graph.ir.leaves import CONSTANT
from ...graph.ir.node import Node
from ...graph.ir.types import TensorType
from ...graph.primitives.windows import is_dilated

FLOATS = frozenset(("float32", "float64"))
DENSE = FLOATS | {"bool"}
# More axes CNTK doesn't stretch or turn.
MOST_AXES = 5

# Primitives with a function of CNTK: see `functions` and `windows`, which run in the worker.
BY_CNTK = frozenset(
    "neg add sub mul div abs exp log sqrt sin cos tanh floor ceil round square sigmoid softplus"
    " relu sign pow maximum minimum gt ge lt le eq ne is_nan logical_not logical_and logical_or"
    " select cast identity stop_gradient reshape broadcast_to transpose slice unslice pad"
    " concatenate gather reduce_sum reduce_prod reduce_max reduce_min reduce_any reduce_all"
    " softmax log_softmax contract one_hot minus_one_hot sparse_softmax_crossentropy"
    " softmax_crossentropy conv conv_input conv_kernel depthwise_conv max_pool sum_pool".split()
)

Where = Callable[[Node], bool]


def _types(node: Node) -> tuple[TensorType, ...]:
    return (node.type,) if isinstance(node.type, TensorType) else node.type


def is_dense(type: TensorType) -> bool:
    """Whether CNTK has such tensors: of floats (bools are floats to it), with elements."""
    return type.dtype in DENSE and len(type.shape) <= MOST_AXES and 0 not in type.shape


def _takes_operands(node: Node) -> bool:
    for i, x in enumerate(node.operands[: node.primitive.first_size]):
        if i == node.primitive.index:
            if x.primitive is CONSTANT or len(x.shape) >= MOST_AXES:
                return False
        elif not (isinstance(x.type, TensorType) and is_dense(x.type)):
            return False
    return True


def _is_plain_pool(node: Node) -> bool:
    """No cell lies between those of a window, and each window sees one of the tensor's."""
    window = node.attrs["window"]
    sees = all(max(pair) < size for pair, size in zip(window.padding, window.sizes, strict=True))
    return not is_dilated(window) and sees


def _is_grouped_in_a_plane(node: Node) -> bool:
    """In space CNTK can't form groups of channels."""
    return len(node.attrs["window"].sizes) <= 2


WHERE: dict[str, Where] = {
    "depthwise_conv": _is_grouped_in_a_plane,
    "max_pool": _is_plain_pool,
    "sum_pool": _is_plain_pool,
}


class Kind(IntEnum):
    """Who computes a node; the arguments of a function of CNTK are all of one type of floats."""

    NUMPY = 0
    FLOAT32 = 1
    FLOAT64 = 2


def kind_of(node: Node) -> Kind:
    """Who computes a node."""
    name = node.primitive.name
    if name not in BY_CNTK or not _takes_operands(node):
        return Kind.NUMPY
    results = _types(node)[:1] if name == "max_pool" else _types(node)
    if not all(map(is_dense, results)) or (name in WHERE and not WHERE[name](node)):
        return Kind.NUMPY
    floats = {t.dtype for t in (*results, *(x.type for x in node.operands)) if t.dtype in FLOATS}
    if len(floats) > 1:
        return Kind.NUMPY
    return Kind.FLOAT64 if "float64" in floats else Kind.FLOAT32
