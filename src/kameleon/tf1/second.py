"""Names that TensorFlow 2 has and 1.15 hasn't, or that programs of both have for its modes.

There's no eager mode: a function under `tf.function` is the function itself, whose results are
tensors of the graph; a strategy's scope is one device.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np

from ..backend import surface as K
from ..backend._tensors import as_tensor
from ..compat.tensorflow.arithmetic.special import erf
from ..errors import UnsupportedError
from . import tensors as ts


def function(func: Callable[..., Any] | None = None, *_: Any, **options: Any) -> Any:
    """The function itself, or a decorator that gives it."""
    return func if func is not None else lambda given: given


def run_functions_eagerly(run_eagerly: bool) -> None:
    """Nothing, for False.

    Raises:
        UnsupportedError: True: there's no eager mode.
    """
    if run_eagerly:
        raise UnsupportedError(
            "tf.config.run_functions_eagerly(True): a tensor has no value before its graph runs;"
            " leave the call out, and take values by K.eval, K.function or a session"
        )


def gelu(features: Any, approximate: bool = False, name: str | None = None) -> Any:
    """`x Φ(x)`, by the normal distribution function Φ, or an approximation of it by tanh.

    Source: Hendrycks & Gimpel, "Gaussian Error Linear Units" (2016).
    """
    x = as_tensor(features, "tf.nn.gelu")
    if approximate:
        return 0.5 * x * (1.0 + K.tanh(np.sqrt(2.0 / np.pi) * (x + 0.044715 * K.pow(x, 3))))
    return 0.5 * x * (1.0 + erf(x / np.sqrt(2.0)))


def silu(features: Any, name: str | None = None) -> Any:
    """`x · sigmoid(x)`."""
    x = as_tensor(features, "tf.nn.silu")
    return x * K.sigmoid(x)


class OneDevice:
    """A strategy that places all work on one device: the engine's."""

    num_replicas_in_sync = 1
    extended: Any = None

    def __init__(self, *_: Any, **options: Any) -> None:
        pass

    def scope(self) -> Any:
        """A block in which nothing is otherwise."""
        return nullcontext(self)


STRATEGIES = "MirroredStrategy OneDeviceStrategy Strategy experimental.CentralStorageStrategy"

NAMES: dict[str, Any] = {"nn.gelu": gelu, "nn.silu": silu}
PLAIN: dict[str, Any] = {
    "function": function,
    "autograph.experimental.do_not_convert": function,
    "random.set_seed": ts.set_random_seed,
    "config.run_functions_eagerly": run_functions_eagerly,
    "config.experimental_run_functions_eagerly": run_functions_eagerly,
    "config.set_visible_devices": lambda devices, device_type=None: None,
    **{f"distribute.{name}": OneDevice for name in STRATEGIES.split()},
    "distribute.get_strategy": OneDevice,
}
