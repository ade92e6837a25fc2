"""Sparse times dense for the PyTorch engine: each row of the result is a weighted sum of rows."""

from __future__ import annotations

import torch

from ...kernels import sparse as embedded
from .embedded import on_numpy
from .kernels import as_index, within_range
from .tensors import as_numpy, shared

Tensor = torch.Tensor

_embedded_dot = on_numpy(embedded.sparse_dot)
# Dtypes of which PyTorch sums weighted rows.
_WEIGHED = (torch.float32, torch.float64)


def sparse_dot(indices: Tensor, values: Tensor, y: Tensor, rows: int) -> Tensor:
    """The product of a sparse matrix (rows, len(y)), given by its elements, and y: each row of the
    result is a weighted sum of a bag of rows of y.
    """
    if not values.numel() or not y.shape[1] or y.dtype not in _WEIGHED:
        row, column = map(as_index, indices.unbind(1))
        return y.new_zeros((rows, y.shape[1])).index_add_(0, row, values[:, None] * y[column])
    if y.is_cpu:
        found = embedded.row_starts(as_numpy(indices), (rows, len(y)))
        if found is not None:
            return _weighed(indices[:, 1], values, y, shared(found[:-1]))
        if embedded.compiled():  # in a third of the time that sorting takes
            return _embedded_dot(indices, values, y, rows)  # type: ignore[no-any-return]
    within_range(indices[:, 0], rows)
    within_range(indices[:, 1], len(y))
    row, order = torch.sort(indices[:, 0], stable=True)
    starts = torch.searchsorted(row, torch.arange(rows, device=row.device))
    return _weighed(indices[order, 1], values[order], y, starts)


def _weighed(column: Tensor, values: Tensor, y: Tensor, starts: Tensor) -> Tensor:
    """Bags of rows of y, with weights; where in `column` each bag starts."""
    summed: Tensor = torch.nn.functional.embedding_bag(
        as_index(column).contiguous(),
        y.contiguous(),
        starts,
        mode="sum",
        per_sample_weights=values.contiguous(),
    )
    return summed
