"""PyTensor's elementwise operations, by primitive."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytensor.tensor as pt

from .._names import names

OPERATIONS: dict[str, Callable[..., Any]] = {
    name: getattr(pt, operation)
    for name, operation in names(
        "neg abs sign exp expm1 log log1p sqrt square sin cos tanh sigmoid floor ceil"
        " round=round_half_to_even is_nan=isnan logical_not=invert logical_and=and_ logical_or=or_"
        " add sub mul div=true_div mod pow maximum minimum eq ne=neq lt le gt ge bit_not=invert"
        " bit_and=and_ bit_or=or_ bit_xor=xor select=switch"
    ).items()
}
