"""Convolutions of float32 as exact as products of matrices.

By default PyTorch rounds the operands of convolutions to TF32 (10 bits) on GPUs, and those of
products not. Here one setting decides for both: that of products, which users know from
`torch.set_float32_matmul_precision`.
"""

from __future__ import annotations

from threading import Lock
from types import TracebackType
from typing import Any

import torch

_ROUNDED, _FULL = "tf32", "ieee"


class _Setting:
    """PyTorch's setting for convolutions, of one of the two kinds that its versions have."""

    def __init__(self) -> None:
        self.owner: Any = getattr(torch.backends.cudnn, "conv", None)

    def read(self) -> str:
        """What holds now."""
        if self.owner is not None:
            return str(self.owner.fp32_precision)
        return _ROUNDED if torch.backends.cudnn.allow_tf32 else _FULL

    def write(self, precision: str) -> None:
        """From now on."""
        if self.owner is not None:
            self.owner.fp32_precision = precision
        else:
            torch.backends.cudnn.allow_tf32 = precision == _ROUNDED


class _AsProducts:
    """While it's entered, by any number of threads, convolutions are computed like products."""

    def __init__(self) -> None:
        self._setting, self._lock = _Setting(), Lock()
        self._inside, self._before = 0, _FULL

    def __enter__(self) -> None:
        with self._lock:
            if not self._inside:
                self._before = self._setting.read()
                exact = torch.get_float32_matmul_precision() == "highest"
                self._setting.write(_FULL if exact else _ROUNDED)
            self._inside += 1

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside:
                self._setting.write(self._before)


AS_PRODUCTS = _AsProducts()
