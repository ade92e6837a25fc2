"""Looks up what an operation is, by its type.

Three kinds: *pure* operations give values of K's for values of K's; *effects* also see the state of
variables; *host* operations run between compiled parts, on arrays. What all inputs are known of is
computed by NumPy at once, where a fold says how.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any, NoReturn, TypeVar

import numpy as np

from kameleon import backend as K

from ..dtypes import HANDLES, NUMBERS, REFERENCE
from ..failures import UNFIT, failure, invalid, is_failure
from ..graph import PASSING, Operation, Value, is_handle
from ..lowering import Lowering, OnHost
from ..resources.waiting import Attempt, Steps
from ..variables import Reference, Store, absent
from ..walks import reached
from .demands.table import can_refuse, demand
from .parameters import OF_ARRAYS, OF_VALUES, adapted, bound
from .values import is_text

F = TypeVar("F", bound=Callable[..., Any])

PURE: dict[str, Callable[..., Any]] = {}  # (operation, *values)
EFFECTS: dict[str, Callable[..., Any]] = {}  # (lowering, operation, *values or references)
HOST: dict[str, Callable[..., Any]] = {}  # (store, operation, *arrays)
HOST_ON_REFERENCES: set[str] = set()
FOLDS: dict[str, Callable[..., Any]] = {}  # (operation, *arrays)
COMPILED_IF: dict[str, Callable[..., bool]] = {}  # (operation): else it runs on the host

HANDING = frozenset("Identity IdentityN PlaceholderWithDefault StopGradient".split())  # handles on
# Types that K doesn't compute with: operations on them run on the host, by their folds.
OF_HOST = frozenset(
    NUMBERS[name] + reference
    for name in "string complex64 complex128 qint8 quint8 qint16 quint16 qint32".split()
    for reference in (0, REFERENCE)
)
TEXT = NUMBERS["string"]
COUNTED = {TEXT, *(NUMBERS[name] for name in "bool int32 int64".split())}
MAY_WAIT = (Attempt, Generator)  # what those give that may have to wait
# Operations on what is kept, in a region or on the host, all of one kept thing on the same side.
KEPT: set[str] = set()
ASSERTIONS = frozenset({"Assert", "CheckNumerics"})
KNOWN = frozenset({"Const", "Identity"})
SAME = KNOWN | {"VarHandleOp"}  # what gives the same in each run, if it takes such
MAKERS = frozenset(
    "TensorArrayV3 StackV2 Stack EmptyTensorList TensorListReserve TensorListFromTensor".split()
)


def _adding(
    table: dict[str, Callable[..., Any]], names: tuple[str, ...], leading: tuple[str, ...],
    changes: Mapping[str, Callable[[Any], Any]], reads: bool = False,
) -> Callable[[F], F]:  # fmt: skip
    """Decorates what takes of an operation what its parameters say: see `parameters.adapted`."""

    def add(function: F) -> F:
        taking = adapted(function, leading, changes, reads)
        table.update(dict.fromkeys(" ".join(names).split(), taking))
        return function

    return add


def pure(*names: str) -> Callable[[F], F]:
    """Decorates what some types give for values."""
    return _adding(PURE, names, ("operation",), OF_VALUES)


def effect(*names: str) -> Callable[[F], F]:
    """Decorates what some types do to variables."""
    return _adding(EFFECTS, names, ("lowering", "operation"), OF_VALUES, reads=True)


def known(*names: str) -> Callable[[F], F]:
    """Decorates what gives arrays for arrays: a pure function and its fold in one."""
    return lambda function: fold(*names)(pure(*names)(function))


def host(*names: str, references: bool = False) -> Callable[[F], F]:
    """Decorates what some types do on the host; with `references`, they take these as they are."""
    if references:
        HOST_ON_REFERENCES.update(" ".join(names).split())
    return _adding(HOST, names, ("store", "operation"), OF_VALUES)


def compiled_if(*names: str) -> Callable[[F], F]:
    """Decorates what tells whether an operation can be compiled: else it runs on the host."""
    return _adding(COMPILED_IF, names, ("operation",), {})


def fold(*names: str) -> Callable[[F], F]:
    """Decorates what NumPy gives for some types, where all values are known."""
    return _adding(FOLDS, names, ("operation",), OF_ARRAYS)


def kept(*names: str) -> Callable[[F], F]:
    """Decorates, beside `effect`, types whose first input or output is a handle of what is kept."""

    def add(function: F) -> F:
        KEPT.update(" ".join(names).split())
        return effect(*names)(function)

    return add


def is_kept(operation: Operation) -> bool:
    """Whether an operation works on what is kept."""
    if operation.type not in KEPT:
        return False
    return operation.type not in PURE or operation.types[0] in HANDLES


def family_of(operation: Operation) -> Operation:
    """The operation that made what this one works on."""
    while operation.inputs and (is_kept(operation) or operation.type in PASSING):
        if operation.type in MAKERS:
            break
        operation = operation.inputs[0][0]
    return operation


def compiled_inputs(operation: Operation) -> list[Value]:
    """What an operation takes where it's compiled: an assertion not what it would show."""
    return operation.inputs[:1] if operation.type == "Assert" else operation.inputs


