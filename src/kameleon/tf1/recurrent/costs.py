"""Costs of sequences of `tf.contrib.seq2seq` and `tf.contrib.legacy_seq2seq`, and its decoder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any

from ...backend import surface as K
from ...backend._tensors import as_tensor
from ...errors import ArgumentError
from ..nets.losses import quotient
from ..networks import sparse_loss
from ..scopes import get_variable_scope, variable_scope
from .loops import static_rnn

SMALL = 1e-12  # keeps quotients finite where all weights are 0

Cost = Callable[..., Any]


def _cost(function: Cost | None, labels: Any, logits: Any) -> Any:
    if function is None:
        return sparse_loss(labels=labels, logits=logits)
    return function(labels=labels, logits=logits)


def sequence_loss(
    logits: Any, targets: Any, weights: Any, average_across_timesteps: bool = True,
    average_across_batch: bool = True, sum_over_timesteps: bool = False,
    sum_over_batch: bool = False, softmax_loss_function: Cost | None = None,
    name: str | None = None,
) -> Any:  # fmt: skip
    """The weighted cross entropy of sequences.

    Args:
        logits: (samples, steps, classes).
        targets: (samples, steps) integers.
        weights: (samples, steps); those of steps that don't count are 0.
        average_across_timesteps, average_across_batch: sum the costs over steps, over samples, and
            divide them by the sum of weights.
        sum_over_timesteps, sum_over_batch: likewise, but divide by the number of weights that
            aren't 0.
        softmax_loss_function: `(labels, logits) -> costs`, instead of the cross entropy.
    """
    z, y, w = (as_tensor(x, "sequence_loss") for x in (logits, targets, weights))
    parts = (("Logits", z, 3), ("Targets", y, 2), ("Weights", w, 2))
    for part, x, rank in parts:
        if len(x.type.shape) != rank:
            axes = "samples, steps, classes" if rank == 3 else "samples, steps"
            raise ArgumentError(f"{part} must be a tensor ({axes}), not {x!r}")
    if (average_across_timesteps and sum_over_timesteps) or (
        average_across_batch and sum_over_batch
    ):
        raise ArgumentError("averages and sums over the same axis: choose one of them")
    flat = K.reshape(z, (-1, K.shape(z)[2] if z.type.shape[2] is None else z.type.shape[2]))
    costs = _cost(softmax_loss_function, K.reshape(y, (-1,)), flat) * K.reshape(w, (-1,))
    if average_across_timesteps and average_across_batch:
        return K.sum(costs) / (K.sum(w) + SMALL)
    present = K.cast(K.not_equal(w, 0), w.dtype)
    if sum_over_timesteps and sum_over_batch:
        return quotient(K.sum(costs), K.sum(present))
    costs = K.reshape(costs, K.shape(z)[:2])
    if average_across_timesteps or average_across_batch:
        axis = 0 if average_across_batch else 1
        return K.sum(costs, axis) / (K.sum(w, axis) + SMALL)
    if sum_over_timesteps or sum_over_batch:
        axis = 0 if sum_over_batch else 1
        return quotient(K.sum(costs, axis), K.sum(present, axis))
    return costs


def sequence_loss_by_example(
    logits: Sequence[Any], targets: Sequence[Any], weights: Sequence[Any],
    average_across_timesteps: bool = True, softmax_loss_function: Cost | None = None,
    name: str | None = None,
) -> Any:  # fmt: skip
    """The weighted cross entropy of each sample, of lists with a tensor for each step."""
    if not len(logits) == len(targets) == len(weights):
        raise ArgumentError(
            f"Lengths of logits, weights, and targets must be the same {len(logits)},"
            f" {len(weights)}, {len(targets)}."
        )
    costs, total = 0.0, SMALL
    for z, y, w in zip(logits, targets, weights, strict=True):
        labels = K.reshape(as_tensor(y, "sequence_loss"), (-1,))
        costs = costs + _cost(softmax_loss_function, labels, z) * w
        total = total + w
    return costs / total if average_across_timesteps else costs


def legacy_sequence_loss(
    logits: Sequence[Any], targets: Sequence[Any], weights: Sequence[Any],
    average_across_timesteps: bool = True, average_across_batch: bool = True,
    softmax_loss_function: Cost | None = None, name: str | None = None,
) -> Any:  # fmt: skip
    """The sum, or mean, of `sequence_loss_by_example` over all samples."""
    cost = sequence_loss_by_example(
        logits, targets, weights, average_across_timesteps, softmax_loss_function
    )
    total = K.sum(cost)
    if not average_across_batch:
        return total
    return total / K.cast(K.shape(as_tensor(targets[0], "sequence_loss"))[0], total.dtype)


def rnn_decoder(
    decoder_inputs: Sequence[Any], initial_state: Any, cell: Any,
    loop_function: Callable[[Any, int], Any] | None = None, scope: Any = None,
) -> Any:  # fmt: skip
    """Run a cell along a list of inputs.

    Args:
        loop_function: `(output before, number of the step) -> input`, in place of all inputs but
            the first.

    Returns:
        The list of outputs, and the last state.
    """
    state, outputs = initial_state, list[Any]()
    with variable_scope(scope or "rnn_decoder"):
        for i, x in enumerate(decoder_inputs):
            if loop_function is not None and outputs:
                with variable_scope("loop_function", reuse=True):
                    x = loop_function(outputs[-1], i)
            if i > 0:
                get_variable_scope().reuse_variables()
            output, state = cell(x, state)
            outputs.append(output)
    return outputs, state


def basic_rnn_seq2seq(
    encoder_inputs: Sequence[Any], decoder_inputs: Sequence[Any], cell: Any, dtype: Any = "float32",
    scope: Any = None,
) -> Any:  # fmt: skip
    """A cell along the first list; then one like it, from its last state, along the second."""
    with variable_scope(scope or "basic_rnn_seq2seq"):
        encoder = deepcopy(cell)
        _, state = static_rnn(encoder, encoder_inputs, dtype=dtype)
        return rnn_decoder(decoder_inputs, state, cell)


NAMES: dict[str, Any] = {
    "contrib.seq2seq.sequence_loss": sequence_loss,
    "contrib.legacy_seq2seq.sequence_loss": legacy_sequence_loss,
    "contrib.legacy_seq2seq.sequence_loss_by_example": sequence_loss_by_example,
}
PLAIN: dict[str, Any] = {
    "contrib.legacy_seq2seq.rnn_decoder": rnn_decoder,
    "contrib.legacy_seq2seq.basic_rnn_seq2seq": basic_rnn_seq2seq,
}
