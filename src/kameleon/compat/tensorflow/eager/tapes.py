"""Tapes: what operations did with tensors that are watched, and the gradients of that."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..capi.exports import export
from ..dtypes import NUMBERS, REFERENCE
from .context import TOLD
from .tensors import Kind

Backward = Callable[..., Any]

DIFFERENTIABLE = frozenset(
    NUMBERS[name]
    for name in (
        "float16 bfloat16 float32 float64 complex64 complex128 resource variant"
    ).split()
)  # fmt: skip
# Outputs whose gradient may be missing: the operation's gradient doesn't look at it.
UNUSED_OUTPUTS = {
    "SoftmaxCrossEntropyWithLogits": {1},
    "SparseSoftmaxCrossEntropyWithLogits": {1},
    "FusedBatchNorm": {1, 2, 3, 4},
    "FusedBatchNormV2": {1, 2, 3, 4},
    "FusedBatchNormV3": {1, 2, 3, 4, 5},
}


@dataclass(eq=False)
class Entry:
    """What an operation took and gave.

    Attributes:
        kind: its type.
        outputs: the tensors that it gave.
        inputs: the ids of those that it took.
        backward: gives the inputs' gradients for the outputs'; takes the numbers of inputs whose
            gradients nobody needs, first.
    """

    kind: str
    outputs: Sequence[Any]
    inputs: list[int]
    backward: Callable[[tuple[int, ...], list[Any]], Sequence[Any]]


class Tape:
    """Entries in the order in which they were made.

    Attributes:
        is_persistent: whether it can be read more than once.
        follows_variables: whether variables that are used are watched.
    """

    def __init__(self, is_persistent: bool, follows_variables: bool) -> None:
        self.is_persistent, self.follows_variables = is_persistent, follows_variables
        self._entries: list[Entry] = []
        self._made: dict[int, Entry | None] = {}  # by id, what gave it; None for what is watched
        self._watched: dict[int, Any] = {}  # tensors, which keep their ids while they live
        self._variables: dict[int, Any] = {}

    def watch(self, tensor: Any) -> None:
        """Follow what becomes of a tensor."""
        self._made.setdefault(tensor._id, None)
        self._watched[tensor._id] = tensor

    def watch_variable(self, variable: Any) -> None:
        """Follow what becomes of a variable's value."""
        handle = variable.handle
        self._variables.setdefault(handle._id, variable)
        self.watch(handle)

    @property
    def variables(self) -> tuple[Any, ...]:
        """The variables that are watched, in the order in which they were made."""
        return tuple(self._variables[name] for name in sorted(self._variables))

    def should_record(self, inputs: Sequence[Any]) -> bool:
        """Whether any of these tensors is followed."""
        made = self._made
        return any(each._id in made and type_of(each) in DIFFERENTIABLE for each in inputs)

    def record(self, entry: Entry) -> None:
        """Add what an operation did."""
        self._entries.append(entry)
        for each in entry.outputs:
            self._made[each._id] = entry

    # Gradients ----------------------------------------------------------------------------------

    def gradients(
        self, targets: Sequence[Any], sources: Sequence[Any], given: Sequence[Any] | None
    ) -> list[Any]:
        """The gradients of the sum of targets: by source; None where they have nothing to do."""
        found = dict[int, list[Any]]()
        wanted = {each._id for each in sources}
        for place, target in enumerate(targets):
            start = given[place] if given else None
            if not given and (self._made.get(target._id) or target._id in wanted):
                start = ones_like(target)
            if start is not None:
                found.setdefault(target._id, []).append(start)
        entries = list(self._entries)
        if not self.is_persistent:
            self._entries.clear()
        needed = self._leading(entries, wanted)
        while entries:
            entry = entries.pop()
            if needed.isdisjoint(entry.inputs):
                continue
            if any(each._id in found for each in entry.outputs):
                self._step(entry, found, wanted, needed)
        return [total_of(found[each._id]) if each._id in found else None for each in sources]

    def _leading(self, entries: list[Entry], wanted: set[int]) -> set[int]:
        """The ids of tensors that sources lead to, and the sources'."""
        needed = {name for name in wanted if name in self._made}
        for entry in entries:
            if not needed.isdisjoint(entry.inputs):
                needed.update([each._id for each in entry.outputs])
        return needed

    def _step(
        self, entry: Entry, found: dict[int, list[Any]], wanted: set[int], needed: set[int]
    ) -> None:
        unused = UNUSED_OUTPUTS.get(entry.kind, ())
        slopes: list[Any] = []
        for place, output in enumerate(entry.outputs):
            parts = found.get(output._id)
            if parts is not None:
                slopes.append(total_of(parts))
                if output._id in wanted:
                    found[output._id] = slopes[-1:]
                else:
                    del found[output._id]
            else:
                slopes.append(None if place in unused else zeros_like(output))
        left_out = tuple(at for at, name in enumerate(entry.inputs) if name not in needed)
        # Fewer than inputs are all that there are: a function that lets nothing through gives none.
        for name, slope in zip(entry.inputs, entry.backward(left_out, slopes), strict=False):
            if slope is not None and name in needed:
                found.setdefault(name, []).append(slope)


def type_of(tensor: Any) -> int:
    """The number of a tensor's type, eager or in a graph."""
    if type(tensor) is Kind.tensor:
        number: int = tensor._number
        return number
    return int(tensor.dtype._type_enum) % REFERENCE


# Sums and beginnings of gradients: by functions of TensorFlow's own Python.


def total_of(parts: list[Any]) -> Any:
    """The sum of gradients."""
    return parts[0] if len(parts) == 1 else TOLD["VSpace"].aggregate_fn(parts)


