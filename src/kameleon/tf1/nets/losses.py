"""`tf.losses`: errors of predictions, weighted, reduced to a number and collected."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...backend import surface as K
from ...backend._tensors import as_float, as_tensor
from ...errors import ArgumentError, ShapeError
from ..graph import GraphKeys, add_to_collection, get_collection, name_scope


class Reduction:
    """How the errors of single elements become a loss."""

    NONE = "none"
    SUM = "weighted_sum"
    MEAN = "weighted_mean"
    SUM_OVER_BATCH_SIZE = "weighted_sum_over_batch_size"
    SUM_BY_NONZERO_WEIGHTS = "weighted_sum_by_nonzero_weights"
    SUM_OVER_NONZERO_WEIGHTS = SUM_BY_NONZERO_WEIGHTS

    @classmethod
    def all(cls) -> tuple[str, ...]:
        """All of them."""
        return tuple(REDUCTIONS)

    @classmethod
    def validate(cls, key: str) -> None:
        """Raise a ValueError for a name that there isn't."""
        if key not in REDUCTIONS:
            raise ArgumentError(f"Invalid Reduction Key {key}; there are {list(REDUCTIONS)}")


DEFAULT = Reduction.SUM_BY_NONZERO_WEIGHTS


def quotient(x: Any, y: Any) -> Any:
    """x / y, and 0 where y is 0."""
    some = K.not_equal(y, 0.0)
    return K.switch(some, x / K.switch(some, y, K.ones_like(y)), K.zeros_like(x))


def stretched(weights: Any, values: Any) -> Any:
    """Weights in the shape of the values, which they must fit: by rank, each axis equal or 1."""
    rank, own = len(values.shape), len(weights.shape)
    fits = own == 0 or (
        own == rank
        and all(
            n is None or m is None or n in (m, 1)
            for n, m in zip(weights.shape, values.shape, strict=True)
        )
    )
    if not fits:
        raise ShapeError(
            f"weights can not be broadcast to values: weights of shape {weights.shape}, values of"
            f" shape {values.shape}"
        )
    return weights + K.zeros_like(K.cast(values, weights.dtype))


def _present(losses: Any, weights: Any) -> Any:
    return K.sum(K.cast(K.not_equal(stretched(weights, losses), 0.0), losses.dtype))


REDUCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    Reduction.NONE: lambda x, w: x,
    Reduction.SUM: lambda x, w: K.sum(x),
    Reduction.MEAN: lambda x, w: quotient(K.sum(x), K.sum(stretched(w, x))),
    Reduction.SUM_OVER_BATCH_SIZE: lambda x, w: quotient(K.sum(x), K.cast(K.size(x), x.dtype)),
    Reduction.SUM_BY_NONZERO_WEIGHTS: lambda x, w: quotient(K.sum(x), _present(x, w)),
}


def compute_weighted_loss(
    losses: Any,
    weights: Any = 1.0,
    scope: Any = None,
    loss_collection: Any = GraphKeys.LOSSES,
    reduction: str = DEFAULT,
) -> Any:
    """Errors times weights, reduced, and added to a collection."""
    Reduction.validate(reduction)
    with name_scope(scope or "weighted_loss"):
        given = as_tensor(losses, "tf.losses")
        x = as_float(given, "tf.losses")
        w = K.cast(as_tensor(weights, "tf.losses, weights"), x.dtype)
        stretched(w, x)
        loss = K.cast(REDUCTIONS[reduction](x * w, w), given.dtype)
        add_loss(loss, loss_collection)
    return loss


def add_loss(loss: Any, loss_collection: Any = GraphKeys.LOSSES) -> None:
    """Add a loss to a collection."""
    if loss_collection:
        add_to_collection(loss_collection, loss)


def get_losses(scope: str | None = None, loss_collection: Any = GraphKeys.LOSSES) -> list[Any]:
    return get_collection(loss_collection, scope)


def get_regularization_losses(scope: str | None = None) -> list[Any]:
    return get_collection(GraphKeys.REGULARIZATION_LOSSES, scope)


def get_regularization_loss(
    scope: str | None = None, name: str = "total_regularization_loss"
) -> Any:
    return _sum(get_regularization_losses(scope), name)


def get_total_loss(
    add_regularization_losses: bool = True, name: str = "total_loss", scope: str | None = None
) -> Any:
    losses = get_losses(scope)
    if add_regularization_losses:
        losses += get_regularization_losses(scope)
    return _sum(losses, name)


