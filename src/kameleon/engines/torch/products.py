"""Large products of matrices by oneDNN, where PyTorch's own library for them is slower.

That library is MKL, which leaves AVX-512 unused on AMD's processors. Calling oneDNN takes ten
microseconds, so small products are PyTorch's everywhere.
"""

from __future__ import annotations

import re
from functools import cache
from math import inf, prod
from pathlib import Path
from typing import Any

import torch

from ..._utils.private import Private
from ...graph.ir.node import Node

Tensor = torch.Tensor
# By family of AMD's processors, the multiplications from which oneDNN is faster. Those of the first
# compute AVX-512 in halves, which gains a tenth; on others it's twice as fast.
LARGE = {25: 2**22}
LARGE_ELSEWHERE = 2**20


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
def amd_family() -> int | None:
    """The family of an AMD processor with AVX-512, on which PyTorch uses MKL; None elsewhere."""
    has_mkl = torch.backends.mkl.is_available()  # type: ignore[no-untyped-call]
    cpu = Path("/proc/cpuinfo")
    if not has_mkl or torch.backends.cpu.get_cpu_capability() != "AVX512" or not cpu.exists():
        return None
    family = re.search(r"AuthenticAMD\ncpu family\s*: (\d+)", cpu.read_text("utf-8"))
    return family and int(family[1])


def least() -> float:
    """The multiplications from which oneDNN is faster on this machine."""
    family = amd_family()
    return inf if family is None else LARGE.get(family, LARGE_ELSEWHERE)


def may_be_large(node: Node) -> bool:
    """Whether a contraction is a product of matrices that oneDNN may compute faster."""
    if node.attrs["batch"][0] or node.dtype != "float32":
        return False
    dims = [*node.operands[0].shape, node.shape[-1]]
    large = None in dims or prod(dims) >= least()  # type: ignore[arg-type]
    return large and amd_family() is not None and LINEAR.holds


def _is_large(a: Tensor, b: Tensor) -> bool:
    return a.numel() * b.shape[1] >= least()


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
