"""Large tensors' memory used again: see `kernels.buffers`.

PyTorch has an allocator of its own for accelerators, but takes the processor's memory from the
system, and pays for fresh pages each time.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from ..._private import Private
from ...kernels.buffers import SMALLEST, Buffers
from .tensors import TORCH, TYPE

_buffers = Buffers()


def empty(shape: Sequence[int], dtype: str) -> torch.Tensor:
    """A tensor on the processor with any content; over memory given before, if some fits."""
    kind = TORCH[dtype]
    size = math.prod(shape) * kind.itemsize
    if size >= SMALLEST:
        storage = _buffers.take(size)
        if storage is not None:
            array: Any = torch.empty(0, dtype=kind, device="cpu")
            return array.set_(storage, 0, tuple(shape))  # type: ignore[no-any-return]
    return torch.empty(shape, dtype=kind, device="cpu")


def give(tensor: Any) -> None:
    """Keep the memory of `tensor` for reuse, if the caller's variable is the only one left."""
    if type(tensor) is not TYPE or not tensor.is_cpu or not COUNTS.holds:
        return
    if _is_alone(tensor):
        storage = tensor.untyped_storage()
        size = storage.nbytes()
        if size >= SMALLEST:
            _buffers.keep(size, storage)


def _is_alone(tensor: Any) -> bool:
    """Whether a caller's caller's variable is the only one to hold a tensor and its memory.

    Memory that NumPy has seen has a fixed size.
    """
    if sys.getrefcount(tensor) > _REFERENCES or tensor._use_count() > 1:
        return False
    storage = tensor.untyped_storage()
    if sys.getrefcount(storage) > _REFERENCES_OF_STORAGE:
        return False
    # One user is the tensor, the other one `storage`.
    return storage.resizable() and _storage_users(storage._cdata) == 2


def give_all(tensors: list[Any]) -> None:
    """`give` each of a list that is the only one to hold them; the list is emptied."""
    while tensors:
        tensor = tensors.pop()
        give(tensor)


def clear() -> None:
    """Free all that is kept."""
    _buffers.clear()


def held() -> int:
    """How many bytes are kept."""
    return _buffers.held


# Counting references ---------------------------------------------------------------------------


def _storage_users(handle: int) -> int:
    """How many tensors use a storage."""
    users: int = torch._C._storage_Use_Count(handle)
    return users


def _count_references() -> tuple[int, int]:
    """What `_is_alone` counts for a tensor in one variable, and for its storage."""
    counts = []

    def given(tensor: Any) -> None:
        counted(tensor)

    def counted(tensor: Any) -> None:
        storage = tensor.untyped_storage()
        counts.append((sys.getrefcount(tensor), sys.getrefcount(storage)))

    tensor = torch.empty(1, device="cpu")
    given(tensor)
    return counts[0]


_REFERENCES, _REFERENCES_OF_STORAGE = _count_references()


def _counts_tell() -> bool:
    """Whether a tensor is known to be alone where it is, and only there."""

    def is_taken(tensor: Any) -> bool:
        return _is_alone(tensor)

    def is_taken_beside(holder: Callable[[Any], Any]) -> bool:
        tensor = torch.empty((4,), dtype=torch.float32, device="cpu")
        held = holder(tensor)
        return is_taken(tensor) and held is not None

    def saved(x: Any) -> Any:  # by autograd, in no Python object
        with torch.enable_grad():
            return x * torch.ones(4, device="cpu", requires_grad=True)

    holders: list[Callable[[Any], Any]] = [lambda x: x[1:], lambda x: x.view(2, 2), saved]
    holders += [lambda x: x.untyped_storage(), torch.Tensor.detach, torch.Tensor.numpy]
    holders += [np.from_dlpack, lambda x: [x]]
    return is_taken_beside(str) and not any(map(is_taken_beside, holders))


COUNTS = Private("PyTorch", "use counts of tensors and storages", _counts_tell)
