"""What LiteRT's converter is given: TensorFlow's operations that it has counterparts of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from ...engines._lowering import Rule, first
from ...engines.tensorflow.control import specs, typed
from ...engines.tensorflow.convolution import lifted, line, plane
from ...engines.tensorflow.engine import TensorflowEngine
from ...engines.tensorflow.kernels import Tensor, constant, raw, reshaped, shape_of, vector
from ...engines.tensorflow.lowering import Tracing
from ...engines.tensorflow.movement import padded
from ...engines.tensorflow.networks import rowwise
from ...engines.tensorflow.rules import RULES, WHERE
from ...errors import UnsupportedError
from ...graph.ir.node import Node
from ...graph.ir.program import Graph
from ...graph.primitives.constants import known_number
from ...graph.primitives.windows import has_margins
from .refusals import refusal


class LiteTracing(Tracing):
    """The engine's lowering without what LiteRT lacks: checks, lists of tensors, and the kernels
    that it has no counterpart of.
    """

    title = "LiteRT"

    def __init__(self, graph: Graph, arguments: Sequence[Tensor]):
        super().__init__(graph, arguments)
        self.rules = LITE_RULES

    def agree(self, node: Node, sizes: list[Any]) -> None:
        """Sizes aren't compared: LiteRT has no errors at run time."""

    def agree_on_each(self, node: Node, pairs: Sequence[Any]) -> None:
        """See `agree`."""

    def step(self, graph: Graph, arguments: Sequence[Tensor], states: slice) -> list[Tensor]:
        """See `Tracing.step`."""
        return self.inner(graph, arguments)

    def constant(self, array: Any) -> Tensor:
        """A constant of the graph, however large: the file holds it."""
        return tf.constant(array, dtype=array.dtype)


def _max_pool(e: Tracing, node: Node, x: Tensor) -> tuple[Tensor, Tensor]:
    """Margins are filled with the least number beforehand: the operation has none."""
    window, wide = node.attrs["window"], lifted(node.attrs["window"])
    source = plane(x, window)
    if has_margins(wide):
        source = padded(source, [(0, 0), *wide.padding, (0, 0)], float("-inf"))
    sizes, strides = [1, *wide.sizes, 1], [1, *wide.strides, 1]
    found = raw.MaxPool(input=source, ksize=sizes, strides=strides, padding="VALID")
    values = line(found, window)
    return values, e.expanded(node, [x])[1] if node.results[1] in e.used else values


def _cond(e: Tracing, node: Node, condition: Tensor, *operands: Tensor) -> tuple[Tensor, ...]:
    then, otherwise = (
        lambda b=node.attrs[name]: e.inner(b, operands) for name in ("then", "otherwise")
    )
    return typed(tf.cond(condition, then, otherwise), node.type)


def _while(e: Tracing, node: Node, *operands: Tensor) -> tuple[Tensor, ...]:
    count, graphs = node.attrs["consts"], node.attrs
    consts, carry = operands[:count], operands[count:]
    results = tf.while_loop(
        lambda *state: e.inner(graphs["condition"], [*consts, *state])[0],
        lambda *state: e.inner(graphs["body"], [*consts, *state]),
        list(carry),
        shape_invariants=specs(graphs["body"].inputs[count:]),
    )
    return typed(results, node.type)


def _scan(e: Tracing, node: Node, *operands: Tensor) -> tuple[Tensor, ...]:
    """A loop over the index; outputs are tensors, of which each step writes a slice."""
    c, k, body = node.attrs["consts"], node.attrs["carry"], node.attrs["body"]
    length = e.size(operands[c + k], 0)
    consts, carry, sequences = operands[:c], operands[c : c + k], operands[c + k :]
    backwards = node.attrs["backwards"]

    def step(i: Tensor, *state: Tensor) -> list[Tensor]:
        at = raw.Sub(x=length - 1, y=i) if backwards else i
        slices = [raw.GatherV2(params=x, indices=at, axis=0) for x in sequences]
        results = e.inner(body, [*consts, *state[:k], *slices])
        place = reshaped(at, [1, 1])
        new = [
            raw.TensorScatterUpdate(
                tensor=x, indices=place, updates=raw.ExpandDims(input=y, axis=0)
            )
            for x, y in zip(state[k:], results[k:], strict=True)
        ]
        return [raw.AddV2(x=i, y=constant(1, tf.int32)), *results[:k], *new]

    outputs = [_empty(e, y, body, operands, length, c + k) for y in body.outputs[k:]]
    stacked = [tf.TensorSpec([None, *y.shape], y.dtype) for y in body.outputs[k:]]
    _, *results = tf.while_loop(
        lambda i, *rest: raw.Less(x=i, y=length),
        step,
        [constant(0, tf.int32), *carry, *outputs],
        shape_invariants=[tf.TensorSpec([], tf.int32), *specs(body.inputs[c : c + k]), *stacked],
    )
    return typed(results, node.type)


