"""Connectionist temporal classification: the cost of label sequences, and decoding.

A network gives, at each step, a distribution over labels and a blank, which is the last class.
An alignment, one class a step, spells a label sequence: repeats are merged, then blanks dropped.
"""

from __future__ import annotations

import operator
from typing import Any

from .. import config
from ..errors import ArgumentError, ShapeError
from ..graph.ir.context import context, unique_name
from ..graph.ir.node import Node
from ..graph.ir.types import INT64, join_dims, show_shape
from ..graph.primitives import ctc
from ..graph.primitives.control import check
from ..graph.primitives.elementwise import (
    add,
    cast,
    ge,
    le,
    log,
    logical_and,
    logical_not,
    lt,
    maximum,
    ne,
    select,
    sub,
)
from ..graph.primitives.filling import full_like
from ..graph.primitives.indexing import argsort, nonzero, take_along
from ..graph.primitives.movement import broadcast_to, iota, reshape, stack
from ..graph.primitives.random import wide
from ..graph.primitives.reduce import before, reduce_any, reduce_max, reduce_sum
from ..graph.primitives.sizes import Size, dims_of
from ..graph.primitives.sparse import as_int64, pick
from ..graph.primitives.special import log_softmax
from ._tensors import Tensor, TensorLike, as_float, as_tensor
from .operators import getitem
from .sparse_tensor import SparseTensor

__all__ = ["ctc_label_dense_to_sparse", "ctc_batch_cost", "ctc_decode"]


# Arguments ---------------------------------------------------------------------------------


def _with_axes(x: Node, what: str, name: str, axes: str) -> Node:
    """`x`, which must have an axis for each name in `axes`; an axis named 1 must have size 1."""
    names = axes.split()
    fits = len(x.shape) == len(names) and all(
        dim in (None, 1) for dim, label in zip(x.shape, names, strict=True) if label == "1"
    )
    if not fits:
        want = ", ".join(names) + ("," if len(names) == 1 else "")
        raise ShapeError(f"{what}: {name} must have shape ({want}), not {show_shape(x.shape)}")
    return x


def _predictions(y_pred: TensorLike, what: str) -> Node:
    """log(y_pred + epsilon), (samples, time, classes), in float32 at least."""
    y = _with_axes(as_float(y_pred, what), what, "y_pred", "samples time classes")
    y = cast(y, wide(y.dtype))
    return log(add(y, full_like(y, config.epsilon())))


def _lengths(lengths: TensorLike, what: str, name: str, axes: str) -> Node:
    """int64 lengths, (samples,)."""
    x = _with_axes(as_tensor(lengths, what), what, name, axes)
    return cast(reshape(x, dims_of(x)[:1]), INT64)


def _check_samples(what: str, **operands: Node) -> None:
    """Refuse operands whose numbers of samples (the sizes of axis 0) differ."""
    common = None
    for x in operands.values():
        try:
            common = join_dims(common, x.shape[0])
        except ValueError:
            shown = ", ".join(f"{name} {show_shape(x.shape)}" for name, x in operands.items())
            raise ShapeError(f"{what}: numbers of samples differ: {shown}") from None


def _no_longer_than(lengths: Node, size: Size, message: str) -> Node:
    """`lengths`, checked to lie between 0 and `size`."""
    most = broadcast_to(as_int64(size), dims_of(lengths))
    holds = logical_and(ge(lengths, full_like(lengths, 0)), le(lengths, most))
    return check(lengths, holds, message=message)


def used(labels: Node, lengths: Node) -> Node:
    """Which places (samples, longest) lie within the lengths."""
    dims = dims_of(labels)
    column = broadcast_to(reshape(lengths, [dims[0], 1]), dims)
    return lt(iota(dims, 1, INT64), column)


# The surface -------------------------------------------------------------------------------


