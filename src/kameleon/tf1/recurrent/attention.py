"""`tf.contrib.seq2seq`: attention over a memory, and a cell that pays it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...backend import surface as K
from ...backend._tensors import as_tensor
from ...errors import ArgumentError
from ...ir.node import Node
from ...prims.filling import full_like, zeros
from ...prims.sizes import size_of
from ..control import TensorArray
from ..initializers import Constant, Ones, Zeros
from ..methods import set_shape
from ..nests import map_structure
from ..nets.layers import Dense
from ..scopes import get_variable, variable_scope
from ..sequences import sequence_mask
from ..shapes import TensorShape
from .cells import RNNCell
from .loops import check_cell

# Mechanisms -----------------------------------------------------------------------------------


class AttentionMechanism:
    """What tells how much attention each step of a memory gets."""

    alignments_size: Any
    state_size: Any


class _BaseAttentionMechanism(AttentionMechanism):
    """A memory, whose steps behind the end of a sample are zeros and get no attention.

    Args:
        query_layer, memory_layer: what queries, and the memory, go through; None for nothing.
        memory: (samples, steps, depth).
        probability_fn: (scores, state) -> alignments.
        memory_sequence_length: how many steps of each sample count.
        score_mask_value: what stands for the scores of the others.
        custom_key_value_fn: (keys, values) -> (keys, values).
    """

    def __init__(
        self, query_layer: Any, memory: Any, probability_fn: Callable[[Any, Any], Any],
        memory_sequence_length: Any = None, memory_layer: Any = None,
        check_inner_dims_defined: bool = True, score_mask_value: Any = None,
        custom_key_value_fn: Callable[[Any, Any], Any] | None = None, name: str | None = None,
    ):  # fmt: skip
        if not callable(probability_fn):
            raise TypeError(f"probability_fn must be callable, saw type: {type(probability_fn)}")
        self._query_layer, self._memory_layer = query_layer, memory_layer
        self._lengths = memory_sequence_length
        value = -np.inf if score_mask_value is None else score_mask_value
        self._probability_fn: Callable[[Any, Any], Any] = lambda s, state: probability_fn(
            self._masked(s, value), state
        )
        self._values = self._prepared(as_tensor(memory, "memory"))
        self._keys = self._values if memory_layer is None else memory_layer(self._values)
        if custom_key_value_fn is not None:
            self._keys, self._values = custom_key_value_fn(self._keys, self._values)
        self.dtype = self._values.dtype

    def _prepared(self, memory: Node) -> Node:
        if self._lengths is None:
            return memory
        present = self._mask(memory, memory.dtype)
        for _ in range(len(memory.type.shape) - 2):
            present = K.expand_dims(present, -1)
        found: Node = memory * present
        return found

    def _mask(self, x: Node, dtype: Any) -> Any:
        return sequence_mask(self._lengths, size_of(x, 1), dtype, "memory_sequence_length")

    def _masked(self, score: Any, value: Any) -> Any:
        if self._lengths is None:
            return score
        return K.switch(self._mask(score, "bool"), score, full_like(score, value))

    memory_layer = property(lambda self: self._memory_layer)
    query_layer = property(lambda self: self._query_layer)
    values = property(lambda self: self._values)
    keys = property(lambda self: self._keys)

    @property
    def batch_size(self) -> Any:
        """The number of samples."""
        return self._keys.type.shape[0] or K.shape(self._keys)[0]

    @property
    def alignments_size(self) -> Any:
        """The number of steps."""
        return self._keys.type.shape[1] or K.shape(self._keys)[1]

    @property
    def state_size(self) -> Any:
        """The number of steps: the state is the alignments before."""
        return self.alignments_size

    def initial_alignments(self, batch_size: Any, dtype: Any) -> Any:
        """Zeros."""
        return zeros([batch_size, self.alignments_size], dtype)

    def initial_state(self, batch_size: Any, dtype: Any) -> Any:
        """The state before the first step."""
        return self.initial_alignments(batch_size, dtype)


def _probability(given: Callable[..., Any] | None) -> Callable[[Any, Any], Any]:
    function = given or K.softmax
    return lambda score, state: function(score)


def _layer(units: int, name: str, dtype: Any) -> Dense:
    return Dense(units, use_bias=False, name=name, dtype=dtype)


class BahdanauAttention(_BaseAttentionMechanism):
    """Scores v · tanh(key + query).

    Source: Bahdanau, Cho and Bengio, "Neural machine translation by jointly learning to align and
    translate" (2015); normalized: Salimans and Kingma, "Weight normalization" (2016).

    Args:
        num_units: the size of keys and queries.
        memory, memory_sequence_length: (samples, steps, depth), and how many steps count.
        normalize: v has a length of its own, and a bias is added.
        probability_fn: what makes alignments of scores; the softmax, if None.
    """

    def __init__(
        self, num_units: int, memory: Any, memory_sequence_length: Any = None,
        normalize: bool = False, probability_fn: Callable[..., Any] | None = None,
        score_mask_value: Any = None, dtype: Any = None, custom_key_value_fn: Any = None,
        name: str = "BahdanauAttention",
    ):  # fmt: skip
        dtype = dtype or "float32"
        super().__init__(
            _layer(num_units, "query_layer", dtype), memory, _probability(probability_fn),
            memory_sequence_length, _layer(num_units, "memory_layer", dtype),
            score_mask_value=score_mask_value, custom_key_value_fn=custom_key_value_fn, name=name,
        )  # fmt: skip
        self._num_units, self._normalize, self._name = num_units, normalize, name

    def __call__(self, query: Any, state: Any) -> Any:
        """The alignments for a query, and the next state."""
        with variable_scope(None, "bahdanau_attention"):
            asked = query if self.query_layer is None else self.query_layer(query)
            v = get_variable("attention_v", [self._num_units], query.dtype)
            both = self._keys + K.expand_dims(asked, 1)
            if self._normalize:
                start = Constant((1.0 / self._num_units) ** 0.5)
                g = get_variable("attention_g", [], query.dtype, start)
                both = both + get_variable("attention_b", [self._num_units], query.dtype, Zeros())
                v = g * v / K.sqrt(K.sum(K.square(v)))
            score = K.sum(v * K.tanh(both), 2)
        alignments = self._probability_fn(score, state)
        return alignments, alignments


class LuongAttention(_BaseAttentionMechanism):
    """Scores key · query.

    Source: Luong, Pham and Manning, "Effective approaches to attention-based neural machine
    translation" (2015).

    Args:
        num_units: the size of keys, which queries must have.
        memory, memory_sequence_length: (samples, steps, depth), and how many steps count.
        scale: scores are multiplied by a variable.
        probability_fn: what makes alignments of scores; the softmax, if None.
    """

    def __init__(
        self, num_units: int, memory: Any, memory_sequence_length: Any = None, scale: bool = False,
        probability_fn: Callable[..., Any] | None = None, score_mask_value: Any = None,
        dtype: Any = None, custom_key_value_fn: Any = None, name: str = "LuongAttention",
    ):  # fmt: skip
        super().__init__(
            None, memory, _probability(probability_fn), memory_sequence_length,
            _layer(num_units, "memory_layer", dtype or "float32"),
            score_mask_value=score_mask_value, custom_key_value_fn=custom_key_value_fn, name=name,
        )  # fmt: skip
        self._num_units, self._scale, self._name = num_units, scale, name

    def __call__(self, query: Any, state: Any) -> Any:
        """The alignments for a query, and the next state."""
        with variable_scope(None, "luong_attention"):
            sizes = query.type.shape[-1], self._keys.type.shape[-1]
            if sizes[0] != sizes[1]:
                raise ArgumentError(
                    "Incompatible or unknown inner dimensions between query and keys: queries have"
                    f" {sizes[0]} units, keys {sizes[1]}. Perhaps you need to set num_units to"
                    " the keys' dimension?"
                )
            score = K.sum(self._keys * K.expand_dims(query, 1), 2)
            if self._scale:
                score = score * get_variable("attention_g", [], query.dtype, Ones())
        alignments = self._probability_fn(score, state)
        return alignments, alignments


# The cell -------------------------------------------------------------------------------------


class AttentionWrapperState(NamedTuple):
    """The state of an `AttentionWrapper`."""

    cell_state: Any
    attention: Any
    time: Any
    alignments: Any
    alignment_history: Any
    attention_state: Any

    def clone(self, **kwargs: Any) -> AttentionWrapperState:
        """The state with other parts, whose tensors have the known sizes of those before."""
        parts = {name: map_structure(_alike, new, getattr(self, name))
                 for name, new in kwargs.items()}  # fmt: skip
        return self._replace(**parts)


def _alike(new: Any, old: Any) -> Any:
    if not isinstance(new, Node) or not isinstance(old, Node):
        return new
    found = K.identity(new)
    set_shape(found, old.type.shape)
    return found


class AttentionWrapper(RNNCell):
    """A cell whose inputs have attention beside them, which is paid by its outputs.

    Args:
        cell: the cell inside.
        attention_mechanism: a mechanism, or a list of them.
        attention_layer_size: of outputs and context together; the context alone, if None.
        alignment_history: whether the state has the alignments of all steps, an array of tensors.
        cell_input_fn: (inputs, attention) -> the cell's inputs; side by side, if None.
        output_attention: the output is the attention, not the cell's output.
        initial_cell_state: what `zero_state` begins with.
        attention_layer: a layer, or a list of them, in place of a size.
        attention_fn: (mechanism, output, state, layer) -> (attention, alignments, next state).
    """

    def __init__(
        self, cell: Any, attention_mechanism: Any, attention_layer_size: Any = None,
        alignment_history: bool = False, cell_input_fn: Callable[[Any, Any], Any] | None = None,
        output_attention: bool = True, initial_cell_state: Any = None, name: str | None = None,
        attention_layer: Any = None, attention_fn: Callable[..., Any] | None = None,
        dtype: Any = None,
    ):  # fmt: skip
        super().__init__(name=name, dtype=dtype)
        check_cell(cell)
        self._is_multi = isinstance(attention_mechanism, (list, tuple))
        mechanisms = attention_mechanism if self._is_multi else [attention_mechanism]
        for mechanism in mechanisms:
            if not isinstance(mechanism, AttentionMechanism):
                raise TypeError(
                    "attention_mechanism must be an AttentionMechanism or list of multiple"
                    f" AttentionMechanism instances, saw type: {type(mechanism)}"
                )
        if attention_layer is not None and attention_layer_size is not None:
            raise ArgumentError("Only one of attention_layer_size and attention_layer may be set")
        self._cell, self._attention_mechanisms = cell, tuple(mechanisms)
        self._cell_input_fn = cell_input_fn or (lambda x, a: K.concatenate([x, a], -1))
        self._output_attention, self._alignment_history = output_attention, alignment_history
        self._initial_cell_state = initial_cell_state
        self._attention_fn = attention_fn or attended
        self._layers = self._made(attention_layer_size, attention_layer)
        sizes = zip(self._layers, self._attention_mechanisms, strict=True)
        self._attention_layer_size = sum(_size(layer, m) for layer, m in sizes)

    def _made(self, sizes: Any, layers: Any) -> list[Any]:
        """The layer of each mechanism."""
        count = len(self._attention_mechanisms)
        if layers is not None:
            found = list(layers) if isinstance(layers, (list, tuple)) else [layers]
        elif sizes is not None:
            found = [
                _layer(n, "attention_layer", m.dtype)
                for n, m in zip(_listed(sizes), self._attention_mechanisms, strict=False)
            ]
            count = max(count, len(_listed(sizes)))
        else:
            return [None] * count
        if len(found) != count:
            raise ArgumentError(
                "If provided, attention_layer_size must contain exactly one integer per"
                f" attention_mechanism: {len(found)} for {count}"
            )
        return found

    @property
    def output_size(self) -> Any:
        """The size of the attention, or of the cell's output."""
        return self._attention_layer_size if self._output_attention else self._cell.output_size

    def _of_each(self, parts: Sequence[Any]) -> Any:
        """One thing for each mechanism; the thing itself, where there's one mechanism."""
        return tuple(parts) if self._is_multi else parts[0]

    @property
    def state_size(self) -> Any:
        """The sizes of all parts of the state."""
        sizes = self._of_each([m.alignments_size for m in self._attention_mechanisms])
        states = self._of_each([m.state_size for m in self._attention_mechanisms])
        history = self._of_each([
            m.alignments_size if self._alignment_history else () for m in self._attention_mechanisms
        ])  # fmt: skip
        return AttentionWrapperState(
            self._cell.state_size, self._attention_layer_size, TensorShape([]), sizes, history,
            states,
        )  # fmt: skip

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """The state before the first step."""
        started = self._initial_cell_state
        if started is None:
            started = self._cell.zero_state(batch_size, dtype)
        each = self._attention_mechanisms
        first = [m.initial_alignments(batch_size, dtype) for m in each]
        history = [TensorArray(dtype, 0, True) if self._alignment_history else () for _ in each]
        return AttentionWrapperState(
            map_structure(K.identity, started),
            zeros([batch_size, self._attention_layer_size], dtype),
            K.constant(0, "int32"),
            self._of_each(first),
            self._of_each(history),
            self._of_each([m.initial_state(batch_size, dtype) for m in each]),
        )

    def call(self, inputs: Any, state: Any = None, *args: Any, **kwargs: Any) -> Any:
        """The attention or the cell's output, and the next state."""
        if not isinstance(state, AttentionWrapperState):
            raise TypeError(
                "Expected state to be instance of AttentionWrapperState. Received type"
                f" {type(state)} instead."
            )
        given = self._cell_input_fn(inputs, state.attention)
        output, cell_state = self._cell(given, state.cell_state)
        before = state.attention_state if self._is_multi else [state.attention_state]
        histories = state.alignment_history if self._is_multi else [state.alignment_history]
        found = [
            self._attention_fn(mechanism, output, own, layer)
            for mechanism, own, layer in zip(
                self._attention_mechanisms, before, self._layers, strict=True
            )
        ]
        kept = [
            history.write(state.time, alignments) if self._alignment_history else ()
            for history, (_, alignments, _) in zip(histories, found, strict=True)
        ]
        attention = K.concatenate([a for a, _, _ in found], 1) if len(found) > 1 else found[0][0]
        new = AttentionWrapperState(
            cell_state, attention, state.time + 1, self._of_each([a for _, a, _ in found]),
            self._of_each(kept), self._of_each([s for _, _, s in found]),
        )  # fmt: skip
        return attention if self._output_attention else output, new


