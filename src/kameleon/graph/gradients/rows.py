"""Gradients of softmax, its crossentropies, and other primitives of networks."""

from __future__ import annotations

import math

from ..ir.node import Node
from ..primitives.elementwise import exp, mul, neg, square, sub
from ..primitives.filling import number_like
from ..primitives.reduce import reduce_sum, spread
from ..primitives.special import log_softmax, minus_one_hot
from .rules import Rule, flat


def _softmax_back(g: Node, y: Node, x: Node, axis: int) -> Node:
    weighted = mul(g, y)
    return sub(weighted, mul(y, spread(reduce_sum(weighted, (axis,)), y, (axis,))))


def _log_softmax_back(g: Node, y: Node, x: Node, axis: int) -> Node:
    return sub(g, mul(exp(y), spread(reduce_sum(g, (axis,)), y, (axis,))))


def _crossentropy_back(g: Node, y: Node, x: Node, p: Node, t: Node, axis: int) -> Node:
    """g * (p - t), whatever t sums to: TensorFlow's meaning, and the slope where it sums to 1."""
    return mul(sub(p, t), spread(g, x, (axis,)))


def _quantile_slope(z: Node) -> Node:
    """dz/dx = sqrt(pi / 2) exp(z**2 / 2)."""
    half = mul(square(z), number_like(z, 0.5))
    return mul(exp(half), number_like(z, (math.pi / 2) ** 0.5))


RULES: dict[str, Rule] = {
    "softmax": [_softmax_back],
    "log_softmax": [_log_softmax_back],
    # Given p = softmax(x), whose cotangent goes to x.
    "softmax_crossentropy": [
        _crossentropy_back,
        None,
        lambda g, y, x, p, t, axis: neg(mul(spread(g, x, (axis,)), log_softmax(x, axis=axis))),
    ],
    "sparse_softmax_crossentropy": [
        lambda g, y, x, p, labels, axis: mul(
            minus_one_hot(p, labels, axis=axis), spread(g, x, (axis,))
        ),
        None,
        None,
    ],
    "minus_one_hot": [lambda g, y, p, labels, axis: g, None],
    "normal_quantile": [lambda g, z, x: mul(g, _quantile_slope(z))],
    **flat("ctc_greedy ctc_beam_search"),
}
