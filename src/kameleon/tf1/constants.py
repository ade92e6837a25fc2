"""Names of TensorFlow 1 that are numbers, strings, enumerations and dtypes, as recorded."""

from __future__ import annotations

import enum
from typing import Any

from ..ir.types import DTYPES, DType
from .public import public

# Of the machine that TensorFlow was made on, and of other programs: they say nothing here.
OUTSIDE = ("sysconfig.", "lite.", "distribute.", "autograph.", "CXX11_ABI_FLAG", "MONOLITHIC_BUILD")


def _recorded() -> dict[str, Any]:
    found = {name: x for name, x in public().constants.items() if not name.startswith(OUTSIDE)}
    for name, members in public().enumerations.items():
        if not name.startswith(OUTSIDE):
            found[name] = enum.Enum(name, members, module=__name__)
    return found


PLAIN: dict[str, Any] = {
    **_recorded(),
    **{f"dtypes.{name}": kind for name, kind in DTYPES.items()},
    "dtypes.half": DTYPES["float16"],
    "dtypes.double": DTYPES["float64"],
    "dtypes.DType": DType,
}
NAMES: dict[str, Any] = {}
