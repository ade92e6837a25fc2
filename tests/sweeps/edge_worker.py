"""Runs cases of single primitives on one engine, and says what was wrong with each.

    python -m sweeps.edge_worker ENGINE

Values are held against NumPy's, types against those that were inferred. Gradients have the shapes
of their operands, and are the embedded engine's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .edge_cases import OPS, Array, Case, case_of, expected, operands
from .processes import serve

# Some engines flush numbers to 0 that are smaller than the least normal number times this one.
FLUSHED = 4.0
# How far gradients may be off, in units in the last place of 1; and up to which size of operands
# they are compared: compilers take (a / b) / b as a / (b * b), which may overflow.
SLOPE_UNITS = 64
LARGEST = 10


def built(case: Case, inputs: list[Any]) -> Any:
    """The primitive over these nodes."""
    from kameleon.graph.ir.node import REGISTRY
    from kameleon.graph.ir.types import as_dtype
    from kameleon.graph.primitives import indexing, movement, reduce

    attrs = {k: _canonical(v) for k, v in case.attrs.items()}
    if "dtype" in attrs:
        attrs["dtype"] = as_dtype(attrs["dtype"])
    if case.op == "concatenate":
        return movement.concatenate(inputs, **attrs)
    name = {"slice": "slice_"}.get(case.op, case.op)
    makers = (getattr(module, name, None) for module in (movement, indexing, reduce))
    make: Callable[..., Any] = next(filter(None, makers), REGISTRY[case.op])
    return make(*inputs, **attrs) if make is REGISTRY[case.op] else make(*inputs, *attrs.values())


def _canonical(value: Any) -> Any:
    return tuple(map(_canonical, value)) if isinstance(value, list) else value


def placed(case: Case, given: list[Array]) -> list[Any]:
    """Inputs whose sizes are known as far as the case says."""
    from kameleon.graph.ir.leaves import input_node
    from kameleon.graph.ir.types import TensorType, as_dtype

    rng = np.random.default_rng(case.seed)
    chance = {"all": 1.0, "some": 0.5, "none": 0.0}[case.known]
    return [
        input_node(
            TensorType(
                tuple(d if rng.random() < chance else None for d in x.shape), as_dtype(x.dtype)
            )
        )
        for x in given
    ]


def difference(case: Case, got: Array, want: Array) -> str | None:
    """What is wrong with a result, if anything."""
    if got.dtype != want.dtype or got.shape != want.shape:
        return f"{got.dtype}{got.shape}, not {want.dtype}{want.shape}"
    if got.dtype.kind != "f":
        off = got != want
    else:
        off = ~_close(got, want, OPS[case.op].units, OPS[case.op].least)
    if not off.any():
        return None
    at = tuple(int(i) for i in np.argwhere(off)[0])
    shown = [x[at] if x.shape == got.shape else x.tolist() for x in operands(case)]
    return f"{at} is {got[at]!r}, not {want[at]!r}; of {shown!r}"


def _close(got: Array, want: Array, units: float, least: float) -> Any:
    limits = np.finfo(got.dtype)
    with np.errstate(all="ignore"):
        wide, exact = got.astype(np.float64), want.astype(np.float64)
        off = np.abs(wide - exact) / float(limits.eps)
        near = off <= units * np.maximum(np.abs(exact), least) + FLUSHED * float(
            limits.tiny
        ) / float(limits.eps)
    same = (got == want) | (np.isnan(got) & np.isnan(want))
    if units:
        return same | near
    return same & ((np.signbit(got) == np.signbit(want)) | (got != 0))


def slopes(case: Case, y: Any, inputs: list[Any]) -> list[tuple[int, Any]]:
    """The gradients that there are, each with the number of its operand."""
    from kameleon.graph.gradients import gradients
    from kameleon.graph.primitives.reduce import reduce_sum

    if not y.dtype.is_float:
        return []
    total = reduce_sum(y, range(len(y.shape)))
    return [(i, g) for i, g in enumerate(gradients(total, inputs)) if g is not None]


def fault(case: Case, engine: str) -> str | None:
    """What is wrong with a case, if anything: the first finding."""
    from kameleon.runtime import engines
    from kameleon.runtime.function import Function

    given = operands(case)
    inputs = placed(case, given)
    y = built(case, inputs)
    want = expected(case, given)
    if not y.type.accepts(want.shape):
        return f"{y.type} is inferred, not {want.shape}"
    found = slopes(case, y, inputs)
    with engines.using(engine) as chosen:
        call = Function(inputs, [y, *(g for _, g in found)], engine=chosen)
        for _ in range(2):  # the second call may get used memory
            got, *by = call(given)
            wrong = difference(case, got, want)
            if wrong:
                return wrong
    same = Function(inputs, [g for _, g in found], engine=engines.embedded())(given)
    for (i, _), g, slope in zip(found, by, same, strict=True):
        wrong = _slope_difference(given, given[i], g, slope)
        if wrong:
            return f"the gradient of operand {i}: {wrong}"
    return None


def _slope_difference(given: list[Array], x: Array, got: Array, want: Array) -> str | None:
    if (got.dtype, got.shape) != (x.dtype, x.shape):
        return f"it's {got.dtype}{got.shape}"
    if any((np.abs(a[np.isfinite(a)]) > LARGEST).any() for a in given):
        return None
    off = ~_close(got, want, SLOPE_UNITS, least=1)
    if not off.any():
        return None
    at = tuple(int(n) for n in np.argwhere(off)[0])
    shown = [a.tolist() for a in given]
    return f"at {at} it's {got[at]!r}, not {want[at]!r}; of {shown!r}"


if __name__ == "__main__":
    serve(fault, case_of)
