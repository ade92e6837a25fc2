"""Large products of matrices by oneDNN, where PyTorch's own library for them is half as fast.

That library is MKL, which leaves AVX-512 unused on AMD's processors. Calling oneDNN takes ten
microseconds, so small products are PyTorch's everywhere.
"""

from __future__ import annotations

from functools import cache
from math import prod
from pathlib import Path
from typing import Any

import torch

from ..._utils.private import Private
from ...graph.ir.node import Node

Tensor = torch.Tensor
# Multiplications from which oneDNN is faster.
LARGE = 2**20


def _linear(a: Tensor, b: Tensor, row: Tensor | None = None) -> Tensor:
    """a @ b + row"""
    multiply = torch.ops.mkldnn._linear_pointwise.default
    found: Tensor = multiply(a, b.t(), row, "none", [], "")
    return found


def _multiplies() -> bool:
    a, b = torch.arange(6.0).reshape(2, 3), torch.arange(12.0).reshape(4, 3).t()
    row = torch.arange(4.0)
    return torch.equal(_linear(a, b, row), a @ b + row) and torch.equal(_linear(a, b), a @ b)


LINEAR = Private("PyTorch", "`mkldnn::_linear_pointwise`", _multiplies)


@cache
def leaves_avx512_unused() -> bool:
    """Whether PyTorch's own products are as slow as said above, on this machine."""
    has_mkl = torch.backends.mkl.is_available()  # type: ignore[no-untyped-call]
    cpu = Path("/proc/cpuinfo")
    is_wide = torch.backends.cpu.get_cpu_capability() == "AVX512"
    return has_mkl and is_wide and cpu.exists() and "AuthenticAMD" in cpu.read_text("utf-8")


def may_be_large(node: Node) -> bool:
    """Whether a contraction is a product of matrices that oneDNN may compute faster."""
    if node.attrs["batch"][0] or node.dtype != "float32":
        return False
    dims = [*node.operands[0].shape, node.shape[-1]]
    large = None in dims or prod(dims) >= LARGE  # type: ignore[arg-type]
    return large and leaves_avx512_unused() and LINEAR.holds


def _is_large(a: Tensor, b: Tensor) -> bool:
    return a.numel() * b.shape[1] >= LARGE


def large_dot(a: Tensor, b: Tensor, out: Tensor | None = None) -> Tensor:
    """a @ b"""
    if not _is_large(a, b):
        return torch.mm(a, b, out=out)
    found = _linear(a, b)
    return found if out is None else out.copy_(found)


def large_addmm(x: Tensor, a: Tensor, b: Tensor, out: Tensor | None = None) -> Tensor:
    """x + a @ b, where x may be a row or a number."""
    if not _is_large(a, b):
        return torch.addmm(x, a, b, out=out)
    is_row = x.dim() == 1 and x.shape[0] == b.shape[1]
    found = _linear(a, b, x if is_row else None)
    if is_row:
        return found if out is None else out.copy_(found)
    return found.add_(x) if out is None else torch.add(found, x, out=out)


KERNELS: dict[str, Any] = {"large_dot": large_dot, "large_addmm": large_addmm}
