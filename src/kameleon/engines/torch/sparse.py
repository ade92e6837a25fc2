"""Sparse times dense for the PyTorch engine: each row of the result is a weighted sum of rows."""

from __future__ import annotations

import torch

from ...kernels import sparse as embedded
from .embedded import on_numpy
from .kernels import as_index
from .tensors import as_numpy, shared

Tensor = torch.Tensor

_embedded_dot = on_numpy(embedded.sparse_dot)
# Dtypes of which PyTorch sums weighted rows.
_WEIGHED = (torch.float32, torch.float64)


def sparse_dot(indices: Tensor, values: Tensor, y: Tensor, rows: int) -> Tensor:
    """The product of a sparse matrix (rows, len(y)), given by its elements, and y: where the rows
    ascend, each row of the result is a weighted sum of a bag of rows of y.
    """
    starts = None
    if values.numel() and y.shape[1] and y.dtype in _WEIGHED:
        starts = embedded.row_starts(as_numpy(indices), (rows, len(y)))
    if starts is None:
        return _embedded_dot(indices, values, y, rows)  # type: ignore[no-any-return]
    return torch.nn.functional.embedding_bag(
        as_index(indices[:, 1]).contiguous(),
        y.contiguous(),
        shared(starts[:-1]),
        mode="sum",
        per_sample_weights=values.contiguous(),
    )
