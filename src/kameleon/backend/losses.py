"""Crossentropies, and whether targets are among the best predictions."""

from __future__ import annotations

from typing import Any

from .. import config
from ..errors import ArgumentError, DTypeError, ShapeError
from ..graph.ir.node import Node, Primitive
from ..graph.ir.types import INT32, INT64, join_shapes, show_shape
from ..graph.primitives import elementwise as ew
from ..graph.primitives import reduce as rd
from ..graph.primitives import special
from ..graph.primitives.filling import full_like
from ..graph.primitives.indexing import take_along
from ..graph.primitives.movement import broadcast_to, expand_dims, pad, reshape
from ..graph.primitives.sizes import as_node, dims_of, size_of
from ..graph.primitives.stretching import stretched_together
from ._tensors import Tensor, TensorLike, as_float, as_tensor, axis_of, size_or_node

__all__ = [
    "categorical_crossentropy",
    "sparse_categorical_crossentropy",
    "binary_crossentropy",
    "in_top_k",
]


# Where probabilities come from -------------------------------------------------------------


def _moved_only(y: Node) -> Node | None:
    """The operand whose elements `y` holds, perhaps in other places; None where `y` computes new
    elements, or has effects (printing, updates), which mustn't be passed by.
    """
    moves = ("identity", "reshape", "transpose")
    return y.operands[0] if y.primitive.name in moves and not y.effects else None


def _made_by(y: Node, name: str) -> tuple[Node, list[Node]]:
    """The node of primitive `name` whose elements `y` holds, and the nodes that moved them, the
    last one first; `y` and no nodes, where there's no such node.
    """
    moves: list[Node] = []
    maker = y
    while (before := _moved_only(maker)) is not None:
        moves.append(maker)
        maker = before
    return (maker, moves) if maker.primitive.name == name and not maker.effects else (y, [])


def _moved(x: Node, moves: list[Node]) -> Node:
    """`x` moved as `moves` moved their elements; the list has the last one first."""
    for move in reversed(moves):
        if move.primitive.name != "identity":
            x = move.primitive(x, *move.operands[1:], **move.attrs)
    return x


def _axis_before(axis: int, move: Node) -> int | None:
    """The axis of the operand of `move` that becomes `axis`; None where no single axis does."""
    name, (x, *_) = move.primitive.name, move.operands
    if name == "transpose":
        return int(move.attrs["perm"][axis])
    if name == "identity":
        return axis
    last = len(x.shape) - 1
    kept = last >= 0 and axis == len(move.shape) - 1 and x.shape[last] == move.shape[axis]
    return last if kept and move.shape[axis] is not None else None


def _softmax_logits(p: Node, axis: int) -> Node | None:
    """x where `p` is the softmax of x along `axis`, both in the shape of `p`; else None."""
    maker, moves = _made_by(p, "softmax")
    origin: int | None = axis
    for move in moves:
        origin = None if origin is None else _axis_before(origin, move)
    if maker.primitive.name != "softmax" or origin != maker.attrs["axis"]:
        return None
    return _moved(maker.operands[0], moves)


def _sigmoid_logits(p: Node) -> Node | None:
    """x where `p` is the sigmoid of x; else None."""
    maker, moves = _made_by(p, "sigmoid")
    return _moved(maker.operands[0], moves) if maker.primitive.name == "sigmoid" else None


def _clipped(p: Node) -> Node:
    """Probabilities kept off 0 and 1 by `K.epsilon()`."""
    epsilon = config.epsilon()
    return ew.clip_by(p, full_like(p, epsilon), full_like(p, 1 - epsilon))


def _check_alike(what: str, target: Node, output: Node) -> None:
    try:
        join_shapes(target.shape, output.shape, what)
    except ShapeError:
        raise ShapeError(
            f"{what}: target has shape {show_shape(target.shape)}, output"
            f" {show_shape(output.shape)}; they must be equal"
        ) from None


# Crossentropies ----------------------------------------------------------------------------


