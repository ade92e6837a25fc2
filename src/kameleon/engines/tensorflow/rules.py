"""The TensorFlow engine's table: what each primitive is made of."""

from __future__ import annotations

from collections.abc import Callable

from ...graph.ir.node import Node
from .._lowering import Rule
from .._windows import NONEMPTY
from . import control, elementwise, movement, networks, windows

RULES: dict[str, Rule] = {
    **elementwise.RULES,
    **movement.RULES,
    **control.RULES,
    **networks.RULES,
    **windows.RULES,
}
# Dtypes that a processor has no kernels for (the same in 2.18 and in 2.21), and what carries them.
BOOLS = {"bool": "int32"}
HALF = {"float16": "float32", "bfloat16": "float32"}
UNSIGNED = {"uint8": "int32", "uint16": "int32", "uint32": "int64", "uint64": "int64"}
CARRIERS: dict[str, dict[str, str]] = {
    **dict.fromkeys(
        "add mul lt le gt ge bit_and bit_or bit_xor reduce_sum reduce_prod reduce_max reduce_min"
        " scatter_add argsort".split(),
        BOOLS,
    ),
    **dict.fromkeys(("abs", "sign", "pow"), UNSIGNED),
    **dict.fromkeys(("round", "nonzero"), HALF),
    "contract": {**BOOLS, "int8": "int32", "int16": "int32", **UNSIGNED},
}
# Rules that don't hold for every node: where they do. Elsewhere passes rewrite the node.
WHERE: dict[str, Callable[[Node], bool]] = {
    **elementwise.WHERE,
    **movement.WHERE,
    **networks.WHERE,
    **windows.WHERE,
    **control.WHERE,
}
# Kernels that give wrong sizes, or fail, where windows see nothing. The rule of maxima allows for
# windows without a place; without samples or channels oneDNN's gradient of them ends the process.
NEEDS = {
    **NONEMPTY,
    **dict.fromkeys(("max_pool", "unpool"), ("samples", "channels")),
}
