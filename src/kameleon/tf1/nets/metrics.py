"""`tf.metrics`: what's computed over many batches, in local variables that each batch updates.

A function gives the value so far, and the operation that counts a batch and gives the value then.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ...backend import surface as K
from ...backend._tensors import as_float, as_tensor
from ...prims.indexing import scatter_add
from ..graph import GraphKeys, get_default_graph
from ..scopes import variable_scope
from ..variables import made
from .losses import quotient, stretched

Pair = tuple[Any, Any]


def metric_variable(shape: Any, dtype: Any = "float32", name: str | None = None) -> Any:
    """A local variable of zeros."""
    keys = (GraphKeys.LOCAL_VARIABLES, GraphKeys.METRIC_VARIABLES)
    return made(np.zeros(tuple(shape), dtype), False, keys, name)


def added(name: str, increment: Any) -> Pair:
    """A local variable, and its sum with an increment."""
    variable = metric_variable(K.int_shape(increment), increment.dtype, name)
    return variable, K.update_add(variable, increment)


def streamed(
    sums: Mapping[str, Any],
    result: Callable[..., Any],
    metrics_collections: Any = None,
    updates_collections: Any = None,
) -> Pair:
    """The value and the update of a metric.

    Args:
        sums: by the name of a local variable, what a batch adds to it.
        result: makes the value from the variables, in their order.
        metrics_collections, updates_collections: to which value and update are added.
    """
    pairs = [added(name, increment) for name, increment in sums.items()]
    value = result(*(K.identity(variable) for variable, _ in pairs))
    update = result(*(new for _, new in pairs))
    return collected(value, update, metrics_collections, updates_collections)


def collected(value: Any, update: Any, metrics: Any, updates: Any) -> Pair:
    """Both, added to collections."""
    for keys, x in ((metrics, value), (updates, update)):
        if keys:
            get_default_graph().add_to_collections(keys, x)
    return value, update


def weights_of(weights: Any, values: Any) -> Any:
    """Weights in the shape of the values: as they are, or with axes of size 1 behind."""
    if weights is None:
        return K.ones_like(values)
    w = K.cast(as_tensor(weights, "tf.metrics, weights"), values.dtype)
    missing = len(values.shape) - len(w.shape)
    if len(w.shape) and missing == 1:
        w = K.expand_dims(w, -1)
    return stretched(w, values)


def _floats(x: Any) -> Any:
    return K.cast(as_tensor(x, "tf.metrics"), "float32")


def _alike(labels: Any, predictions: Any) -> Pair:
    """Both without last axes of size 1 that one of them has more than the other."""
    y, p = as_tensor(labels, "tf.metrics"), as_tensor(predictions, "tf.metrics")
    if len(p.shape) == len(y.shape) + 1 and p.shape[-1] == 1:
        p = K.squeeze(p, -1)
    elif len(y.shape) == len(p.shape) + 1 and y.shape[-1] == 1:
        y = K.squeeze(y, -1)
    return y, p


# Means --------------------------------------------------------------------------------------------


def _mean(
    name: str, scope: str | None, values: Any, weights: Any, metrics: Any, updates: Any,
    change: Callable[[Any], Any] = lambda x: x,
) -> Pair:  # fmt: skip
    with variable_scope(scope, name):
        x = _floats(values)
        w = weights_of(weights, x)
        sums = {"total": K.sum(x * w), "count": K.sum(w)}
        return streamed(sums, lambda t, n: change(quotient(t, n)), metrics, updates)


def mean(
    values: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Pair:
    return _mean("mean", name, values, weights, metrics_collections, updates_collections)


def mean_tensor(
    values: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Pair:
    """The mean of each element."""
    with variable_scope(name, "mean"):
        x = _floats(values)
        w = weights_of(weights, x)
        sums = {"total_tensor": x * w, "count_tensor": w}
        return streamed(sums, quotient, metrics_collections, updates_collections)


def accuracy(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Pair:
    y, p = _alike(labels, predictions)
    right = K.equal(K.cast(y, p.dtype), p)
    return _mean("accuracy", name, right, weights, metrics_collections, updates_collections)


def mean_absolute_error(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Pair:
    y, p = _alike(labels, predictions)
    name = name or "mean_absolute_error"
    return mean(K.abs(p - y), weights, metrics_collections, updates_collections, name)


def mean_squared_error(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Pair:
    y, p = _alike(labels, predictions)
    name = name or "mean_squared_error"
    return mean(K.square(p - y), weights, metrics_collections, updates_collections, name)


def root_mean_squared_error(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Pair:
    y, p = _alike(labels, predictions)
    return _mean(
        "root_mean_squared_error", name, K.square(p - y), weights, metrics_collections,
        updates_collections, K.sqrt,
    )  # fmt: skip


def mean_relative_error(
    labels: Any,
    predictions: Any,
    normalizer: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Pair:
    """The mean of errors over `normalizer`; 0 where that is 0."""
    y, p = _alike(labels, predictions)
    errors = quotient(K.abs(y - p), as_float(normalizer, "normalizer"))
    name = name or "mean_relative_error"
    return mean(errors, weights, metrics_collections, updates_collections, name)


def mean_cosine_distance(
    labels: Any,
    predictions: Any,
    dim: int,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Pair:
    """1 - the mean of the sums of products along `dim`."""
    y, p = _alike(labels, predictions)
    return _mean(
        "mean_cosine_distance", name, K.sum(y * p, axis=dim, keepdims=True), weights,
        metrics_collections, updates_collections, lambda x: 1.0 - x,
    )  # fmt: skip


def percentage_below(
    values: Any,
    threshold: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Pair:
    below = K.less(_floats(values), threshold)
    name = name or "percentage_below_threshold"
    return mean(below, weights, metrics_collections, updates_collections, name)


# Counts -------------------------------------------------------------------------------------------

# By name, whether the label and whether the prediction is true.
CELLS = {
    "true_positives": (True, True),
    "false_positives": (False, True),
    "true_negatives": (False, False),
    "false_negatives": (True, False),
}


def cell(name: str, y: Any, p: Any) -> Any:
    """0 and 1: where labels and predictions are as the name says."""
    wanted = CELLS[name]
    parts = [x if true else 1.0 - x for x, true in zip((y, p), wanted, strict=True)]
    return parts[0] * parts[1]


def _bools(labels: Any, predictions: Any) -> Pair:
    y, p = _alike(labels, predictions)
    return _floats(K.cast(y, "bool")), _floats(K.cast(p, "bool"))


def _counted(name: str, y: Any, p: Any, weights: Any) -> Pair:
    with variable_scope(None, name):
        held = cell(name, y, p)
        return added("count", K.sum(held * weights_of(weights, held)))


def _counting(name: str) -> Callable[..., Pair]:
    def call(
        labels: Any,
        predictions: Any,
        weights: Any = None,
        metrics_collections: Any = None,
        updates_collections: Any = None,
        name: str | None = None,
    ) -> Pair:
        y, p = _bools(labels, predictions)
        with variable_scope(name, cell_name):
            held = cell(cell_name, y, p)
            value, update = added("count", K.sum(held * weights_of(weights, held)))
            value = K.identity(value)
            return collected(value, update, metrics_collections, updates_collections)

    cell_name = name
    call.__name__ = name
    return call


def _part_of(name: str, other: str) -> Callable[..., Pair]:
    """True positives over their sum with another count."""

    def call(
        labels: Any,
        predictions: Any,
        weights: Any = None,
        metrics_collections: Any = None,
        updates_collections: Any = None,
        name: str | None = None,
    ) -> Pair:
        with variable_scope(name, own_name):
            y, p = _bools(labels, predictions)
            right, right_new = _counted("true_positives", y, p, weights)
            wrong, wrong_new = _counted(other, y, p, weights)
            value = quotient(K.identity(right), right + wrong)
            update = quotient(right_new, right_new + wrong_new)
            return collected(value, update, metrics_collections, updates_collections)

    own_name = name
    call.__name__ = name
    return call


# Classes ------------------------------------------------------------------------------------------


def mean_iou(
    labels: Any,
    predictions: Any,
    num_classes: int,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Pair:
    """The mean, over classes that occur, of intersections over unions; the update gives counts."""
    with variable_scope(name, "mean_iou"):
        y, p = (K.reshape(K.cast(x, "int64"), (-1,)) for x in _alike(labels, predictions))
        w = K.ones_like(y, "float64")
        if weights is not None:
            w = w * K.reshape(K.cast(as_tensor(weights, "weights"), "float64"), (-1,))
        counts = scatter_add(w, y * num_classes + p, num_classes * num_classes, 0)
        counts = K.reshape(counts, (num_classes, num_classes))
        matrix, update = added("total_confusion_matrix", counts)
        rows, columns = (K.cast(K.sum(matrix, axis=i), "float32") for i in (0, 1))
        both = K.cast(K.sum(matrix * np.eye(num_classes), axis=0), "float32")
        union = rows + columns - both
        occurring = K.sum(K.cast(K.not_equal(union, 0.0), "float32"))
        value = quotient(K.sum(quotient(both, union)), occurring)
        return collected(value, update, metrics_collections, updates_collections)


def mean_per_class_accuracy(
    labels: Any,
    predictions: Any,
    num_classes: int,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Pair:
    """The mean over classes of the share of their samples that's found; the update gives each."""
    with variable_scope(name, "mean_accuracy"):
        y, p = (K.reshape(K.cast(x, "int64"), (-1,)) for x in _alike(labels, predictions))
        right = K.cast(K.equal(y, p), "float32")
        w = K.ones_like(right)
        if weights is not None:
            w = w * K.reshape(_floats(weights), (-1,))
        sums = {
            "total": scatter_add(w, y, num_classes, 0),
            "count": scatter_add(right * w, y, num_classes, 0),
        }
        pairs = [added(key, increment) for key, increment in sums.items()]
        (total, total_new), (found, found_new) = pairs
        value, update = K.mean(quotient(found, total)), quotient(found_new, total_new)
        return collected(value, update, metrics_collections, updates_collections)


FUNCTIONS: dict[str, Any] = {
    **{
        function.__name__: function
        for function in (
            mean, mean_tensor, accuracy, mean_absolute_error, mean_squared_error,
            root_mean_squared_error, mean_relative_error, mean_cosine_distance, percentage_below,
            mean_iou, mean_per_class_accuracy,
        )
    },
    **{name: _counting(name) for name in CELLS},
    "precision": _part_of("precision", "false_positives"),
    "recall": _part_of("recall", "false_negatives"),
}  # fmt: skip
NAMES: dict[str, Any] = {}
PLAIN: dict[str, Any] = {
    **{f"metrics.{name}": function for name, function in FUNCTIONS.items()},
    "python.ops.metrics_impl.metric_variable": metric_variable,
}
