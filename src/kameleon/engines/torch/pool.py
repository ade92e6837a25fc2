"""Large tensors' memory used again: see `engines._kernels.pool`.

PyTorch has an allocator of its own for accelerators, but takes the processor's memory from the
system, and pays for fresh pages each time.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from .._kernels.buffers import SMALLEST
from .._kernels.pool import Pool
from .tensors import TORCH


def empty(shape: Sequence[int], dtype: str) -> torch.Tensor:
    """A tensor on the processor with any content; over memory given back, if some fits."""
    kind = TORCH[dtype]
    size = math.prod(shape) * kind.itemsize
    if size >= SMALLEST:
        storage = POOL.take(size)
        if storage is not None:
            array: Any = torch.empty(0, dtype=kind, device="cpu")
            return array.set_(storage, 0, tuple(shape))  # type: ignore[no-any-return]
    return torch.empty(shape, dtype=kind, device="cpu")


def _is_own(tensor: Any, storage: Any) -> bool:
    """Whether a tensor's memory is the processor's, and no C++ code holds tensor or memory.

    Memory that NumPy has seen has a fixed size. The memory's users are the tensor and `storage`.
    """
    if not tensor.is_cpu or tensor._use_count() > 1:
        return False
    users: int = torch._C._storage_Use_Count(storage._cdata)
    return storage.resizable() and users == 2


def _saved(x: Any) -> Any:
    """A tensor for whose gradient autograd holds x, in C++ alone."""
    with torch.enable_grad():
        return x * torch.ones(4, device="cpu", requires_grad=True)


POOL = Pool(
    ("PyTorch", "use counts of tensors and storages"),
    sample=lambda: torch.empty((4,), dtype=torch.float32, device="cpu"),
    owner=torch.Tensor.untyped_storage,
    size=torch.UntypedStorage.nbytes,
    is_own=_is_own,
    holders=(
        *(lambda x: x[1:], lambda x: x.view(2, 2), _saved, lambda x: x.untyped_storage()),
        *(torch.Tensor.detach, torch.Tensor.numpy, np.from_dlpack, lambda x: [x]),
    ),
)
give = POOL.give
COUNTS = POOL.counts