def _empty(
    e: Tracing, y: Node, body: Graph, operands: Sequence[Tensor], length: Any, first: int
) -> Tensor:
    """Zeros for the values of an output of the body; its sizes are those of a step's result."""
    sizes: list[Any] = list(y.shape)
    if None in sizes:  # the first step tells
        at = constant(0, tf.int32)
        slices = [raw.GatherV2(params=x, indices=at, axis=0) for x in operands[first:]]
        values = e.inner(body.to([y]), [*operands[:first], *slices])
        sizes = shape_of(values[0])
    return raw.Fill(dims=vector([length, *sizes]), value=constant(0, tf.as_dtype(str(y.dtype))))


def _is_nan(e: Tracing, node: Node, x: Tensor) -> Tensor:
    return raw.NotEqual(x=x, y=x)


# NaN, and numbers near zero ------------------------------------------------------------------


def _with_nan(rule: Rule) -> Rule:
    """A rule, and NaN where an operand has it: LiteRT's kernel gives numbers there."""

    def kept(e: Tracing, node: Node, *operands: Tensor) -> Tensor:
        found = rule(e, node, *operands)
        for x in operands if node.dtype.is_float else ():
            found = raw.SelectV2(condition=raw.NotEqual(x=x, y=x), t=x, e=found)
        return found

    return kept


def _extremum(name: str) -> Rule:
    def rule(e: Tracing, node: Node, x: Tensor) -> Tensor:
        """NaN where there's one along the axes."""
        found = RULES[name](e, node, x)
        axes = node.attrs["axes"]
        if not node.dtype.is_float or not axes:
            return found
        spoilt = raw.Any(input=raw.NotEqual(x=x, y=x), axis=list(axes))
        return raw.SelectV2(condition=spoilt, t=constant(float("nan"), x.dtype), e=found)

    return rule


def _pow(e: Tracing, node: Node, x: Tensor, y: Tensor) -> Tensor:
    """Of floats; LiteRT's loops over bits give other integers."""
    if node.dtype.is_integer:
        why = f"it has no such operation for {node.dtype}"
        raise UnsupportedError(
            refusal("LiteRT", node, why, "take an exponent that's a number, or cast to float32")
        )
    return RULES["pow"](e, node, x, y)


def _expm1(e: Tracing, node: Node, x: Tensor) -> Tensor:
    """exp(x) - 1; near zero, where that has few digits, 2t / (1 - t) with t = tanh(x / 2)."""
    one, half = constant(1, x.dtype), constant(0.5, x.dtype)
    t = raw.Tanh(x=raw.Mul(x=x, y=half))
    near = raw.RealDiv(x=raw.AddV2(x=t, y=t), y=raw.Sub(x=one, y=t))
    is_near = raw.Less(x=raw.Abs(x=x), y=half)
    return raw.SelectV2(condition=is_near, t=near, e=raw.Sub(x=raw.Exp(x=x), y=one))


def _log1p(e: Tracing, node: Node, x: Tensor) -> Tensor:
    """log(1 + x); near zero, where that has few digits, log(u) * x / (u - 1) with u = 1 + x."""
    one, half = constant(1, x.dtype), constant(0.5, x.dtype)
    u = raw.AddV2(x=x, y=one)
    log, rest = raw.Log(x=u), raw.Sub(x=u, y=one)
    near = raw.Mul(x=log, y=raw.DivNoNan(x=x, y=rest))
    near = raw.SelectV2(condition=raw.Equal(x=rest, y=constant(0, x.dtype)), t=x, e=near)
    return raw.SelectV2(condition=raw.Less(x=raw.Abs(x=x), y=half), t=near, e=log)


OWN: dict[str, Rule] = {
    "check": first,
    "cond": _cond,
    "while": _while,
    "scan": _scan,
    "max_pool": _max_pool,
    "is_nan": _is_nan,
    **{name: _with_nan(RULES[name]) for name in ("exp", "maximum", "minimum", "sign")},
    **{name: _extremum(name) for name in ("reduce_max", "reduce_min")},
    "expm1": _with_nan(_expm1),
    "log1p": _log1p,
    "pow": _pow,
    "softmax": rowwise(lambda x: raw.Softmax(logits=x)),
    "relu": lambda e, node, x: raw.Relu(features=x),
    "logical_not": lambda e, node, x: raw.LogicalNot(x=x),
    "shift_right": lambda e, node, x, y: raw.RightShift(x=x, y=y),
}
# What LiteRT has no counterpart of: composites are expanded.
MISSING = frozenset(
    "sum_unpool unpool take_along sparse_softmax_crossentropy minus_one_hot"
    " sparse_dense_dot conv_kernel depthwise_kernel depthwise_input softplus".split()
)
LITE_RULES: dict[str, Rule] = {k: v for k, v in (RULES | OWN).items() if k not in MISSING}


class LiteEngine(TensorflowEngine):
    """What passes read of LiteRT."""

    title = "LiteRT"
    unchecked = ()
    rules: Mapping[str, Rule] = LITE_RULES
    where: Mapping[str, Callable[[Node], bool]] = {
        **{k: v for k, v in WHERE.items() if k not in MISSING},
        "pow": lambda node: node.dtype.is_float or known_number(node.operands[1]) is None,
        "conv_input": lambda node: (
            WHERE["conv_input"](node) and not has_margins(node.attrs["window"])
        ),
    }