def shown_inputs(operation: Operation) -> list[Value]:
    """What an assertion shows where it doesn't hold."""
    return operation.inputs[1:] if operation.type == "Assert" else []


def is_compiled(operation: Operation) -> bool:
    """Whether an operation can be a part of a region."""
    if operation.type not in PURE and operation.type not in EFFECTS:
        return False
    if operation.type in COMPILED_IF and not COMPILED_IF[operation.type](operation):
        return False
    taken = [source.types[index] for source, index in compiled_inputs(operation)]
    kinds = {*operation.types, *taken}
    takes_handles = operation.type in HANDING or operation.type in EFFECTS
    if not takes_handles and not HANDLES.isdisjoint(kinds):
        return False
    return OF_HOST.isdisjoint(kinds)


def is_folded(operation: Operation) -> bool:
    """Whether an operation gives known values for known ones."""
    return operation.type in FOLDS or operation.type in KNOWN


def computed(operation: Operation) -> Callable[..., Any] | None:
    """What computes an operation's values of arrays, `(operation, *arrays)`, if they are the same
    each time.
    """
    if operation.type in FOLDS:
        return FOLDS[operation.type]
    if not is_compiled(operation) or operation.definition.is_stateful:
        return None
    return _evaluating


def _evaluating(operation: Operation, *values: Any) -> Any:
    """What a pure function gives, as arrays."""
    found = PURE[operation.type](operation, *values)
    if not any(map(K.is_tensor, listed(found))):
        return found
    with K.using_engine("numpy"):
        arrays = [K.eval(each) if K.is_tensor(each) else each for each in listed(found)]
    return arrays if isinstance(found, list) else arrays[0]


def lowered(lowering: Lowering, operation: Operation, given: list[Any]) -> list[Any]:
    """What an operation gives, as values of a region."""
    try:
        return _lowered(lowering, operation, given)
    except Exception as error:
        if not is_failure(error):
            raise
        raise located(error, operation) from error.__cause__


def _lowered(lowering: Lowering, operation: Operation, given: list[Any]) -> list[Any]:
    kind = operation.type
    if can_refuse(kind):
        try:
            demand(operation, [lowering.value(value) for value in given])
        except Exception as error:
            raise located(error, operation) from error.__cause__
    if kind in EFFECTS and (kind not in PURE or is_kept(operation)):
        return listed(EFFECTS[kind](lowering, operation, *given))
    if kind in HANDING and _is_handed(operation, given):
        return given  # of a variable: its buffer, so that who takes it sees what was assigned
    values = [lowering.value(value) for value in given]
    are_known = all(isinstance(value, np.ndarray) and not is_text(value) for value in values)
    if kind in FOLDS and values and are_known:
        return _folded(FOLDS[kind], operation, values)
    return listed(PURE[kind](operation, *values))


def _is_handed(operation: Operation, given: list[Any]) -> bool:
    """Whether an operation hands on handles, or variables that keep their buffers."""
    hands_on = operation.types[0] in HANDLES or any(map(is_reference, given))
    return hands_on and not any(map(_is_resized, operation.inputs))


def _is_resized(value: Value) -> bool:
    """Whether a variable may get another shape, and with it another buffer."""
    source, index = value
    is_variables = source.types[index] > REFERENCE and bool(source.consumers)
    for taker, place in source.consumers[index] if is_variables else ():
        is_open = place == 0 and taker.type == "Assign" and not taker.attribute("validate_shape")
        if is_open and not _is_apart(taker):
            return True
        if any(_is_resized((taker, at)) for at in range(len(taker.types))):
            return True
    return False


def _is_apart(assign: Operation) -> bool:
    """Whether an assignment has nothing to do with what a variable held, as that of a first value.
    A variable that it takes by way of a branch was there before.
    """
    (variable, _), (value, _) = assign.inputs
    needed = reached([value, *assign.control], lambda each: each.before)
    return not variable.inputs and variable not in needed


def is_reference(value: Any) -> bool:
    """Whether a value is a variable."""
    return isinstance(value, Reference)


def _folded(function: Callable[..., Any], operation: Operation, values: list[Any]) -> list[Any]:
    """What NumPy gives; where it complains, the values don't fit the operation."""
    try:
        with np.errstate(all="ignore"):
            return listed(function(operation, *values))
    except UNFIT as error:
        raise invalid(f"{error}\n\t [[{{{{node {operation.name}}}}}]]") from error


HostFunction = Callable[[Store, Sequence[Any]], list[Any] | Steps]


