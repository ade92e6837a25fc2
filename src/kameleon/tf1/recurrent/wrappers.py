"""`tf.nn.rnn_cell`: cells around cells, one behind the other, with dropout, residual."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...backend import surface as K
from ...errors import ArgumentError
from ..nests import flatten, map_structure, pack
from ..scopes import variable_scope
from ..shapes import TensorShape
from .cells import LSTMStateTuple, RNNCell, linear, of_cells, sizes_of


class _Around(RNNCell):
    """A cell that calls another one, in the scope of that one."""

    def __init__(self, cell: Any):
        super().__init__()
        if not callable(cell) or not hasattr(cell, "output_size"):
            raise TypeError(f"The parameter cell is not a RNNCell: {cell!r}")
        self._cell = cell

    state_size = property(lambda self: self._cell.state_size)
    output_size = property(lambda self: self._cell.output_size)
    wrapped_cell = property(lambda self: self._cell)
    weights = property(lambda self: getattr(self._cell, "weights", []))
    trainable_weights = property(lambda self: getattr(self._cell, "trainable_weights", []))
    non_trainable_weights = property(lambda self: getattr(self._cell, "non_trainable_weights", []))
    variables, trainable_variables = weights, trainable_weights
    non_trainable_variables = non_trainable_weights

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        return self._cell.zero_state(batch_size, dtype)

    def __call__(self, inputs: Any, state: Any, scope: Any = None, *args: Any, **kw: Any) -> Any:
        return self.around(inputs, state, lambda x, s: self._inner(x, s, scope))

    def _inner(self, inputs: Any, state: Any, scope: Any) -> Any:
        return self._cell(inputs, state, **({} if scope is None else {"scope": scope}))

    def around(self, inputs: Any, state: Any, step: Callable[[Any, Any], Any]) -> Any:
        """What a subclass makes of a step of the inner cell."""
        return step(inputs, state)


class DropoutWrapper(_Around):
    """Elements of inputs, states and outputs are dropped, the others made larger.

    Args:
        cell: the cell inside.
        input_keep_prob, output_keep_prob, state_keep_prob: which part is kept, a number or a
            tensor. Of an LSTM's state the memory is never dropped.
        variational_recurrent: the same elements are dropped at all steps, and in all samples;
            `dtype` must be given then, and `input_size`, where inputs are dropped.
        dropout_state_filter_visitor: says of each part of the state whether it's dropped.
    """

    def __init__(
        self, cell: Any, input_keep_prob: Any = 1.0, output_keep_prob: Any = 1.0,
        state_keep_prob: Any = 1.0, variational_recurrent: bool = False, input_size: Any = None,
        dtype: Any = None, seed: int | None = None, dropout_state_filter_visitor: Any = None,
    ):  # fmt: skip
        super().__init__(cell)
        self._seed, self._filter = seed, dropout_state_filter_visitor or _of_no_memory
        keeps = {"input": input_keep_prob, "state": state_keep_prob, "output": output_keep_prob}
        for name, keep in keeps.items():
            if not K.is_tensor(keep) and not 0 <= float(keep) <= 1:
                raise ArgumentError(f"Parameter {name}_keep_prob must be between 0 and 1: {keep}")
        self._keeps = keeps
        self._noise: dict[str, list[Any]] = {}
        if variational_recurrent:
            if dtype is None:
                raise ArgumentError("When variational_recurrent=True, dtype must be provided")
            if input_size is None and _drops(input_keep_prob):
                raise ArgumentError(
                    "When variational_recurrent=True and input_keep_prob < 1.0 or is unknown,"
                    " input_size must be provided"
                )
            sizes = {"input": input_size, "state": cell.state_size, "output": cell.output_size}
            for name, size in sizes.items():
                leaves = [] if size is None else flatten(size)
                self._noise[name] = [
                    K.random_uniform([1, *sizes_of(n)], dtype=dtype, seed=seed) for n in leaves
                ]

    def around(self, inputs: Any, state: Any, step: Callable[[Any, Any], Any]) -> Any:
        output, new = step(self._dropped("input", inputs), state)
        if _drops(self._keeps["state"]):
            chosen = self._filter(new)
            dropped = self._dropped("state", new)
            new = _chosen(chosen, dropped, new)
        return self._dropped("output", output), new

    def _dropped(self, name: str, values: Any) -> Any:
        keep = self._keeps[name]
        if not _drops(keep):
            return values
        leaves = flatten(values)
        noise = self._noise.get(name) or [None] * len(leaves)
        return pack(values, [self._of(x, keep, n) for x, n in zip(leaves, noise, strict=True)])

    def _of(self, x: Any, keep: Any, noise: Any) -> Any:
        if noise is None:
            return K.dropout(x, 1.0 - keep, seed=self._seed)
        return x / keep * K.cast(noise < keep, x.dtype)


def _drops(keep: Any) -> bool:
    return K.is_tensor(keep) or float(keep) < 1.0


def _of_no_memory(state: Any) -> Any:
    """Which parts of a state are dropped: all but the memory of LSTMs."""
    if isinstance(state, LSTMStateTuple):
        return LSTMStateTuple(c=False, h=True)
    return not hasattr(state, "stack")  # arrays of tensors are kept


def _chosen(which: Any, then: Any, otherwise: Any) -> Any:
    """Of two nests, what a nest of flags says, which may be shallower."""
    if isinstance(which, bool):
        return then if which else otherwise
    parts = [_chosen(*three) for three in zip(which, then, otherwise, strict=True)]
    return pack(which, parts)


class ResidualWrapper(_Around):
    """The cell's output plus its input; or what `residual_fn` makes of input and output."""

    def __init__(self, cell: Any, residual_fn: Callable[[Any, Any], Any] | None = None):
        super().__init__(cell)
        self._function = residual_fn or (lambda x, y: map_structure(_sum, x, y))

    def around(self, inputs: Any, state: Any, step: Callable[[Any, Any], Any]) -> Any:
        output, new = step(inputs, state)
        return self._function(inputs, output), new


