"""`tf.contrib.seq2seq`: decoding that keeps the best few sequences of each sample, its beams."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...backend import surface as K
from ...backend._tensors import as_tensor
from ...backend.calling import call
from ...errors import ArgumentError, UnsupportedError
from ...ir.node import Node
from ...prims.filling import full_like
from ...prims.sizes import size_of
from ..methods import set_shape
from ..nests import map_structure
from ..networks import log_softmax
from ..tensors import top_k
from .decoding import Decoder
from .helpers import chosen, rows_of
from .loops import check_cell

LEAST = float(np.finfo(np.float32).min)


def _reshaped(x: Node, *sizes: Any) -> Any:
    """A tensor with new first axes, and with the sizes that are known."""
    known = [n if isinstance(n, int) else None for n in sizes]
    found = K.reshape(x, tuple(-1 if n is None else n for n in sizes))
    set_shape(found, known)
    return found


def tile_batch(t: Any, multiplier: Any, name: str | None = None) -> Any:
    """Each sample of a tensor, or of the tensors of a nest, so many times."""

    def tiled(x: Any) -> Any:
        x = as_tensor(x, "tile_batch")
        if not x.type.shape:
            raise ArgumentError("tile_batch: a scalar has no samples")
        return K.repeat_elements(x, int(multiplier), 0)

    return map_structure(tiled, t)


def _tree(steps: Any, parents: Any, lengths: Any, end: Any) -> Any:
    """`gather_tree` of arrays."""
    time, batch, beams = steps.shape
    found = np.full_like(steps, end)
    at = np.tile(np.arange(beams, dtype=parents.dtype), (batch, 1))
    rows = np.arange(batch)[:, None]
    longest = np.minimum(lengths, time)[:, None]
    for level in reversed(range(time)):
        inside = level < longest
        found[level] = np.where(inside, steps[level][rows, at], end)
        at = np.where(inside, parents[level][rows, at], at)
    ended = np.cumsum(found == end, axis=0) > 0
    found[ended] = end
    return found


def gather_tree(
    step_ids: Any, parent_ids: Any, max_sequence_lengths: Any, end_token: Any,
    name: str | None = None,
) -> Any:  # fmt: skip
    """The sequences of beams whose steps were chosen, each after a beam of the step before.

    Args:
        step_ids: (steps, samples, beams) of int32.
        parent_ids: the beam that each goes on, of the same shape.
        max_sequence_lengths: the number of steps of each sample.
        end_token: stands behind the end of a sequence.
    """
    given = [
        as_tensor(x, "gather_tree", "int32")
        for x in (step_ids, parent_ids, max_sequence_lengths, end_token)
    ]
    shape = given[0].type.shape
    (found,) = call(_listed, given, "numpy", shapes=[shape], dtypes=["int32"])
    return found


def _listed(*arrays: Any) -> list[Any]:
    return [_tree(*(np.asarray(x) for x in arrays))]


class BeamSearchDecoderState(NamedTuple):
    """Where the beams are."""

    cell_state: Any
    log_probs: Any
    finished: Any
    lengths: Any
    accumulated_attention_probs: Any = ()


class BeamSearchDecoderOutput(NamedTuple):
    """What a step gives: of each beam the score, the class, and the beam that it goes on."""

    scores: Any
    predicted_ids: Any
    parent_ids: Any


class FinalBeamSearchDecoderOutput(NamedTuple):
    """The sequences, the best first, and what the steps gave."""

    predicted_ids: Any
    beam_search_decoder_output: Any


class BeamSearchDecoder(Decoder):
    """A decoder that keeps the sequences with the best scores.

    Args:
        cell: an `RNNCell`.
        embedding: a function of classes, or a matrix with a row for each.
        start_tokens: the class that each sample begins with.
        end_token: the class that ends a sequence.
        initial_state: of the cell, for samples repeated by `tile_batch`.
        beam_width: how many sequences are kept.
        output_layer: what the cell's outputs go through.
        length_penalty_weight: scores are divided by ((5 + length) / 6) to this power.

    Raises:
        UnsupportedError: a penalty of coverage is asked for.
    """

    tracks_own_finished = True

    def __init__(
        self, cell: Any, embedding: Any, start_tokens: Any, end_token: Any, initial_state: Any,
        beam_width: int, output_layer: Any = None, length_penalty_weight: float = 0.0,
        coverage_penalty_weight: float = 0.0, reorder_tensor_arrays: bool = True,
    ):  # fmt: skip
        check_cell(cell)
        if coverage_penalty_weight:
            raise UnsupportedError(
                "BeamSearchDecoder(coverage_penalty_weight=…) isn't there; leave it out"
            )
        self._cell, self._output_layer = cell, output_layer
        self._embedding = rows_of(embedding)
        self._start = as_tensor(start_tokens, "start_tokens", "int32")
        self._end = as_tensor(end_token, "end_token", "int32")
        if len(self._start.type.shape) != 1:
            raise ArgumentError("start_tokens must be a vector")
        if len(self._end.type.shape):
            raise ArgumentError("end_token must be a scalar")
        self._width, self._power = int(beam_width), length_penalty_weight
        self._batch = size_of(self._start, 0)
        self._initial = map_structure(self._split, initial_state)
        tokens = K.repeat_elements(K.expand_dims(self._start, 1), self._width, 1)
        self._start_inputs = self._embedding(tokens)

    @property
    def batch_size(self) -> Any:
        """The number of samples."""
        return self._batch

    @property
    def output_size(self) -> Any:
        """The sizes of what a step gives for one sample."""
        return BeamSearchDecoderOutput(*[self._width] * 3)

    @property
    def output_dtype(self) -> Any:
        """The dtypes of what a step gives."""
        return BeamSearchDecoderOutput("float32", "int32", "int32")

    def _split(self, x: Any) -> Any:
        """(samples · beams, …) as (samples, beams, …); scalars as they are."""
        x = as_tensor(x, "BeamSearchDecoder") if not isinstance(x, Node) else x
        if not x.type.shape:
            return x
        rest = [size_of(x, i) for i in range(1, len(x.type.shape))]
        return _reshaped(x, self._batch, self._width, *rest)

    def _merged(self, x: Any) -> Any:
        """(samples, beams, …) as (samples · beams, …)."""
        if not x.type.shape:
            return x
        rest = [size_of(x, i) for i in range(2, len(x.type.shape))]
        count = self._batch * self._width
        return _reshaped(x, count, *rest)

    def _of_beams(self, x: Any, beams: Any) -> Any:
        """What belongs to each beam's parent."""
        if len(x.type.shape) < 2:
            return x
        width = size_of(x, 1)
        rest = [size_of(x, i) for i in range(2, len(x.type.shape))]
        starts = K.expand_dims(K.arange(0, self._batch, dtype="int32"), 1) * width
        flat = K.reshape(x, (-1, *rest))
        return _reshaped(K.gather(flat, beams + starts), self._batch, self._width, *rest)

    def initialize(self, name: str | None = None) -> Any:
        none = full_like(self._split(K.repeat_elements(self._start, self._width, 0)), 0)
        first = none + K.constant(np.eye(1, self._width), dtype="int32")
        finished = K.equal(first, 0)
        scores = K.switch(finished, full_like(K.cast(none, "float32"), -np.inf),
                          K.cast(none, "float32"))  # fmt: skip
        state = BeamSearchDecoderState(self._initial, scores, finished, K.cast(none, "int64"))
        return finished, self._start_inputs, state

    def step(self, time: Any, inputs: Any, state: Any, name: str | None = None) -> Any:
        cell_state = map_structure(self._merged, state.cell_state)
        outputs, new = self._cell(self._merged(inputs), cell_state)
        if self._output_layer is not None:
            outputs = self._output_layer(outputs)
        new = map_structure(self._split, new)
        found, following = self._best(self._split(outputs), new, state)
        rows = self._embedding(found.predicted_ids)
        inputs = chosen(K.all(following.finished), self._start_inputs, rows)
        return found, following, inputs, following.finished

    def _best(self, logits: Any, cell_state: Any, state: Any) -> Any:
        classes = K.int_shape(logits)[-1]
        is_end = K.equal(K.arange(classes, dtype="int32"), self._end)
        steps = log_softmax(logits)
        done = K.expand_dims(state.finished, -1)
        only_end = K.switch(is_end, full_like(K.cast(is_end, "float32"), 0),
                            full_like(K.cast(is_end, "float32"), LEAST))  # fmt: skip
        stays = K.repeat_elements(K.cast(done, "int32"), classes, -1)
        steps = K.switch(K.greater(stays, 0), full_like(steps, 0) + only_end, steps)
        totals = K.expand_dims(state.log_probs, -1) + steps
        goes_on = (1 - K.cast(is_end, "int64")) * (1 - K.cast(done, "int64"))
        lengths = K.expand_dims(state.lengths, -1) + goes_on
        scores = totals
        if self._power:
            scores = totals / ((5.0 + K.cast(lengths, "float32")) / 6.0) ** self._power
        count = self._width * classes
        flat = _reshaped(scores, self._batch, count)
        best, places = top_k(flat, self._width)
        beams, words = places // classes, places % classes
        numbers = _reshaped(totals, self._batch, count)
        starts = K.expand_dims(K.arange(0, self._batch, dtype="int32"), 1) * count
        log_probs = K.gather(K.reshape(numbers, (-1,)), places + starts)
        before = self._of_beams(K.cast(state.finished, "int32"), beams)
        ended = K.cast(K.equal(words, self._end), "int32")
        after = self._of_beams(state.lengths, beams) + K.cast(1 - before, "int64")
        following = BeamSearchDecoderState(
            map_structure(lambda x: self._of_beams(x, beams), cell_state),
            _reshaped(log_probs, self._batch, self._width),
            K.greater(before + ended, 0), after,
        )  # fmt: skip
        return BeamSearchDecoderOutput(best, words, beams), following

    def finalize(self, outputs: Any, final_state: Any, sequence_lengths: Any) -> Any:
        longest = K.cast(K.max(final_state.lengths, axis=1), "int32")
        found = gather_tree(outputs.predicted_ids, outputs.parent_ids, longest, self._end)
        return FinalBeamSearchDecoderOutput(found, outputs), final_state


NAMES: dict[str, Any] = {}
PLAIN: dict[str, Any] = {
    f"contrib.seq2seq.{thing.__name__}": thing
    for thing in (
        *(BeamSearchDecoder, BeamSearchDecoderOutput, BeamSearchDecoderState),
        *(FinalBeamSearchDecoderOutput, gather_tree, tile_batch),
    )
}