def _sum(losses: list[Any], name: str) -> Any:
    total = sum(losses[1:], losses[0]) if losses else K.constant(0.0)
    return K.identity(total, name=name)


# Errors of elements -----------------------------------------------------------------------------


def _pair(labels: Any, predictions: Any, what: str) -> tuple[Any, Any]:
    """Both as floats of one shape, the first one not moved by gradients' dtypes."""
    if labels is None or predictions is None:
        raise ArgumentError(f"{what}: labels and predictions must not be None.")
    p = as_float(predictions, what)
    y = K.cast(as_tensor(labels, what), p.dtype)
    fits = len(p.shape) == len(y.shape) and all(
        None in (n, m) or n == m for n, m in zip(p.shape, y.shape, strict=True)
    )
    if not fits:
        raise ShapeError(f"{what}: Shapes {p.shape} and {y.shape} are incompatible")
    return y, p


def _huber(y: Any, p: Any, delta: Any) -> Any:
    error = K.abs(p - y)
    inner = K.minimum(error, delta)
    return 0.5 * K.square(inner) + delta * (error - inner)


def absolute_difference(
    labels: Any,
    predictions: Any,
    weights: Any = 1.0,
    scope: Any = None,
    loss_collection: Any = GraphKeys.LOSSES,
    reduction: str = DEFAULT,
) -> Any:
    y, p = _pair(labels, predictions, "absolute_difference")
    scope = scope or "absolute_difference"
    return compute_weighted_loss(K.abs(p - y), weights, scope, loss_collection, reduction)


def mean_squared_error(
    labels: Any,
    predictions: Any,
    weights: Any = 1.0,
    scope: Any = None,
    loss_collection: Any = GraphKeys.LOSSES,
    reduction: str = DEFAULT,
) -> Any:
    y, p = _pair(labels, predictions, "mean_squared_error")
    scope = scope or "mean_squared_error"
    return compute_weighted_loss(K.square(p - y), weights, scope, loss_collection, reduction)


def huber_loss(
    labels: Any,
    predictions: Any,
    weights: Any = 1.0,
    delta: Any = 1.0,
    scope: Any = None,
    loss_collection: Any = GraphKeys.LOSSES,
    reduction: str = DEFAULT,
) -> Any:
    """Squares up to `delta`, a line from there."""
    y, p = _pair(labels, predictions, "huber_loss")
    errors = _huber(y, p, delta)
    return compute_weighted_loss(errors, weights, scope or "huber_loss", loss_collection, reduction)


def log_loss(
    labels: Any,
    predictions: Any,
    weights: Any = 1.0,
    epsilon: float = 1e-7,
    scope: Any = None,
    loss_collection: Any = GraphKeys.LOSSES,
    reduction: str = DEFAULT,
) -> Any:
    """-y log(p + epsilon) - (1 - y) log(1 - p + epsilon)"""
    y, p = _pair(labels, predictions, "log_loss")
    errors = -y * K.log(p + epsilon) - (1.0 - y) * K.log(1.0 - p + epsilon)
    return compute_weighted_loss(errors, weights, scope or "log_loss", loss_collection, reduction)


def cosine_distance(
    labels: Any,
    predictions: Any,
    axis: int | None = None,
    weights: Any = 1.0,
    scope: Any = None,
    loss_collection: Any = GraphKeys.LOSSES,
    reduction: str = DEFAULT,
    dim: int | None = None,
) -> Any:
    """1 - the sum of products along `axis`, of vectors that have length 1."""
    axis = dim if axis is None else axis
    if axis is None:
        raise ArgumentError("You must specify 'axis'.")
    y, p = _pair(labels, predictions, "cosine_distance")
    errors = 1.0 - K.sum(p * y, axis=axis, keepdims=True)
    scope = scope or "cosine_distance_loss"
    return compute_weighted_loss(errors, weights, scope, loss_collection, reduction)


def hinge_loss(
    labels: Any,
    logits: Any,
    weights: Any = 1.0,
    scope: Any = None,
    loss_collection: Any = GraphKeys.LOSSES,
    reduction: str = DEFAULT,
) -> Any:
    """max(0, 1 - (2 y - 1) logits), for labels of 0 and 1."""
    y, p = _pair(labels, logits, "hinge_loss")
    errors = K.relu(1.0 - (2.0 * y - 1.0) * p)
    return compute_weighted_loss(errors, weights, scope or "hinge_loss", loss_collection, reduction)


