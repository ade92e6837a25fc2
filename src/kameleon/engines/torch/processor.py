"""Whether MKL, PyTorch's library for products and functions, leaves AVX-512 unused here."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import torch


@cache
def amd_family() -> int | None:
    """The family of an AMD processor with AVX-512, on which PyTorch uses MKL; None elsewhere."""
    has_mkl = torch.backends.mkl.is_available()  # type: ignore[no-untyped-call]
    cpu = Path("/proc/cpuinfo")
    if not has_mkl or torch.backends.cpu.get_cpu_capability() != "AVX512" or not cpu.exists():
        return None
    family = re.search(r"AuthenticAMD\ncpu family\s*: (\d+)", cpu.read_text("utf-8"))
    return family and int(family[1])
