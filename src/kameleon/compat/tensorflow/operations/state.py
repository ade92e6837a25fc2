"""Variables: their handles, assignments, and the steps of optimizers."""

from __future__ import annotations

from typing import Any

import numpy as np

from kameleon.graph.primitives import elementwise as E

from ..dtypes import in_numpy, name_of
from ..failures import failure, invalid
from ..graph import Operation, shape_text
from ..lowering import Lowering
from ..variables import Reference, Store, absent
from .table import effect, host
from .values import Kind, broadcast, sizes_of


def reference_of(store: Store, operation: Operation) -> Reference:
    """The variable that an operation makes."""
    key = (operation.attribute("shared_name") or b"").decode() or operation.name
    by_handle = operation.type == "VarHandleOp"
    return Reference(key, operation.name, store.place(operation), by_handle)


@effect("VariableV2 Variable TemporaryVariable VarHandleOp")
def _variable(lowering: Lowering, operation: Operation) -> Reference:
    return reference_of(lowering.store, operation)


effect("RefIdentity")(lambda reference: reference)
effect("ReadVariableOp")(lambda lowering, reference: lowering.value(reference))


@effect("VariableShape")
def _shape(lowering: Lowering, reference: Reference, *, out_type: Kind) -> np.ndarray:
    return np.array(sizes_of(lowering.value(reference)), out_type)


def given_back(operation: Operation, reference: Reference) -> Any:
    """What an operation on a variable gives: the reference, if it took one."""
    takes_handle = "Resource" in operation.type or operation.type.endswith("VariableOp")
    return [] if takes_handle else reference


@effect("Assign AssignVariableOp")
def _assign(lowering: Lowering, operation: Operation, reference: Reference, value: Any) -> Any:
    given = lowering.value(value)
    if operation.attribute("validate_shape"):
        _demand_shape(lowering, operation, reference, given)
    lowering.assign(reference, given)
    return given_back(operation, reference)


def _demand_shape(
    lowering: Lowering, operation: Operation, reference: Reference, value: Any
) -> None:
    """Refuse a value of another shape than the variable's."""
    source, index = operation.inputs[0]
    shape = source.shapes[index]
    if reference in lowering.store.variables:
        shape = tuple(lowering.store.variables.cell(reference).shape)
    given = sizes_of(value)
    if shape is not None and -1 not in shape and tuple(shape) != given:
        raise invalid(
            "Assign requires shapes of both tensors to match."
            f" lhs shape= {shape_text(shape)} rhs shape= {shape_text(given)}"
        )


@effect("AssignAdd AssignAddVariableOp AssignSub AssignSubVariableOp")
def _assign_sum(lowering: Lowering, operation: Operation, reference: Reference, value: Any) -> Any:
    function = E.add if "Add" in operation.type else E.sub
    operands = broadcast(lowering.value(reference), lowering.value(value))
    lowering.assign(reference, function(*operands))
    return given_back(operation, reference)


@host("ZeroInitializer ZeroVarInitializer", references=True)
def _begin_with_zeros(store: Store, operation: Operation, reference: Reference) -> Reference:
    if reference in store.variables:
        raise invalid("input is already initialized")
    source, index = operation.inputs[0]
    kind, shape = source.types[index], source.shapes[index]
    if reference.by_handle:
        kind, shape = operation.attribute("dtype"), operation.attribute("shape")
    store.variables.begin(reference, np.zeros(shape or (), in_numpy(name_of(kind))))
    return reference


@host("IsVariableInitialized VarIsInitializedOp", references=True)
def _is_initialized(store: Store, reference: Reference) -> np.bool_:
    return np.bool_(reference in store.variables)


@host("CountUpTo ResourceCountUpTo", references=True)
def _count_up_to(store: Store, reference: Reference, *, limit: int) -> np.ndarray:
    """The value, which is one more then; no more at the limit."""
    value = store.variables.value(reference)
    if value >= limit:
        raise failure("OUT_OF_RANGE", f"Reached limit of {limit}")
    store.variables.begin(reference, np.asarray(value + 1, value.dtype))
    return value


@host("DestroyResourceOp", references=True)
def _destroy(store: Store, reference: Any, *, ignore_lookup_error: bool) -> list[Any]:
    if isinstance(reference, Reference):
        if not ignore_lookup_error and reference not in store.variables:
            raise absent(reference, "DestroyResourceOp")
        store.variables.remove(reference)
    return []
