"""`tf.nn.dynamic_rnn` and its like: cells run along the steps of sequences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...backend import surface as K
from ...backend._bodies import traced_scan
from ...backend._tensors import as_tensor
from ...backend.recurrence import keep
from ...errors import ArgumentError, ShapeError
from ...ir.node import Node
from ...prims.control import check
from ...prims.filling import full_like
from ...prims.movement import iota, move_axis, reverse
from ...prims.sizes import Size, size_of
from ..nests import flatten, map_structure, pack
from ..scopes import variable_scope
from ..sequences import reverse_sequence
from .cells import zero_state_of

# What all loops share -----------------------------------------------------------------------


def check_cell(cell: Any) -> None:
    if not callable(cell) or not hasattr(cell, "output_size") or not hasattr(cell, "state_size"):
        raise TypeError(f"The argument cell ({cell!r}) is not an RNNCell.")


def _started(cell: Any, initial_state: Any, batch: Size, dtype: Any) -> Any:
    """The state before the first step."""
    if initial_state is not None:
        return map_structure(lambda s: as_tensor(s, "tf.nn.dynamic_rnn"), initial_state)
    if dtype is None:
        raise ArgumentError("If there is no initial_state, you must give a dtype.")
    if hasattr(cell, "get_initial_state"):
        return cell.get_initial_state(inputs=None, batch_size=batch, dtype=dtype)
    return zero_state_of(cell.state_size, batch, dtype)


def _lengths(sequence_length: Any, batch: Size) -> Node | None:
    """The lengths of the sequences, a number for each sample."""
    if sequence_length is None:
        return None
    lengths = as_tensor(sequence_length, "sequence_length")
    if len(lengths.type.shape) != 1:
        raise ShapeError(
            f"sequence_length must be a vector of length batch_size, but saw shape:"
            f" {lengths.type.shape}"
        )
    known = lengths.type.shape[0]
    if known is not None and isinstance(batch, int) and known != batch:
        raise ShapeError(f"sequence_length has {known} elements for {batch} samples")
    if isinstance(known, int) and isinstance(batch, int):
        return K.cast(lengths, "int32")
    same = K.equal(K.cast(size_of(lengths, 0), "int64"), K.cast(batch, "int64"))
    return check(
        K.cast(lengths, "int32"), same,
        message="sequence_length must have a number for each sample of the batch",
    )  # fmt: skip


def kept(alive: Any, new: Any, old: Any) -> Node:
    """The state or output of a step for samples that go on; else the one before. Scalars belong
    to no sample.
    """
    new = as_tensor(new, "a cell's state", old.dtype)
    return keep(alive, new, old) if len(new.type.shape) else new


# One loop -----------------------------------------------------------------------------------


def dynamic_rnn(
    cell: Any, inputs: Any, sequence_length: Any = None, initial_state: Any = None,
    dtype: Any = None, parallel_iterations: int | None = None, swap_memory: bool = False,
    time_major: bool = False, scope: Any = None,
) -> Any:  # fmt: skip
    """Run a cell along all steps of `inputs`.

    Args:
        cell: an `RNNCell`.
        inputs: a nest of tensors (samples, time, …), or (time, samples, …) with `time_major`.
        sequence_length: how many steps count of each sample; at the others its outputs are 0,
            and its states stay.
        initial_state: a nest like `cell.state_size`; zeros of `dtype`, if None.
        scope: of the variables; `rnn`, if None.

    Returns:
        The outputs, in the layout of the inputs, and the last states.
    """
    check_cell(cell)
    with variable_scope(scope or "rnn"):
        flat = [as_tensor(x, "tf.nn.dynamic_rnn") for x in flatten(inputs)]
        frames = flat if time_major else [_swapped(x) for x in flat]
        batch = size_of(frames[0], 1)
        state = _started(cell, initial_state, batch, dtype)
        outputs, last = _run(cell, inputs, frames, state, _lengths(sequence_length, batch))
        if not time_major:
            outputs = map_structure(_swapped, outputs)
    return outputs, last


def _swapped(x: Node) -> Node:
    """Samples and steps have changed places."""
    if len(x.type.shape) < 2:
        raise ShapeError(f"tf.nn.dynamic_rnn: {x!r} has no axes for samples and steps")
    return move_axis(x, 1, 0)


def _run(cell: Any, inputs: Any, frames: list[Node], state: Any, lengths: Node | None) -> Any:
    made: list[Any] = []

    def step(carry: list[Node], slices: list[Node]) -> tuple[list[Node], list[Node]]:
        output, new = cell(pack(inputs, slices[: len(frames)]), pack(state, carry))
        made.append(output)
        outputs = [as_tensor(y, "a cell's output") for y in flatten(output)]
        states = flatten(new)
        if len(states) != len(carry):
            raise ArgumentError(
                f"tf.nn.dynamic_rnn: the cell takes {len(carry)} states and returns {len(states)}"
            )
        if lengths is None:
            return [as_tensor(n, "a state", s.dtype) for n, s in zip(states, carry, strict=True)], (
                outputs
            )
        alive = K.less(slices[-1], lengths)
        return (
            [kept(alive, n, s) for n, s in zip(states, carry, strict=True)],
            [kept(alive, y, full_like(y, 0)) for y in outputs],
        )

    sequences = frames if lengths is None else [*frames, _steps(frames[0])]
    last, stacked = traced_scan("tf.nn.dynamic_rnn", step, flatten(state), sequences)
    return pack(made[0], stacked), pack(state, last)


def _steps(frames: Node) -> Node:
    return K.cast(iota([size_of(frames, 0)]), "int32")


def bidirectional_dynamic_rnn(
    cell_fw: Any, cell_bw: Any, inputs: Any, sequence_length: Any = None,
    initial_state_fw: Any = None, initial_state_bw: Any = None, dtype: Any = None,
    parallel_iterations: int | None = None, swap_memory: bool = False, time_major: bool = False,
    scope: Any = None,
) -> Any:  # fmt: skip
    """Two cells, one of which runs from the last step to the first.

    Returns:
        The outputs of both, and the last states of both, in pairs.
    """
    time, batch = (0, 1) if time_major else (1, 0)

    def turned(x: Any) -> Any:
        if sequence_length is None:
            return reverse(as_tensor(x, "bidirectional_dynamic_rnn"), axes=(time,))
        return reverse_sequence(x, sequence_length, time, batch, "bidirectional_dynamic_rnn")

    with variable_scope(scope or "bidirectional_rnn"):
        with variable_scope("fw") as fw:
            output_fw, state_fw = dynamic_rnn(
                cell_fw, inputs, sequence_length, initial_state_fw, dtype,
                time_major=time_major, scope=fw,
            )  # fmt: skip
        with variable_scope("bw") as bw:
            output_bw, state_bw = dynamic_rnn(
                cell_bw, map_structure(turned, inputs), sequence_length, initial_state_bw, dtype,
                time_major=time_major, scope=bw,
            )  # fmt: skip
    return (output_fw, map_structure(turned, output_bw)), (state_fw, state_bw)


def stack_bidirectional_dynamic_rnn(
    cells_fw: Sequence[Any], cells_bw: Sequence[Any], inputs: Any, initial_states_fw: Any = None,
    initial_states_bw: Any = None, dtype: Any = None, sequence_length: Any = None,
    parallel_iterations: int | None = None, time_major: bool = False, scope: Any = None,
    swap_memory: bool = False,
) -> Any:  # fmt: skip
    """Layers of two cells each; a layer gets the outputs of both cells of the one before."""
    count = len(cells_fw)
    if not count or count != len(cells_bw):
        raise ArgumentError("Forward and Backward cells must have the same depth, of 1 or more.")
    starts = [initial_states_fw or [None] * count, initial_states_bw or [None] * count]
    lasts: list[Any] = []
    with variable_scope(scope or "stack_bidirectional_rnn"):
        for i, (fw, bw) in enumerate(zip(cells_fw, cells_bw, strict=True)):
            with variable_scope(f"cell_{i}"):
                outputs, states = bidirectional_dynamic_rnn(
                    fw, bw, inputs, sequence_length, starts[0][i], starts[1][i], dtype,
                    time_major=time_major,
                )  # fmt: skip
                inputs = K.concatenate(list(outputs), 2)
                lasts.append(states)
    return inputs, tuple(s[0] for s in lasts), tuple(s[1] for s in lasts)


# Step by step -------------------------------------------------------------------------------


def static_rnn(
    cell: Any, inputs: Any, initial_state: Any = None, dtype: Any = None,
    sequence_length: Any = None, scope: Any = None,
) -> Any:  # fmt: skip
    """Run a cell along a list of inputs, (samples, …) each; every step is built by itself.

    Returns:
        The list of outputs, and the last state.
    """
    check_cell(cell)
    if not isinstance(inputs, (list, tuple)):
        raise TypeError("inputs must be a sequence")
    if not inputs:
        raise ArgumentError("inputs must not be empty")
    outputs: list[Any] = []
    with variable_scope(scope or "rnn") as own:
        first = as_tensor(flatten(inputs)[0], "tf.nn.static_rnn")
        batch = size_of(first, 0)
        state = _started(cell, initial_state, batch, dtype)
        lengths = _lengths(sequence_length, batch)
        for t, x in enumerate(inputs):
            if t:
                own.reuse_variables()
            output, new = cell(x, state)
            if lengths is not None:
                alive = K.less(full_like(lengths, t), lengths)
                new = map_structure(lambda n, s, a=alive: kept(a, n, s), new, state)
                output = map_structure(lambda y, a=alive: kept(a, y, full_like(y, 0)), output)
            state = new
            outputs.append(output)
    return outputs, state


def static_bidirectional_rnn(
    cell_fw: Any, cell_bw: Any, inputs: Any, initial_state_fw: Any = None,
    initial_state_bw: Any = None, dtype: Any = None, sequence_length: Any = None,
    scope: Any = None,
) -> Any:  # fmt: skip
    """Two cells along a list of inputs, one of which runs from the last to the first.

    Returns:
        The outputs of both cells side by side, and the last state of each.
    """
    with variable_scope(scope or "bidirectional_rnn"):
        with variable_scope("fw") as fw:
            forward, state_fw = static_rnn(
                cell_fw, inputs, initial_state_fw, dtype, sequence_length, fw
            )
        with variable_scope("bw") as bw:
            turned = _turned(inputs, sequence_length)
            backward, state_bw = static_rnn(
                cell_bw, turned, initial_state_bw, dtype, sequence_length, bw
            )
    pairs = zip(forward, _turned(backward, sequence_length), strict=True)
    return [K.concatenate([a, b], 1) for a, b in pairs], state_fw, state_bw


def _turned(steps: Any, sequence_length: Any) -> list[Any]:
    """A list of steps from the last to the first."""
    if sequence_length is None:
        return list(reversed(steps))
    whole = K.stack(list(steps))
    turned = reverse_sequence(whole, sequence_length, 0, 1, "static_bidirectional_rnn")
    return [turned[t] for t in range(len(steps))]


NAMES: dict[str, Any] = {}
PLAIN: dict[str, Any] = {
    "nn.dynamic_rnn": dynamic_rnn,
    "nn.bidirectional_dynamic_rnn": bidirectional_dynamic_rnn,
    "nn.static_rnn": static_rnn,
    "nn.static_bidirectional_rnn": static_bidirectional_rnn,
    "contrib.rnn.static_rnn": static_rnn,
    "contrib.rnn.static_bidirectional_rnn": static_bidirectional_rnn,
    "contrib.rnn.stack_bidirectional_dynamic_rnn": stack_bidirectional_dynamic_rnn,
}
