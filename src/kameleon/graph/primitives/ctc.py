"""Connectionist temporal classification: decoding, and the cost as a scan over time.

The shapes of decoded paths depend on values, so engines decode on the host.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

from ...errors import ShapeError
from ..ir.leaves import input_node
from ..ir.node import Node, Primitive
from ..ir.program import Graph
from ..ir.types import INT64, Dim, DType, TensorType, join_shapes
from .control import run_scan, stop_gradient
from .elementwise import (
    add,
    cast,
    constant,
    eq,
    exp,
    gt,
    log,
    logical_and,
    lt,
    maximum,
    ne,
    neg,
    select,
    sub,
)
from .filling import full_like, scaled, zeros
from .indexing import take_along
from .movement import broadcast_to, concatenate, iota, pad, reshape, slice_axis, stack, transpose
from .reduce import reduce_max, spread
from .sizes import Size, as_node, dims_of, size_of


def _batch_of(log_probs: Node, lengths: Node) -> Dim:
    """The number of samples to decode."""
    if len(log_probs.shape) != 3 or not log_probs.dtype.is_float:
        raise ShapeError(f"CTC needs floats (samples, time, classes), not {log_probs.type}")
    if not lengths.dtype.is_integer:
        raise ShapeError(f"CTC needs integer lengths, not {lengths.type}")
    return join_shapes(log_probs.shape[:1], lengths.shape, "CTC: samples and lengths")[0]


def _infer_greedy(log_probs: Node, lengths: Node) -> tuple[TensorType, TensorType]:
    batch = _batch_of(log_probs, lengths)
    return TensorType((None, None), INT64), TensorType((batch, 1), log_probs.dtype)


ctc_greedy = Primitive(
    "ctc_greedy",
    _infer_greedy,
    "best path of log_probs (samples, time, classes), repeats merged, blanks (the last class)"
    " dropped, filled with -1; and the negated sum of its scores",
)


def _infer_beam(
    log_probs: Node, lengths: Node, *, beam_width: int, top_paths: int
) -> tuple[TensorType, ...]:
    batch = _batch_of(log_probs, lengths)
    if top_paths > beam_width:
        raise ShapeError(f"of {beam_width} paths there are no best {top_paths}")
    path = TensorType((None, None), INT64)
    return (*(path for _ in range(top_paths)), TensorType((batch, top_paths), log_probs.dtype))


ctc_beam_search = Primitive(
    "ctc_beam_search",
    _infer_beam,
    "the `top_paths` most probable labellings by prefix beam search, each filled with -1, and"
    " their log probabilities",
)


# The cost ----------------------------------------------------------------------------------

# Stands for log 0. It's finite, so that differences are finite, too; no sum of real logarithms
# comes near it.
DEAD = -1e30


def ctc_loss(log_probs: Node, labels: Node, input_length: Node, label_length: Node) -> Node:
    """Minus the log probability of each label sequence, summed over its alignments: (samples,).

    The states of a sample are its labels with blanks before, between and after them; a step
    stays, goes on, or skips a blank between two different labels. `inf` (with gradient 0) where
    no alignment fits into the input.

    Args:
        log_probs: (samples, time, classes), normalised; the last class is the blank.
        labels: (samples, longest) integers; what lies behind `label_length` is ignored.
        input_length, label_length: (samples,) integers.

    Source: Graves, Fernández, Gomez, Schmidhuber, "Connectionist temporal classification",
    ICML 2006, section 4.1.
    """
    _, time, classes = dims_of(log_probs)
    states, blank = _states(labels, label_length, classes)
    scores = transpose(_scores(log_probs, states), (1, 0, 2))
    dims = [time, size_of(input_length, 0)]
    running = lt(iota(dims, 0, input_length.dtype), broadcast_to(input_length, dims))
    first = eq(iota(dims_of(states), 1, states.dtype), full_like(states, 0))
    level = zeros(dims_of(states)[:1], scores.dtype)
    start = [_zero_or_dead(first, scores.dtype), level]
    skips = _zero_or_dead(_may_skip(states, blank), scores.dtype)
    last, _ = run_scan(_body(skips, scores, running), [skips], start, [scores, running])
    return _total(last[0], last[1], label_length)


def _zero_or_dead(holds: Node, dtype: DType) -> Node:
    """The logarithm of 1 where the condition holds, else of 0."""
    dims = dims_of(holds)
    return select(holds, zeros(dims, dtype), broadcast_to(constant(DEAD, dtype), dims))


def _states(labels: Node, label_length: Node, classes: Size) -> tuple[Node, Node]:
    """The class of each state: (samples, 2 * longest + 1); and the blank, a scalar."""
    samples, longest = dims_of(labels)
    blank = cast(as_node(classes), labels.dtype)
    blank = sub(blank, full_like(blank, 1))
    blanks = broadcast_to(blank, [samples, longest])
    places = iota([samples, longest], 1, label_length.dtype)
    used = lt(places, broadcast_to(reshape(label_length, [samples, 1]), [samples, longest]))
    pairs = stack([blanks, select(used, labels, blanks)], 2)
    width = longest * 2 if isinstance(longest, int) else scaled(longest, 2)
    line = reshape(pairs, [samples, width])
    return concatenate([line, broadcast_to(blank, [samples, 1])], 1), blank


def _may_skip(states: Node, blank: Node) -> Node:
    """Whether a state may be reached from two states before: a label after another one."""
    before = slice_axis(pad(states, [(0, 0), (2, 0)], -1), 1, None, -2)
    is_label = ne(states, broadcast_to(blank, dims_of(states)))
    return logical_and(is_label, ne(states, before))


def _scores(log_probs: Node, states: Node) -> Node:
    """The log probability of each state's class at each step: (samples, time, states)."""
    samples, time, _ = dims_of(log_probs)
    width = size_of(states, 1)
    index = broadcast_to(reshape(states, [samples, 1, width]), [samples, time, width])
    scores = take_along(log_probs, index, 2)
    return maximum(scores, full_like(scores, DEAD))


