"""`tf.contrib.losses`, and `slim.losses`: those of `tf.losses`, with the predictions first."""

from __future__ import annotations

from typing import Any

from ...backend import surface as K
from ...backend._tensors import as_tensor
from ..nets import losses as own


def sigmoid_cross_entropy(
    logits: Any, multi_class_labels: Any, weights: Any = 1.0, label_smoothing: float = 0,
    scope: Any = None,
) -> Any:  # fmt: skip
    return own.sigmoid_cross_entropy(multi_class_labels, logits, weights, label_smoothing, scope)


def softmax_cross_entropy(
    logits: Any, onehot_labels: Any, weights: Any = 1.0, label_smoothing: float = 0,
    scope: Any = None,
) -> Any:  # fmt: skip
    return own.softmax_cross_entropy(onehot_labels, logits, weights, label_smoothing, scope)


def sparse_softmax_cross_entropy(
    logits: Any, labels: Any, weights: Any = 1.0, scope: Any = None
) -> Any:
    if as_tensor(labels, "sparse_softmax_cross_entropy").type.shape[1:] == (1,):
        labels = K.squeeze(labels, 1)
    return own.sparse_softmax_cross_entropy(labels, logits, weights, scope)


def mean_squared_error(
    predictions: Any, labels: Any = None, weights: Any = 1.0, scope: Any = None
) -> Any:
    return own.mean_squared_error(labels, predictions, weights, scope)


def absolute_difference(
    predictions: Any, labels: Any = None, weights: Any = 1.0, scope: Any = None
) -> Any:
    return own.absolute_difference(labels, predictions, weights, scope)


def log_loss(
    predictions: Any, labels: Any = None, weights: Any = 1.0, epsilon: float = 1e-7,
    scope: Any = None,
) -> Any:  # fmt: skip
    return own.log_loss(labels, predictions, weights, epsilon, scope)


def cosine_distance(
    predictions: Any, labels: Any = None, axis: int | None = None, weights: Any = 1.0,
    scope: Any = None, dim: int | None = None,
) -> Any:  # fmt: skip
    return own.cosine_distance(labels, predictions, axis, weights, scope, dim=dim)


def hinge_loss(logits: Any, labels: Any = None, scope: Any = None) -> Any:
    """For each element: this one isn't reduced, and not collected."""
    return own.hinge_loss(labels, logits, 1.0, scope, None, own.Reduction.NONE)


HERE = (
    sigmoid_cross_entropy, softmax_cross_entropy, sparse_softmax_cross_entropy,
    mean_squared_error, absolute_difference, log_loss, cosine_distance, hinge_loss,
)  # fmt: skip
SAME = (
    own.add_loss, own.get_losses, own.get_total_loss, own.get_regularization_losses,
    own.compute_weighted_loss,
)  # fmt: skip
NAMES: dict[str, Any] = {}
PLAIN: dict[str, Any] = {f"contrib.losses.{f.__name__}": f for f in (*HERE, *SAME)}
