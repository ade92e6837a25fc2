"""Names in ONNX models: the program's own, unique, and what the format allows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import onnx

from ..._utils.names import identifier, untaken
from ..interop.pure import KEY, Stateless


class Names(NamedTuple):
    """Names that are unique and valid, for each part of a program.

    Attributes:
        inputs, variables, keys, outputs: as they stand in the program.
        state: of the variables that are updated.
        new: of their new values.
        drawn: of the keys of the next call.
    """

    inputs: list[str]
    variables: list[str]
    keys: list[str]
    outputs: list[str]
    state: list[str]
    new: list[str]
    drawn: list[str]

    @property
    def updates(self) -> dict[str, str]:
        """By the name of an input, the output that a loop feeds back for it."""
        return dict(zip([*self.state, *self.keys], [*self.new, *self.drawn], strict=True))


def names_of(program: Stateless) -> Names:
    """Names of letters, digits and underlines, which the format asks for; each has a number behind
    it where it's taken.
    """
    taken: set[str] = set()

    def given(wanted: str) -> str:
        name = untaken(identifier(wanted), taken)
        taken.add(name)
        return name

    inputs = [given(x.name[:-2]) for x in program.inputs]
    variables = [given(name) for name in program.names]
    keys = [given(KEY) for _ in program.sources]
    outputs = [given(name) for name in _output_names(program)]
    state = [variables[i] for i in program.updated]
    new = [given(f"{name}_new") for name in state]
    return Names(
        inputs, variables, keys, outputs, state, new, [given(f"{name}_new") for name in keys]
    )


def _output_names(program: Stateless) -> list[str]:
    """The keys of dicts that outputs stand in; else the names of tensors."""
    tensors = program.function.outputs
    paths = program.paths
    return [path or x.name[:-2] for path, x in zip(paths, tensors, strict=True)]


def rename(graph: onnx.GraphProto, names: Mapping[str, str]) -> None:
    """Give values other names, also in the bodies of loops and conditions."""
    for value in (*graph.input, *graph.output, *graph.value_info, *graph.initializer):
        value.name = names.get(value.name, value.name)
    for line in graph.node:
        line.input[:] = [names.get(x, x) for x in line.input]
        line.output[:] = [names.get(x, x) for x in line.output]
        for attribute in line.attribute:
            if attribute.HasField("g"):
                rename(attribute.g, names)
