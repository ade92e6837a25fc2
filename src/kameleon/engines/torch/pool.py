"""Large tensors' memory used again: see `engines._code.buffers`.

PyTorch has an allocator of its own for accelerators, but takes the processor's memory from the
system, and pays for fresh pages each time.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import Any

import torch

from .._code.buffers import SMALLEST, Buffers
from .tensors import KINDS, TYPE

_buffers = Buffers()
# How many tensors use a storage; tells whether giving one back is safe.
_storage_users = getattr(torch._C, "_storage_Use_Count", None)
_can_count = _storage_users is not None and hasattr(torch.Tensor, "_use_count")


def empty(shape: Sequence[int], dtype: str) -> torch.Tensor:
    """A tensor on the processor with any content; over memory given before, if some fits."""
    kind = KINDS[dtype]
    size = math.prod(shape) * kind.itemsize
    if size >= SMALLEST:
        storage = _buffers.take(size)
        if storage is not None:
            array: Any = torch.empty(0, dtype=kind, device="cpu")
            return array.set_(storage, 0, tuple(shape))  # type: ignore[no-any-return]
    return torch.empty(shape, dtype=kind, device="cpu")


def give(tensor: Any) -> None:
    """Keep the memory of `tensor` for reuse, if the caller's variable is the only one left."""
    if type(tensor) is not TYPE or not tensor.is_cpu or not _can_count:
        return
    if sys.getrefcount(tensor) > _REFERENCES or tensor._use_count() > 1:
        return
    storage = tensor.untyped_storage()
    size = storage.nbytes()
    # One user is the tensor, the other one `storage`. Memory that NumPy has seen has a fixed size.
    users: int = _storage_users(storage._cdata)  # type: ignore[misc]
    if size >= SMALLEST and storage.resizable() and users == 2:
        _buffers.keep(size, storage)


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


def _count_references() -> int:
    """What `give` counts for a tensor in one variable."""
    counts = []

    def probe(tensor: Any) -> None:
        counts.append(sys.getrefcount(tensor))

    tensor = torch.empty(1, device="cpu")
    probe(tensor)
    return counts[0]


_REFERENCES = _count_references()
