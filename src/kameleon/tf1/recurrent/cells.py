"""`tf.nn.rnn_cell`: the base of all cells, and the plain ones: simple, LSTM, GRU."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ...backend import surface as K
from ...backend._tensors import size_or_node
from ...errors import ArgumentError, ShapeError
from ...prims.filling import zeros
from ..initializers import Constant, Zeros
from ..nests import map_structure
from ..nets.base import Layer
from ..scopes import get_variable, get_variable_scope, variable_scope
from ..shapes import TensorShape


def sizes_of(state_size: Any) -> list[int]:
    """The sizes of a state without its batch: of an int, a TensorShape or a Dimension."""
    return [int(n) for n in TensorShape(state_size).as_list() if n is not None]


def zero_state_of(state_size: Any, batch_size: Any, dtype: Any) -> Any:
    """Zeros for a nest of sizes; `batch_size` is a number or a scalar tensor.

    Every leaf is a tensor of its own, so that each can be fed.
    """
    batch = size_or_node(batch_size, "zero_state")
    return map_structure(lambda n: zeros([batch, *sizes_of(n)], dtype), state_size)


class RNNCell(Layer):
    """A step of a recurrent network: `(inputs, state) -> (output, new state)`.

    A subclass gives `state_size`, `output_size`, and `call`, or `__call__` itself. A size is an int
    or a TensorShape; states may be nests.

    Args:
        trainable: whether its variables are trained.
        name: of its scope.
        dtype: of its variables.
    """

    def __init__(
        self, trainable: bool = True, name: str | None = None, dtype: Any = None, **kwargs: Any
    ):
        super().__init__(trainable, name, dtype, **kwargs)

    def __call__(self, inputs: Any, state: Any, scope: Any = None, *args: Any, **kw: Any) -> Any:
        """The output and the state of the next step."""
        with variable_scope(
            get_variable_scope(), custom_getter=self._noting, auxiliary_name_scope=False
        ):
            return super().__call__(inputs, state, *args, scope=scope, **kw)

    def _noting(self, getter: Callable[..., Any], *args: Any, **options: Any) -> Any:
        """A variable that a subclass's `call` gets is one of the cell's."""
        variable = getter(*args, **options)
        own = self._trained if options.get("trainable", True) else self._fixed
        if all(variable is not v for v in own):
            own.append(variable)
        return variable

    @property
    def state_size(self) -> Any:
        """The sizes of the state."""
        raise NotImplementedError("Abstract method")

    @property
    def output_size(self) -> Any:
        """The sizes of the output."""
        raise NotImplementedError("Abstract method")

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """A state of zeros."""
        return zero_state_of(self.state_size, batch_size, dtype)

    def get_initial_state(
        self, inputs: Any = None, batch_size: Any = None, dtype: Any = None
    ) -> Any:
        """A state of zeros, for a batch like `inputs`."""
        if inputs is not None:
            batch_size = inputs.type.shape[0] or K.shape(inputs)[0]
            dtype = inputs.dtype
        if batch_size is None or dtype is None:
            raise ArgumentError(
                "batch_size and dtype cannot be None while constructing initial state:"
                f" batch_size={batch_size}, dtype={dtype}"
            )
        return self.zero_state(batch_size, dtype)


class LSTMStateTuple(NamedTuple):
    """The state of an LSTM: its memory `c`, and its last output `h`."""

    c: Any
    h: Any

    @property
    def dtype(self) -> Any:
        """The dtype of both."""
        if self.c.dtype != self.h.dtype:
            raise TypeError(f"Inconsistent internal state: {self.c.dtype} vs {self.h.dtype}")
        return self.c.dtype


def function_of(activation: Any) -> Callable[[Any], Any]:
    """An activation by function or by name; tanh where there is none."""
    if activation is None:
        return K.tanh
    found: Callable[[Any], Any] = (
        getattr(K, activation) if isinstance(activation, str) else activation
    )
    return found


def depth_of(input_shape: Any) -> int:
    """The last size of a cell's input, which must be known."""
    depth = TensorShape(input_shape).as_list()[-1]
    if depth is None:
        raise ShapeError(f"Expected inputs.shape[-1] to be known, saw shape: {input_shape}")
    return depth


