"""JAX's table: how each primitive is traced."""

from __future__ import annotations

from .._lowering import Rule
from . import control, elementwise, movement, windows

RULES: dict[str, Rule] = {
    **elementwise.RULES,
    **movement.RULES,
    **windows.RULES,
    **control.RULES,
}
WHERE = {**elementwise.WHERE, **windows.WHERE, **control.WHERE}
# Sums and products of many numbers are rounded once. (float16 is computed in float32 anyway.)
_SINGLE = {"bfloat16": "float32"}
CARRIERS: dict[str, dict[str, str]] = {
    **dict.fromkeys(("reduce_sum", "reduce_prod", "cumsum", "cumprod"), _SINGLE),
    "contract": {"bool": "int32"},
}
DECLINED = dict.fromkeys(
    ("nonzero", "ctc_greedy", "ctc_beam_search"),
    "the shape of its result depends on values, and XLA compiles for known shapes",
)
