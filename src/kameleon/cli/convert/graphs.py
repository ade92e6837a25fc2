"""Graphs of TensorFlow 1 as functions: which tensors are their inputs and outputs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import kameleon
from kameleon import backend as K
from kameleon.cli.parsing import CommandError
from kameleon.errors import GraphError
from kameleon.graph.ir.context import Context, Source
from kameleon.graph.ir.node import walk
from kameleon.graph.ir.rewrite import substitute

from .sources import Asked, Original

SERVING = "serving_default"


class Ends(NamedTuple):
    """Names of tensors, by what they're called; without inputs, placeholders are these."""

    inputs: Mapping[str, str]
    outputs: Mapping[str, str]


def read(asked: Asked, folder: str) -> Original:
    """A graph's function.

    Raises:
        CommandError: it isn't clear what its outputs are.
        KameleonError: as `kameleon.load_graph`.
    """
    # No line of a program's has made them: the file stands for it in messages.
    with Context.within("source", lambda outer: Source(str(asked.path), 0, "")):
        return _function(kameleon.load_graph(asked.path), asked)


def _function(graph: Any, asked: Asked) -> Original:
    ends = _ends(graph, asked)
    given = {name: graph[tensor] for name, tensor in ends.inputs.items()}  # first: outputs use it
    outputs: list[Any] = graph.tensors(list(ends.outputs.values()))
    inputs = dict(ends.inputs) or {_plain(name): name for name in _placeholders(graph, outputs)}
    given = given or {name: graph[tensor] for name, tensor in inputs.items()}
    fed = {name: _called(name, x) for name, x in given.items()}
    renamed = substitute(outputs, dict(zip(given.values(), fed.values(), strict=True)))
    named = dict(zip(ends.outputs, renamed, strict=True))
    function = K.function(list(fed.values()), named, name=asked.path.stem)
    notes = [
        f"inputs: {', '.join(inputs.values()) or 'none'}",
        f"outputs: {', '.join(ends.outputs.values())}",
    ]
    return Original(function, asked.check, notes)


def _plain(tensor: str) -> str:
    return tensor.removesuffix(":0")


def _called(name: str, x: Any) -> Any:
    """A placeholder of that name in the place of another one; other tensors are fed as they are."""
    if x.name == f"{name}:0" or not K.is_placeholder(x):
        return x
    return K.placeholder(x.shape, dtype=x.dtype, name=name)


def _placeholders(graph: Any, outputs: Sequence[Any]) -> Iterator[str]:
    """The placeholders that outputs depend on."""
    needed = set(walk(outputs)) | set(outputs)
    for name in graph.inputs:
        with suppress(GraphError):  # one of texts, say: no output has needed it
            if graph[name] in needed:
                yield name


def _ends(graph: Any, asked: Asked) -> Ends:
    """What was asked for; else what the signature says; else the tensors that nobody takes."""
    inputs = {_plain(name): name for name in asked.inputs}
    if asked.outputs:
        return Ends(inputs, {_plain(name): name for name in asked.outputs})
    signatures = graph.signatures
    if len(signatures) == 1 or SERVING in signatures:
        chosen = signatures.get(SERVING) or next(iter(signatures.values()))
        return Ends(inputs or chosen.inputs, chosen.outputs)
    if signatures:
        listed = "".join(
            f"\n  {name}: {', '.join(each.outputs.values())}" for name, each in signatures.items()
        )
        raise CommandError(f"{asked.path} has several signatures: choose --outputs of{listed}")
    candidates = graph.outputs
    if not candidates or (graph.variables and len(candidates) > 1):
        listed = ", ".join(candidates)
        raise CommandError(
            f"{asked.path} doesn't say what its outputs are: choose them by --outputs. Nobody takes"
            f" {listed or 'no tensor'}"
        )
    return Ends(inputs, {_plain(name): name for name in candidates})
