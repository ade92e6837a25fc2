"""`tf.metrics` over several thresholds, and of the k best classes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...backend import surface as K
from ...backend._tensors import as_tensor
from ...errors import ArgumentError
from ...prims.indexing import top_k
from ..scopes import variable_scope
from .losses import quotient
from .metrics import CELLS, Pair, added, cell, collected, weights_of

TINY = 1e-7  # added to divisors


def _cells_at(
    labels: Any, predictions: Any, thresholds: Sequence[float], weights: Any, names: Sequence[str]
) -> list[Pair]:
    """For each of these counts, its variable and the update: one element by threshold."""
    p = as_tensor(predictions, "tf.metrics")
    y = K.cast(K.cast(as_tensor(labels, "tf.metrics"), "bool"), "float32")
    w = weights_of(weights, K.cast(p, "float32"))
    limits = K.constant(np.asarray(thresholds, "float32").reshape(-1, 1))
    above = K.cast(K.greater(K.reshape(p, (1, -1)), limits), "float32")
    held = {name: cell(name, K.reshape(y, (1, -1)), above) for name in names}
    return [added(name, K.sum(x * K.reshape(w, (1, -1)), axis=1)) for name, x in held.items()]


def _streamed(pairs: Sequence[Pair], result: Callable[..., Any], *collections: Any) -> Pair:
    value = result(*(K.identity(variable) for variable, _ in pairs))
    update = result(*(new for _, new in pairs))
    return collected(value, update, *collections)


def _at_thresholds(
    function_name: str, cells: Sequence[str], result: Callable[..., Any]
) -> Callable[..., Pair]:
    def call(
        labels: Any,
        predictions: Any,
        thresholds: Sequence[float],
        weights: Any = None,
        metrics_collections: Any = None,
        updates_collections: Any = None,
        name: str | None = None,
    ) -> Pair:
        with variable_scope(name, function_name):
            pairs = _cells_at(labels, predictions, thresholds, weights, cells)
            return _streamed(pairs, result, metrics_collections, updates_collections)

    call.__name__ = function_name
    return call


def _share(x: Any, other: Any) -> Any:
    return x / (TINY + x + other)


AT_THRESHOLDS: dict[str, Any] = {
    **{f"{name}_at_thresholds": _at_thresholds(name, [name], K.identity) for name in CELLS},
    "precision_at_thresholds": _at_thresholds(
        "precision_at_thresholds", ["true_positives", "false_positives"], _share
    ),
    "recall_at_thresholds": _at_thresholds(
        "recall_at_thresholds", ["true_positives", "false_negatives"], _share
    ),
}

# Curves -------------------------------------------------------------------------------------------

ORDER = ("true_positives", "false_negatives", "true_negatives", "false_positives")


def _spread(count: int) -> list[float]:
    """Thresholds from below 0 to above 1."""
    return [-TINY, *((i + 1) / (count - 1) for i in range(count - 2)), 1.0 + TINY]


METHODS: dict[str, Callable[[Any, Any], Any]] = {
    "trapezoidal": lambda a, b: (a + b) / 2.0,
    "minoring": K.minimum,
    "majoring": K.maximum,
}


def auc(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    num_thresholds: int = 200,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    curve: str = "ROC",
    name: str | None = None,
    summation_method: str = "trapezoidal",
    thresholds: Sequence[float] | None = None,
) -> Pair:
    """The area under a curve over thresholds: 'ROC', or 'PR' of precision over recall.

    Source: Davis and Goadrich, "The relationship between precision-recall and ROC curves" (2006),
    for 'careful_interpolation'.
    """
    if curve not in ("ROC", "PR"):
        raise ArgumentError(f"curve must be either ROC or PR, {curve} unknown")
    careful = summation_method == "careful_interpolation"
    if summation_method not in METHODS and not (careful and curve == "PR"):
        raise ArgumentError(f"Invalid summation_method: {summation_method}")
    limits = _spread(num_thresholds) if thresholds is None else [-TINY, *thresholds, 1.0 + TINY]

    def area(tp: Any, fn: Any, tn: Any, fp: Any) -> Any:
        if careful:
            return _interpolated(tp, fn, fp)
        recall = (tp + 1e-6) / (tp + fn + 1e-6)
        x = fp / (fp + tn + 1e-6) if curve == "ROC" else recall
        y = recall if curve == "ROC" else (tp + 1e-6) / (tp + fp + 1e-6)
        return K.sum((x[:-1] - x[1:]) * METHODS[summation_method](y[:-1], y[1:]))

    with variable_scope(name, "auc"):
        pairs = _cells_at(labels, predictions, limits, weights, ORDER)
        return _streamed(pairs, area, metrics_collections, updates_collections)


def _interpolated(tp: Any, fn: Any, fp: Any) -> Any:
    """The area under precision over recall, the precision between two points being exact."""
    steps, found = tp[:-1] - tp[1:], tp + fp
    slope = quotient(steps, K.maximum(found[:-1] - found[1:], 0.0))
    intercept = tp[1:] - slope * found[1:]
    both = K.cast(K.greater(K.minimum(found[:-1], found[1:]), 0.0), "float32")
    ratio = both * quotient(found[:-1], found[1:]) + (1.0 - both)
    parts = slope * (steps + intercept * K.log(ratio))
    return K.sum(quotient(parts, K.maximum(tp[1:] + fn[1:], 0.0)))


def sensitivity_at_specificity(
    labels: Any,
    predictions: Any,
    specificity: float,
    weights: Any = None,
    num_thresholds: int = 200,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Pair:
    """The share of positives found, at the threshold whose specificity is closest."""
    if not 0 <= specificity <= 1:
        raise ArgumentError("`specificity` must be in the range [0, 1].")

    def best(tp: Any, fn: Any, tn: Any, fp: Any) -> Any:
        at = K.argmin(K.abs(tn / (tn + fp + TINY) - specificity), axis=0)
        right, missed = K.gather(tp, at), K.gather(fn, at)
        return right / (right + missed + TINY)

    with variable_scope(name, "sensitivity_at_specificity"):
        pairs = _cells_at(labels, predictions, _spread(num_thresholds), weights, ORDER)
        return _streamed(pairs, best, metrics_collections, updates_collections)


def specificity_at_sensitivity(
    labels: Any,
    predictions: Any,
    sensitivity: float,
    weights: Any = None,
    num_thresholds: int = 200,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Pair:
    """The share of negatives left out, at the last threshold whose sensitivity is closest."""
    if not 0 <= sensitivity <= 1:
        raise ArgumentError("`sensitivity` must be in the range [0, 1].")

    def best(tp: Any, fn: Any, tn: Any, fp: Any) -> Any:
        off = K.abs(tp / (tp + fn + TINY) - sensitivity)
        at = num_thresholds - 1 - K.argmin(K.reverse(off, 0), axis=0)
        left, wrong = K.gather(tn, at), K.gather(fp, at)
        return left / (left + wrong + TINY)

    with variable_scope(name, "specificity_at_sensitivity"):
        pairs = _cells_at(labels, predictions, _spread(num_thresholds), weights, ORDER)
        return _streamed(pairs, best, metrics_collections, updates_collections)


# The k best classes -------------------------------------------------------------------------------


def _found(labels: Any, best: Any, class_id: int | None, missed: bool) -> Pair:
    """By sample: how many of the best classes are labels; and how many aren't, or how many labels
    aren't among them.
    """
    y, p = K.cast(labels, "int64"), K.cast(best, "int64")
    if len(y.shape) == len(p.shape) - 1:
        y = K.expand_dims(y, -1)
    same = K.equal(K.expand_dims(y, -1), K.expand_dims(p, -2))  # labels down, the best across
    equals = K.cast(K.equal(K.expand_dims(y, -1), K.expand_dims(y, -2)), "float64")
    count: Any = y.shape[-1]
    earlier = np.tril(np.ones((count, count)), -1)
    first = K.cast(K.equal(K.sum(equals * earlier, axis=-1), 0.0), "float64")
    labels_counted = first * _is(y, class_id)
    best_counted = _is(p, class_id)
    hit_label = labels_counted * K.cast(K.any(same, axis=-1), "float64")
    hit_best = K.cast(K.any(same, axis=-2), "float64")
    others = labels_counted - hit_label if missed else best_counted * (1.0 - hit_best)
    return K.sum(hit_label, axis=-1), K.sum(others, axis=-1)


def _is(x: Any, class_id: int | None) -> Any:
    if class_id is None:
        return K.cast(K.ones_like(x), "float64")
    return K.cast(K.equal(x, class_id), "float64")


def _at_k(
    name: str, missed: bool, labels: Any, best: Any, k: Any, class_id: Any, weights: Any,
    scope: Any, *collections: Any,
) -> Pair:  # fmt: skip
    second = "false_negative" if missed else "false_positive"
    suffix = f"_class{class_id}" if class_id is not None else ""
    at = "" if k is None else f"_at_{k}"
    with variable_scope(scope, name if k is None else f"{name}{at}"):
        right, other = _found(as_tensor(labels, name), as_tensor(best, name), class_id, missed)
        w = weights_of(weights, right)
        pairs = [
            added(f"true_positive{at}{suffix}", K.sum(right * w)),
            added(f"{second}{at}{suffix}", K.sum(other * w)),
        ]
        # Where nothing has been found yet, 0 / 0 is no number.
        return _streamed(pairs, lambda a, b: a / (a + b), *collections)


def _best(predictions: Any, k: int) -> Any:
    return top_k(as_tensor(predictions, "tf.metrics"), int(k))[1]


def precision_at_k(
    labels: Any,
    predictions: Any,
    k: int,
    class_id: int | None = None,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Pair:
    best = _best(predictions, k)
    return _at_k(
        "precision", False, labels, best, k, class_id, weights, name, metrics_collections,
        updates_collections,
    )  # fmt: skip


def precision_at_top_k(
    labels: Any,
    predictions_idx: Any,
    k: int | None = None,
    class_id: int | None = None,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Pair:
    return _at_k(
        "precision", False, labels, predictions_idx, k, class_id, weights, name,
        metrics_collections, updates_collections,
    )  # fmt: skip


def recall_at_k(
    labels: Any,
    predictions: Any,
    k: int,
    class_id: int | None = None,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Pair:
    best = _best(predictions, k)
    return _at_k(
        "recall", True, labels, best, k, class_id, weights, name, metrics_collections,
        updates_collections,
    )  # fmt: skip


def recall_at_top_k(
    labels: Any,
    predictions_idx: Any,
    k: int | None = None,
    class_id: int | None = None,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Pair:
    return _at_k(
        "recall", True, labels, predictions_idx, k, class_id, weights, name, metrics_collections,
        updates_collections,
    )  # fmt: skip


def sparse_precision_at_k(
    labels: Any,
    predictions: Any,
    k: int,
    class_id: int | None = None,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Pair:
    return precision_at_k(
        labels, predictions, k, class_id, weights, metrics_collections, updates_collections, name
    )


NAMES: dict[str, Any] = {}
PLAIN: dict[str, Any] = {
    **{f"metrics.{name}": function for name, function in AT_THRESHOLDS.items()},
    **{
        f"metrics.{function.__name__}": function
        for function in (
            auc, sensitivity_at_specificity, specificity_at_sensitivity, precision_at_k,
            precision_at_top_k, recall_at_k, recall_at_top_k, sparse_precision_at_k,
        )
    },
}  # fmt: skip
