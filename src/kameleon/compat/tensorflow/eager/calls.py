"""Calls of functions whose bodies are graphs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..dtypes import shown
from ..failures import failure
from ..graph import Graph, LibraryFunction
from ..library import body_of
from ..running.prepared import call_body
from .tensors import result

if TYPE_CHECKING:
    from .context import Context


class Called:
    """A function that runs at once.

    Attributes:
        counts: that each output is one tensor.
    """

    def __init__(self, context: Context, function: LibraryFunction) -> None:
        self._store, self._name = context.store, function.name
        self._graph = Graph()
        self._graph.functions = context.functions
        self._takes = [each.type for each in function.signature.input_arg]
        self._gives = [each.type for each in function.signature.output_arg]
        self.counts = [None] * len(self._gives)

    def __call__(self, tensors: list[Any]) -> list[Any]:
        """What the function gives for tensors."""
        for place, (one, each) in enumerate(zip(self._takes, tensors, strict=True)):
            if one != each._number:
                message = (
                    f"cannot compute {self._name} as input #{place}(zero-based) was expected to be"
                    f" a {shown(one)} tensor but is a {shown(each._number)} tensor"
                )
                raise failure("INVALID_ARGUMENT", message)
        body = body_of(self._graph, self._name)
        found = call_body(self._store, body, [each._value for each in tensors])
        return [result(value, kind) for value, kind in zip(found, self._gives, strict=True)]
