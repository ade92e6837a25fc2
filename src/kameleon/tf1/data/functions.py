"""Functions of a dataset's elements, as programs give them to `map` and its like."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...backend import surface as K
from ...backend.functions import BackendFunction
from ...ir.leaves import INPUT
from ...ir.node import Node, walk
from .elements import Spec, flat, mapped, packed, spec_of, tensor_of
from .run import Run


class GraphFunction:
    """A function of tensors, built once and run for each element, on the embedded engine.

    Attributes:
        result: what the function gives, a nest of tensors, or a dataset.
        spec: the types of the result's parts, where it's no dataset.
        captured: inputs of the graph around it: their values are those at the time when an
            iterator is initialised.
    """

    def __init__(
        self, function: Callable[..., Any], spec: Any, unpack: bool = True, name: str = "args_0"
    ):
        types: list[Spec] = flat(spec)
        self.parameters: list[Any] = [
            K.placeholder(s.shape, dtype=s.dtype, name=name) for s in types
        ]
        given = packed(spec, self.parameters)
        found = function(*given) if unpack and isinstance(given, tuple) else function(given)
        if isinstance(found, list):  # of a function that gives several results
            found = tuple(found)
        self.is_dataset = hasattr(found, "elements")
        self.result = found if self.is_dataset else mapped(tensor_of, found)
        self.outputs: list[Any] = found.tensors if self.is_dataset else flat(self.result)
        self.spec = None if self.is_dataset else mapped(spec_of, self.result)
        self.captured = captured(self.outputs, self.parameters)
        self._code: BackendFunction[Any] | None = None

    def __call__(self, run: Run, parts: Sequence[Any]) -> list[Any]:
        """The values of `outputs` for an element."""
        if self._code is None:
            inputs = [*self.parameters, *self.captured]
            self._code = K.function(inputs, self.outputs, engine="numpy")
        found: list[Any] = self._code([*parts, *(run.values[x] for x in self.captured)])
        return found


def captured(outputs: Sequence[Any], parameters: Sequence[Any]) -> list[Node]:
    """The inputs that tensors need, but for some."""
    given = set(parameters)
    leaves = (n for n in walk([x for x in outputs if isinstance(x, Node)], given))
    return [
        n for n in leaves
        if n.primitive is INPUT and n not in given and "supply" not in vars(n)
        and not hasattr(n, "default")
    ]  # fmt: skip
