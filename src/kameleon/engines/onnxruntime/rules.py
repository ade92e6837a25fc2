"""ONNX Runtime's table: how each primitive is written in ONNX operators."""

from __future__ import annotations

from collections.abc import Callable

from ...graph.ir.node import Node
from ...graph.passes.extrema import of_some
from ...graph.passes.order import skips_no_nan
from .._lowering import Rule
from .._windows import has_neighbours
from . import control, elementwise, indexing, movement, products, windows

RULES: dict[str, Rule] = {
    **elementwise.RULES,
    **movement.RULES,
    **indexing.RULES,
    **products.RULES,
    **control.RULES,
    **windows.RULES,
}


def _only(*dtypes: str) -> Callable[[Node], bool]:
    return lambda node: node.dtype in dtypes


# Where the rules of some primitives hold. (float16 is computed in float32.)
_SINGLE = _only("float16", "float32")
WHERE: dict[str, Callable[[Node], bool]] = {
    **elementwise.WHERE,
    "contract": products.has_product,
    **dict.fromkeys(("reduce_max", "reduce_min"), of_some),
    **dict.fromkeys(("argmax", "argmin", "argsort"), skips_no_nan),
    "log_softmax": _SINGLE,  # in float64 the operator gives numbers for rows with NaN
    "conv_input": _SINGLE,
    **dict.fromkeys(("conv", "conv_kernel"), lambda node: _SINGLE(node) and has_neighbours(node)),
    **dict.fromkeys(("depthwise_conv", "depthwise_input"), windows.has_groups),
}
# Primitives whose operators refuse windows without a place.
NEEDS = dict.fromkeys("conv conv_input depthwise_conv depthwise_input".split(), ("places",))