def _listed(sizes: Any) -> list[int]:
    return list(sizes) if isinstance(sizes, (list, tuple)) else [sizes]


def _size(layer: Any, mechanism: Any) -> int:
    """The size of a mechanism's attention."""
    if layer is None:
        return int(mechanism.values.type.shape[-1])
    shape = [None, mechanism.values.type.shape[-1]]
    return int(TensorShape(layer.compute_output_shape(TensorShape(shape)))[-1])


def attended(mechanism: Any, cell_output: Any, attention_state: Any, layer: Any) -> Any:
    """The attention that a cell's output pays, the alignments, and the mechanism's next state."""
    alignments, state = mechanism(cell_output, state=attention_state)
    context = K.sum(K.expand_dims(alignments, -1) * mechanism.values, 1)
    attention = context if layer is None else layer(K.concatenate([cell_output, context], 1))
    return attention, alignments, state


KINDS = (
    AttentionMechanism, BahdanauAttention, LuongAttention, AttentionWrapper, AttentionWrapperState,
)  # fmt: skip
INSIDE = "contrib.seq2seq.python.ops.attention_wrapper"  # from where programs take the base
NAMES: dict[str, Any] = {}
PLAIN: dict[str, Any] = {
    **{f"{at}.{kind.__name__}": kind for at in ("contrib.seq2seq", INSIDE) for kind in KINDS},
    f"{INSIDE}._BaseAttentionMechanism": _BaseAttentionMechanism,
}
