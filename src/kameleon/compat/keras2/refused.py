"""What Keras refuses to backends whose name isn't "tensorflow", and where its own code needs
TensorFlow: the same, on Kameleon.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any

from ..._utils.around import Function, around
from .shims import StandIn

HOSTED = "kameleon.compat.keras2.hosted"  # the package of what takes the place of Keras's own


def serve_metrics(metrics: ModuleType) -> None:
    """Give Keras a `MeanIoU`, and let `Precision` and `Recall` take `top_k`.

    Args:
        metrics: `keras.metrics`.
    """
    ours = import_module(f"{HOSTED}.metrics")
    vars(metrics)["MeanIoU"] = ours.MeanIoU
    # Once the module has run, its classes ask for the name to refuse `top_k`, and for nothing else.
    vars(metrics)["K"] = StandIn(vars(metrics)["K"], {"backend": lambda: "tensorflow"})
    vars(import_module("keras.utils.metrics_utils"))["filter_top_k"] = ours.filter_top_k


def serve_optimizers(optimizers: ModuleType) -> None:
    """Give Keras a `TFOptimizer`, and let learning rates be set.

    Args:
        optimizers: `keras.optimizers`.
    """
    ours = import_module(f"{HOSTED}.optimizers")
    vars(optimizers)["TFOptimizer"] = ours.TFOptimizer
    optimizers.Optimizer.lr = optimizers.Optimizer.lr.setter(ours.set_rate)


@around
def optimizer(theirs: Function, identifier: Any) -> Any:
    """`keras.optimizers.get`; optimizers of `tf.train` serve, too, wrapped in a `TFOptimizer`."""
    ours = import_module(f"{HOSTED}.optimizers")
    wraps = ours.is_of_tensorflow(identifier)
    return ours.TFOptimizer(identifier) if wraps else theirs(identifier)


def serve_tensorboard(module: ModuleType) -> None:
    """Fill `keras.callbacks.tensorboard_v1` with the callback that needs no TensorFlow."""
    vars(module)["TensorBoard"] = import_module(f"{HOSTED}.tensorboard").TensorBoard


@around
def multi_gpu_model(
    theirs: Function, model: Any, gpus: Any = None, cpu_merge: bool = True,
    cpu_relocation: bool = False,
) -> Any:  # fmt: skip
    """The model itself: an engine places its own work."""
    count = len(gpus) if isinstance(gpus, (list, tuple)) else gpus
    if count is not None and count <= 1:
        raise ValueError(f"multi_gpu_model: gpus={gpus!r} are no two or more")
    return model