def categorical_crossentropy(
    target: TensorLike, output: TensorLike, from_logits: bool = False, axis: int = -1
) -> Tensor:
    """The categorical crossentropy along `axis`, `-sum(target * log(output))`.

    Where `output` is made by `K.softmax` along `axis`, the loss is taken from its logits, and
    is exact for probabilities however small. Else `output` is divided by its sum and kept off
    0 and 1 by `K.epsilon()`.

    Args:
        target: probabilities, a tensor of the shape of `output`.
        output: probabilities, or logits.
        from_logits: whether `output` holds logits.
        axis: the axis of the classes: -1, or counted from the front.

    Returns:
        Float tensor of the shape of `output` without `axis`.

    Raises:
        ShapeError: there is no such axis; the shapes differ.
        ArgumentError: an axis of logits below -1.

    >>> from kameleon import backend as K
    >>> logits = K.constant([[0., 0.], [0., 200.]])
    >>> K.eval(K.categorical_crossentropy([[1., 0.], [1., 0.]], K.softmax(logits)))
    array([  0.6931472, 200.       ], dtype=float32)
    """
    what = "categorical_crossentropy"
    output = as_float(output, what)
    target = as_tensor(target, what, output.dtype)
    along = axis_of(output, axis, what)
    _check_alike(what, target, output)
    logits = None if from_logits else _softmax_logits(output, along)
    if logits is None:
        target, output = stretched_together((target, output), what)
    if from_logits:
        if axis < -1:
            raise ArgumentError(
                f"{what}: axis is {axis}; of logits it must be -1 or counted from the front:"
                f" axis={along}"
            )
        return _from_logits(output, target, along, None, special.softmax_crossentropy)
    if logits is not None:
        logits, output, target = stretched_together((logits, output, target), what)
        p = None if rd.is_half(output) else output
        return _from_logits(logits, target, along, p, special.softmax_crossentropy)
    return _from_probabilities(output, target, along)


@rd.in_single
def _from_logits(
    logits: Node, target: Node, axis: int, p: Node | None, primitive: Primitive
) -> Node:
    """Given `p`, the softmax of the logits, where that's at hand with digits enough."""
    p = special.softmax(logits, axis=axis) if p is None else p
    return primitive(logits, p, target, axis=axis)


@rd.in_single
def _from_probabilities(p: Node, target: Node, axis: int) -> Node:
    total = rd.spread(rd.reduce_sum(p, (axis,)), p, (axis,))
    log_p = ew.log(_clipped(ew.div(p, total)))
    return ew.neg(rd.reduce_sum(ew.mul(target, log_p), (axis,)))


def sparse_categorical_crossentropy(
    target: TensorLike, output: TensorLike, from_logits: bool = False, axis: int = -1
) -> Tensor:
    """The sparse categorical crossentropy along `axis`, `-log(output[target])`: with labels.

    Where `output` is made by `K.softmax` along `axis`, the loss is taken from its logits, and
    is exact for probabilities however small. Else `output` is kept off 0 and 1 by
    `K.epsilon()`, then divided by its sum.

    Args:
        target: labels in [0, classes), of any dtype: a tensor of the shape of `output` without
            `axis`, or of any other shape with as many elements.
        output: probabilities, or logits.
        from_logits: whether `output` holds logits.
        axis: the axis of the classes.

    Returns:
        Float tensor of the shape of `output` without `axis`.

    Raises:
        ShapeError: there is no such axis; the shapes don't fit.
        EvaluationError: when run: a label is outside of [0, classes).

    >>> from kameleon import backend as K
    >>> logits = K.constant([[0., 0.], [0., 200.]])
    >>> K.eval(K.sparse_categorical_crossentropy([0, 0], K.softmax(logits)))
    array([  0.6931472, 200.       ], dtype=float32)
    """
    what = "sparse_categorical_crossentropy"
    output = as_float(output, what)
    along = axis_of(output, axis, what)
    labels = _labels(as_tensor(target, what), output, along, what)
    logits = output if from_logits else _softmax_logits(output, along)
    if logits is None:
        return _sparse_from_probabilities(output, labels, along)
    at_hand = not from_logits and not rd.is_half(output)
    p = output if at_hand else None
    return _from_logits(logits, labels, along, p, special.sparse_softmax_crossentropy)


@rd.in_single
def _sparse_from_probabilities(p: Node, labels: Node, axis: int) -> Node:
    p = _clipped(p)
    picked = take_along(p, expand_dims(labels, axis), axis)
    total = rd.reduce_sum(p, (axis,))
    return ew.sub(ew.log(total), ew.log(reshape(picked, dims_of(labels))))


def _labels(target: Node, output: Node, axis: int, what: str) -> Node:
    """Integer labels in the shape of `output` without `axis`."""
    labels = target if target.dtype.is_integer else ew.cast(target, INT64)
    rest = output.shape[:axis] + output.shape[axis + 1 :]
    try:
        if len(labels.shape) == len(rest):
            join_shapes(labels.shape, rest, what)
            return labels
        dims = dims_of(output)
        return reshape(labels, [-1] if len(rest) == 1 else dims[:axis] + dims[axis + 1 :])
    except ShapeError:
        raise ShapeError(
            f"{what}: target has shape {show_shape(target.shape)}; for output of shape"
            f" {show_shape(output.shape)} with its classes along axis {axis}, shape"
            f" {show_shape(rest)} was expected"
        ) from None


