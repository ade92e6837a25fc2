"""PyTensor's elementwise operations, by primitive."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytensor.tensor as pt

OPERATIONS: dict[str, Callable[..., Any]] = {
    "neg": pt.neg,
    "abs": pt.abs,
    "sign": pt.sign,
    "exp": pt.exp,
    "expm1": pt.expm1,
    "log": pt.log,
    "log1p": pt.log1p,
    "sqrt": pt.sqrt,
    "square": pt.square,
    "sin": pt.sin,
    "cos": pt.cos,
    "tanh": pt.tanh,
    "sigmoid": pt.sigmoid,
    "floor": pt.floor,
    "ceil": pt.ceil,
    "round": pt.round_half_to_even,
    "is_nan": pt.isnan,
    "logical_not": pt.invert,
    "logical_and": pt.and_,
    "logical_or": pt.or_,
    "add": pt.add,
    "sub": pt.sub,
    "mul": pt.mul,
    "div": pt.true_div,
    "mod": pt.mod,
    "pow": pt.pow,
    "maximum": pt.maximum,
    "minimum": pt.minimum,
    "eq": pt.eq,
    "ne": pt.neq,
    "lt": pt.lt,
    "le": pt.le,
    "gt": pt.gt,
    "ge": pt.ge,
    "bit_not": pt.invert,
    "bit_and": pt.and_,
    "bit_or": pt.or_,
    "bit_xor": pt.xor,
    "select": pt.switch,
}
