"""Shapes of what lookup tables give."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..graph import PASSING
from .notation import table
from .rules import UNKNOWN, shape_of

if TYPE_CHECKING:
    from ..graph import Operation, Shape


table(
    """
    LookupTableSize LookupTableSizeV2 HashTableV2 MutableHashTableV2 MutableHashTableOfTensorsV2
        MutableDenseHashTableV2 : -> ()
    """
)


def _entry(operation: Operation) -> tuple[Shape, Shape]:
    """The shapes of a table's keys and values, whose handle an operation takes first."""
    source, _ = operation.inputs[0]
    while source.type in PASSING and source.inputs:
        source, _ = source.inputs[0]
    if not source.type.endswith("V2"):
        return None, None
    keys: Shape = ()
    if source.type == "MutableDenseHashTableV2":
        maker, index = source.inputs[0]
        keys = maker.shapes[index]
    return keys, tuple(source.attribute("value_shape") or ())


@shape_of("LookupTableFindV2")
def _find(operation: Operation, given: list[Shape]) -> Shape:
    keys, values = _entry(operation)
    if keys is None or values is None or given[1] is None:
        return None
    return given[1][: len(given[1]) - len(keys)] + values


@shape_of("LookupTableExportV2")
def _export(operation: Operation, given: list[Shape]) -> list[Shape]:
    _, values = _entry(operation)
    return [(UNKNOWN,), None if values is None else (UNKNOWN, *values)]
