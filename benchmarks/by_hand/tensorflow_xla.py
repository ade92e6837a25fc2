"""The workloads in TensorFlow, compiled by XLA."""

from __future__ import annotations

from . import tensorflow
from .tensorflow import SIDES, pin

__all__ = ["SIDES", "pin"]

tensorflow.OPTIONS["jit_compile"] = True
