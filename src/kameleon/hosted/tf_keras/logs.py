"""Losses and metrics of an epoch, as TensorFlow gives them, found under both of their names.

Those of training come first, then those of validation; losses are float64, metrics float32.
TensorFlow 1 calls accuracy `acc` (and `val_acc`), TensorFlow 2 `accuracy`; it calls what a program
named `mae` by its function, `mean_absolute_error`. A program that asks for the other name gets the
same numbers.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any

import numpy as np
from keras.callbacks import Callback, callbacks

PAIRS = (
    ("accuracy", "acc"),
    ("crossentropy", "ce"),
    ("mean_absolute_error", "mae"),
    ("mean_squared_error", "mse"),
    ("mean_absolute_percentage_error", "mape"),
    ("mean_squared_logarithmic_error", "msle"),
)


def other_name(name: Any) -> Any:
    """The name that the other TensorFlow has for a metric.

    >>> other_name("val_acc"), other_name("head_accuracy"), other_name("loss")
    ('val_accuracy', 'head_acc', None)
    """
    for long, short in PAIRS if isinstance(name, str) else ():
        for known, other in ((long, short), (short, long)):
            before, found, after = name.rpartition(known)
            if found and not after and (not before or before.endswith("_")):
                return before + other
    return None


class Logs(dict[str, Any]):
    """A dict in which a metric is found under both names."""

    def __missing__(self, key: Any) -> Any:
        other = other_name(key)
        if other is not None and other in self.keys():
            return dict.__getitem__(self, other)
        raise KeyError(key)

    def __bool__(self) -> bool:
        return True  # Keras says `logs or {}`, and fills them later

    def get(self, key: Any, default: Any = None) -> Any:
        """The value of a key, or the default."""
        try:
            return self[key]
        except KeyError:
            return default

    def __contains__(self, key: Any) -> bool:
        return super().__contains__(key) or super().__contains__(other_name(key))


VALIDATED = "val_"


def scalars(values: Iterable[Any]) -> list[Any]:
    """A loss and the metrics behind it: of float64, and of float32."""
    first, *rest = values
    return [np.float64(first), *map(np.float32, rest)]


def arrange(logs: dict[str, Any]) -> None:
    """Put the losses and metrics of validation behind those of training."""
    validated = {key: logs.pop(key) for key in list(logs) if key.startswith(VALIDATED)}
    for key, value in validated.items():
        logs[key] = np.float64(value) if key == f"{VALIDATED}loss" else np.float32(value)


class Losses(Callback):  # type: ignore[misc]
    """Notes the losses of tested batches. Keras 2.3.1 gives that of the last one for all."""

    def __init__(self) -> None:
        super().__init__()
        self.values: list[float] = []

    def on_test_batch_end(self, batch: int, logs: Any = None) -> None:
        """Note that of a batch."""
        self.values.append(float(logs["loss"]))

    def mean(self) -> float:
        """The mean over all batches, whatever their sizes."""
        return float(np.mean(self.values))


def install() -> None:
    """Give callbacks such logs. A second call does nothing."""
    kind = callbacks.CallbackList
    if hasattr(kind.on_epoch_end, "gives_both_names"):
        return
    callbacks.BaseLogger.on_epoch_end = _arranging(callbacks.BaseLogger.on_epoch_end)
    for name in ("on_epoch_begin", "on_epoch_end"):
        setattr(kind, name, _with_logs(getattr(kind, name)))
    theirs = kind._call_batch_hook

    def _call_batch_hook(self: Any, mode: Any, hook: Any, batch: Any, logs: Any = None) -> None:
        theirs(self, mode, hook, batch, logs if isinstance(logs, Logs) else Logs(logs or {}))

    kind._call_batch_hook = _call_batch_hook


def _arranging(theirs: Any) -> Any:
    @functools.wraps(theirs)
    def on_epoch_end(self: Any, epoch: int, logs: Any = None) -> None:
        theirs(self, epoch, logs)
        arrange(logs)

    return on_epoch_end


def _with_logs(theirs: Any) -> Any:
    def on_epoch(self: Any, epoch: int, logs: Any = None) -> None:
        theirs(self, epoch, Logs(logs or {}))

    on_epoch.__name__, on_epoch.__doc__ = theirs.__name__, theirs.__doc__
    vars(on_epoch)["gives_both_names"] = True
    return on_epoch
