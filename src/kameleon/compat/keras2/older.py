"""What models of Keras 2.2 had, and programs of those days still use."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any

import numpy as np

from ..._utils.around import Function, around


class _Added(list[Any]):
    """A list of a model's metrics, by name or by tensor: what's appended is the model's, too."""

    def __init__(self, items: Iterable[Any], add: Callable[[Any], None]) -> None:
        super().__init__(items)
        self.add = add

    def append(self, item: Any) -> None:
        """Tell the model of it, too."""
        super().append(item)
        self.add(item)

    def extend(self, items: Iterable[Any]) -> None:
        """Append each."""
        for item in items:
            self.append(item)

    def __iadd__(self, items: Iterable[Any]) -> _Added:  # type: ignore[misc]
        self.extend(items)
        return self


class Pairs:
    """Names and tensors that were appended to a model's lists: one of each makes a metric."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.names: list[str] = []
        self.unnamed: list[Any] = []

    def add_name(self, name: str) -> None:
        """Name the first metric that has none; else wait for a tensor."""
        if self.unnamed:
            self.unnamed.pop(0).name = name
        else:
            self.names.append(name)

    def add_tensor(self, tensor: Any) -> None:
        """A metric of the model: the tensor's mean over the batches."""
        metrics = self.model._metrics
        name = self.names.pop(0) if self.names else None
        self.model.add_metric(tensor, name=name or f"metric_{len(metrics) + 1}")
        if name is None:
            self.unnamed.append(metrics[-1])


def serve_metrics_tensors(training: ModuleType) -> None:
    """Let programs append to a model's `metrics_names` and `metrics_tensors`, as was usual to
    report more numbers before there was `add_metric`.

    Args:
        training: `keras.engine.training`.
    """
    model_class, theirs = training.Model, training.Model.metrics_names

    def pairs_of(model: Any) -> Pairs:
        found: Pairs = vars(model).setdefault("_appended_metrics", Pairs(model))
        return found

    def names(model: Any) -> _Added:
        pairs = pairs_of(model)
        return _Added([*theirs.fget(model), *pairs.names], pairs.add_name)

    def tensors(model: Any) -> _Added:
        metrics = model._get_training_eval_metrics()
        results = [m._call_result for m in metrics if hasattr(m, "_call_result")]
        return _Added(results, pairs_of(model).add_tensor)

    def set_tensors(model: Any, given: list[Any]) -> None:
        now = tensors(model)
        now.extend(given[len(now) :])

    model_class.metrics_names = property(names, doc=theirs.__doc__)
    model_class.metrics_tensors = property(
        tensors, set_tensors, doc="The tensors of the metrics, to which more can be appended."
    )


@around
def summing_doubles(theirs: Function, self: Any, batch: Any, logs: Any = None) -> None:
    """What sums the losses of an epoch, in double precision: where NumPy 1 multiplied a float32 by
    an int, a float64 came out.
    """
    size = np.int64((logs or {}).get("size", 0))
    theirs(self, batch, {**(logs or {}), "size": size})
