"""Recurrence whose inputs and outputs have time as their first axis (`time_major=True`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from keras import backend as K

from ...errors import UnsupportedError
from .own import like


def swapped(x: Any) -> Any:
    """A tensor, or a shape, with its first two axes exchanged; None stays None."""
    if x is None:
        return None
    if isinstance(x, (tuple, list)):
        return (x[1], x[0], *x[2:])
    return K.permute_dimensions(x, (1, 0, *range(2, K.ndim(x))))


def rnn(
    step_function: Callable[..., Any],
    inputs: Any,
    initial_states: Any,
    go_backwards: bool = False,
    mask: Any = None,
    constants: Any = None,
    unroll: bool = False,
    input_length: Any = None,
    time_major: bool = False,
    zero_output_for_mask: bool = False,
) -> tuple[Any, Any, list[Any]]:
    """Run a step function along the time axis, as `K.rnn` does.

    Args:
        step_function: `(x, states) -> (output, new states)`.
        inputs: (samples, time, …), or (time, samples, …).
        initial_states: the states before the first step.
        go_backwards: run from the last step to the first.
        mask: where it's 0, a sample keeps its states and repeats its last output.
        constants: tensors that each step gets after its states.
        unroll: build every step as nodes of its own.
        input_length: the number of steps, if the static shape doesn't tell.
        time_major: the first axis of inputs, mask and outputs is time.
        zero_output_for_mask: where the mask is 0, the output is 0.
    """
    if time_major:
        inputs, mask = swapped(inputs), swapped(mask)
    last, outputs, states = K.rnn(
        step_function, inputs, initial_states, go_backwards=go_backwards, mask=mask,
        constants=constants, unroll=unroll, input_length=input_length,
    )  # fmt: skip
    if zero_output_for_mask and mask is not None:
        seen = K.reverse(mask, 1) if go_backwards else mask
        while K.ndim(seen) < K.ndim(outputs):
            seen = K.expand_dims(seen, -1)
        outputs = outputs * K.cast(seen, K.dtype(outputs))
        last = outputs[:, -1]
    return last, swapped(outputs) if time_major else outputs, states


# --- layers -----------------------------------------------------------------------------------


def _first(change: Callable[[Any], Any], nest: Any, is_one: Callable[[Any], bool]) -> Any:
    """A change of the first of several tensors or shapes, or of the only one."""
    if is_one(nest):
        return change(nest)
    return [change(nest[0]), *nest[1:]]


def _is_tensor(x: Any) -> bool:
    return x is None or not isinstance(x, (list, tuple))


def _is_shape(x: Any) -> bool:
    return not any(isinstance(part, (list, tuple)) for part in x)


def with_time_first(layer: Any) -> Any:
    """A subclass of a recurrent layer that takes `time_major`."""

    def call(self: Any, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        if not self.time_major:
            return layer.call(self, inputs, *args, **kwargs)
        if args:
            kwargs["mask"], *_ = args
        kwargs["mask"] = _first(swapped, kwargs.get("mask"), _is_tensor)
        found = layer.call(self, _first(swapped, inputs, _is_tensor), **kwargs)
        return _first(swapped, found, _is_tensor) if self.return_sequences else found

    def build(self: Any, input_shape: Any) -> None:
        if not self.time_major:
            layer.build(self, input_shape)
            return
        layer.build(self, _first(swapped, input_shape, _is_shape))
        self.input_spec[0].shape = swapped(self.input_spec[0].shape)

    def compute_output_shape(self: Any, input_shape: Any) -> Any:
        if not self.time_major:
            return layer.compute_output_shape(self, input_shape)
        found = layer.compute_output_shape(self, _first(swapped, input_shape, _is_shape))
        return _first(swapped, found, _is_shape) if self.return_sequences else found

    def get_config(self: Any) -> dict[str, Any]:
        return {**layer.get_config(self), **({"time_major": True} if self.time_major else {})}

    methods = {
        "call": like(layer.call, call),
        "build": build,
        "compute_output_shape": compute_output_shape,
        "get_config": get_config,
        "time_major": False,
    }
    return type(layer.__name__, (layer,), methods)


def refuse_time_first(layer: Any) -> None:
    """Say of a wrapper that it can't run such a layer.

    Raises:
        UnsupportedError: time is the layer's first axis.
    """
    if getattr(layer, "time_major", False):
        raise UnsupportedError(
            "Bidirectional of a layer with time_major=True: use"
            " tf.transpose(x, [1, 0, 2]) before and after"
        )


NAMES: dict[str, Any] = {"backend.rnn": rnn}
