"""Conditions, loops, identity-like annotations; random bits."""

from __future__ import annotations

import math
from typing import Any

import jax
import numpy as np
from jax import lax
from jax.experimental import io_callback

from ...errors import EngineError
from ...graph.ir.leaves import input_node
from ...graph.ir.node import Node
from ...graph.ir.program import Graph
from ...graph.ir.types import UINT32, TensorType
from ...graph.primitives.movement import concatenate
from ...graph.primitives.precision import convolves
from ...graph.primitives.random import KEY, threefry
from .._lowering import Rule, expanded, first
from .lowering import HOST, Tracing, Value, as_array, same_shapes

_LIKE: Any = jax.ShapeDtypeStruct


def _traced(values: Any) -> list[Value]:
    """Values as arrays of JAX: what is known while tracing is NumPy's."""
    return [as_array(v) for v in values]


def _cond(e: Tracing, node: Node, condition: Value, *operands: Value) -> Value:
    """A condition that decides shapes is known while tracing: one branch alone is traced then."""
    branches: list[Graph] = [node.attrs["then"], node.attrs["otherwise"]]
    if isinstance(condition, HOST):
        return tuple(e.inner(branches[0 if condition else 1], operands))
    then, otherwise = ((lambda g=g: _traced(e.inner(g, operands))) for g in branches)
    return tuple(lax.cond(condition, then, otherwise))


def _scan(e: Tracing, node: Node, *operands: Value) -> Value:
    """A scan; known numbers, the same in each step, go to `e.invariant`, not to a stack."""
    c, k = node.attrs["consts"], node.attrs["carry"]
    body: Graph = node.attrs["body"]
    sequences = dict(zip(node.operands[c + k :], operands[c + k :], strict=True))
    length = np.shape(operands[-1])[0]
    moving = {x: v for x, v in sequences.items() if x not in e.invariant}
    steady: dict[Node, Value] = {}

    def step(states: list[Value], now: list[Value]) -> tuple[list[Value], list[Value]]:
        slices = {**e.invariant, **dict(zip(moving, now, strict=True))}
        given = [slices[x] for x in node.operands[c + k :]]
        results = e.inner(body, [*operands[:c], *states, *given])
        for old, new in zip(states, results[:k], strict=True):
            same_shapes(np.shape(old), np.shape(new))
        steady.update(
            (item, y)
            for item, y in zip(node.results[k:], results[k:], strict=True)
            if isinstance(y, HOST) and not np.shape(y)
        )
        stacked = [y for i, y in zip(node.results, results, strict=True) if i not in steady]
        return _traced(stacked[:k]), _traced(stacked[k:])

    count = length if isinstance(length, int) else None  # told by sequences, where it has a name
    last, stacked = lax.scan(
        step, _traced(operands[c : c + k]), _traced(moving.values()), count,
        reverse=node.attrs["backwards"], unroll=_unrolled(body, length),
    )  # fmt: skip
    e.invariant.update(steady)
    rest = iter(stacked)
    outputs = [np.full(length, steady[y]) if y in steady else next(rest) for y in node.results[k:]]
    return (*last, *outputs)


# XLA's convolutions on a processor are up to 15 times slower within a loop than outside of one.
# Loops with convolutions, and with no more steps, are unrolled: they compile in 2 s, not 0.5.
LONGEST_UNROLLED = 32


def _unrolled(body: Graph, length: int) -> int:
    """How many steps of a scan become one iteration of XLA's loop."""
    few = isinstance(length, int) and length <= LONGEST_UNROLLED
    return max(1, length) if few and convolves(body) else 1


def _while(e: Tracing, node: Node, *operands: Value) -> Value:
    consts, carry = operands[: node.attrs["consts"]], operands[node.attrs["consts"] :]
    condition, body = node.attrs["condition"], node.attrs["body"]

    def step(states: Any) -> list[Value]:
        results = _traced(e.inner(body, [*consts, *states]))
        for old, new in zip(states, results, strict=True):
            same_shapes(np.shape(old), np.shape(new))
        return results

    def holds(states: Any) -> Value:
        return as_array(e.inner(condition, [*consts, *states])[0])

    return tuple(lax.while_loop(holds, step, _traced(carry)))


# Functions of Python -----------------------------------------------------------------------


def _call(e: Tracing, node: Node, *operands: Value) -> Value:
    """The results of a function of Python: one of JAX is traced, others are called back."""
    callee = node.attrs["callee"]
    if _is_own(node):
        return callee.on_own(*map(as_array, operands))
    like = [_LIKE(_known_shape(e, y), np.dtype(y.dtype)) for y in node.results]
    if callee.pure:
        return jax.pure_callback(callee.callback, like, *operands)
    return io_callback(callee.callback, like, *operands, ordered=True)


def _is_own(node: Node) -> bool:
    """Whether a call becomes part of the code of JAX."""
    callee = node.attrs["callee"]
    return bool(callee.library.name == "jax" and callee.results.traced)


def _known_shape(e: Tracing, y: Node) -> tuple[int, ...]:
    """The shape of a function's result, which XLA must know beforehand."""
    for axis in range(len(y.shape)):
        if e.sizes.of(y, axis) == (y, axis):
            raise EngineError(
                f"JAX can't call {y.operands[0].attrs['callee']} inside of a loop or a condition:"
                f" nothing tells the size of axis {axis} of its result; declare it by shapes= or"
                " like=, or choose another engine"
            )
    return tuple(int(e.size_of(y, axis)) for axis in range(len(y.shape)))


# Random numbers ----------------------------------------------------------------------------


def _cipher() -> Graph:
    """The words that `graph.primitives.random` makes of vectors of counter words."""
    shapes = KEY.shape, (None,), (None,)
    key, x0, x1 = (input_node(TensorType(shape, UINT32)) for shape in shapes)
    return Graph([key, x0, x1], [concatenate(threefry(key, x0, x1), 0)])


CIPHER = _cipher()


def _random_bits(e: Tracing, node: Node, key: Value, *sizes: Value) -> Value:
    """The expansion, cut to a size that is known while tracing."""
    shape = e.dims(node)
    count = math.prod(shape)
    counter = lax.iota(np.uint32, (count + 1) // 2)
    (words,) = e.inner(CIPHER, [key, counter, lax.full_like(counter, 0)])
    return lax.reshape(lax.slice_in_dim(words, 0, count), shape)


RULES: dict[str, Rule] = {
    **dict.fromkeys(("identity", "stop_gradient", "with_gradient", "check"), first),
    "cond": _cond,
    "scan": _scan,
    "while": _while,
    "call": _call,
    "random_bits": _random_bits,
    "minus_one_hot": expanded,  # and labels are checked
}
# Other functions are called between compiled parts; in loops and conditions they're called back.
WHERE = {"call": _is_own}
