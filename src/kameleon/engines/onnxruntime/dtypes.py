"""Which operators ONNX Runtime (on a CPU) has for which dtypes, and what stands in for others.

Found by trying each operator with each dtype. An operator that isn't listed has kernels for all
dtypes that its primitive takes. Where one lacks, its operands are cast to a carrier dtype, and
the result is cast back; which carriers keep the meaning depends on what the operator does.
Elements of float16 are only moved: what computes with them does it in float32 (see `_half`).
"""

from __future__ import annotations

from collections.abc import Mapping

FLOATS = frozenset(("float32", "float64"))
_WIDE = frozenset(("int32", "int64")) | FLOATS
_SMALL = frozenset(("uint8", "int8")) | _WIDE

_INTEGERS = frozenset("uint8 uint16 uint32 uint64 int8 int16 int32 int64".split())

_HALF = frozenset(("float16",))

KERNELS: dict[str, frozenset[str]] = {
    **dict.fromkeys(("Add", "Sub", "Mul", "Div"), _INTEGERS | FLOATS),
    "Equal": frozenset(("bool",)) | _INTEGERS | FLOATS,
    "Neg": frozenset(("int8", "int16")) | _WIDE,
    # Of int64 these three look at the lower half alone.
    "Sign": frozenset("uint8 uint16 uint32 uint64 int8 int16 int32 float32 float64".split()),
    "Max": frozenset(("uint32", "uint64")) | _SMALL - {"int64"},
    "Min": frozenset(("uint32", "uint64")) | _SMALL - {"int64"},
    **dict.fromkeys(
        ("Less", "LessOrEqual", "Greater", "GreaterOrEqual"),
        _INTEGERS | FLOATS,
    ),
    "BitShift": frozenset(("uint8", "uint32", "uint64")),
    "Where": frozenset(("uint32",)) | _SMALL,
    "Pad": frozenset(("uint32", "uint64")) | _SMALL | _HALF,
    "Range": frozenset(("int16", "int32", "int64", "float32", "float64")),
    **dict.fromkeys(("CumSum", "CumProd"), _WIDE),
    # Of integers these two go through floats, and saturate.
    **dict.fromkeys(("ReduceSum", "ReduceProd"), FLOATS),
    # Of int64 they look at the lower half alone.
    **dict.fromkeys(("ReduceMax", "ReduceMin"), _SMALL - {"int64"}),
    **dict.fromkeys(("ArgMax", "ArgMin"), _SMALL),
    "TopK": frozenset(("int16",)) | _SMALL,
    **dict.fromkeys(
        ("ScatterElements", "ScatterND"),
        frozenset(("bool",)) | _INTEGERS | FLOATS,
    ),
    "NonZero": frozenset(("bool", "uint8", "int32", "int64", "float32")),
    # Of unsigned integers the kernels fail on sums of no terms.
    "MatMul": _WIDE,
    "Gemm": FLOATS,
    "BitCast": _INTEGERS | FLOATS | _HALF,
    "MaxPool": frozenset(("uint8", "int8")) | FLOATS,
    **dict.fromkeys(
        ("Conv", "ConvTranspose", "AveragePool", "Softplus", "Elu"), frozenset(("float32",))
    ),
}

_NARROW = dict.fromkeys(("uint8", "int8", "uint16", "int16"), "int32")
# Elements are moved: anything that keeps the bits will do.
MOVES = {"bool": "uint8", "uint16": "int32", "int16": "int32", "uint64": "int64"}
# Sums and products modulo 2**bits: of wider integers the low bits are right.
WRAPS = {**_NARROW, "uint32": "int64", "uint64": "int64", "float16": "float32"}
# Elements are compared: the order must stay. (The largest uint64 numbers have no place in int64:
# their top bit is flipped on the way.)
ORDERED = {"bool": "uint8", **_NARROW, "uint32": "int64", "uint64": "int64"}
# Of shifts that bring in zeros, the bits that are kept lie low.
BITS = {"uint16": "uint32"}

CARRIERS: dict[str, Mapping[str, str]] = {
    **dict.fromkeys(("Where", "Pad", "NonZero", "BitCast"), MOVES),
    **dict.fromkeys(
        (
            *("Add", "Sub", "Mul", "Div", "Neg", "Range", "CumSum", "CumProd", "MatMul"),
            *("ScatterElements", "ScatterND"),
        ),
        WRAPS,
    ),
    **dict.fromkeys(
        (
            *("Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual"),
            *("ArgMax", "ArgMin", "TopK", "Max", "Min"),
        ),
        ORDERED,
    ),
    "BitShift": BITS,
}


def carrier(kind: str, dtype: str) -> str:
    """The dtype in which an operator works on values of `dtype`."""
    return dtype if has_kernel(kind, dtype) else CARRIERS[kind][dtype]


def has_kernel(kind: str, dtype: str) -> bool:
    """Whether an operator works on values of `dtype` themselves."""
    return kind not in KERNELS or dtype in KERNELS[kind]


def is_ordered(kind: str) -> bool:
    """Whether the operator compares elements."""
    return CARRIERS[kind] is ORDERED
