"""Values that libraries follow, to differentiate or to compile what is computed of them.

A compiled function takes numbers: what a library would follow ends there. None of this imports a
library: where it isn't imported, nothing is its.
"""

from __future__ import annotations

import sys
from typing import Any


def is_tracer(value: Any) -> bool:
    """Whether JAX traces with this value: inside of `jax.jit`, `jax.grad`, `jax.vmap` …"""
    jax = sys.modules.get("jax")
    return jax is not None and isinstance(value, jax.core.Tracer)


def asks_for_gradient(value: Any) -> bool:
    """Whether PyTorch records what is computed of this value, to differentiate it."""
    if not getattr(value, "requires_grad", False):
        return False
    torch: Any = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor) and torch.is_grad_enabled()
