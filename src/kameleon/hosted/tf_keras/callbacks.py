"""`tf.keras.callbacks`: arguments that Keras 2.3.1 lacks."""

from __future__ import annotations

import os
from typing import Any

import keras.callbacks as theirs

from .logs import other_name


class ModelCheckpoint(theirs.ModelCheckpoint):  # type: ignore[misc]
    """Saves the model now and then.

    Args:
        filepath: may hold `{epoch}` and names of logs.
        monitor: by which the best is told.
        verbose: 1 to say so.
        save_best_only: whether a worse model is left out.
        save_weights_only: whether weights alone are saved.
        mode: 'auto', 'min' or 'max'.
        save_freq: 'epoch', or after how many samples (TensorFlow 1.15) or batches (2.2); both are
            counted in samples of `fit` here where the batches' size is known.
        kwargs: `period`, in epochs; `load_weights_on_restart`.
    """

    def __init__(
        self, filepath: Any, monitor: str = "val_loss", verbose: int = 0,
        save_best_only: bool = False, save_weights_only: bool = False, mode: str = "auto",
        save_freq: Any = "epoch", **kwargs: Any,
    ) -> None:  # fmt: skip
        self.load_weights_on_restart = kwargs.pop("load_weights_on_restart", False)
        kwargs.pop("options", None)
        super().__init__(
            os.fspath(filepath), monitor, verbose, save_best_only, save_weights_only, mode,
            kwargs.pop("period", 1), **kwargs,
        )  # fmt: skip
        if save_freq != "epoch" and not isinstance(save_freq, int):
            raise ValueError(f"Unrecognized save_freq: {save_freq}")
        self.save_freq, self._seen = save_freq, 0
        self._epoch = 0

    def on_train_begin(self, logs: Any = None) -> None:
        """Take what was saved before, if asked for."""
        if self.load_weights_on_restart and os.path.exists(self.filepath):
            self.model.load_weights(self.filepath)

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """Remember the epoch."""
        self._epoch = epoch

    def on_batch_end(self, batch: int, logs: Any = None) -> None:
        """Save after so many samples."""
        if self.save_freq == "epoch":
            return
        self._seen += (logs or {}).get("size", 1)
        if self._seen >= self.save_freq:
            self._seen = 0
            super().on_epoch_end(self._epoch, both_names(logs))

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Save after an epoch."""
        if self.save_freq == "epoch":
            super().on_epoch_end(epoch, both_names(logs))


def both_names(logs: Any) -> dict[str, Any]:
    """Logs with each metric under both of its names."""
    found = dict(logs or {})
    others = {other_name(key): value for key, value in found.items()}
    return {**{key: value for key, value in others.items() if key is not None}, **found}


NAMES: dict[str, Any] = {"callbacks.ModelCheckpoint": ModelCheckpoint}
