"""Composite primitives of networks: an engine may have a fast kernel for each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...errors import DTypeError
from ..ir.node import Node, Primitive
from ..ir.types import INT64, Shape, TensorType, join_shapes
from .elementwise import (
    FLOAT,
    abs,
    add,
    cast,
    div,
    elementwise,
    eq,
    exp,
    expm1,
    gt,
    log,
    log1p,
    maximum,
    mul,
    neg,
    select,
    sub,
)
from .filling import full_like
from .indexing import picked_from, take_along
from .movement import broadcast_to, expand_dims, iota, reshape
from .reduce import reduce_max, reduce_sum, spread
from .sizes import dims_of


def _expand_sigmoid(x: Node) -> Node:
    """1 / (1 + e) for x >= 0 and e / (1 + e) below, with e = exp(-|x|): no overflow."""
    e = exp(neg(abs(x)))
    one = full_like(x, 1)
    return div(select(gt(full_like(x, 0), x), e, one), add(one, e))


sigmoid = elementwise(
    "sigmoid",
    FLOAT,
    "1 / (1 + exp(-x)); engine-defined where that is below half a unit in the last place of 1",
    expand=_expand_sigmoid,
)
softplus = elementwise(
    "softplus",
    FLOAT,
    "log(1 + exp(x)), without overflow",
    expand=lambda x: add(maximum(x, full_like(x, 0)), log1p(exp(neg(abs(x))))),
)
relu = elementwise(
    "relu",
    FLOAT,
    "x for x > 0, else 0, of no sign; its gradient at 0 and at NaN is 0",
    expand=lambda x: maximum(x, full_like(x, 0)),
    accuracy="exact",
    passes=slice(1),
)
elu = elementwise(
    "elu",
    FLOAT,
    "x for x > 0, else exp(x) - 1, exact near 0; its gradient at 0 is 1",
    expand=lambda x: select(gt(x, full_like(x, 0)), x, expm1(x)),
)


def _row_op(name: str, doc: str, expand: Callable[..., Any], title: str) -> Primitive:
    def infer(x: Node, *, axis: int) -> TensorType:
        if not x.dtype.is_float:
            raise DTypeError(f"{name} is defined for floats, not for {x.dtype}")
        return x.type

    return Primitive(name, infer, doc, expand, title)


# The largest of n probabilities is 1 / n at least: this number is less, and isn't 0 in any dtype.
LEAST_TOP = 2.0**-24


def _top(p: Node, axis: int) -> Node:
    """The largest probability along an axis; `LEAST_TOP`, if there are none."""
    top = reduce_max(p, (axis,))
    return maximum(top, full_like(top, LEAST_TOP))


def _expand_softmax(x: Node, axis: int) -> Node:
    e = exp(sub(x, spread(reduce_max(x, (axis,)), x, (axis,))))
    return div(e, spread(reduce_sum(e, (axis,)), e, (axis,)))


def _expand_log_softmax(x: Node, axis: int) -> Node:
    off = sub(x, spread(reduce_max(x, (axis,)), x, (axis,)))
    return sub(off, spread(log(reduce_sum(exp(off), (axis,))), off, (axis,)))


softmax = _row_op(
    "softmax",
    "exp(x) / sum(exp(x)) along `axis`; NaN in a line with NaN, or whose maximum is infinite",
    _expand_softmax,
    "Softmax",
)
log_softmax = _row_op(
    "log_softmax", "x - log(sum(exp(x))) along `axis`", _expand_log_softmax, "LogSoftmax"
)


# Crossentropies of p = softmax(x) --------------------------------------------------------------
#
# Both crossentropies take x and p: p alone loses what underflows, and with p at hand the rest is
# cheap, since log(sum(exp(x - max x))) is -log(max p). The gradient reuses p, as do predictions.


def _infer_crossentropy(x: Node, p: Node, t: Node, *, axis: int) -> TensorType:
    if x.dtype != t.dtype or x.dtype != p.dtype:
        raise DTypeError(f"crossentropy: dtypes {x.dtype}, {p.dtype} and {t.dtype} differ")
    shape = join_shapes(join_shapes(x.shape, p.shape, "crossentropy"), t.shape, "crossentropy")
    return TensorType(shape[:axis] + shape[axis + 1 :], x.dtype)


def _expand_crossentropy(x: Node, p: Node, t: Node, axis: int) -> Node:
    """sum(t) * log(sum(exp(x - max x))) + sum(t * (max x - x))"""
    axes = (axis,)
    below_top = sub(spread(reduce_max(x, (axis,)), x, axes), x)
    surplus = neg(log(_top(p, axis)))
    return add(mul(surplus, reduce_sum(t, axes)), reduce_sum(mul(t, below_top), axes))


softmax_crossentropy = Primitive(
    "softmax_crossentropy",
    _infer_crossentropy,
    "-sum(t * log(p)) along `axis`, given p = softmax(x), whose cotangent goes to x",
    expand=_expand_crossentropy,
)


def _expand_minus_one_hot(p: Node, labels: Node, axis: int) -> Node:
    dims = dims_of(p)
    here = broadcast_to(expand_dims(cast(labels, INT64), axis), dims)
    return sub(p, cast(eq(iota(dims, axis, INT64), here), p.dtype))


def _infer_minus_one_hot(p: Node, labels: Node, *, axis: int) -> TensorType:
    _check_labels(p.shape, labels, axis)
    return p.type


def _check_labels(shape: Shape, labels: Node, axis: int) -> Shape:
    """Check that there's a label for each line along the axis; gives the sizes of other axes."""
    if not labels.dtype.is_integer:
        raise DTypeError(f"labels must be integers, not {labels.dtype}; K.cast them")
    return join_shapes(shape[:axis] + shape[axis + 1 :], labels.shape, "crossentropy")


minus_one_hot = Primitive(
    "minus_one_hot",
    _infer_minus_one_hot,
    "p with 1 taken off at each label along `axis`; a label must lie in [0, classes)",
    expand=_expand_minus_one_hot,
    index=1,
    bound=picked_from,
)


def _infer_sparse_crossentropy(x: Node, p: Node, labels: Node, *, axis: int) -> TensorType:
    if x.dtype != p.dtype or not x.dtype.is_float:
        raise DTypeError(f"crossentropy: dtypes {x.dtype} and {p.dtype} must be one of floats")
    shape = join_shapes(x.shape, p.shape, "crossentropy")
    return TensorType(_check_labels(shape, labels, axis), x.dtype)


def _expand_sparse_crossentropy(x: Node, p: Node, labels: Node, axis: int) -> Node:
    """(max x - x[label]) + log(sum(exp(x - max x)))"""
    picked = take_along(x, expand_dims(labels, axis), axis)
    below_top = sub(reduce_max(x, (axis,)), reshape(picked, dims_of(labels)))
    return sub(below_top, log(_top(p, axis)))


sparse_softmax_crossentropy = Primitive(
    "sparse_softmax_crossentropy",
    _infer_sparse_crossentropy,
    "-log(p[label]) along `axis`, given p = softmax(x), whose cotangent goes to x; a label"
    " outside of [0, classes) is an error",
    expand=_expand_sparse_crossentropy,
    index=2,
    bound=picked_from,
)