def _body(skips: Node, scores: Node, running: Node) -> Graph:
    """One step of the forward recursion, for all samples and states.

    The largest state is kept at 0; what is subtracted for that is summed up in `level`, so that
    long inputs lose no precision.
    """
    skip, alpha = input_node(skips.type), input_node(skips.type)
    level = input_node(TensorType(skips.shape[:1], skips.dtype))
    score = input_node(TensorType(scores.shape[1:], scores.dtype))
    live = input_node(TensorType(running.shape[1:], running.dtype))
    padded = pad(alpha, [(0, 0), (2, 0)], DEAD)
    ways = [alpha, slice_axis(padded, 1, 1, -1), add(slice_axis(padded, 1, None, -2), skip)]
    stepped = add(_log_sum(ways), score)
    new = select(spread(live, alpha, (1,)), stepped, alpha)
    top = stop_gradient(reduce_max(new, (1,)))
    top = select(_is_dead(top), full_like(top, 0), top)
    new = sub(new, spread(top, new, (1,)))
    return Graph([skip, alpha, level, score, live], [new, add(level, top)])


def _is_dead(x: Node) -> Node:
    """Whether a sum of logarithms holds DEAD; false for NaN."""
    return lt(x, full_like(x, DEAD / 10))


def _log_sum(terms: Sequence[Node]) -> Node:
    """log(exp(a) + exp(b) + …), shifted by the largest, which is finite."""
    top = stop_gradient(functools.reduce(maximum, terms))
    return add(top, log(functools.reduce(add, [exp(sub(x, top)) for x in terms])))


def _total(alpha: Node, level: Node, label_length: Node) -> Node:
    """Minus the log of the probability of each sample's last two states; `inf` where that is 0."""
    samples = size_of(alpha, 0)
    last = reshape(scaled(label_length, 2), [samples, 1])
    before = maximum(sub(last, full_like(last, 1)), full_like(last, 0))
    label = take_along(alpha, before, 1)
    label = select(gt(last, full_like(last, 0)), label, full_like(label, DEAD))
    total = reshape(_log_sum([take_along(alpha, last, 1), label]), [samples])
    cost = neg(add(total, level))
    return select(_is_dead(total), full_like(cost, float("inf")), cost)
