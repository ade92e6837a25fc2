"""`tf.contrib.seq2seq`: `dynamic_decode`, which runs a decoder until all samples have ended."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, NamedTuple

from ...backend import surface as K
from ...backend._tensors import as_tensor
from ...errors import ArgumentError
from ...ir.node import Node
from ...prims.filling import full_like
from ...prims.movement import move_axis
from ..control import TensorArray, while_loop
from ..nests import flatten, map_structure
from ..nets.base import Layer
from ..scopes import variable_scope
from ..shapes import TensorShape
from .helpers import Helper
from .loops import check_cell, kept


class Decoder:
    """A step of a decoder, and what it begins with: the base of all decoders.

    A subclass gives `batch_size`, `output_size`, `output_dtype`, `initialize` and `step`; and
    `finalize`, where something is to be done with all outputs.
    """

    batch_size: Any
    output_size: Any
    output_dtype: Any
    tracks_own_finished = False

    def initialize(self, name: str | None = None) -> Any:
        """Which samples have ended before the first step, its inputs, and its state."""
        raise NotImplementedError

    def step(self, time: Any, inputs: Any, state: Any, name: str | None = None) -> Any:
        """The outputs, the next state and inputs, and which samples have ended."""
        raise NotImplementedError

    def finalize(self, outputs: Any, final_state: Any, sequence_lengths: Any) -> Any:
        """What becomes of the outputs of all steps, and of the last state."""
        raise NotImplementedError


class BasicDecoderOutput(NamedTuple):
    """What a step of a `BasicDecoder` gives: outputs, and what the helper took of them."""

    rnn_output: Any
    sample_id: Any


class BasicDecoder(Decoder):
    """A cell, with a helper that says what its inputs are.

    Args:
        cell: an `RNNCell`.
        helper: a `Helper`.
        initial_state: a nest like `cell.state_size`.
        output_layer: what the cell's outputs go through, `tf.layers.Dense` for instance.
    """

    def __init__(self, cell: Any, helper: Any, initial_state: Any, output_layer: Any = None):
        check_cell(cell)
        if not isinstance(helper, Helper):
            raise TypeError(f"helper must be a Helper, received: {type(helper)}")
        if output_layer is not None and not isinstance(output_layer, Layer):
            raise TypeError(f"output_layer must be a Layer, received: {type(output_layer)}")
        self._cell, self._helper, self._initial_state = cell, helper, initial_state
        self._output_layer: Any = output_layer

    @property
    def batch_size(self) -> Any:
        """The number of samples."""
        return self._helper.batch_size

    @property
    def output_size(self) -> Any:
        """The sizes of outputs and of what's taken of them, for one sample."""
        size = self._cell.output_size
        if self._output_layer is not None:
            size = map_structure(self._through, size)
        return BasicDecoderOutput(size, self._helper.sample_ids_shape)

    def _through(self, size: Any) -> Any:
        shape = TensorShape([None]).concatenate(TensorShape(size))
        return TensorShape(self._output_layer.compute_output_shape(shape))[1:]

    @property
    def output_dtype(self) -> Any:
        """The dtypes of outputs and of what's taken of them."""
        first = as_tensor(_first(self._initial_state), "BasicDecoder").dtype
        dtypes = map_structure(lambda size: first, self._cell.output_size)
        return BasicDecoderOutput(dtypes, self._helper.sample_ids_dtype)

    def initialize(self, name: str | None = None) -> Any:
        return (*self._helper.initialize(), self._initial_state)

    def step(self, time: Any, inputs: Any, state: Any, name: str | None = None) -> Any:
        outputs, state = self._cell(inputs, state)
        if self._output_layer is not None:
            outputs = self._output_layer(outputs)
        taken = self._helper.sample(time=time, outputs=outputs, state=state)
        finished, inputs, state = self._helper.next_inputs(
            time=time, outputs=outputs, state=state, sample_ids=taken
        )
        return BasicDecoderOutput(outputs, taken), state, inputs, finished


def _first(nest: Any) -> Any:
    """The first tensor of a nest of states."""
    return flatten(nest)[0]


def dynamic_decode(
    decoder: Any, output_time_major: bool = False, impute_finished: bool = False,
    maximum_iterations: Any = None, parallel_iterations: int = 32, swap_memory: bool = False,
    scope: Any = None, **kwargs: Any,
) -> Any:  # fmt: skip
    """Run a decoder until all samples have ended, or for so many steps.

    Args:
        decoder: a `Decoder`.
        output_time_major: outputs are (steps, samples, …), not (samples, steps, …).
        impute_finished: outputs of samples that have ended are 0, and their states stay.
        maximum_iterations: the most steps.
        scope: of the variables; `decoder`, if None.

    Returns:
        The outputs of all steps, the last state, and how many steps each sample took.
    """
    if not isinstance(decoder, Decoder):
        raise TypeError(f"Expected decoder to be type Decoder, but saw: {type(decoder)}")
    if maximum_iterations is not None and len(as_tensor(maximum_iterations, "").type.shape):
        raise ArgumentError("maximum_iterations must be a scalar")
    with variable_scope(scope or "decoder"):
        finished, inputs, state = decoder.initialize(**kwargs)
        finished = as_tensor(finished, "dynamic_decode")
        lengths = full_like(K.cast(finished, "int32"), 0)
        arrays = map_structure(
            lambda dtype: TensorArray(dtype, size=0, dynamic_size=True), decoder.output_dtype
        )

        def goes_on(time: Any, arrays: Any, state: Any, inputs: Any, done: Any, _: Any) -> Any:
            return K.any(K.equal(K.cast(done, "int32"), 0))

        def body(time: Any, arrays: Any, state: Any, inputs: Any, done: Any, lengths: Any) -> Any:
            outputs, new, following, ended = decoder.step(time, inputs, state)
            if not decoder.tracks_own_finished:
                ended = K.any(K.stack([K.cast(ended, "bool"), done]), 0)
            lengths = K.switch(done, lengths, full_like(lengths, 1) * (time + 1))
            if impute_finished:
                alive = K.equal(K.cast(done, "int32"), 0)
                outputs = map_structure(lambda y: kept(alive, y, full_like(y, 0)), outputs)
                new = map_structure(lambda n, s: _passed(alive, n, s), new, state)
            arrays = map_structure(lambda array, y: array.write(time, y), arrays, outputs)
            return time + 1, arrays, new, following, ended, lengths

        start = (K.constant(0, "int32"), arrays, state, inputs, finished, lengths)
        _, arrays, state, _, _, lengths = while_loop(
            goes_on, body, start, maximum_iterations=maximum_iterations
        )
        outputs = map_structure(lambda array: array.stack(), arrays)
        with suppress(NotImplementedError):
            outputs, state = decoder.finalize(outputs, state, lengths)
        if not output_time_major:
            outputs = map_structure(lambda y: move_axis(y, 1, 0), outputs)
    return outputs, state, lengths


def _passed(alive: Node, new: Any, old: Any) -> Any:
    """The state of samples that go on, else the one before; arrays are as they are."""
    return new if isinstance(new, TensorArray) else kept(alive, new, old)


NAMES: dict[str, Any] = {}
PLAIN: dict[str, Any] = {
    f"contrib.seq2seq.{thing.__name__}": thing
    for thing in (Decoder, BasicDecoder, BasicDecoderOutput, dynamic_decode)
}
