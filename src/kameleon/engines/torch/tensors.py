"""From NumPy arrays to tensors of PyTorch, and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from ...graph.ir.program import Graph
from ...graph.ir.types import DTYPES, DType, TensorType
from .._codegen.fixed_arity import between_arrays

Tensor = torch.Tensor

TORCH: dict[str, torch.dtype] = {name: getattr(torch, name) for name in DTYPES}
NAMES: dict[torch.dtype, DType] = {TORCH[name]: dtype for name, dtype in DTYPES.items()}
# Storage dtypes: PyTorch stores the unsigned ones, but computes little with them.
STORAGE = {"uint16": "int16", "uint32": "int32", "uint64": "int64"}

TYPE: Any = torch.Tensor
ARRAY = np.ndarray


def shared(array: Any) -> Tensor:
    """A tensor over the memory of a NumPy array; over a copy, where that can't be shared."""
    if type(array) is ARRAY and array.flags.writeable:
        try:
            return torch.from_numpy(array)
        except (TypeError, ValueError):  # for the array's dtype or strides
            pass
    array = np.asarray(array)
    bits = array.dtype.name == "bfloat16"  # a package's dtype; PyTorch takes NumPy's own alone
    if bits:
        array = array.view(np.int16)
    plain = np.dtype(array.dtype.name)  # in the machine's order; no other C type as long
    array = array.view(plain) if array.dtype.isnative else array.astype(plain)
    if not array.flags.writeable or (array.size and any(s < 0 for s in array.strides)):
        array = array.copy()
    tensor = torch.from_numpy(array)
    return tensor.view(torch.bfloat16) if bits else tensor


def as_tensor(value: Any, device: torch.device) -> Tensor:
    """An argument on the device; a NumPy array shares its memory, where that's possible."""
    tensor: Tensor = value if isinstance(value, TYPE) else shared(value)
    if tensor.requires_grad or type(tensor) is not TYPE:
        tensor = tensor.detach()
    return tensor if tensor.device == device else tensor.to(device)


def as_numpy(tensor: Any) -> Any:
    """A NumPy array over the memory of a tensor, where that is the processor's."""
    try:
        return tensor.numpy()
    except (TypeError, RuntimeError):  # `tensor` is elsewhere, asks for a gradient, or is bfloat16
        pass
    tensor = tensor.detach().cpu()
    if tensor.dtype is torch.bfloat16:
        import ml_dtypes  # the package that gives NumPy this dtype

        return tensor.view(torch.int16).numpy().view(ml_dtypes.bfloat16)
    return tensor.resolve_neg().numpy()


def between(program: Callable[..., Any], graph: Graph) -> Callable[..., list[Any] | None] | None:
    """A function that runs the program of a graph from NumPy arrays to NumPy arrays; None where
    NumPy's dtypes differ from those of the program's tensors.
    """
    if any(x.dtype in STORAGE or x.dtype == "bfloat16" for x in (*graph.inputs, *graph.outputs)):
        return None
    return between_arrays(
        graph,
        "{made} = program({given})",
        given="share({}) if {}.flags.writeable else copy({})",
        refusals=(TypeError, ValueError),  # by how elements lie: strides below zero, say
        made="{}.numpy()",
        program=program,
        share=torch.from_numpy,
        copy=shared,
    )


def type_of(value: Any) -> TensorType | None:
    """The type of a dense tensor; None for anything else."""
    if not isinstance(value, TYPE) or value.layout is not torch.strided:
        return None
    dtype = NAMES.get(value.dtype)
    return None if dtype is None else TensorType(tuple(value.shape), dtype)
