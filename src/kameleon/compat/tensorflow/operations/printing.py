"""What programs print, and what they assert; the time."""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np

from kameleon import backend as K
from kameleon.graph.ir.node import Tensor
from kameleon.graph.primitives import elementwise as E
from kameleon.graph.primitives.control import check
from kameleon.graph.primitives.filling import full_like

from ..failures import invalid
from ..graph import Operation
from ..lowering import Lowering
from ..showing import summary
from ..variables import Store
from .table import effect, host
from .values import plain, tensor


@effect("Assert")
def _demand(lowering: Lowering, holds: Any) -> None:
    condition = lowering.value(holds)
    if isinstance(condition, Tensor) or not np.all(condition):
        lowering.demand(condition)


@host("Assert")
def _assert(holds: Any, *data: Any, summarize: int) -> None:
    if not np.all(holds):
        shown = " ".join(f"[{summary(plain(each), summarize)}]" for each in data)
        raise invalid(f"assertion failed: {shown}")


@effect("CheckNumerics")
def _demand_finite(lowering: Lowering, x: Any, *, message: str) -> Tensor:
    value = tensor(lowering.value(x))
    finite = E.eq(E.sub(value, value), full_like(value, 0))
    lowering.demand(K.all(finite))  # whether anything takes the value or not
    return check(value, finite, message=f"{message} : Tensor had NaN or Inf values")


@host("CheckNumerics")
def _assert_finite(x: Any, *, message: str) -> Any:
    found = [name for name, test in (("Inf", np.isinf), ("NaN", np.isnan)) if np.any(test(x))]
    if found:
        raise invalid(f"{message} : Tensor had {' and '.join(found)} values")
    return x


@host("Print")
def _print(
    store: Store, operation: Operation, x: Any, *data: Any,
    first_n: int, summarize: int, message: str,
) -> Any:  # fmt: skip
    key = ("printed", operation.name)
    done = store.resources[key] = store.resources.get(key, 0) + 1
    if first_n < 0 or done <= first_n:
        print(
            message + "".join(f"[{summary(plain(each), summarize)}]" for each in data),
            file=sys.stderr,
        )
    return x


host("Timestamp")(lambda: np.float64(time.time()))