def mean_pairwise_squared_error(
    labels: Any,
    predictions: Any,
    weights: Any = 1.0,
    scope: Any = None,
    loss_collection: Any = GraphKeys.LOSSES,
) -> Any:
    """For each sample, the mean of ((a - b) - (c - d))² over pairs of its elements."""
    y, p = _pair(labels, predictions, "mean_pairwise_squared_error")
    off = p - y
    axes = list(range(1, len(off.shape)))
    w = K.cast(as_tensor(weights, "weights"), off.dtype)
    each = K.cast(K.not_equal(_by_sample(w, off), 0.0), off.dtype)
    count = K.sum(each, axis=axes, keepdims=True)
    squares = K.sum(K.square(off), axis=axes, keepdims=True)
    sums = K.square(K.sum(off, axis=axes, keepdims=True))
    first = quotient(squares, K.maximum(count - 1.0, 0.0))
    second = quotient(sums, K.maximum(count * (count - 1.0), 0.0))
    total = K.sum(2.0 * (first - second) * w)
    loss = K.switch(K.greater(K.sum(count), 0.0), total, K.zeros_like(total))
    add_loss(loss, loss_collection)
    return loss


def _by_sample(weights: Any, values: Any) -> Any:
    return weights + K.zeros_like(values)


# Cross entropies --------------------------------------------------------------------------------


def sigmoid_cross_entropy(
    multi_class_labels: Any,
    logits: Any,
    weights: Any = 1.0,
    label_smoothing: float = 0,
    scope: Any = None,
    loss_collection: Any = GraphKeys.LOSSES,
    reduction: str = DEFAULT,
) -> Any:
    """max(x, 0) - x y + log(1 + exp(-|x|)); smoothing moves labels towards 1 / 2."""
    y, x = _pair(multi_class_labels, logits, "sigmoid_cross_entropy")
    if label_smoothing > 0:
        y = y * (1 - label_smoothing) + 0.5 * label_smoothing
    errors = K.relu(x) - x * y + K.softplus(-K.abs(x))
    scope = scope or "sigmoid_cross_entropy_loss"
    return compute_weighted_loss(errors, weights, scope, loss_collection, reduction)


def softmax_cross_entropy(
    onehot_labels: Any,
    logits: Any,
    weights: Any = 1.0,
    label_smoothing: float = 0,
    scope: Any = None,
    loss_collection: Any = GraphKeys.LOSSES,
    reduction: str = DEFAULT,
) -> Any:
    """-y log softmax(x); smoothing moves labels towards equal chances."""
    y, x = _pair(onehot_labels, logits, "softmax_cross_entropy")
    if label_smoothing > 0:
        classes = K.cast(K.shape(x)[1], x.dtype)
        y = y * (1 - label_smoothing) + label_smoothing / classes
    errors = K.categorical_crossentropy(K.stop_gradient(y), x, from_logits=True)
    scope = scope or "softmax_cross_entropy_loss"
    return compute_weighted_loss(errors, weights, scope, loss_collection, reduction)


def sparse_softmax_cross_entropy(
    labels: Any,
    logits: Any,
    weights: Any = 1.0,
    scope: Any = None,
    loss_collection: Any = GraphKeys.LOSSES,
    reduction: str = DEFAULT,
) -> Any:
    """The cross entropy of classes' numbers; a last axis of size 1 goes."""
    x = as_float(logits, "sparse_softmax_cross_entropy")
    y = _squeezed(as_tensor(labels, "sparse_softmax_cross_entropy"), len(x.shape) - 1)
    errors = K.sparse_categorical_crossentropy(y, x, from_logits=True)
    w = as_tensor(weights, "weights")
    w = _squeezed(w, len(errors.shape)) if len(w.shape) else w
    scope = scope or "sparse_softmax_cross_entropy_loss"
    return compute_weighted_loss(errors, w, scope, loss_collection, reduction)


def _squeezed(x: Any, rank: int) -> Any:
    """Without a last axis of size 1, where that gives the rank."""
    return K.squeeze(x, -1) if len(x.shape) == rank + 1 and x.shape[-1] == 1 else x


FUNCTIONS = (
    compute_weighted_loss, add_loss, get_losses, get_regularization_losses,
    get_regularization_loss, get_total_loss, absolute_difference, mean_squared_error, huber_loss,
    log_loss, cosine_distance, hinge_loss, mean_pairwise_squared_error, sigmoid_cross_entropy,
    softmax_cross_entropy, sparse_softmax_cross_entropy,
)  # fmt: skip
NAMES: dict[str, Any] = {}
PLAIN: dict[str, Any] = {
    "losses.Reduction": Reduction,
    **{f"losses.{function.__name__}": function for function in FUNCTIONS},
}
