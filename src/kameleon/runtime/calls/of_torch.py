"""Functions of PyTorch tensors."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import get_ident
from typing import Any

import numpy as np
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from ...engines.torch.tensors import as_numpy
from ...errors import ArgumentError
from ...graph.ir.types import DTYPES, TensorType
from .library import Function, Library, Values
from .results import Results

TORCH: dict[str, torch.dtype] = {name: getattr(torch, name) for name in DTYPES}
NAMES = {kind: DTYPES[name] for name, kind in TORCH.items()}


class TorchLibrary(Library):
    """PyTorch: abstract evaluation by fake tensors, gradients by autograd."""

    name, title = "torch", "PyTorch"

    def run(
        self, function: Function, arrays: Sequence[np.ndarray], results: Results, pure: bool
    ) -> tuple[np.ndarray, ...]:
        """See `Library.run`. A function with effects gets copies, which it may keep."""
        given = [_tensor(x if pure and x.flags.writeable else x.copy()) for x in arrays]
        with torch.no_grad():
            found = results.listed(function(*given))
        return results.arrays([as_numpy(x) if isinstance(x, torch.Tensor) else x for x in found])

    def evaluate(self, function: Function, given: Sequence[TensorType]) -> Any:
        """See `Library.evaluate`.

        Raises:
            ArgumentError: the function changes an argument.
        """
        from torch.fx.experimental.symbolic_shapes import ShapeEnv  # late: it takes long to load

        fake = FakeTensorMode(shape_env=ShapeEnv(), allow_non_fake_inputs=True)
        with _unlogged(FakeTensorMode.__module__), fake, torch.no_grad():
            known: Any = [(t.shape, TORCH[t.dtype]) for t in given]
            xs = [torch.empty(shape, dtype=dtype) for shape, dtype in known]
            found = function(*xs)
        for number, x in enumerate(xs):
            if x._version:
                raise ArgumentError(
                    f"it changes its argument {number} in place, which may be the memory of a"
                    " variable: let it change a clone"
                )
        return found

    def type_of(self, value: Any) -> TensorType | None:
        """See `Library.type_of`. Sizes that follow from values aren't known."""
        if not isinstance(value, torch.Tensor) or value.layout is not torch.strided:
            return None
        shape = tuple(d if type(d) is int else None for d in value.shape)
        return TensorType(shape, NAMES[value.dtype]) if value.dtype in NAMES else None

    def own(self, value: Any, type: TensorType) -> Any:
        """See `Library.own`. Memory of its own: what's compiled writes into results in place."""
        return torch.as_tensor(value).detach().clone(memory_format=torch.contiguous_format)

    def pull(self, function: Function, xs: Values, gs: Values, held: Values) -> Values:
        """See `Library.pull`. Where an argument asks for gradients, this is differentiated, too."""
        asking = any(x.requires_grad for x in (*xs, *gs, *held))
        nested = torch.is_grad_enabled() and asking
        with torch.enable_grad():
            # A tensor of its own for each argument, which may be given twice.
            leaves = [x.view_as(x) if nested and x.requires_grad else x.detach() for x in xs]
            for x in leaves:
                x.requires_grad_()
            pairs = [(y, g) for y, g in zip(function(*leaves), gs, strict=True) if y.requires_grad]
            if not pairs:
                return [torch.zeros_like(x) for x in leaves]
            parts = torch.autograd.grad(
                [y for y, _ in pairs],
                leaves,
                [g for _, g in pairs],
                create_graph=nested,
                allow_unused=True,
            )
        return [torch.zeros_like(x) if p is None else p for p, x in zip(parts, leaves, strict=True)]


@contextmanager
def _unlogged(name: str) -> Iterator[None]:
    """Keep what a logger says in this thread to itself: that a function can't do with some sizes,
    which are tried.
    """
    here, logger = get_ident(), logging.getLogger(name)

    def of_others(record: logging.LogRecord) -> bool:
        return record.thread != here

    logger.addFilter(of_others)
    try:
        yield
    finally:
        logger.removeFilter(of_others)


def _tensor(array: np.ndarray) -> torch.Tensor:
    """A tensor over the memory of a writable array, where PyTorch takes it."""
    if array.dtype.name == "bfloat16":
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    try:
        return torch.from_numpy(array)
    except (TypeError, ValueError):  # for the array's strides, or the order of its bytes
        return torch.from_numpy(np.array(array, array.dtype.newbyteorder("="), order="C"))


library = TorchLibrary()