def product(parts: Sequence[Any], kernel: Any) -> Any:
    """Tensors side by side, times a matrix.

    The product is a sum of one product for each tensor: what doesn't depend on the state can be
    computed for all steps at once.
    """
    found, start = None, 0
    for x in parts:
        size = x.type.shape[-1]
        if size is None:
            raise ShapeError(f"Expected the last size of {x!r} to be known")
        part = K.dot(x, kernel[start : start + size])
        found, start = part if found is None else found + part, start + size
    if start != kernel.type.shape[0]:
        raise ShapeError(
            f"Dimensions must be equal, but are {start} and {kernel.type.shape[0]}: inputs and"
            " state don't fit the kernel of the cell, which may be shared with another layer"
        )
    return found


def split(x: Any, count: int) -> list[Any]:
    """Parts of one size along the last axis."""
    size = x.type.shape[-1] // count
    return [x[:, i * size : (i + 1) * size] for i in range(count)]


class LayerRNNCell(RNNCell):
    """A cell whose variables are made by `build`."""


class BasicRNNCell(LayerRNNCell):
    """output = state = activation([x, h] W + b)"""

    def __init__(
        self, num_units: int, activation: Any = None, reuse: Any = None, name: str | None = None,
        dtype: Any = None, **kwargs: Any,
    ):  # fmt: skip
        super().__init__(name=name, dtype=dtype, _reuse=reuse, **kwargs)
        self._num_units, self._activation = num_units, function_of(activation)

    state_size = property(lambda self: self._num_units)
    output_size = property(lambda self: self._num_units)

    def build(self, input_shape: Any) -> None:
        size = depth_of(input_shape) + self._num_units
        self._kernel = self.add_weight("kernel", [size, self._num_units])
        self._bias = self.add_weight("bias", [self._num_units], initializer=Zeros())

    def call(self, inputs: Any, state: Any = None, *args: Any, **kwargs: Any) -> Any:
        output = self._activation(product([inputs, state], self._kernel) + self._bias)
        return output, output


class GRUCell(LayerRNNCell):
    """A gated recurrent unit: state = u h + (1 - u) c, where c comes of x and r h.

    Source: Cho et al., "Learning phrase representations using RNN encoder-decoder" (2014).
    """

    def __init__(
        self, num_units: int, activation: Any = None, reuse: Any = None,
        kernel_initializer: Any = None, bias_initializer: Any = None, name: str | None = None,
        dtype: Any = None, **kwargs: Any,
    ):  # fmt: skip
        super().__init__(name=name, dtype=dtype, _reuse=reuse, **kwargs)
        self._num_units, self._activation = num_units, function_of(activation)
        self._kernel_initializer, self._bias_initializer = kernel_initializer, bias_initializer

    state_size = property(lambda self: self._num_units)
    output_size = property(lambda self: self._num_units)

    def build(self, input_shape: Any) -> None:
        size, n = depth_of(input_shape) + self._num_units, self._num_units
        given, drawn = self._bias_initializer, self._kernel_initializer
        make = self.add_weight
        self._gate_kernel = make("gates/kernel", [size, 2 * n], initializer=drawn)
        self._gate_bias = make("gates/bias", [2 * n], initializer=given or Constant(1.0))
        self._candidate_kernel = make("candidate/kernel", [size, n], initializer=drawn)
        self._candidate_bias = make("candidate/bias", [n], initializer=given or Zeros())

    def call(self, inputs: Any, state: Any = None, *args: Any, **kwargs: Any) -> Any:
        gates = K.sigmoid(product([inputs, state], self._gate_kernel) + self._gate_bias)
        r, u = split(gates, 2)
        c = product([inputs, r * state], self._candidate_kernel) + self._candidate_bias
        new = u * state + (1 - u) * self._activation(c)
        return new, new


