"""`tf.contrib.rnn`: cells normalized, with one gate, or under the names of fused kernels."""

from __future__ import annotations

from typing import Any

from ...backend import surface as K
from ..initializers import Constant, Zeros
from ..networks import batch_normalization, moments
from ..scopes import get_variable, variable_scope
from .cells import (
    GRUCell,
    LayerRNNCell,
    LSTMBase,
    LSTMCell,
    RNNCell,
    depth_of,
    function_of,
    linear,
    product,
    split,
)


class LayerNormBasicLSTMCell(LSTMBase):
    """An LSTM whose gates and memory are normalized, with dropout of what enters the memory.

    Source: Ba, Kiros and Hinton, "Layer normalization" (2016); Semeniuta et al., "Recurrent
    dropout without memory loss" (2016).
    """

    def __init__(
        self, num_units: int, forget_bias: float = 1.0, input_size: Any = None,
        activation: Any = K.tanh, layer_norm: bool = True, norm_gain: float = 1.0,
        norm_shift: float = 0.0, dropout_keep_prob: Any = 1.0,
        dropout_prob_seed: int | None = None, reuse: Any = None,
    ):  # fmt: skip
        super().__init__(num_units, num_units, True, _reuse=reuse)
        self._forget_bias, self._activation = forget_bias, activation
        self._layer_norm, self._gain, self._shift = layer_norm, norm_gain, norm_shift
        self._keep, self._seed = dropout_keep_prob, dropout_prob_seed

    def _normalized(self, x: Any, name: str) -> Any:
        if not self._layer_norm:
            return x
        size = [x.type.shape[-1]]
        with variable_scope(name):
            gamma = get_variable("gamma", size, x.dtype, Constant(self._gain))
            beta = get_variable("beta", size, x.dtype, Constant(self._shift))
        mean, variance = moments(x, [1], keepdims=True)
        return batch_normalization(x, mean, variance, beta, gamma, 1e-12)

    def call(self, inputs: Any, state: Any = None, *args: Any, **kwargs: Any) -> Any:
        c, h = state
        names = ("input", "transform", "forget", "output")
        gates = linear([inputs, h], 4 * self._num_units, False)
        if not self._layer_norm:  # drawn as the scope says, unlike other biases
            gates = gates + get_variable("bias", [4 * self._num_units], gates.dtype)
        i, j, f, o = (self._normalized(x, n) for x, n in zip(split(gates, 4), names, strict=True))
        g = self._activation(j)
        if K.is_tensor(self._keep) or self._keep < 1:
            g = K.dropout(g, 1.0 - self._keep, seed=self._seed)
        c = c * K.sigmoid(f + self._forget_bias) + K.sigmoid(i) * g
        c = self._normalized(c, "state")
        new = self._activation(c) * K.sigmoid(o)
        return new, self.joined(c, new)


class UGRNNCell(RNNCell):
    """A cell with one gate: state = g h + (1 - g) c.

    Source: Collins, Sohl-Dickstein and Sussillo, "Capacity and trainability in recurrent neural
    networks" (2016).
    """

    def __init__(
        self, num_units: int, initializer: Any = None, forget_bias: float = 1.0,
        activation: Any = K.tanh, reuse: Any = None,
    ):  # fmt: skip
        super().__init__(_reuse=reuse)
        self._num_units, self._initializer = num_units, initializer
        self._forget_bias, self._activation = forget_bias, function_of(activation)

    state_size = property(lambda self: self._num_units)
    output_size = property(lambda self: self._num_units)

    def call(self, inputs: Any, state: Any = None, *args: Any, **kwargs: Any) -> Any:
        both = linear([inputs, state], 2 * self._num_units, True, None, self._initializer)
        g, c = split(both, 2)
        g = K.sigmoid(g + self._forget_bias)
        new = g * state + (1.0 - g) * self._activation(c)
        return new, new


class LSTMBlockCell(LSTMCell):
    """An LSTM by the name of TensorFlow's fused kernel; `cell_clip` may be left out."""

    peepholes = "ifo"

    def __init__(
        self, num_units: int, forget_bias: float = 1.0, cell_clip: float | None = None,
        use_peephole: bool = False, dtype: Any = None, reuse: Any = None, name: str = "lstm_cell",
    ):  # fmt: skip
        clip = cell_clip if cell_clip is not None and cell_clip > 0 else None
        super().__init__(num_units, use_peephole, clip, forget_bias=forget_bias, reuse=reuse,
                         name=name, dtype=dtype)  # fmt: skip

    def limited(self, c: Any, most: float) -> Any:
        """The memory between two limits, which gradients don't see."""
        return c + K.stop_gradient(K.clip(c, -most, most) - c)


class GRUBlockCellV2(GRUCell):
    """A GRU by the name of TensorFlow's fused kernel."""

    def __init__(self, num_units: int | None = None, cell_size: int | None = None,
                 reuse: Any = None, name: str = "gru_cell"):  # fmt: skip
        super().__init__(int(num_units or cell_size or 0), reuse=reuse, name=name)


class GRUBlockCell(LayerRNNCell):
    """A GRU by the name of TensorFlow's older fused kernel, with names of variables of its own."""

    def __init__(self, num_units: int | None = None, cell_size: int | None = None,
                 reuse: Any = None, name: str = "gru_cell"):  # fmt: skip
        super().__init__(name=name, _reuse=reuse)
        self._num_units = int(num_units or cell_size or 0)

    state_size = property(lambda self: self._num_units)
    output_size = property(lambda self: self._num_units)

    def build(self, input_shape: Any) -> None:
        size, n = depth_of(input_shape) + self._num_units, self._num_units
        self._gates = self.add_weight("w_ru", [size, 2 * n])
        self._gates_bias = self.add_weight("b_ru", [2 * n], initializer=Constant(1.0))
        self._candidate = self.add_weight("w_c", [size, n])
        self._candidate_bias = self.add_weight("b_c", [n], initializer=Zeros())

    def call(self, inputs: Any, state: Any = None, *args: Any, **kwargs: Any) -> Any:
        gates = product([inputs, state], self._gates) + self._gates_bias
        r, u = split(K.sigmoid(gates), 2)
        c = K.tanh(product([inputs, r * state], self._candidate) + self._candidate_bias)
        new = u * state + (1 - u) * c
        return new, new


NAMES: dict[str, Any] = {}
PLAIN: dict[str, Any] = {
    f"contrib.rnn.{kind.__name__}": kind
    for kind in (LayerNormBasicLSTMCell, UGRNNCell, LSTMBlockCell, GRUBlockCell, GRUBlockCellV2)
}
