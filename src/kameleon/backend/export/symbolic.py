"""Graphs traced by JAX for sizes that have just names: shapes are formulas of these.

What decides shapes is computed while code is made, as in `engines.jax.lowering`. Where a size has
no number, it's a formula of JAX's (`jax.export.symbolic_shape`). Numbers with such formulas are
NumPy arrays of Python objects here; where one is needed as a value, it's made of the arguments'
shapes when the code runs.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any

import jax
import numpy as np
from jax import lax

from ...engines._lowering import Lowering, Rule
from ...engines.jax.lowering import (
    HOST,
    SizesError,
    Tracing,
    same_shapes,
    same_sizes,
    scalar,
    stretched,
)
from ...errors import FOREIGN, UnsupportedError
from ...graph.ir.node import Node
from ..interop.jax_tracing import WHOLE, Inside, Traced, TracedEngine
from .refusals import refusal

Value = Any


def _is_formula(x: Value) -> bool:
    return isinstance(x, np.ndarray) and x.dtype == object


def _settled(values: Any, dtype: Any) -> np.ndarray:
    """Numbers and formulas as an array: of the dtype, if all are numbers."""
    array = values if _is_formula(values) else _as_objects(values)
    known = all(isinstance(x, int) for x in array.flat)
    return array.astype(np.dtype(dtype))[()] if known else array


def _as_objects(value: Any) -> np.ndarray:
    found = np.empty((), object)
    found[()] = value
    return found


def _objects(x: Value) -> np.ndarray:
    """Numbers as Python's: NumPy's don't add to formulas."""
    return x if _is_formula(x) else np.asarray(np.asarray(x).tolist(), object)


def _as_value(x: Value, node: Node) -> Value:
    """A formula as an array of JAX, for what computes with it."""
    if not _is_formula(x):
        return x
    dtype = np.dtype(node.dtype)
    parts = [lax.convert_element_type(jax.numpy.asarray(d), dtype) for d in x.flat]
    return lax.reshape(jax.numpy.stack(parts), x.shape) if x.shape else parts[0]


class UndecidedError(UnsupportedError):
    """Something must be known of sizes, and isn't.

    Attributes:
        constraints: what would tell it, perhaps, as JAX takes it.
        sizes: groups of those that must be equal.
    """

    def __init__(
        self,
        node: Node,
        why: str,
        constraints: Sequence[str],
        sizes: Sequence[Sequence[Any]] = (),
    ):
        self.constraints, self.sizes = constraints, sizes
        super().__init__(_refusal(node, why))


def _unequal(
    node: Node, sizes: Sequence[Sequence[Any]], constraints: Sequence[str]
) -> UndecidedError:
    """The error that nothing tells that sizes are equal."""
    differ = next(x for x in sizes if len(set(x)) > 1)
    shown = " and ".join(map(str, dict.fromkeys(differ)))
    why = f"the sizes {shown} must be equal, and may differ"
    return UndecidedError(node, why, constraints, sizes)


