"""`tf.contrib.metrics`: the functions of `tf.metrics`, which take the predictions first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...backend import surface as K
from ...backend._tensors import as_tensor
from . import metrics, thresholds

_STREAMED = {**metrics.FUNCTIONS, **{f.__name__: f for f in (thresholds.auc,)}}
# Those of one tensor of values, whose arguments are in the same order.
_OF_VALUES = ("mean", "mean_tensor", "percentage_below")


def _predictions_first(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(predictions: Any, labels: Any, *rest: Any, **options: Any) -> Any:
        return function(labels, predictions, *rest, **options)

    call.__name__ = f"streaming_{function.__name__}"
    return call


def accuracy(predictions: Any, labels: Any, weights: Any = None, name: str | None = None) -> Any:
    """The share of predictions that equal the labels, of this batch alone."""
    what = "tf.contrib.metrics.accuracy"
    held = K.cast(K.equal(as_tensor(predictions, what), as_tensor(labels, what)), "float32")
    if weights is None:
        return K.mean(held)
    share = metrics.weights_of(weights, held)
    return K.sum(held * share) / K.sum(K.ones_like(held) * share)


NAMES: dict[str, Any] = {"contrib.metrics.accuracy": accuracy}
PLAIN: dict[str, Any] = {
    f"contrib.metrics.streaming_{name}": function
    if name in _OF_VALUES
    else _predictions_first(function)
    for name, function in _STREAMED.items()
}
