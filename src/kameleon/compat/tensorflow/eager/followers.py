"""Gradients forwards: what becomes of a tensor's change, while operations run."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..capi.exports import export
from ..dtypes import NUMBERS
from .context import TOLD
from .tapes import DIFFERENTIABLE, THREAD, Entry, Tape, ones_like, total_of, type_of, zeros_like
from .tensors import Kind, kind_of, tensor


class Follower:
    """Changes of tensors, by their ids: products of Jacobians with those of what is watched."""

    def __init__(self) -> None:
        self._changes: dict[int, tuple[Any, Any]] = {}
        self._is_busy = False

    def watch(self, given: Any, change: Any) -> None:
        """A tensor changes in that direction, too."""
        known = self.change(given)
        total = change if known is None else total_of([known, change])
        self._changes[given._id] = (given, total)

    def change(self, given: Any) -> Any:
        """A tensor's change; None, if it isn't known that there's any."""
        return self._changes.get(given._id, (None, None))[1]

    def should_record(self, inputs: Sequence[Any]) -> bool:
        """Whether any of these tensors changes."""
        if self._is_busy:
            return False
        known = self._changes
        return any(each._id in known and type_of(each) in DIFFERENTIABLE for each in inputs)

    def follow(self, entry: Entry, inputs: list[Any], attributes: tuple[Any, ...] | None) -> None:
        """Find the changes of what an operation gave."""
        outputs = list(entry.outputs)
        changes = [self.change(each) for each in inputs]
        changes = [
            zeros_like(each) if change is None and type_of(each) in DIFFERENTIABLE else change
            for each, change in zip(inputs, changes, strict=True)
        ]
        self._is_busy = True
        try:
            if attributes is None:
                found = self._transposed(entry, inputs, changes)
            else:
                found = TOLD["ForwardGradientFunction"](
                    entry.kind, attributes, inputs, outputs, changes
                )
        finally:
            self._is_busy = False
        for output, change in zip(outputs, found, strict=True):
            if change is not None:
                self._changes[output._id] = (output, change)

    @staticmethod
    def _transposed(entry: Entry, inputs: list[Any], changes: list[Any]) -> list[Any]:
        """By the gradient backwards, which is linear in what it takes."""
        tape = Tape(False, False)
        aids = [ones_like(each) for each in entry.outputs]
        THREAD.tapes.append(tape)
        try:
            for aid in aids:
                tape.watch(aid)
            slopes = entry.backward((), aids)
        finally:
            THREAD.tapes.remove(tape)
        pairs = [
            (slope, change) for slope, change in zip(slopes, changes, strict=False)
            if slope is not None and change is not None
        ]  # fmt: skip
        return tape.gradients([s for s, _ in pairs], aids, [change for _, change in pairs])


@export("TFE_Py_ForwardAccumulatorNew")
def _new() -> Follower:
    made = Follower()
    THREAD.followers.append(made)
    return made


export("TFE_Py_ForwardAccumulatorSetRemove")(lambda follower: THREAD.followers.remove(follower))
export("TFE_Py_ForwardAccumulatorWatch")(Follower.watch)
export("TFE_Py_ForwardAccumulatorJVP")(Follower.change)


# Arguments of functions -------------------------------------------------------------------------


@export("TFE_Py_EncodeArg")
def encoded(value: Any, by_rank: bool = False) -> Any:
    """What tells arguments of a function apart: tensors by type and shape, others by value."""
    if type(value) is Kind.tensor:
        shape = value._shape_tuple()
        return ("tensor", value._number, len(shape) if by_rank else shape)
    if isinstance(value, bool | int | float | str | bytes | type(None)):
        return value  # equal ones share a function, as 1, 1.0 and True
    if isinstance(value, list | tuple):
        return (type(value).__name__, *[encoded(each, by_rank) for each in value])
    if isinstance(value, dict):
        pairs = [(key, encoded(value[key], by_rank)) for key in sorted(value)]
        return ("dict", *pairs)
    return _encoded_other(value, by_rank)


def _encoded_other(value: Any, by_rank: bool) -> Any:
    from ..capi.nests import is_attrs, is_composite, is_tensor, parts_of

    if is_tensor(value):
        sizes = value.shape
        known = sizes.ndims if by_rank else None if sizes.ndims is None else tuple(sizes.as_list())
        return ("tensor", type_of(value), known)
    if is_composite(value):
        return ("composite", value._type_spec)
    if is_attrs(value):
        return (type(value), *[encoded(each, by_rank) for each in parts_of(value, True)])
    try:
        return weakref.ref(value)
    except TypeError:
        return value


@export("TFE_Py_TensorShapeSlice")
def _sizes(tensors: Sequence[Any], axis: int) -> Any:
    """The sizes of tensors along an axis."""
    if not isinstance(tensors, list | tuple):
        kind = kind_of(tensors)
        raise TypeError(f'tensors argument must be a list or a tuple. Got "{kind}"')
    if axis < 0:
        raise ValueError(f"Slice dimension must be non-negative. Got {axis}")
    for place, each in enumerate(tensors):
        if type(each) is not Kind.tensor:
            kind = kind_of(each)
            raise TypeError(
                f'Expected a list of EagerTensors but element {place} has type "{kind}"'
            )
        if axis >= each._rank():
            raise IndexError(
                f"Slice dimension ({axis}) must be smaller than rank of all tensors, but tensor at"
                f" index {place} has rank {each._rank()}"
            )
    return tensor(
        np.array([each._shape_tuple()[axis] for each in tensors], np.int32), NUMBERS["int32"]
    )
