"""`tf.keras.metrics`: classes that Keras 2.3.1 lacks, and what a program's own metric may do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras.metrics as theirs
from keras import backend as K
from keras.metrics import Metric
from keras.utils.generic_utils import deserialize_keras_object

from ...tf1.variables import watched
from . import base, own
from .losses import is_config


def _update_state(method: Callable[..., Any]) -> Callable[..., Any]:
    def update_state(self: Any, *args: Any, **kwargs: Any) -> Any:
        found, heard = watched(lambda: method(self, *args, **kwargs))
        return heard if heard else found

    return own.like(method, update_state)


def add_weight(
    self: Any,
    name: str | None = None,
    shape: Any = (),
    aggregation: Any = None,
    synchronization: Any = None,
    initializer: Any = None,
    dtype: Any = None,
) -> Any:
    """A variable of the metric's state."""
    kind = base.dtype_name(dtype) or self.dtype
    return base.add_weight(
        self, name, shape, kind, initializer=initializer or "zeros", trainable=False
    )


def install() -> None:
    """Let metrics that a program writes assign in `update_state`. A second call does nothing."""
    own.WRAPPED_IN[Metric] = {"update_state": _update_state}
    Metric.add_weight = add_weight


class MeanRelativeError(theirs.Mean):  # type: ignore[misc]
    """The mean of `|label - prediction| / normalizer`.

    Args:
        normalizer: of the labels' shape; where it's 0, the error counts as 0.
    """

    def __init__(self, normalizer: Any, name: str | None = None, dtype: Any = None) -> None:
        super().__init__(name=name, dtype=dtype)
        self.normalizer = normalizer

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        """Add the errors of a batch."""
        by = K.constant(self.normalizer)
        zero = K.equal(by, 0.0)
        errors = K.abs(y_true - y_pred) / K.switch(zero, K.ones_like(by), by)
        some = K.cast(K.not_equal(by, 0.0), K.floatx())
        return super().update_state(errors * some, sample_weight=sample_weight)

    def get_config(self) -> dict[str, Any]:
        """The arguments that make such a metric again."""
        return {**super().get_config(), "normalizer": self.normalizer}


class MeanTensor(Metric):  # type: ignore[misc]
    """The mean of a tensor's elements, each by itself."""

    def __init__(self, name: str = "mean_tensor", dtype: Any = None) -> None:
        super().__init__(name=name, dtype=dtype)
        self.total: Any = None

    def update_state(self, values: Any, sample_weight: Any = None) -> Any:
        """Add a tensor."""
        if self.total is None:
            shape = K.int_shape(values)
            self.total = self.add_weight("total", shape=shape)
            self.count = self.add_weight("count", shape=shape)
        ones = K.ones_like(values)
        if sample_weight is not None:
            ones = ones * K.cast(sample_weight, K.floatx())
        return [K.update_add(self.total, values * ones), K.update_add(self.count, ones)]

    def result(self) -> Any:
        """The means; 0 where nothing was added."""
        return self.total / K.maximum(self.count, K.epsilon())


def deserialize(config: Any, custom_objects: Any = None) -> Any:
    """The metric of a name or a configuration."""
    known = {"MeanRelativeError": MeanRelativeError, "MeanTensor": MeanTensor}
    return deserialize_keras_object(
        config, {**vars(theirs), **known}, custom_objects, "metric function"
    )


def get(identifier: Any) -> Any:
    """A metric: the one that is given, or that of a name or configuration."""
    if isinstance(identifier, str) or is_config(identifier):
        return deserialize(identifier)
    return theirs.get(identifier)


# Metrics that Keras 2.3.1 has without a default name, or that some call by other names.
NAMES: dict[str, Any] = {
    "metrics.get": get,
    "metrics.deserialize": deserialize,
    "metrics.MeanRelativeError": MeanRelativeError,
    "metrics.MeanTensor": MeanTensor,
    "metrics.KLD": theirs.kullback_leibler_divergence,
    "metrics.kld": theirs.kullback_leibler_divergence,
}