class Symbolic(Inside):
    """See `Tracing`: sizes may be formulas.

    Raises:
        UnsupportedError: something needs the number itself; names the node.
    """

    def run(self) -> list[Value]:
        """See `Lowering.run`."""
        found = super().run()
        return [_as_value(y, node) for y, node in zip(found, self.graph.outputs, strict=True)]

    def number(self, value: Value) -> Any:
        """See `Tracing.number`."""
        return value[()] if _is_formula(value) else int(value)

    def size(self, value: Value, axis: int) -> Any:
        """See `Lowering.size`."""
        return np.shape(value)[axis]

    def agree(self, node: Node, sizes: list[Value]) -> None:
        """See `Lowering.agree`."""
        numbers = [self.number(s) if isinstance(s, HOST) else s for s in sizes]
        if len(set(numbers)) > 1:
            raise _unequal(node, [numbers], self._fitting())

    def _visit(self, node: Node) -> None:
        try:
            if not self._is_formula_of(node):
                self._computed(node)
        except (UnsupportedError, *FOREIGN):
            raise
        except SizesError as error:
            raise _unequal(node, error.sizes, self._fitting()) from None
        except Exception as error:
            given = [self.values[x] for x in node.operands if x in self.values]
            if all(_is_known(np.shape(x)) and not _is_formula(x) for x in given):
                raise
            why = str(error.__cause__ or error).strip().splitlines()[0]
            raise UnsupportedError(_refusal(node, why)) from error

    def _computed(self, node: Node) -> None:
        """Give a node its value by its rule: `Tracing` would compute a formula's on the host."""
        given = [self.values.get(x) for x in node.operands]
        if node.primitive.name in MEETING or any(map(_is_formula, given)):
            Lowering._visit(self, node)
        else:
            super()._visit(node)

    def _fitting(self) -> list[str]:
        """That there's a place for each window in what it's moved over."""
        found: dict[str, None] = {}
        for node in self.graph.nodes:
            if node.primitive.name not in MOVED or node.operands[0] not in self.values:
                continue
            window = node.attrs["window"]
            space = np.shape(self.values[node.operands[0]])[1:-1]
            rows = zip(space, window.spans, window.padding, window.strides, strict=True)
            for d, span, margins, stride in rows:
                if not isinstance(d, int) and span > sum(margins) + 1:
                    rest = d + sum(margins) - span
                    found |= dict.fromkeys((f"{rest} >= 0", f"{rest // stride} >= 0"))
        return list(found)

    def _is_formula_of(self, node: Node) -> bool:
        """Compute a node from sizes; whether it's one."""
        name = node.primitive.name
        if name == "size":
            size = self.size(self.value(node.operands[0]), node.attrs["axis"])
            self.values[node] = _settled(_as_objects(size), node.dtype)
            return True
        if name not in FORMULAS or not node.dtype.is_integer:
            return False
        operands = [self.value(x) for x in node.operands]
        if not any(map(_is_formula, operands)) or not all(isinstance(x, HOST) for x in operands):
            return False
        try:
            found = FORMULAS[name](self, node, *map(_objects, operands))
        except Exception:  # there's no such formula: it's computed when the code runs
            return False
        self.values[node] = _settled(found, node.dtype)
        return True


def _refusal(node: Node, why: str) -> str:
    remedy = (
        "fix the sizes of inputs that it's computed from: shapes=[(32, 784), …], or placeholders of"
        " known shapes"
    )
    return refusal("StableHLO with open sizes", node, why, remedy)


# What sizes are computed with -----------------------------------------------------------------

Formula = Callable[..., Any]


def _elementwise(function: Callable[..., Any]) -> Formula:
    return lambda e, node, *xs: np.frompyfunc(function, len(xs), 1)(*np.broadcast_arrays(*xs))


FORMULAS: dict[str, Formula] = {
    "add": _elementwise(operator.add),
    "sub": _elementwise(operator.sub),
    "mul": _elementwise(operator.mul),
    "neg": _elementwise(operator.neg),
    "floor_div": _elementwise(operator.floordiv),
    "mod": _elementwise(operator.mod),
    "maximum": _elementwise(max),
    "minimum": _elementwise(min),
    **dict.fromkeys(("cast", "identity", "stop_gradient"), lambda e, node, x, *rest: x),
    "reshape": lambda e, node, x, *sizes: np.reshape(x, e.dims(node)),
    "broadcast_to": lambda e, node, x, *sizes: np.broadcast_to(x, e.dims(node)),
    "slice": lambda e, node, x: x[tuple(slice(*w) for w in node.attrs["windows"])],
    "concatenate": lambda e, node, *xs: np.concatenate(xs, node.attrs["axis"]),
    "gather": lambda e, node, x, i: np.take(x, i.astype(int), node.attrs["axis"]),
    "reduce_prod": lambda e, node, x: reduce(operator.mul, x.flat, 1),
    "reduce_sum": lambda e, node, x: reduce(operator.add, x.flat, 0),
}


# Rules ------------------------------------------------------------------------------------------


# What moves a window over its first operand.
MOVED = frozenset(("conv", "conv_kernel", "depthwise_conv", "depthwise_kernel"))


def _is_known(shape: Sequence[Any]) -> bool:
    return all(isinstance(d, int) for d in shape)


