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
from ..variables import Store
from .strings import element, escaped
from .table import effect, host
from .values import plain, tensor


def summary(value: Any, most: int) -> str:
    """A value as messages show it: so many numbers, -1: all; rows in brackets.

    >>> summary(np.arange(6.0).reshape(2, 3), 2), summary([1, 2], 3)
    ('[0 1...]...', '1 2')
    """
    given = plain(value)
    limit = given.size if most < 0 else min(most, given.size)
    parts = [_element(each) for each in given.ravel()[:limit]]
    shown = _rows(parts, given.shape, limit, 0, given.ndim) if given.ndim else "".join(parts)
    return shown + "..." * (limit < given.size)


def _element(value: Any) -> str:
    return escaped(value) if isinstance(value, bytes) else element(value)


def _rows(parts: list[str], shape: tuple[int, ...], limit: int, start: int, rank: int) -> str:
    """What begins at a place of the numbers that are shown."""
    if len(shape) == 1:
        kept = parts[start : start + shape[0]]
        return " ".join(kept) + "..." * (rank > 1 and len(kept) < shape[0])
    size = int(np.prod(shape[1:]))
    starts = [start + size * row for row in range(shape[0]) if start + size * row < limit]
    return "".join(f"[{_rows(parts, shape[1:], limit, at, rank)}]" for at in starts)


@effect("Assert")
def _demand(lowering: Lowering, holds: Any) -> None:
    condition = lowering.value(holds)
    if isinstance(condition, Tensor) or not np.all(condition):
        lowering.demand(condition)


@host("Assert")
def _assert(holds: Any, *data: Any, summarize: int) -> None:
    if not np.all(holds):
        shown = " ".join(f"[{summary(each, summarize)}]" for each in data)
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
        print(message + "".join(f"[{summary(each, summarize)}]" for each in data), file=sys.stderr)
    return x


host("Timestamp")(lambda: np.float64(time.time()))
