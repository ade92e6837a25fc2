"""The embedded engine's kernels over tensors: what PyTorch has no functions for, or slower ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from .._kernels.quiet import quiet
from ..numpy.namespace import NAMESPACE as NUMPY
from .tensors import as_numpy, shared

# Primitives borrowed on the processor; elsewhere, and in bfloat16, which NumPy can't compute with,
# expanded.
BORROWED = ("linear_scan one_hot patches random_bits random_fold sparse_dense_dot").split()


def on_numpy(function: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel of the embedded engine over tensors: its arrays share the tensors' memory."""

    def run(*arguments: Any) -> Any:
        device = next(x.device for x in arguments if isinstance(x, torch.Tensor))
        given = [as_numpy(x) if isinstance(x, torch.Tensor) else x for x in arguments]
        return _tensors(function(*given), device)

    return run


def _tensors(value: Any, device: torch.device) -> Any:
    if isinstance(value, tuple | list):
        return tuple(_tensors(v, device) for v in value)
    return None if value is None else shared(value).to(device)


def called(callee: Any, device: torch.device, *tensors: Any) -> Any:
    """The results of a function of Python, given PyTorch's tensors or NumPy arrays."""
    if callee.library.name == "torch":
        return callee.on_own(*tensors)
    return _tensors(callee.on_host(*map(as_numpy, tensors)), device)


_product = on_numpy(np.matmul)


def _int_product(a: Any, b: Any, out: Any = None) -> Any:
    """The product of matrices, or of batches of them."""
    found = _product(a, b)
    return found if out is None else out.copy_(found)


# What lines name. Random bits take a hundred short steps, each of which costs PyTorch much more.
KERNELS: dict[str, Callable[..., Any]] = {
    **{
        name: on_numpy(quiet(NUMPY[name]))
        for name in (
            "beam_search fold_in greedy_decode linear_scan max_pool one_hot patches pool_pick "
            "random_bits remainder sparse_dot unpool"
        ).split()
    },
    "int_product": _int_product,
    "called": called,
}
