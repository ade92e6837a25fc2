"""Values that libraries follow, to differentiate or to compile what is computed of them.

A compiled function takes numbers: what a library would follow ends there. None of this imports a
library: where it isn't imported, nothing is its.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
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


def _is_keras_symbol(value: Any) -> bool:
    """Whether Keras 3 builds a model with this value; the original Keras has no such class."""
    tensor = getattr(sys.modules.get("keras"), "KerasTensor", None)
    return isinstance(tensor, type) and isinstance(value, tensor)


def _is_of_tensorflow_graph(value: Any) -> bool:
    """Whether TensorFlow 2 traces with this value, for `tf.function`."""
    ask = getattr(sys.modules.get("tensorflow"), "is_symbolic_tensor", None)
    return ask is not None and bool(ask(value))


# Values without numbers: what they are, and what takes them.
SYMBOLIC: tuple[tuple[Callable[[Any], bool], str, str], ...] = (
    (is_tracer, "a tracer of JAX", "to_jax(function) makes a function for jax.jit, grad and vmap"),
    (_is_keras_symbol, "a symbolic tensor of Keras 3", "to_keras3(function) makes a layer"),
    (
        _is_of_tensorflow_graph,
        "a symbolic tensor of TensorFlow",
        "to_tensorflow(function) makes a module that tf.function and GradientTape go through",
    ),
)


def symbolic(value: Any) -> tuple[str, str] | None:
    """What a value is that has no numbers yet, and which function of `kameleon` takes it; None for
    any other.
    """
    return next(((what, remedy) for test, what, remedy in SYMBOLIC if test(value)), None)