def ctc_label_dense_to_sparse(labels: TensorLike, label_lengths: TensorLike) -> SparseTensor:
    """Label sequences, given as rows filled up to one length, as a sparse tensor.

    Args:
        labels: tensor (samples, longest).
        label_lengths: integer tensor (samples,): how many elements of each row count.

    Returns:
        A sparse tensor of the shape and dtype of `labels`, without the elements past the lengths.

    Raises:
        ShapeError: `labels` isn't a matrix; `label_lengths` isn't a vector; the numbers of
            samples differ.

    >>> from kameleon import backend as K
    >>> labels = K.constant([[1, 2, 3], [4, 5, 6]], dtype='int32')
    >>> lengths = K.constant([3, 1], dtype='int32')
    >>> K.eval(K.to_dense(K.ctc_label_dense_to_sparse(labels, lengths)))
    array([[1, 2, 3],
           [4, 0, 0]], dtype=int32)
    """
    what = "ctc_label_dense_to_sparse"
    dense = _with_axes(as_tensor(labels, what), what, "labels", "samples longest")
    lengths = _lengths(label_lengths, what, "label_lengths", "samples")
    _check_samples(what, labels=dense, label_lengths=lengths)
    indices = nonzero(used(dense, lengths))
    sizes = stack([as_int64(d) for d in dims_of(dense)], 0)
    label = unique_name(context.scope + "SparseLabels") + ":0"
    return SparseTensor(indices, pick(dense, indices), sizes, dense.shape, label)


def ctc_batch_cost(
    y_true: TensorLike, y_pred: TensorLike, input_length: TensorLike, label_length: TensorLike
) -> Tensor:
    """Minus the log probability of each label sequence, summed over all its alignments.

    Args:
        y_true: tensor (samples, longest): labels, each below classes - 1. The blank, or a larger
            number, is no label and ends the row: a row that begins so is an empty text.
        y_pred: tensor (samples, time, classes): distributions, as a softmax gives them; the last
            class is the blank. `K.epsilon()` is added, and each step is normalised.
        input_length: tensor (samples, 1): how many steps of `y_pred` count.
        label_length: tensor (samples, 1): how many labels of `y_true` count.

    Returns:
        Tensor (samples, 1). It's inf, with gradient 0, where no alignment fits into the steps: a
        label takes one, and a blank between equal labels one more.

    Raises:
        ShapeError: a tensor has other axes; the numbers of samples differ.
        EvaluationError: when run: a length is negative or beyond the tensor's, a label is
            negative or follows a blank.

    Source: Graves, Fernández, Gomez, Schmidhuber, "Connectionist temporal classification", 2006.

    >>> import math
    >>> from kameleon import backend as K
    >>> y_true, y_pred = K.constant([[0]]), K.constant([[[0.6, 0.4], [0.7, 0.3]]])
    >>> cost = K.ctc_batch_cost(y_true, y_pred, K.constant([[2]]), K.constant([[1]]))
    >>> round(math.exp(-K.eval(cost)[0, 0]), 4)  # 0.6 * 0.7 + 0.6 * 0.3 + 0.4 * 0.7
    0.88
    """
    what = "ctc_batch_cost"
    scores = _predictions(y_pred, what)
    labels = _with_axes(as_tensor(y_true, what), what, "y_true", "samples longest")
    steps = _lengths(input_length, what, "input_length", "samples 1")
    counts = _lengths(label_length, what, "label_length", "samples 1")
    _check_samples(what, y_pred=scores, y_true=labels, input_length=steps, label_length=counts)
    _, time, classes = dims_of(scores)
    steps = _no_longer_than(
        steps, time, f"{what}: an input_length is negative or beyond the steps of y_pred"
    )
    counts = _no_longer_than(
        counts, dims_of(labels)[1], f"{what}: a label_length is negative or beyond y_true"
    )
    labels = cast(labels, INT64)
    counts = _until_blank(labels, counts, classes, what)
    cost = ctc.ctc_loss(log_softmax(scores, axis=2), labels, steps, counts)
    dtype = as_float(y_pred, what).dtype
    return cast(reshape(cost, [dims_of(cost)[0], 1]), dtype)


