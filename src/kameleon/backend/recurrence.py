"""Recurrence: a step function run along the time axis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..errors import ShapeError
from ..graph.ir.node import Node, walk
from ..graph.primitives.elementwise import cast, select
from ..graph.primitives.filling import full_like, zeros
from ..graph.primitives.movement import broadcast_to, move_axis, reshape, reverse, slice_axis, stack
from ..graph.primitives.reduce import reduce_any, reduce_sum
from ..graph.primitives.sizes import dims_of
from ..graph.primitives.stretching import stretched_along
from ..runtime.workspace import workspace
from ._bodies import traced_scan
from ._tensors import Tensor, TensorLike, as_tensor

__all__ = ["rnn"]


def rnn(
    step_function: Callable[..., Any],
    inputs: Tensor,
    initial_states: Sequence[Tensor],
    go_backwards: bool = False,
    mask: Tensor | None = None,
    constants: Sequence[Tensor] | None = None,
    unroll: bool = False,
    input_length: int | None = None,
) -> tuple[Tensor, Tensor, list[Tensor]]:
    """Run a step function along the time axis.

    Args:
        step_function: `(x, states) -> (output, new states)`: x is (samples, ...), the input of
            one step; states are a list, with the constants at its end; the new states have the
            types of the old ones.
        inputs: (samples, time, ...).
        initial_states: the states before the first step, (samples, ...) each.
        go_backwards: run from the last step to the first; outputs come in the order of running.
        mask: (samples, time), or with further axes of size 1; at a step where the mask is 0 the
            sample keeps its states and repeats its last output (zeros before there's one).
        constants: tensors that each step gets after its states.
        unroll: build every step as nodes of its own, instead of one loop.
        input_length: the number of steps, if the static shape doesn't tell.

    Returns:
        `(last_output, outputs, new_states)`: (samples, ...), (samples, time, ...), and a list.
        Over no steps the states stay, and the last output is the state that a step gives as its
        output, too, or zeros where there's none.

    Raises:
        ShapeError: fewer than 3 axes; a mask but no states; or `unroll` without a known number
            of steps.

    >>> from kameleon import backend as K
    >>> x = K.constant([[[1.], [2.], [3.]]])
    >>> step = lambda x, states: (x + states[0], [x + states[0]])
    >>> last, outputs, _ = K.rnn(step, x, [K.constant([[0.]])])
    >>> K.eval(outputs)[0, :, 0]
    array([1., 3., 6.], dtype=float32)
    """
    inputs = as_tensor(inputs, "rnn")
    if inputs.type.rank < 3:
        raise ShapeError(
            f"rnn: inputs must have at least 3 axes (samples, time, ...), got {inputs.shape}"
        )
    inputs, *states = _of_one_batch(inputs, [as_tensor(s, "rnn") for s in initial_states])
    frames = move_axis(inputs, 1, 0)
    marks = None if mask is None else _time_major_mask(mask, inputs)
    if go_backwards:
        frames = reverse(frames, axes=(0,))
        marks = None if marks is None else reverse(marks, axes=(0,))
    step = _Step(step_function, list(constants or []), marks is not None)
    if unroll and frames.shape[0] != 0:
        return _unrolled(step, frames, marks, states, input_length)
    if marks is not None and not states:
        raise ShapeError("rnn: a mask needs states (there are none, and `unroll` is False)")
    return _looped(step, frames, marks, states)


def _of_one_batch(inputs: Node, states: Sequence[Node]) -> list[Node]:
    """Inputs and states, those of which the batch is unknown stretched where it turns out to be 1:
    a state has the same sizes in all steps."""
    every = [inputs, *states]
    unknown = [i for i, x in enumerate(every) if i == 0 or x.shape[:1] == (None,)]
    found = stretched_along([every[i] for i in unknown], [0] * len(unknown), "rnn")
    for i, x in zip(unknown, found, strict=True):
        every[i] = x
    return every


def _time_major_mask(mask: TensorLike, inputs: Node) -> Node:
    mask = as_tensor(mask, "rnn")
    while mask.type.rank > 2:
        mask = reshape(mask, dims_of(mask)[:-1])
    if mask.type.rank != 2:
        raise ShapeError(f"rnn: the mask must be (samples, time), got shape {mask.shape}")
    if not mask.type.may_accept(inputs.shape[:2]):
        raise ShapeError(f"rnn: mask {mask.shape} doesn't fit inputs {inputs.shape}")
    return move_axis(cast(mask, "bool"), 1, 0)


class _Step:
    """One step of the user's function, with the mask applied."""

    def __init__(self, function: Callable[..., Any], constants: list[Node], masked: bool):
        self.function, self.constants, self.masked = function, constants, masked
        self.uses_phase = False

    def __call__(self, x: Node, states: Sequence[Node]) -> tuple[Node, list[Node]]:
        output, new = self.function(x, [*states, *self.constants])
        self.uses_phase |= bool(getattr(output, "_uses_learning_phase", False))
        output = as_tensor(output, "rnn")
        new = [as_tensor(s, "rnn") for s in new]
        if len(new) != len(states):
            raise ShapeError(f"rnn: a step takes {len(states)} states and returns {len(new)}")
        return output, new

    def masked_step(
        self, x: Node, mark: Node, states: Sequence[Node], before: Node | None
    ) -> tuple[Node, list[Node]]:
        """The step's output and states where the mark is set; elsewhere the states as they were,
        and the output before (zeros, if `before` is None).
        """
        output, new = self(x, states)
        old = full_like(output, 0) if before is None else before
        kept = [keep(mark, n, s) for n, s in zip(new, states, strict=True)]
        return keep(mark, output, old), kept


def keep(mark: Node, new: Node, old: Node) -> Node:
    """`new` for the samples whose mark is set, `old` for the others."""
    dims = dims_of(new)
    column = reshape(mark, [*dims_of(mark), *([1] * (new.type.rank - 1))])
    return select(broadcast_to(column, dims), new, old)


def _looped(
    step: _Step, frames: Node, marks: Node | None, states: list[Node]
) -> tuple[Node, Node, list[Node]]:
    sequences = [frames] if marks is None else [frames, marks]
    if marks is None:
        same: list[int] = []  # states that are the output, too: their last value is at hand

        def body(carry: list[Node], slices: list[Node]) -> tuple[list[Node], list[Node]]:
            output, new = step(slices[0], carry)
            same.extend(i for i, state in enumerate(new) if state is output)
            return new, [output]

        last, (stacked,) = traced_scan("rnn", body, states, sequences)
        return _result(step, stacked, last, last[same[0]] if same else None)

    def masked(carry: list[Node], slices: list[Node]) -> tuple[list[Node], list[Node]]:
        output, new = step.masked_step(slices[0], slices[1], carry[1:], carry[0])
        return [output, *new], [output]

    before = _zero_output(step, frames, states)
    last, (stacked,) = traced_scan("rnn", masked, [before, *states], sequences)
    return _result(step, stacked, last[1:], last[0])


def _zero_output(step: _Step, frames: Node, states: list[Node]) -> Node:
    """Zeros in the shape of a step's output; of what the step computes, only sizes are used."""
    output, _ = step(zeros(dims_of(frames)[1:], frames.dtype), states)
    return zeros(dims_of(output), output.dtype)


def _result(
    step: _Step, stacked: Node, states: list[Node], last: Node | None = None
) -> tuple[Node, Node, list[Node]]:
    if last is None:
        last = _last(stacked)
    last._uses_learning_phase = step.uses_phase or _needs_phase(last)
    return last, move_axis(stacked, 0, 1), states


def _last(stacked: Node) -> Node:
    """The output of the last step; zeros, where there are no steps."""
    final = slice_axis(stacked, 0, -1, None)
    if final.shape[0] is None or final.shape[0] == 0:
        return (reduce_any if final.dtype.is_bool else reduce_sum)(final, (0,))
    return reshape(final, dims_of(final)[1:])


def _needs_phase(last: Node) -> bool:
    """Whether `last` depends on the learning phase, even by nodes before the recurrence.

    `_uses_learning_phase` alone doesn't tell: K functions don't hand it on to their results.
    """
    phase = workspace.learning_phase
    return isinstance(phase, Node) and any(node is phase for node in walk([last]))


def _unrolled(
    step: _Step,
    frames: Node,
    marks: Node | None,
    states: list[Node],
    input_length: int | None,
) -> tuple[Node, Node, list[Node]]:
    steps = frames.shape[0] if frames.shape[0] is not None else input_length
    if not steps:
        raise ShapeError("rnn: unrolling needs a known number of steps (give input_length)")
    outputs: list[Node] = []
    for t in range(steps):
        x = _at(frames, t)
        if marks is None:
            output, states = step(x, states)
        else:
            before = outputs[-1] if outputs else None
            output, states = step.masked_step(x, _at(marks, t), states, before)
        outputs.append(output)
    return _result(step, stack(outputs, 0), states)


def _at(x: Node, t: int) -> Node:
    return reshape(slice_axis(x, 0, t, t + 1), dims_of(x)[1:])