class LSTMBase(LayerRNNCell):
    """What all LSTM cells share: a state of two parts, as a tuple or side by side."""

    def __init__(self, num_units: int, output_size: int, state_is_tuple: bool, **options: Any):
        super().__init__(**options)
        self._num_units, self._output_size = num_units, output_size
        self._state_is_tuple = state_is_tuple

    output_size = property(lambda self: self._output_size)

    @property
    def state_size(self) -> Any:
        """The sizes of memory and output."""
        if self._state_is_tuple:
            return LSTMStateTuple(self._num_units, self._output_size)
        return self._num_units + self._output_size

    def parted(self, state: Any) -> tuple[Any, Any]:
        """Memory and output of a state."""
        if self._state_is_tuple:
            c, h = state
            return c, h
        return state[:, : self._num_units], state[:, self._num_units :]

    def joined(self, c: Any, h: Any) -> Any:
        """A state of memory and output."""
        return LSTMStateTuple(c, h) if self._state_is_tuple else K.concatenate([c, h], 1)


class BasicLSTMCell(LSTMBase):
    """An LSTM without peepholes; `forget_bias` is added to the forget gate.

    Source: Zaremba et al., "Recurrent neural network regularization" (2014).
    """

    def __init__(
        self, num_units: int, forget_bias: float = 1.0, state_is_tuple: bool = True,
        activation: Any = None, reuse: Any = None, name: str | None = None, dtype: Any = None,
        **kwargs: Any,
    ):  # fmt: skip
        super().__init__(
            num_units, num_units, state_is_tuple, name=name, dtype=dtype, _reuse=reuse, **kwargs
        )
        self._forget_bias, self._activation = forget_bias, function_of(activation)

    def build(self, input_shape: Any) -> None:
        n = self._num_units
        self._kernel = self.add_weight("kernel", [depth_of(input_shape) + n, 4 * n])
        self._bias = self.add_weight("bias", [4 * n], initializer=Zeros())

    def call(self, inputs: Any, state: Any = None, *args: Any, **kwargs: Any) -> Any:
        c, h = self.parted(state)
        i, j, f, o = split(product([inputs, h], self._kernel) + self._bias, 4)
        new_c = c * K.sigmoid(f + self._forget_bias) + K.sigmoid(i) * self._activation(j)
        new_h = self._activation(new_c) * K.sigmoid(o)
        return new_h, self.joined(new_c, new_h)