def _until_blank(labels: Node, counts: Node, classes: Size, what: str) -> Node:
    """How many labels of each row come before a blank, with a check at run time that no label is
    negative or follows a blank.
    """
    inside = used(labels, counts)
    blank = as_int64(classes)
    last = broadcast_to(sub(blank, full_like(blank, 1)), dims_of(labels))
    proper = logical_and(inside, lt(labels, last))
    count = reduce_sum(cast(proper, INT64), (1,))
    holds = logical_and(ge(labels, full_like(labels, 0)), used(labels, count))
    message = (
        f"{what}: a label of y_true isn't in [0, classes - 1), or follows a blank (classes - 1)"
    )
    wrong = logical_and(proper, logical_not(holds))
    return check(count, logical_not(reduce_any(wrong, (1,))), message=message)


def ctc_decode(
    y_pred: TensorLike,
    input_length: TensorLike,
    greedy: bool = True,
    beam_width: int = 100,
    top_paths: int = 1,
    merge_repeated: bool = False,
) -> tuple[list[Tensor], Tensor]:
    """The most probable label sequences.

    Args:
        y_pred: tensor (samples, time, classes): distributions, as a softmax gives them; the last
            class is the blank. `K.epsilon()` is added.
        input_length: integer tensor (samples,): how many steps of `y_pred` count.
        greedy: spell the most probable class of each step (best path); else look for the
            sequences whose alignments are most probable together (prefix beam search).
        beam_width: how many prefixes the beam search keeps at each step.
        top_paths: how many sequences the beam search returns, best first.
        merge_repeated: leave one of equal labels that follow one another in a sequence that the
            beam search found; a word with a double letter loses one.

    Returns:
        A list of int64 tensors (samples, length of the longest sequence), filled up with -1: one,
        or `top_paths`; and a tensor: (samples, 1), minus the sum of the log probabilities along
        the best path, or (samples, top_paths), the log probabilities of the sequences.

    Raises:
        ShapeError: a tensor has other axes; the numbers of samples differ.
        ArgumentError: not 1 <= top_paths <= beam_width.

    Source: Graves, "Supervised sequence labelling with recurrent neural networks", 2012, 7.5.

    >>> from kameleon import backend as K
    >>> y_pred = K.constant([[[0.8, 0.1, 0.1], [0.2, 0.1, 0.7], [0.1, 0.6, 0.3]]])
    >>> (path,), score = K.ctc_decode(y_pred, K.constant([3], dtype='int32'))
    >>> K.eval(path), K.eval(score).round(3)
    (array([[0, 1]]), array([[1.091]], dtype=float32))
    """
    what = "ctc_decode"
    scores = _predictions(y_pred, what)
    lengths = _lengths(input_length, what, "input_length", "samples")
    _check_samples(what, y_pred=scores, input_length=lengths)
    if greedy:
        results = ctc.ctc_greedy(scores, lengths).results
    else:
        width, paths = (_count(value, what) for value in (beam_width, top_paths))
        if not 1 <= paths <= width:
            raise ArgumentError(
                f"{what}: top_paths={paths} must lie between 1 and beam_width={width}"
            )
        results = ctc.ctc_beam_search(scores, lengths, beam_width=width, top_paths=paths).results
    *sequences, score = results
    if merge_repeated and not greedy:
        sequences = [without_repeats(path) for path in sequences]
    return sequences, cast(score, as_float(y_pred, what).dtype)


def without_repeats(path: Node) -> Node:
    """The first of equal labels that follow one another, for rows that are filled up with -1."""
    is_label = ge(path, full_like(path, 0))
    return left_aligned(path, logical_and(is_label, ne(path, before(path, 1, -1))))


def left_aligned(labels: Node, keep: Node) -> Node:
    """The labels of each row (samples, length) that are kept, moved to the left and filled up
    with -1, as long as the longest row.
    """
    counts = reduce_sum(cast(keep, INT64), (1,))
    order = argsort(cast(logical_not(keep), INT64), axis=1)  # it's stable
    moved = take_along(labels, order, 1)
    moved = select(used(moved, counts), moved, full_like(moved, -1))
    longest = maximum(reduce_max(counts, (0,)), as_int64(0))  # of no samples, too
    return getitem(moved, (slice(None), slice(longest)))


def _count(value: Any, what: str) -> int:
    try:
        return operator.index(value)
    except TypeError:
        raise ArgumentError(
            f"{what}: beam_width and top_paths must be ints, not {value!r}"
        ) from None