def _sum(x: Any, y: Any) -> Any:
    TensorShape(x.type.shape).assert_is_compatible_with(y.type.shape)
    return x + y


class DeviceWrapper(_Around):
    """The cell itself: the engine places its own work."""

    def __init__(self, cell: Any, device: Any):
        super().__init__(cell)


class MultiRNNCell(RNNCell):
    """Cells one behind the other, each with variables in a scope `cell_0`, `cell_1` …

    Args:
        cells: from the input to the output.
        state_is_tuple: whether the state is a tuple of the cells' states, or all side by side.
    """

    def __init__(self, cells: Sequence[Any], state_is_tuple: bool = True):
        super().__init__()
        if not cells:
            raise ArgumentError("Must specify at least one cell for MultiRNNCell.")
        if not isinstance(cells, (list, tuple)):
            raise TypeError(f"cells must be a list or tuple, but saw: {cells}.")
        self._cells, self._state_is_tuple = list(cells), state_is_tuple
        if not state_is_tuple and any(isinstance(c.state_size, tuple) for c in cells):
            raise ArgumentError(
                "Some cells return tuples of states, but the flag state_is_tuple is not set."
                f" State sizes are: {[c.state_size for c in cells]}"
            )

    output_size = property(lambda self: self._cells[-1].output_size)
    cells = property(lambda self: self._cells)

    @property
    def state_size(self) -> Any:
        """The sizes of all states."""
        sizes = tuple(cell.state_size for cell in self._cells)
        return sizes if self._state_is_tuple else sum(sizes)

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        if self._state_is_tuple:
            return tuple(cell.zero_state(batch_size, dtype) for cell in self._cells)
        return super().zero_state(batch_size, dtype)

    @property
    def trainable_weights(self) -> list[Any]:
        return [v for cell in self._cells for v in cell.trainable_weights]

    @property
    def non_trainable_weights(self) -> list[Any]:
        return [v for cell in self._cells for v in cell.non_trainable_weights]

    trainable_variables, non_trainable_variables = trainable_weights, non_trainable_weights

    def call(self, inputs: Any, state: Any = None, *args: Any, **kwargs: Any) -> Any:
        """The output of the last cell, and the states of all."""
        x, new, start = inputs, [], 0
        if self._state_is_tuple and len(state) != len(self._cells):
            raise ArgumentError(
                f"Expected state to be a tuple of length {len(self._cells)}, but received: {state}"
            )
        for i, cell in enumerate(self._cells):
            with variable_scope(f"cell_{i}"):
                if self._state_is_tuple:
                    own = state[i]
                else:
                    own, start = (state[:, start : start + cell.state_size],
                                  start + cell.state_size)  # fmt: skip
                x, after = cell(x, own)
                new.append(after)
        return x, (tuple(new) if self._state_is_tuple else K.concatenate(new, 1))


class _Projection(_Around):
    """A cell with a matrix before or behind it, in a scope of its own."""

    title = ""

    def __init__(self, cell: Any, activation: Any, reuse: Any):
        super().__init__(cell)
        self._activation, self._reuse = activation, reuse

    def __call__(self, inputs: Any, state: Any, scope: Any = None, *args: Any, **kw: Any) -> Any:
        with variable_scope(scope or self.title, reuse=self._reuse):
            return self.around(inputs, state, lambda x, s: self._inner(x, s, None))

    def projected(self, x: Any, size: int) -> Any:
        """Times the matrix, plus the bias."""
        y = linear(x, size, True)
        return y if self._activation is None else self._activation(y)


class OutputProjectionWrapper(_Projection):
    """The cell's output, times a matrix."""

    title = "output_projection_wrapper"

    def __init__(self, cell: Any, output_size: int, activation: Any = None, reuse: Any = None):
        super().__init__(cell, activation, reuse)
        self._output_size = output_size

    output_size = property(lambda self: self._output_size)

    def around(self, inputs: Any, state: Any, step: Callable[[Any, Any], Any]) -> Any:
        output, new = step(inputs, state)
        return self.projected(output, self._output_size), new


class InputProjectionWrapper(_Projection):
    """The cell, for the input times a matrix."""

    title = "input_projection_wrapper"

    def __init__(
        self, cell: Any, num_proj: int, activation: Any = None, input_size: Any = None,
        reuse: Any = None,
    ):  # fmt: skip
        super().__init__(cell, activation, reuse)
        self._num_proj = num_proj

    def around(self, inputs: Any, state: Any, step: Callable[[Any, Any], Any]) -> Any:
        return step(self.projected(inputs, self._num_proj), state)


NAMES: dict[str, Any] = {}
PLAIN: dict[str, Any] = {
    **of_cells(DropoutWrapper, ResidualWrapper, DeviceWrapper, MultiRNNCell),
    "contrib.rnn.OutputProjectionWrapper": OutputProjectionWrapper,
    "contrib.rnn.InputProjectionWrapper": InputProjectionWrapper,
}