class LSTMCell(LSTMBase):
    """An LSTM, which may have peepholes, a projection, and limits of memory and projection.

    Args:
        num_units: the size of the memory.
        use_peepholes: whether the gates see the memory.
        cell_clip: the memory stays between -cell_clip and cell_clip.
        initializer: of all weights but the bias.
        num_proj: the size of the output, a projection of `num_units`.
        proj_clip: the projection stays between -proj_clip and proj_clip.
        num_unit_shards, num_proj_shards: not given; matrices lie in one piece.

    Source: Sak et al., "Long short-term memory recurrent neural network architectures for large
    scale acoustic modeling" (2014).
    """

    peepholes = "fio"  # the gates, in the order in which their variables are made

    def __init__(
        self, num_units: int, use_peepholes: bool = False, cell_clip: float | None = None,
        initializer: Any = None, num_proj: int | None = None, proj_clip: float | None = None,
        num_unit_shards: int | None = None, num_proj_shards: int | None = None,
        forget_bias: float = 1.0, state_is_tuple: bool = True, activation: Any = None,
        reuse: Any = None, name: str | None = None, dtype: Any = None, **kwargs: Any,
    ):  # fmt: skip
        super().__init__(
            num_units, num_proj or num_units, state_is_tuple,
            name=name, dtype=dtype, _reuse=reuse, **kwargs,
        )  # fmt: skip
        if (num_unit_shards or 1) > 1 or (num_proj_shards or 1) > 1:
            raise ArgumentError("LSTMCell: matrices lie in one piece; leave out num_…_shards")
        self._use_peepholes, self._cell_clip, self._initializer = (
            use_peepholes, cell_clip, initializer,
        )  # fmt: skip
        self._num_proj, self._proj_clip = num_proj, proj_clip
        self._forget_bias, self._activation = forget_bias, function_of(activation)

    def build(self, input_shape: Any) -> None:
        n, make, drawn = self._num_units, self.add_weight, self._initializer
        size = depth_of(input_shape) + self._output_size
        self._kernel = make("kernel", [size, 4 * n], initializer=drawn)
        self._bias = make("bias", [4 * n], initializer=Zeros())
        self._peepholes: list[Any] = [0.0, 0.0, 0.0]
        if self._use_peepholes:
            made = {gate: make(f"w_{gate}_diag", [n], initializer=drawn) for gate in self.peepholes}
            self._peepholes = [made[gate] for gate in "fio"]
        if self._num_proj is not None:
            self._proj_kernel = make("projection/kernel", [n, self._num_proj], initializer=drawn)

    def call(self, inputs: Any, state: Any = None, *args: Any, **kwargs: Any) -> Any:
        c, h = self.parted(state)
        to_f, to_i, to_o = self._peepholes
        i, j, f, o = split(product([inputs, h], self._kernel) + self._bias, 4)
        if self._use_peepholes:
            i, f = i + to_i * c, f + to_f * c
        c = K.sigmoid(f + self._forget_bias) * c + K.sigmoid(i) * self._activation(j)
        if self._cell_clip is not None:
            c = self.limited(c, self._cell_clip)
        if self._use_peepholes:
            o = o + to_o * c
        m = K.sigmoid(o) * self._activation(c)
        if self._num_proj is not None:
            m = K.dot(m, self._proj_kernel)
            if self._proj_clip is not None:
                m = K.clip(m, -self._proj_clip, self._proj_clip)
        return m, self.joined(c, m)

    def limited(self, c: Any, most: float) -> Any:
        """The memory between two limits."""
        return K.clip(c, -most, most)


def linear(
    args: Any, output_size: int, bias: bool, bias_initializer: Any = None,
    kernel_initializer: Any = None,
) -> Any:  # fmt: skip
    """[x, y, …] W + b, with variables `kernel` and `bias` of the scope in force."""
    parts = list(args) if isinstance(args, (list, tuple)) else [args]
    if not parts:
        raise ArgumentError("`args` must be specified")
    size = sum(depth_of(x.type.shape) for x in parts)
    kernel = get_variable("kernel", [size, output_size], parts[0].dtype, kernel_initializer)
    y = product(parts, kernel)
    start = bias_initializer or Zeros()
    return y + get_variable("bias", [output_size], parts[0].dtype, start) if bias else y


def of_cells(*kinds: type) -> dict[str, Any]:
    """Classes under their names in `tf.nn.rnn_cell` and in `tf.contrib.rnn`."""
    return {
        f"{place}.{kind.__name__}": kind for place in ("nn.rnn_cell", "contrib.rnn")
        for kind in kinds
    }  # fmt: skip


NAMES: dict[str, Any] = {}
PLAIN: dict[str, Any] = {
    **of_cells(RNNCell, BasicRNNCell, GRUCell, BasicLSTMCell, LSTMCell, LSTMStateTuple),
    "contrib.rnn.LayerRNNCell": LayerRNNCell,
    "python.ops.rnn_cell_impl._linear": linear,
    "contrib.rnn.python.ops.core_rnn_cell._linear": linear,
    "contrib.rnn.python.ops.core_rnn_cell_impl._linear": linear,
}
