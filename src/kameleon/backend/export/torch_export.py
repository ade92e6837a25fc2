"""Compiled functions as programs of PyTorch's in files: `.pt2`, by `torch.export`."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from itertools import cycle
from typing import Any

import torch

from ..._utils import files
from ...engines._kernels.arrays import mismatch
from ...engines.torch.tensors import TORCH
from ...errors import EngineError, UnsupportedError
from ...graph.ir.node import Node
from ..interop.pure import Stateless
from ..interop.torch_module import hold, names_of
from ..interop.torch_tracing import traced, untraceable
from .examples import roots_of
from .refusals import refusal

Tensor = torch.Tensor

# Sizes that stand for unknown ones while PyTorch follows the program: each for a group of them that
# must be equal; then one for all, tried in turn. A program may need sizes that windows fit into
# again and again, or that a number divides.
APART = (60, 48, 36, 24, 12)
ALIKE = (30, 16, 7)

RELOAD = """
import numpy
import torch


def _tensor(array):
    array = numpy.asarray(array)
    if array.dtype.name == "bfloat16":
        return torch.from_numpy(array.astype("float32")).to(torch.bfloat16)
    return torch.from_numpy(array.copy())

def _array(tensor):
    tensor = tensor.detach()
    return (tensor.float() if tensor.dtype == torch.bfloat16 else tensor).numpy()

def load(path):
    module = torch.no_grad()(torch.export.load(path).module())
    return lambda arrays: [_array(y) for y in module(*map(_tensor, arrays))]
"""


def write(program: Stateless, path: str) -> None:
    """Write a function as a program of `torch.export`'s, with dynamic dimensions for unknown sizes.

    `torch.export.load(path).module()` takes a tensor for each input and gives a tuple: the outputs,
    then new values of variables that the function updates, which it doesn't keep. Sizes of inputs
    that meet must be equal: none is stretched from 1. Float variables
    that aren't updated are parameters, others are buffers. The state of a random stream, too, is a
    buffer (seed and counter, as int64): each call draws anew. Gradients are PyTorch's own. Checks
    and what is printed are left out.

    Args:
        program: the function.
        path: the file; one that exists is replaced.

    Raises:
        UnsupportedError: a node isn't made of PyTorch's functions; names the line.
        EngineError: `torch.export` can't follow the program.
    """
    node = untraceable(program.pure(equal=True).graph)
    if node is not None:
        why = "it isn't made of PyTorch's functions"
        raise UnsupportedError(refusal("torch.export", node, why))
    made, data = exported(program), io.BytesIO()
    made.example_inputs = None  # the file would hold these
    torch.export.save(made, data)
    files.replace(path, data.getvalue())


def exported(program: Stateless) -> Any:
    """The function as a `torch.export.ExportedProgram`.

    Raises:
        EngineError: `torch.export` can't follow the program.
    """
    failure: Exception | None = None
    for shapes in _examples(program):
        try:
            return _exported(Program(program), program.inputs, shapes)
        except Exception as error:
            failure = failure or error
    notes = "".join(f"\n{note}" for note in getattr(failure, "__notes__", ()))
    raise EngineError(
        f"{program.name}.export: torch.export can't follow the program\n  {failure}{notes}"
    ) from failure


def _examples(program: Stateless) -> Iterator[list[list[int]]]:
    """Shapes that inputs may have."""
    roots = roots_of(program)
    groups = dict.fromkeys(d for shape in roots for d in shape if not isinstance(d, int))
    known = dict(zip(groups, cycle(APART), strict=False))
    yield [[known.get(d, d) for d in shape] for shape in roots]
    for size in ALIKE if groups else ():
        yield [[size if d is None else d for d in x.shape] for x in program.inputs]


def _exported(
    module: torch.nn.Module, inputs: Sequence[Node], shapes: Sequence[Sequence[int]]
) -> Any:
    pairs = zip(shapes, inputs, strict=True)
    examples = tuple(torch.empty(shape, dtype=TORCH[x.dtype]) for shape, x in pairs)
    kinds = torch.export.Dim
    dynamic = tuple(
        {i: kinds.DYNAMIC if d is None else kinds.STATIC for i, d in enumerate(x.shape)}
        for x in inputs
    )
    shapes_of = (dynamic,) if inputs else ()
    return torch.export.export(module, examples, dynamic_shapes=shapes_of, strict=False)


class Program(torch.nn.Module):
    """A function that gives the new values of variables behind its outputs."""

    def __init__(self, program: Stateless):
        super().__init__()
        self._run = traced(program.pure(equal=True).graph, torch.device("cpu"), program.name)
        self._guard = program.function.guard
        self._fixed = [x.shape for x in program.function.constants.values()]
        self._names = names_of(program)
        self._variables = len(program.variables)
        hold(self, program, self._names)

    def forward(self, *inputs: Tensor) -> tuple[Tensor, ...]:
        """Outputs and new values."""
        shapes = [*(x.shape for x in inputs), *self._fixed]
        if self._guard is not None and not self._guard.holds(shapes):
            mismatch()
        held = [getattr(self, name) for name in self._names]
        variables, keys = held[: self._variables], held[self._variables :]
        results = self._run(*inputs, *variables, *(x.to(torch.uint32) for x in keys))
        for key in keys:
            key[1].add_(1)
        return tuple(results)