def binary_crossentropy(
    target: TensorLike, output: TensorLike, from_logits: bool = False
) -> Tensor:
    """The binary crossentropy, element by element:
    `-(target * log(output) + (1 - target) * log(1 - output))`.

    Where `output` is made by `K.sigmoid`, the loss is taken from its logits, and is exact for
    probabilities however near to 0 or 1. Else `output` is kept off 0 and 1 by `K.epsilon()`.

    Args:
        target: probabilities, a tensor of the shape of `output`.
        output: probabilities, or logits.
        from_logits: whether `output` holds logits.

    Returns:
        Float tensor of the shape of `output`.

    Raises:
        ShapeError: the shapes differ.

    >>> from kameleon import backend as K
    >>> K.eval(K.binary_crossentropy([1., 0.], K.sigmoid(K.constant([0., 200.]))))
    array([  0.6931472, 200.       ], dtype=float32)
    """
    what = "binary_crossentropy"
    output = as_float(output, what)
    target = as_tensor(target, what, output.dtype)
    _check_alike(what, target, output)
    logits = output if from_logits else _sigmoid_logits(output)
    target, output = stretched_together((target, output if logits is None else logits), what)
    return (_binary_from_logits if logits is not None else _binary_from_probabilities)(
        output, target
    )


@rd.in_single
def _binary_from_logits(x: Node, target: Node) -> Node:
    """log(1 + exp(x)) - t x"""
    return ew.sub(special.softplus(x), ew.mul(target, x))


@rd.in_single
def _binary_from_probabilities(p: Node, target: Node) -> Node:
    p, epsilon = _clipped(p), config.epsilon()
    positive = ew.mul(target, ew.log(ew.add(p, full_like(p, epsilon))))
    # log(1 - p + epsilon), with 1 + epsilon as one constant.
    failure = ew.log(ew.sub(full_like(p, 1 + epsilon), p))
    negative = ew.mul(ew.sub(full_like(target, 1), target), failure)
    return ew.neg(ew.add(positive, negative))


# Ranking -----------------------------------------------------------------------------------


def in_top_k(predictions: TensorLike, targets: TensorLike, k: Any) -> Tensor:
    """Whether fewer than `k` classes have a larger prediction than the target's.

    Args:
        predictions: tensor (batch, classes).
        targets: integer tensor (batch,).
        k: int, or an integer scalar tensor.

    Returns:
        Bool tensor (batch,). False where the target is outside of [0, classes), or where a
        prediction of the row isn't finite.

    Raises:
        ShapeError: predictions don't have two axes, or targets one; the batches differ.
        DTypeError: targets aren't integers.

    >>> from kameleon import backend as K
    >>> predictions = K.constant([[0.1, 0.4, 0.3], [0.6, 0.2, 0.3]])
    >>> K.eval(K.in_top_k(predictions, K.constant([2, 1], dtype='int32'), 2))
    array([ True, False])
    """
    what = "in_top_k"
    x, index = as_float(predictions, what), as_tensor(targets, what)
    if len(x.shape) != 2 or len(index.shape) != 1:
        raise ShapeError(
            f"{what}: predictions (batch, classes) and targets (batch,) were expected, not shapes"
            f" {show_shape(x.shape)} and {show_shape(index.shape)}"
        )
    if not index.dtype.is_integer:
        raise DTypeError(f"{what}: targets must be integers, not {index.dtype}; K.cast them")
    join_shapes(x.shape[:1], index.shape, what)
    top = as_node(size_of(x, 1))
    index = ew.cast(index, INT64)
    zero, last = full_like(index, 0), broadcast_to(ew.cast(top, INT64), dims_of(index))
    inside = ew.logical_and(ew.ge(index, zero), ew.lt(index, last))
    safe = ew.select(inside, index, zero)
    # Where there are no classes at all, `take_along` still needs an element to read.
    readable = x if x.shape[1] else pad(x, [(0, 0), (0, 1)])
    own = take_along(readable, expand_dims(safe, 1), 1)
    better = ew.gt(x, broadcast_to(own, dims_of(x)))
    count = rd.reduce_sum(ew.cast(better, INT32), (1,))
    limit = broadcast_to(ew.cast(as_node(size_or_node(k, what)), INT32), dims_of(count))
    finite = rd.reduce_all(ew.lt(ew.abs(x), full_like(x, float("inf"))), (1,))
    return ew.logical_and(ew.logical_and(inside, finite), ew.lt(count, limit))
