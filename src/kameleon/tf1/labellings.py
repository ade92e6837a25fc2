"""Sequences of labels of TensorFlow 1: CTC's cost and decoders, edit distance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..backend import surface as K
from ..backend._tensors import as_float, as_tensor
from ..backend.calling import call
from ..backend.ctc import left_aligned, used, without_repeats
from ..backend.sparse import to_dense
from ..backend.sparse_tensor import SparseTensor
from ..compat.tensorflow.arithmetic.sequences import share_to_change
from ..errors import ArgumentError
from ..ir.node import Node
from ..prims import ctc
from ..prims.control import check
from ..prims.elementwise import logical_and
from ..prims.indexing import nonzero, scatter_add
from ..prims.reduce import argmax
from ..prims.special import log_softmax
from .sparse.tensors import made
from .tensors import boolean_mask

# CTC ----------------------------------------------------------------------------------------


def _sparse_of(path: Node) -> SparseTensor:
    """The sparse tensor of rows that are filled up with -1."""
    held = K.greater_equal(path, 0)
    indices = nonzero(held)
    return made(indices, boolean_mask(path, held), K.shape(path), path.type.shape)


def _scores(inputs: Any, time_major: bool, what: str) -> Node:
    """Logits (samples, time, classes)."""
    x = as_float(as_tensor(inputs, what), what)
    if len(x.type.shape) != 3:
        raise ArgumentError(f"{what}: inputs must have 3 axes, not {x.type.shape}")
    return K.permute_dimensions(x, (1, 0, 2)) if time_major else x


def ctc_loss(
    labels: Any, inputs: Any = None, sequence_length: Any = None,
    preprocess_collapse_repeated: bool = False, ctc_merge_repeated: bool = True,
    ignore_longer_outputs_than_inputs: bool = False, time_major: bool = True, logits: Any = None,
) -> Any:  # fmt: skip
    """Minus the logarithm of the probability of the labels, for each sample: (samples,).

    Args:
        labels: a sparse tensor, a row for each sample, of classes below the last one, the blank.
        inputs: logits (time, samples, classes), or with `time_major=False` (samples, time, …).
        sequence_length: how many steps of each sample count.
        ignore_longer_outputs_than_inputs: more labels than steps cost 0; otherwise they are an
            error. Labels that don't fit since some repeat cost infinity.
    """
    what = "tf.nn.ctc_loss"
    if preprocess_collapse_repeated or not ctc_merge_repeated:
        raise ArgumentError(f"{what}: repeats are merged in outputs, and not in labels")
    scores = _scores(logits if inputs is None else inputs, time_major, what)
    if not isinstance(labels, SparseTensor):
        raise TypeError("Expected labels (first argument) to be a SparseTensor")
    steps = K.cast(as_tensor(sequence_length, what), "int64")
    rows = K.shape(scores)[0]
    counts = scatter_add(K.ones_like(labels.indices[:, 0], "int64"), labels.indices[:, 0], rows, 0)
    dense = to_dense(labels)
    costs = ctc.ctc_loss(log_softmax(scores, axis=2), K.cast(dense, "int64"), steps, counts)
    fits = K.greater_equal(steps, counts)
    if ignore_longer_outputs_than_inputs:
        return K.switch(fits, costs, K.zeros_like(costs))
    return check(costs, fits, message=f"{what}: Not enough time for target transition sequence")


def ctc_greedy_decoder(inputs: Any, sequence_length: Any, merge_repeated: bool = True) -> Any:
    """The most probable class of each step, without blanks.

    With `merge_repeated`, equal classes that follow one another count once.

    Returns:
        A list with a sparse tensor of labels, and minus the sum of the logits: (samples, 1).
    """
    what = "tf.nn.ctc_greedy_decoder"
    steps = K.cast(as_tensor(sequence_length, what), "int64")
    scores = _scores(inputs, True, what)
    path, total = ctc.ctc_greedy(scores, steps).results
    if not merge_repeated:
        best = argmax(scores, axis=2)
        is_label = K.not_equal(best, K.cast(K.shape(scores)[2] - 1, "int64"))
        path = left_aligned(best, logical_and(is_label, used(best, steps)))
    return [_sparse_of(path)], total


def ctc_beam_search_decoder(
    inputs: Any, sequence_length: Any, beam_width: int = 100, top_paths: int = 1,
    merge_repeated: bool = True,
) -> Any:  # fmt: skip
    """The most probable label sequences, by prefix beam search.

    Returns:
        A list of sparse tensors, the best first, and their log probabilities (samples, top_paths).
        With `merge_repeated`, of equal labels that follow one another only the first stands in the
        result.
    """
    what = "tf.nn.ctc_beam_search_decoder"
    steps = K.cast(as_tensor(sequence_length, what), "int64")
    scores = log_softmax(_scores(inputs, True, what), axis=2)
    *paths, total = ctc.ctc_beam_search(
        scores, steps, beam_width=int(beam_width), top_paths=int(top_paths)
    ).results
    found = [without_repeats(p) for p in paths] if merge_repeated else paths
    return [_sparse_of(p) for p in found], total


def ctc_beam_search_decoder_v2(
    inputs: Any, sequence_length: Any, beam_width: int = 100, top_paths: int = 1
) -> Any:
    """Likewise, with labels that repeat."""
    return ctc_beam_search_decoder(inputs, sequence_length, beam_width, top_paths, False)


# Distance -----------------------------------------------------------------------------------


def edit_distance(
    hypothesis: Any, truth: Any, normalize: bool = True, name: str | None = None
) -> Any:
    """How many elements must be changed, added or left out to make the truth of the hypothesis.

    Args:
        hypothesis, truth: sparse matrices, whose rows are compared.
        normalize: divide by the length of the truth; where that is 0, it's infinite.
    """
    for x in (hypothesis, truth):
        if not isinstance(x, SparseTensor) or len(x.shape) != 2:
            raise TypeError("tf.edit_distance: hypothesis and truth must be sparse matrices")

    def run(*parts: Any) -> np.ndarray:
        return _distances(parts[:3], parts[3:], normalize)

    return call(run, [*hypothesis.parts, *truth.parts], "numpy", shapes=(None,), dtypes="float32")


def _distances(a: Sequence[Any], b: Sequence[Any], normalize: bool) -> np.ndarray:
    found = []
    for row in range(int(max(a[2][0], b[2][0]))):
        mine, true = (x[1][x[0][:, 0] == row].tolist() for x in (a, b))
        found.append(share_to_change(mine, true, normalize))
    return np.array(found, "float32")


NAMES: dict[str, Any] = {"edit_distance": edit_distance}
PLAIN: dict[str, Any] = {
    "nn.ctc_loss": ctc_loss,
    "nn.ctc_greedy_decoder": ctc_greedy_decoder,
    "nn.ctc_beam_search_decoder": ctc_beam_search_decoder,
    "nn.ctc_beam_search_decoder_v2": ctc_beam_search_decoder_v2,
}