def on_host(operation: Operation) -> HostFunction:
    """What gives what an operation gives that runs on the host, of values of variables that were
    `read`; or its steps, if it may have to wait.
    """
    graph, kind = operation.graph, operation.type
    if kind in graph.functions:
        return lambda store, given: store.function(graph, kind, operation.attributes)(given)
    act, is_effect = _acting(operation), _is_effect(kind)
    if can_refuse(kind):
        act = _demanding(operation, act)

    def run(store: Store, given: Sequence[Any]) -> list[Any] | Steps:
        try:
            return act(store, given)
        except Exception as error:
            if is_effect and not is_failure(error):
                raise
            raise located(error, operation) from error.__cause__

    return run


def _demanding(operation: Operation, act: HostFunction) -> HostFunction:
    """The same, once what the operation demands of arrays was asked for."""

    def call(store: Store, given: Sequence[Any]) -> list[Any] | Steps:
        values = [*map(OnHost(store).value, given)]
        if all(isinstance(value, np.ndarray | np.generic) for value in values):
            demand(operation, [*map(np.asarray, values)])
        return act(store, given)

    return call


def _is_effect(kind: str) -> bool:
    """Whether what a type of operations does to variables is done on the host, too."""
    return kind in EFFECTS and kind not in HOST


def _acting(operation: Operation) -> HostFunction:
    """What an operation does with what it's given.

    Raises:
        UnimplementedError: (TensorFlow's) its type isn't in the table; once it's called.
    """
    kind = operation.type
    if _is_effect(kind):
        effect = EFFECTS[kind]
        return lambda store, given: listed(effect(OnHost(store), operation, *given))
    if kind in HOST:
        function = bound(HOST[kind], operation)

        def call(store: Store, given: Sequence[Any]) -> list[Any] | Steps:
            found = function(store, operation, *given)
            return Steps(found) if isinstance(found, MAY_WAIT) else listed(found)

        return call
    if kind in FOLDS or kind in PURE:
        return _folding(bound(FOLDS.get(kind, _evaluating), operation), operation)

    def refuse(store: Store, given: Sequence[Any]) -> NoReturn:
        served = len({*PURE, *EFFECTS, *HOST, *FOLDS})
        message = (
            f"operations of type {kind} (here {operation.name!r}) aren't implemented;"
            f" {served} types are: see kameleon.compat.tensorflow.operations"
        )
        raise failure("UNIMPLEMENTED", message)

    return refuse


def _folding(function: Callable[..., Any], operation: Operation) -> HostFunction:
    """What NumPy gives. It doesn't complain of numbers; of texts, and what counts them, it has
    nothing to complain.
    """
    types = {*operation.types, *(source.types[index] for source, index in operation.inputs)}
    is_of_texts = TEXT in types and types <= COUNTED
    gives_handles = not HANDLES.isdisjoint(operation.types)

    def fold(store: Store, given: Sequence[Any]) -> list[Any]:
        if is_of_texts:
            return listed(function(operation, *map(np.asarray, given)))
        with np.errstate(all="ignore"):
            found = listed(function(operation, *map(np.asarray, given)))
        if gives_handles:
            pairs = zip(operation.types, found, strict=True)
            return [_handle(value) if kind in HANDLES else value for kind, value in pairs]
        return found

    return fold


def _handle(value: Any) -> Any:
    """A handle, or an array of several."""
    return value[()] if isinstance(value, np.ndarray) else value


def read(store: Store, operation: Operation, given: Sequence[Any]) -> Sequence[Any]:
    """What is given to an operation on the host, where it takes the values of variables, not their
    handles.
    """
    kind = operation.type
    if kind in HOST_ON_REFERENCES or _is_effect(kind) or kind in operation.graph.functions:
        return given
    try:
        return [
            store.variables.value(value) if _is_read(operation, place, value) else value
            for place, value in enumerate(given)
        ]
    except Exception as error:
        raise located(error, operation) from None


def _is_read(operation: Operation, place: int, value: Any) -> bool:
    """Whether an operation takes the value of a variable, not its handle."""
    return isinstance(value, Reference) and not is_handle(operation.inputs[place])


def to_end(store: Store, operation: Operation) -> Callable[[Sequence[Any]], list[Any]]:
    """What gives what an operation that runs on the host gives, whatever it has to wait for."""
    run = on_host(operation)

    def call(given: Sequence[Any]) -> list[Any]:
        found = run(store, read(store, operation, given))
        return found.finish(store.waiting) if isinstance(found, Steps) else found

    return call


def located(error: Exception, operation: Operation) -> Exception:
    """The error; one of TensorFlow's says which operation it's of.

    What NumPy refuses doesn't fit the operation.
    """
    if isinstance(error, UNFIT) and not is_failure(error):
        error = invalid(str(error))
    if isinstance(reference := getattr(error, "absent", None), Reference):
        error = absent(reference, operation.type)
    if not is_failure(error) or "[[{{node" in str(error):
        return error
    message = f"{error.message}\n\t [[{{{{node {operation.name}}}}}]]"  # type: ignore[attr-defined]
    return type(error)(None, None, message)


def listed(found: Any) -> list[Any]:
    """What is given, as a list; None is nothing."""
    if found is None:
        return []
    return found if isinstance(found, list) else [found]