def _reshape(e: Tracing, node: Node, x: Value, *sizes: Value) -> Value:
    shape = e.dims(node)
    if _is_known(np.shape(x)) and _is_known(shape):
        return WHOLE["reshape"](e, node, x, *sizes)
    return jax.numpy.reshape(x, shape)


def _slice(e: Tracing, node: Node, x: Value) -> Value:
    if _is_known(np.shape(x)):
        return WHOLE["slice"](e, node, x)
    return x[tuple(slice(*w) for w in node.attrs["windows"])]


def _unslice(e: Tracing, node: Node, g: Value, *sizes: Value) -> Value:
    shape = e.dims(node)
    if _is_known(shape):
        return WHOLE["unslice"](e, node, g, *sizes)
    zeros = lax.full(shape, scalar(0, node.dtype))
    places = tuple(slice(*w) for w in node.attrs["windows"])
    same_shapes(zeros[places].shape, np.shape(g))
    return zeros.at[places].set(g)


# Where sizes meet, one is 1 or they're equal.


def _common_size(e: Tracing, node: Node, a: Value, b: Value) -> Value:
    if not (isinstance(a, HOST) and isinstance(b, HOST)):
        return e.expanded(node, [_as_value(a, node), _as_value(b, node)])[0]
    one, other = e.number(a), e.number(b)
    if 1 not in (one, other):
        same_sizes(one, other)
    return _settled(_as_objects(other if one == 1 else one), node.dtype)


def _stretch(e: Tracing, node: Node, x: Value, *sizes: Value) -> Value:
    shape, own = e.dims(node), np.shape(x)
    for size, want in zip(own, shape[len(shape) - len(own) :], strict=True):
        if size != 1:
            same_sizes(size, want)
    return stretched(x, shape)


def _sum_to(e: Tracing, node: Node, g: Value, *sizes: Value) -> Value:
    shape, own = e.dims(node), np.shape(g)
    axes = tuple(i for i, (a, b) in enumerate(zip(own, shape, strict=True)) if b == 1 != a)
    for i, (size, want) in enumerate(zip(own, shape, strict=True)):
        if i not in axes:
            same_sizes(size, want)
    return jax.numpy.sum(g, axes, dtype=g.dtype, keepdims=True) if axes else g


def _scan(e: Tracing, node: Node, *operands: Value) -> Value:
    """JAX compares the number of steps with 1."""
    steps = np.shape(operands[-1])[0]
    try:
        operator.ge(steps, 1)
    except Exception:  # of a formula, it may be either
        why = f"nothing tells whether there's a step: {steps} of them"
        raise UndecidedError(node, why, [f"{steps} >= 1"]) from None
    return WHOLE["scan"](e, node, *operands)


MEETING: dict[str, Rule] = {"common_size": _common_size, "stretch": _stretch, "sum_to": _sum_to}
OWN: dict[str, Rule] = {
    **MEETING,
    "reshape": _reshape,
    "slice": _slice,
    "unslice": _unslice,
    "scan": _scan,
}


def _with_values(name: str, rule: Rule) -> Rule:
    """A rule to which formulas come as sizes, or as operands of a body that doesn't change them;
    else they're values.
    """

    def whole(e: Tracing, node: Node, *operands: Value) -> Any:
        first = node.primitive.first_size
        kept = range(len(operands) if first is None else first, len(operands))
        if name == "common_size":
            kept = range(2)
        elif name == "cond":
            kept = range(1, len(operands))
        elif name in ("scan", "while"):
            kept = range(node.attrs["consts"])
        pairs = zip(node.operands, operands, strict=False)
        given = [x if i in kept else _as_value(x, n) for i, (n, x) in enumerate(pairs)]
        return rule(e, node, *given)

    return whole


class SymbolicEngine(TracedEngine):
    """See `TracedEngine`: what stretches stays as it is."""

    rules: Mapping[str, Rule] = {**TracedEngine.rules, **MEETING}


class SymbolicTraced(Traced):
    """See `Traced`: for arguments whose sizes may be open."""

    engine = SymbolicEngine()
    tracing = Symbolic
    rules: Mapping[str, Rule] = {
        name: _with_values(name, rule) for name, rule in {**WHOLE, **OWN}.items()
    }
