"""Variables that hold complex numbers or texts, which K doesn't compute with: changes of them, and
what is taken of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from kameleon import backend as K
from kameleon.graph.ir.node import Tensor

from ..graph import Operation
from ..lowering import OnHost
from ..variables import Reference, Store
from .complexes import by_parts
from .state import given_back
from .table import EFFECTS, FOLDS, host


class _Part(OnHost):
    """A variable of which a part is seen, or numbers that stand for what it holds."""

    def __init__(self, store: Store, held: Any) -> None:
        super().__init__(store)
        self.held = held

    def value(self, given: Any) -> Any:
        """What an operation takes: where it's the variable, its part."""
        return self.held if isinstance(given, Reference) else given

    def assign(self, reference: Reference, value: Any) -> None:
        """From now on, the part has that value."""
        self.held = K.eval(value) if isinstance(value, Tensor) else np.asarray(value)


# What moves numbers, or adds them: parts of it are what it does to parts.
_CHANGING = [
    *(f"Assign{way}{by}" for way in ("Add", "Sub") for by in ("", "VariableOp")),
    *(f"{by}StridedSliceAssign" for by in ("", "Resource")),
    *(
        f"{by}Scatter{nd}{way}"
        for by in ("", "Resource")
        for nd in ("", "Nd")
        for way in ("Update", "Add", "Sub")
    ),
]


@host(*_CHANGING, references=True)
def _change(store: Store, operation: Operation, reference: Reference, *given: Any) -> Any:
    effect, variables = EFFECTS[operation.type], store.variables
    read = [variables.value(each) if isinstance(each, Reference) else each for each in given]

    def compute(part: Any, *rest: Any) -> Any:
        lowering = _Part(store, part)
        effect(lowering, operation, reference, *rest)
        return lowering.held

    values = [variables.value(reference), *map(np.asarray, read)]
    variables.begin(reference, by_parts(operation, compute, values))
    return given_back(operation, reference)


@host("ResourceGather ResourceGatherNd")
def _gather(store: Store, operation: Operation, reference: Reference, at: Any) -> Any:
    held = store.variables.value(reference)
    return FOLDS[operation.type.removeprefix("Resource")](operation, held, np.asarray(at))
