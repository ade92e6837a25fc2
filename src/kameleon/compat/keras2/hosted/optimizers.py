"""Optimizers of `tf.train` as optimizers of Keras."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from keras import backend as K
from keras.legacy import interfaces
from keras.optimizers import Optimizer


class TFOptimizer(Optimizer):  # type: ignore[misc]
    """An optimizer in the manner of TensorFlow 1's `tf.train`, as one of Keras.

    As with the original, it has neither weights nor a configuration that a file could hold.

    Args:
        optimizer: has `compute_gradients(loss, var_list=…)`, which gives pairs (gradient,
            variable), and `apply_gradients(pairs)`, which gives the updates.
    """

    def __init__(self, optimizer: Any) -> None:
        self.optimizer = optimizer
        with K.name_scope(type(self).__name__):
            self.iterations = K.variable(0, dtype="int64", name="iterations")

    @interfaces.legacy_get_updates_support  # type: ignore[untyped-decorator]
    def get_updates(self, loss: Any, params: Any) -> list[Any]:
        """The updates of one step, that of `iterations` first."""
        pairs = self.optimizer.compute_gradients(loss, var_list=params)
        updates = _flat(self.optimizer.apply_gradients(pairs))
        self.updates = [K.update_add(self.iterations, 1), *updates]
        return self.updates

    @property
    def weights(self) -> Any:
        """The optimizer that is wrapped tells nobody of its state."""
        raise NotImplementedError

    def get_config(self) -> dict[str, Any]:
        """The optimizer that is wrapped has no configuration."""
        raise NotImplementedError

    @classmethod
    def from_config(cls, config: Any) -> Any:
        """There is no configuration."""
        raise NotImplementedError


def _flat(updates: Any) -> Iterator[Any]:
    """The updates in a nest of lists."""
    if isinstance(updates, list):
        for each in updates:
            yield from _flat(each)
    elif updates is not None:
        yield updates


def is_of_tensorflow(identifier: Any) -> bool:
    """Whether this is an optimizer in the manner of `tf.train`."""
    return (
        not isinstance(identifier, (Optimizer, type))
        and callable(getattr(identifier, "compute_gradients", None))
        and callable(getattr(identifier, "apply_gradients", None))
    )


def set_rate(optimizer: Any, rate: Any) -> None:
    """`optimizer.lr = rate`: a number is put into the variable, as TensorFlow's own Keras does."""
    known = getattr(optimizer, "learning_rate", None)
    if K.is_variable(known) and isinstance(rate, int | float | np.number):
        K.set_value(known, rate)
    else:
        optimizer.learning_rate = rate
