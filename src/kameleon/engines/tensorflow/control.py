"""Lowering rules of conditions, loops and scans, of checks, and of what is done by callbacks."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

import tensorflow as tf

from ...graph.ir.node import Node
from .._embedded import alone
from .._lowering import Rule
from .kernels import Tensor, constant, of_shape, raw, required, shielded, vector
from .lowering import Tracing

# What the embedded engine computes, called back by TensorFlow's runtime.
BORROWED = ("ctc_greedy", "ctc_beam_search")


def check(e: Tracing, node: Node, x: Tensor, holds: Tensor) -> Tensor:
    axes = list(range(len(holds.shape)))
    first = required(raw.All(input=holds, axis=axes) if axes else holds, node.attrs["message"])
    # What takes x waits: kernels of TensorFlow 2.18 end the process where sizes don't fit.
    with tf.control_dependencies([first]):
        return raw.Identity(input=x)


def cond(e: Tracing, node: Node, condition: Tensor, *operands: Tensor) -> tuple[Tensor, ...]:
    branches = [node.attrs[name] for name in ("then", "otherwise")]
    known = [x.shape for x in node.operands[1:]]
    then, otherwise = (lambda b=b: e.inner(b, _all_shielded(operands, known)) for b in branches)
    results = tf.cond(condition, then, otherwise)
    return typed(results, node.type)


def _all_shielded(tensors: Sequence[Tensor], known: Sequence[Any] = ()) -> list[Tensor]:
    return [shielded(x, shape) for x, shape in zip_longest(tensors, known)]


def typed(values: Any, types: Any) -> tuple[Tensor, ...]:
    """Results of control flow, with the shapes that the graph knows."""
    values = values if isinstance(values, list | tuple) else [values]
    for value, type in zip(values, types, strict=True):
        value.set_shape(type.shape)
    return tuple(values)


def _shaped(values: Any, types: Any) -> tuple[Tensor, ...]:
    """The last states of a loop, with the sizes that are known of a step's states."""
    return tuple(of_shape(shielded(y), t.shape) for y, t in zip(values, types, strict=True))


def specs(nodes: Sequence[Node]) -> list[Any]:
    return [tf.TensorSpec(n.shape, n.dtype) for n in nodes]


def while_(e: Tracing, node: Node, *operands: Tensor) -> tuple[Tensor, ...]:
    count, graphs = node.attrs["consts"], node.attrs
    consts, carry = _all_shielded(operands[:count]), _all_shielded(operands[count:])
    states = graphs["body"].inputs[count:]

    def step(*state: Tensor) -> list[Tensor]:
        new = e.inner(graphs["body"], [*consts, *state])
        return [of_shape(y, old.shape) for y, old in zip(new, states, strict=True)]

    results = tf.while_loop(
        lambda *state: e.inner(graphs["condition"], _all_shielded([*consts, *state]))[0],
        step,
        carry,
        shape_invariants=specs(states),
        parallel_iterations=1,
    )
    return _shaped(results, node.type)


# Scans -----------------------------------------------------------------------------------------


def scan(e: Tracing, node: Node, *operands: Tensor) -> tuple[Tensor, ...]:
    """A loop over the index; sequences and outputs are lists of tensors."""
    c, k, body = node.attrs["consts"], node.attrs["carry"], node.attrs["body"]
    length = e.size(operands[c + k], 0)
    inside = _all_shielded(operands)
    consts, carry, lists = inside[:c], inside[c : c + k], [_unstacked(x) for x in inside[c + k :]]

    def step(i: Tensor, *state: Tensor) -> list[Tensor]:
        at = raw.Sub(x=length - 1, y=i) if node.attrs["backwards"] else i
        slices = [_taken(x, at, p) for x, p in zip(lists, body.inputs[c + k :], strict=True)]
        results = e.step(body, [*consts, *state[:k], *slices], slice(c, c + k))
        pairs = zip(state[k:], results[k:], strict=True)
        new = [raw.TensorListSetItem(input_handle=x, index=at, item=y) for x, y in pairs]
        return [raw.AddV2(x=i, y=1), *results[:k], *new]

    stacks = [_reserved(y, length) for y in body.outputs[k:]]
    invariants = [tf.TensorSpec([], tf.int32), *specs(body.inputs[c : c + k])]
    _, *results = tf.while_loop(
        lambda i, *rest: raw.Less(x=i, y=length),
        step,
        [constant(0, tf.int32), *carry, *stacks],
        shape_invariants=[*invariants, *(tf.TensorSpec([], tf.variant) for _ in stacks)],
        parallel_iterations=1,
    )
    stacked = [
        raw.TensorListStack(
            input_handle=shielded(x), element_shape=vector(_open(y.shape)), element_dtype=y.dtype
        )
        for x, y in zip(results[k:], body.outputs[k:], strict=True)
    ]
    return (*_shaped(results[:k], node.type[:k]), *typed(stacked, node.type[k:]))


def _reserved(y: Node, length: Any) -> Tensor:
    """A list for the values that `y` will have in the steps."""
    shape = vector(_open(y.shape))
    return raw.TensorListReserve(element_shape=shape, num_elements=length, element_dtype=y.dtype)


def _taken(sequence: Tensor, at: Tensor, parameter: Node) -> Tensor:
    """An element of a list, for a parameter of the body."""
    shape, dtype = vector(_open(parameter.shape)), parameter.dtype
    value = raw.TensorListGetItem(
        input_handle=sequence, index=at, element_shape=shape, element_dtype=dtype
    )
    value.set_shape(parameter.shape)
    return value


def _unstacked(x: Tensor) -> Tensor:
    """The slices of `x` along axis 0 as a list of tensors."""
    return raw.TensorListFromTensor(tensor=x, element_shape=vector(_open(x.shape.as_list()[1:])))


def _open(shape: Sequence[int | None]) -> list[int]:
    return [-1 if d is None else d for d in shape]


# Callbacks -------------------------------------------------------------------------------------


def embedded(e: Tracing, node: Node, *operands: Tensor) -> tuple[Tensor, ...]:
    """Results of the embedded engine, which the runtime calls."""
    types: Any = node.type
    code = alone(node, [x.type for x in node.operands])
    results = tf.numpy_function(
        lambda *arrays: code(arrays), operands, [t.dtype for t in types], stateful=False
    )
    return typed(results, types)


def called(e: Tracing, node: Node, *operands: Tensor) -> tuple[Tensor, ...]:
    """The results of a function of Python: one of TensorFlow is traced, others are called back."""
    types: Any = node.type
    callee = node.attrs["callee"]
    if is_own(node):
        return tuple(callee.on_own(*operands))
    results = tf.numpy_function(
        callee.callback, operands, [t.dtype for t in types], stateful=not callee.pure
    )
    return typed(results, types)


def is_own(node: Node) -> bool:
    """Whether a call becomes part of the graph of TensorFlow."""
    callee = node.attrs["callee"]
    return bool(callee.library.name == "tensorflow" and callee.results.traced)


RULES: dict[str, Rule] = {
    "call": called,
    "check": check,
    "cond": cond,
    "while": while_,
    "scan": scan,
    **dict.fromkeys(BORROWED, embedded),
}
# Other functions are called between compiled parts; in loops and conditions they're called back.
WHERE = {"call": is_own}
