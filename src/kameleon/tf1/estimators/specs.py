"""What a model's function gives an estimator: predictions, a loss, what trains, metrics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ...backend import surface as K
from ...backend._tensors import as_tensor
from ...ir.node import Node
from .settings import ModeKeys


class _Spec(NamedTuple):
    mode: str
    predictions: Any
    loss: Any
    train_op: Any
    eval_metric_ops: dict[str, tuple[Any, Any]]
    export_outputs: Any
    training_chief_hooks: tuple[Any, ...]
    training_hooks: tuple[Any, ...]
    scaffold: Any
    evaluation_hooks: tuple[Any, ...]
    prediction_hooks: tuple[Any, ...]


class EstimatorSpec(_Spec):
    """What a model's function built.

    Args:
        mode: a key of `tf.estimator.ModeKeys`.
        predictions: a tensor, or a dict of tensors; needed to predict.
        loss: a scalar, or a tensor of one element; needed to train and to evaluate.
        train_op: what is run in a step; needed to train.
        eval_metric_ops: by name, a pair of a metric's value and of what updates it, or a metric of
            Keras.
        export_outputs: accepted.
        training_chief_hooks, training_hooks, evaluation_hooks, prediction_hooks: called around
            the session's runs.
        scaffold: a `tf.train.Scaffold`.

    Raises:
        ValueError: something is missing, or the loss isn't scalar.
        TypeError: something is of the wrong type.
    """

    __slots__ = ()

    def __new__(
        cls, mode: str, predictions: Any = None, loss: Any = None, train_op: Any = None,
        eval_metric_ops: Any = None, export_outputs: Any = None, training_chief_hooks: Any = None,
        training_hooks: Any = None, scaffold: Any = None, evaluation_hooks: Any = None,
        prediction_hooks: Any = None,
    ) -> EstimatorSpec:  # fmt: skip
        if mode == ModeKeys.TRAIN and train_op is None:
            raise ValueError("Missing train_op.")
        needs_loss = mode in (ModeKeys.TRAIN, ModeKeys.EVAL)
        if needs_loss and loss is None:
            raise ValueError("Missing loss.")
        if mode == ModeKeys.PREDICT and predictions is None:
            raise ValueError("Missing predictions.")
        return super().__new__(
            cls, mode, _tensors(predictions, "predictions"), _scalar(loss), train_op,
            _metrics(eval_metric_ops), export_outputs, _hooks(training_chief_hooks),
            _hooks(training_hooks), scaffold, _hooks(evaluation_hooks), _hooks(prediction_hooks),
        )  # fmt: skip


def _tensors(given: Any, what: str) -> Any:
    if isinstance(given, Mapping):
        return {name: _tensors(value, f"{what}[{name!r}]") for name, value in given.items()}
    if given is None or isinstance(given, Node):
        return {} if given is None else given
    raise TypeError(f"{what} must be Tensor, given: {given!r}")


def _scalar(loss: Any) -> Any:
    if loss is None:
        return None
    loss = as_tensor(loss, "EstimatorSpec")
    if any(n not in (1, None) for n in loss.type.shape):
        raise ValueError(f"Loss must be scalar, given: {loss!r}")
    return K.reshape(loss, ()) if loss.ndim else loss


def _metrics(given: Any) -> dict[str, tuple[Any, Any]]:
    if given is not None and not isinstance(given, Mapping):
        raise TypeError(f"eval_metric_ops must be a dict, given: {given!r}")
    return {name: _metric(name, pair) for name, pair in (given or {}).items()}


def _metric(name: str, given: Any) -> tuple[Any, Any]:
    if hasattr(given, "result") and hasattr(given, "updates"):
        return given.result(), list(given.updates)
    if not isinstance(given, tuple) or len(given) != 2:
        raise TypeError(
            "Values of eval_metric_ops must be (metric_value, update_op) tuples, given:"
            f" {given!r} for key: {name}"
        )
    return given


def _hooks(given: Any) -> tuple[Any, ...]:
    for hook in given or ():
        if not hasattr(hook, "before_run"):
            raise TypeError(f"All hooks must be SessionRunHook instances, given: {hook!r}")
    return tuple(given or ())


NAMES: dict[str, Any] = {}
PLAIN: dict[str, Any] = {"estimator.EstimatorSpec": EstimatorSpec}