def ones_like(tensor: Any) -> Any:
    """Ones like a tensor."""
    return TOLD["VSpace"].ones_fn(_shape(tensor), tensor.dtype)


def zeros_like(tensor: Any) -> Any:
    """Zeros like a tensor."""
    return TOLD["VSpace"].zeros_fn(_shape(tensor), tensor.dtype)


def _shape(tensor: Any) -> Any:
    if type(tensor) is Kind.tensor:
        return tensor._shape_tuple()
    sizes = tensor.shape
    if sizes.is_fully_defined():
        return tuple(sizes.as_list())
    return TOLD["VSpace"].graph_shape_fn(tensor)


# The tapes of a thread --------------------------------------------------------------------------


class _OfThread(threading.local):
    def __init__(self) -> None:
        self.tapes: list[Tape] = []
        self.followers: list[Any] = []  # accumulators of forward gradients
        self.is_stopped = False


THREAD = _OfThread()


def is_recording() -> bool:
    """Whether any tape might record."""
    here = THREAD
    return bool(here.tapes or here.followers) and not here.is_stopped


@export("TFE_Py_TapeSetNew")
def _new(is_persistent: bool, follows_variables: bool) -> Tape:
    made = Tape(is_persistent, follows_variables)
    THREAD.tapes.append(made)
    return made


export("TFE_Py_TapeSetAdd")(lambda tape: THREAD.tapes.append(tape))
export("TFE_Py_TapeSetIsEmpty")(lambda: not is_recording())
export("TFE_Py_TapeSetStopOnThread")(lambda: setattr(THREAD, "is_stopped", True))
export("TFE_Py_TapeSetRestartOnThread")(lambda: setattr(THREAD, "is_stopped", False))
export("TFE_Py_TapeSetIsStopped")(lambda: THREAD.is_stopped)
export("TFE_Py_TapeWatchedVariables")(lambda tape: tape.variables)
export("TFE_Py_TapeWatchVariable")(Tape.watch_variable)
export("TFE_Py_TapeSetDeleteTrace")(lambda number: None)


@export("TFE_Py_TapeSetRemove")
def _remove(tape: Tape) -> None:
    if tape in THREAD.tapes:
        THREAD.tapes.remove(tape)


@export("TFE_Py_TapeWatch")
def _watch(tape: Tape, tensor: Any) -> None:
    if type_of(tensor) in DIFFERENTIABLE:
        tape.watch(tensor)


@export("TFE_Py_TapeVariableAccessed")
def variable_accessed(variable: Any) -> None:
    """Let tapes know that a variable is used."""
    if is_recording() and variable.trainable:
        for tape in THREAD.tapes:
            if tape.follows_variables:
                tape.watch_variable(variable)


def _watching(inputs: Sequence[Any]) -> list[Any]:
    if not is_recording():
        return []
    everyone = [*THREAD.tapes, *THREAD.followers]
    return [each for each in everyone if each.should_record(inputs)]


export("TFE_Py_TapeSetShouldRecord")(lambda inputs: bool(_watching(inputs)))


@export("TFE_Py_TapeSetPossibleGradientTypes")
def _possible_gradients(inputs: Sequence[Any]) -> int:
    """0: none; 1: of first order; 2: of higher order, too."""
    watching = _watching(inputs)
    if any(isinstance(each, Tape) and each.is_persistent for each in watching):
        return 2
    return min(len(watching), 2)


# Recording --------------------------------------------------------------------------------------


@export("TFE_Py_RecordGradient")
def record_gradient(
    kind: str, inputs: Sequence[Any], attributes: tuple[Any, ...], results: Any, name: Any
) -> None:
    """Record an operation whose gradient TensorFlow's files know."""
    if not is_recording():
        return
    outputs = _listed(results)
    taken = list(inputs)

    def backward(left_out: tuple[int, ...], slopes: list[Any]) -> Sequence[Any]:
        function = TOLD["GradientFunction"]
        found = function(kind, attributes, len(taken), taken, outputs, slopes, left_out)
        return _listed(found)

    _record(kind, outputs, taken, backward, attributes)


@export("TFE_Py_TapeSetRecordOperation")
def record_operation(kind: Any, outputs: Any, inputs: Any, function: Backward) -> None:
    """Record an operation with its gradient."""
    text = kind.decode() if isinstance(kind, bytes) else str(kind)

    def backward(left_out: tuple[int, ...], slopes: list[Any]) -> Sequence[Any]:
        found = function(*slopes)
        if found is None:
            raise TypeError("expected a sequence of gradients")
        return list(found)

    _record(text, outputs, inputs, backward, None)


def _listed(value: Any) -> Sequence[Any]:
    """Several values, or the only one."""
    return value if isinstance(value, list | tuple) else [value]


def _record(kind: str, outputs: Any, inputs: Any, backward: Any, attributes: Any) -> None:
    watching = _watching(inputs)
    if not watching:
        return
    taken = list(inputs)
    entry = Entry(kind, list(outputs), [each._id for each in taken], backward)
    for each in watching:
        if isinstance(each, Tape):
            each.record(entry)
    for each in watching:
        if not isinstance(each, Tape):
            each.follow(entry, taken, attributes)


@export("TFE_Py_TapeGradient")
def gradient(
    tape: Tape, target: Any, sources: Any, given: Any, raw: Any, unconnected: str
) -> list[Any]:
    """The gradients of targets by sources, by what a tape has recorded."""
    found = tape.gradients(_listed(target), sources, given)
    if unconnected == "zero":
        pairs = zip(found, raw or sources, strict=True)
        found = [zeros_like(tensor) if slope is None else slope for slope, tensor in pairs]
    return found
