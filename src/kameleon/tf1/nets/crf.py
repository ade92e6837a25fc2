"""`tf.contrib.crf`: linear-chain conditional random fields.

A sequence of tags scores the sum of its unary scores (samples, steps, tags) and of its transitions
(tags, tags); steps from a sequence's length on don't count. A sequence of no steps has the score 0.

Source: Lafferty, McCallum and Pereira, "Conditional random fields: probabilistic models for
segmenting and labeling sequence data" (2001); Viterbi, "Error bounds for convolutional codes and an
asymptotically optimum decoding algorithm" (1967).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...backend import surface as K
from ...backend._tensors import as_tensor
from ...errors import ShapeError
from ...prims.sizes import dims_of
from ..scopes import get_variable

_WHAT = "tf.contrib.crf"


def _sequences(inputs: Any, what: str) -> Any:
    x = as_tensor(inputs, what)
    if len(x.shape) != 3:
        raise ShapeError(f"{what}: scores (samples, steps, tags) were expected, not {x!r}")
    return x


def _there(lengths: Any, steps: Any) -> Any:
    """(samples, steps): 1 for the steps of each sequence, else 0."""
    count = K.expand_dims(K.cast(as_tensor(lengths, _WHAT), "int32"), 1)
    return K.cast(K.expand_dims(K.arange(0, steps), 0) < count, "float32")


def _hot(indices: Any, tags: Any) -> Any:
    """One-hot rows of the tags."""
    tag = K.expand_dims(K.cast(as_tensor(indices, _WHAT), "int32"), -1)
    return K.cast(K.equal(tag, K.arange(0, tags)), "float32")


def _tags(x: Any) -> Any:
    return K.shape(x)[2] if x.shape[2] is None else x.shape[2]


def crf_unary_score(tag_indices: Any, sequence_lengths: Any, inputs: Any) -> Any:
    """The sum of the scores of the tags in each sequence."""
    x = _sequences(inputs, "tf.contrib.crf.crf_unary_score")
    chosen = K.sum(x * _hot(tag_indices, _tags(x)), axis=-1)
    return K.sum(chosen * _there(sequence_lengths, K.shape(x)[1]), axis=1)


def crf_binary_score(tag_indices: Any, sequence_lengths: Any, transition_params: Any) -> Any:
    """The sum of the scores of the steps from tag to tag in each sequence."""
    transitions = as_tensor(transition_params, _WHAT)
    hot = _hot(tag_indices, K.shape(transitions)[0])
    found = K.sum(K.dot(hot[:, :-1], transitions) * hot[:, 1:], axis=-1)
    there = _there(sequence_lengths, K.shape(hot)[1])
    return K.sum(found * there[:, 1:], axis=1)


def crf_sequence_score(
    inputs: Any, tag_indices: Any, sequence_lengths: Any, transition_params: Any
) -> Any:
    """The score of each sequence of tags."""
    unary = crf_unary_score(tag_indices, sequence_lengths, inputs)
    return unary + crf_binary_score(tag_indices, sequence_lengths, transition_params)


def crf_log_norm(inputs: Any, sequence_lengths: Any, transition_params: Any) -> Any:
    """The logarithm of the sum of exp(score) over all sequences of tags."""
    x = _sequences(inputs, "tf.contrib.crf.crf_log_norm")
    transitions = K.expand_dims(as_tensor(transition_params, _WHAT), 0)

    def step(scores: Any, states: Any) -> Any:
        new = scores + K.logsumexp(K.expand_dims(states[0], 2) + transitions, axis=1)
        return new, [new]

    there = _there(sequence_lengths, K.shape(x)[1])
    _, _, (last,) = K.rnn(step, x[:, 1:], [x[:, 0]], mask=there[:, 1:])
    return K.logsumexp(last, axis=1) * there[:, 0]


def crf_log_likelihood(
    inputs: Any, tag_indices: Any, sequence_lengths: Any, transition_params: Any = None
) -> tuple[Any, Any]:
    """The logarithm of the probability of each sequence of tags, and the transitions' scores.

    Without `transition_params` they are a variable named "transitions".
    """
    x = _sequences(inputs, "tf.contrib.crf.crf_log_likelihood")
    if transition_params is None:
        transition_params = get_variable("transitions", [x.shape[2], x.shape[2]])
    score = crf_sequence_score(x, tag_indices, sequence_lengths, transition_params)
    return score - crf_log_norm(x, sequence_lengths, transition_params), transition_params


def crf_decode(potentials: Any, transition_params: Any, sequence_length: Any) -> tuple[Any, Any]:
    """The best tags of each sequence (samples, steps), 0 behind its end, and their scores."""
    x = _sequences(potentials, "tf.contrib.crf.crf_decode")
    transitions = K.expand_dims(as_tensor(transition_params, _WHAT), 0)

    tags = K.expand_dims(K.arange(0, _tags(x)), 0)

    def step(scores: Any, states: Any) -> Any:
        ways = K.expand_dims(states[0], 2) + transitions
        came = K.cast(K.argmax(ways, axis=1), "int32")
        return came, [scores + K.max(ways, axis=1)]

    def before(came: Any, states: Any) -> Any:
        chosen = K.cast(K.equal(tags, states[0]), "int32")
        found = K.sum(came * chosen, axis=1, keepdims=True)
        return found, [found]

    # A sequence has one step at least; a step behind its end comes from the tag that it goes to.
    there = _there(K.maximum(K.cast(as_tensor(sequence_length, _WHAT), "int32"), 1), K.shape(x)[1])
    _, back, (last,) = K.rnn(step, x[:, 1:], [x[:, 0]], mask=there[:, 1:])
    holds = K.cast(K.expand_dims(there[:, 1:]), "int32")
    back = back * holds + K.expand_dims(tags, 1) * (1 - holds)
    end = K.expand_dims(K.cast(K.argmax(last, axis=1), "int32"))
    _, path, _ = K.rnn(before, back, [end], go_backwards=True)
    path = K.concatenate([K.reverse(path, 1), K.expand_dims(end, 1)], axis=1)[:, :, 0]
    found = K.reshape(path * K.cast(there, "int32"), dims_of(x)[:2])
    return found, K.max(last, axis=1)


def viterbi_decode(score: Any, transition_params: Any) -> tuple[list[int], Any]:
    """The best tags for an array of scores (steps, tags), and their score; of NumPy."""
    scores, transitions = np.asarray(score), np.asarray(transition_params)
    best, back = scores[0], []
    for row in scores[1:]:
        ways = best[:, None] + transitions
        back.append(ways.argmax(0))
        best = row + ways.max(0)
    path = [int(best.argmax())]
    for came in reversed(back):
        path.append(int(came[path[-1]]))
    return path[::-1], best.max()


NAMES: dict[str, Any] = {}
PLAIN: dict[str, Any] = {
    f"contrib.crf.{function.__name__}": function
    for function in (
        crf_unary_score, crf_binary_score, crf_sequence_score, crf_log_norm, crf_log_likelihood,
        crf_decode, viterbi_decode,
    )
}  # fmt: skip
