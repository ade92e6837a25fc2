"""For which dtypes ONNX Runtime (on a CPU) lacks operators, and which dtypes carry these.

Found by trying each operator with each dtype. A primitive that isn't listed has kernels for all
dtypes that it takes, but for float16: passes have replaced that by float32 (`graph.passes.half`).
"""

from __future__ import annotations

from collections.abc import Mapping

_SMALL = {"uint16": "int32", "int16": "int32"}
_UNSIGNED = {"uint32": "int64", "uint64": "int64"}
_BOOL = {"bool": "uint8"}
# Elements are moved: any dtype that keeps the bits will do.
_MOVED = {**_BOOL, **_SMALL}
# The operator that pads has no kernel for float16: ONNX Runtime would put casts around it itself,
# and merge them with those that round.
_PADDED = {**_MOVED, "float16": "float32"}
# Sums and products modulo 2**bits: of wider integers the low bits are right. (MatMul has unsigned
# kernels, but they fail on sums of no terms.)
_SUMMED = {"uint8": "int32", "int8": "int32", **_SMALL, **_UNSIGNED}
# Elements are compared: the order must stay.
_COMPARED = {**_SMALL, **_UNSIGNED}
_RANKED = {**_BOOL, **_COMPARED}

CARRIERS: dict[str, Mapping[str, str]] = {
    "neg": {d: _SUMMED[d] for d in ("uint8", "uint16", "uint32", "uint64")},
    "select": {**_MOVED, "uint64": "int64"},
    **dict.fromkeys(("pad", "unslice"), _PADDED),
    **dict.fromkeys(("lt", "le", "gt", "ge"), _BOOL),
    **dict.fromkeys(("maximum", "minimum"), _SMALL),
    **dict.fromkeys(("argmax", "argmin", "argsort"), _RANKED),
    **dict.fromkeys(("reduce_max", "reduce_min"), _COMPARED),
    **dict.fromkeys(("cumsum", "cumprod", "reduce_sum", "reduce_prod"), _SUMMED),
    "contract": {**_SUMMED, "bool": "int32"},
}
