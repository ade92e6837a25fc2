"""Composite primitives of networks: an engine may have a fast kernel for each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..ir.node import Node
from ..ir.primitive import Primitive
from .elementwise import (
    FLOAT,
    abs,
    add,
    constant,
    div,
    elementwise,
    exp,
    full_like,
    gt,
    log,
    log1p,
    maximum,
    mul,
    neg,
    select,
    sub,
)
from .movement import broadcast_to, dims_of
from .reduce import reduce_max, reduce_sum, spread


def _expand_sigmoid(x: Node) -> Node:
    """1 / (1 + e) for x >= 0 and e / (1 + e) below, with e = exp(-|x|): no overflow."""
    e = exp(neg(abs(x)))
    one = full_like(x, 1)
    return div(select(gt(full_like(x, 0), x), e, one), add(one, e))


sigmoid = elementwise(
    "sigmoid",
    FLOAT,
    [lambda g, y, x: mul(g, mul(y, sub(full_like(y, 1), y)))],
    "1 / (1 + exp(-x))",
    expand=_expand_sigmoid,
)
softplus = elementwise(
    "softplus",
    FLOAT,
    [lambda g, y, x: mul(g, sigmoid(x))],
    "log(1 + exp(x)), without overflow",
    expand=lambda x: add(maximum(x, full_like(x, 0)), log1p(exp(neg(abs(x))))),
)
relu = elementwise(
    "relu",
    FLOAT,
    [lambda g, y, x: select(gt(y, full_like(y, 0)), g, full_like(g, 0))],
    "max(x, 0); its gradient at 0 is 0",
    expand=lambda x: maximum(x, full_like(x, 0)),
)


def _row_op(
    name: str, gradient: Callable[..., Node], doc: str, expand: Callable[..., Any], title: str
) -> Primitive:
    return Primitive(name, lambda x, axis: x.type, [gradient], doc, expand, title)


def _softmax_back(g: Node, y: Node, x: Node, axis: int) -> Node:
    weighted = mul(g, y)
    return sub(weighted, mul(y, spread(reduce_sum(weighted, (axis,)), y, (axis,))))


def _expand_softmax(x: Node, axis: int) -> Node:
    e = exp(sub(x, spread(reduce_max(x, (axis,)), x, (axis,))))
    return div(e, spread(reduce_sum(e, (axis,)), e, (axis,)))


def _log_softmax_back(g: Node, y: Node, x: Node, axis: int) -> Node:
    return sub(g, mul(exp(y), spread(reduce_sum(g, (axis,)), y, (axis,))))


def _expand_log_softmax(x: Node, axis: int) -> Node:
    off = sub(x, spread(reduce_max(x, (axis,)), x, (axis,)))
    return sub(off, spread(log(reduce_sum(exp(off), (axis,))), off, (axis,)))


softmax = _row_op(
    "softmax", _softmax_back, "exp(x) / sum(exp(x)) along `axis`", _expand_softmax, "Softmax"
)
log_softmax = _row_op(
    "log_softmax",
    _log_softmax_back,
    "x - log(sum(exp(x))) along `axis`",
    _expand_log_softmax,
    "LogSoftmax",
)


def polynomial(x: Node, coefficients: tuple[float, ...]) -> Node:
    """c[0] + c[1] x + c[2] x**2 + …, by Horner's rule."""
    total = full_like(x, coefficients[-1])
    for c in reversed(coefficients[:-1]):
        total = add(mul(total, x), full_like(x, c))
    return total


def zeros(dims: Any, dtype: Any) -> Node:
    """A tensor of zeros."""
    return broadcast_to(constant(0, dtype), dims)


def zeros_like(x: Node) -> Node:
    """Zeros of the type of `x`."""
    return broadcast_to(constant(0, x.dtype), dims_of(x))
