"""`tf.keras.losses`: the reduction 'auto', and the names that Keras 2.3.1 lacks."""

from __future__ import annotations

import inspect
from typing import Any

import keras.losses as theirs
from keras import backend as K
from keras.utils.generic_utils import deserialize_keras_object
from keras.utils.losses_utils import Reduction as TheirReduction

AUTO = "auto"


class Reduction(TheirReduction):  # type: ignore[misc]
    """How the losses of samples become one."""

    AUTO = AUTO

    @classmethod
    def all(cls) -> tuple[str, ...]:
        """All reductions."""
        return (cls.AUTO, cls.NONE, cls.SUM, cls.SUM_OVER_BATCH_SIZE)

    @classmethod
    def validate(cls, key: str) -> None:
        """Raise a ValueError for what is no reduction."""
        if key not in cls.all():
            raise ValueError(f"Invalid Reduction Key {key}.")


def _reduced(reduction: Any) -> Any:
    Reduction.validate(reduction)
    return Reduction.SUM_OVER_BATCH_SIZE if reduction == AUTO else reduction


class Loss(theirs.Loss):  # type: ignore[misc]
    """A loss whose `call` a subclass writes: the losses of samples, or of their parts."""

    name: str | None

    def __init__(self, reduction: str = AUTO, name: str | None = None) -> None:
        super().__init__(reduction=_reduced(reduction), name=name)

    def __call__(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        name = self.name
        self.name = name or type(self).__name__.lower()  # a scope needs one
        try:
            return super().__call__(K.constant(y_true) if _is_plain(y_true) else y_true,
                                    K.constant(y_pred) if _is_plain(y_pred) else y_pred,
                                    sample_weight)  # fmt: skip
        finally:
            self.name = name


def _is_plain(x: Any) -> bool:
    return not hasattr(x, "primitive")


def _class(name: str, loss: Any) -> Any:
    order = list(inspect.signature(loss.__init__).parameters)[1:]

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        given = dict(zip(order, args, strict=False)) | kwargs
        if "reduction" in given:
            given["reduction"] = _reduced(given["reduction"])
        loss.__init__(self, **given)

    return type(name, (loss, Loss), {"__init__": __init__, "__module__": __name__})


def cosine_similarity(y_true: Any, y_pred: Any, axis: int = -1) -> Any:
    """Minus the cosine of the angle between labels and predictions; 1.15's, without the minus."""
    cosine = K.sum(K.l2_normalize(y_true, axis) * K.l2_normalize(y_pred, axis), axis)
    return -cosine


class CosineSimilarity(Loss):
    """Minus the cosine of the angle between labels and predictions."""

    def __init__(self, axis: int = -1, reduction: str = AUTO, name: str = "cosine_similarity"):
        super().__init__(reduction, name)
        self.axis = axis

    def call(self, y_true: Any, y_pred: Any) -> Any:
        """The losses of samples."""
        return cosine_similarity(y_true, y_pred, self.axis)

    def get_config(self) -> dict[str, Any]:
        """The arguments that make such a loss again."""
        return {**super().get_config(), "axis": self.axis}


IN_BOTH = (
    "BinaryCrossentropy", "CategoricalCrossentropy", "CategoricalHinge", "Hinge", "Huber",
    "KLDivergence", "LogCosh", "MeanAbsoluteError", "MeanAbsolutePercentageError",
    "MeanSquaredError", "MeanSquaredLogarithmicError", "Poisson", "SparseCategoricalCrossentropy",
    "SquaredHinge",
)  # fmt: skip
CLASSES: dict[str, Any] = {name: _class(name, getattr(theirs, name)) for name in IN_BOTH}
globals().update(CLASSES)  # so that pickle finds them


def deserialize(config: Any, custom_objects: Any = None) -> Any:
    """The loss of a name or a configuration."""
    found = {**vars(theirs), **CLASSES, "CosineSimilarity": CosineSimilarity}
    found["cosine_similarity"] = cosine_similarity
    return deserialize_keras_object(config, found, custom_objects, "loss function")


def get(identifier: Any) -> Any:
    """A loss: the one that is given, or that of a name or configuration."""
    if isinstance(identifier, str) or is_config(identifier):
        return deserialize(identifier)
    return theirs.get(identifier)


def is_config(thing: Any) -> bool:
    """Whether a dict says a class and its arguments."""
    return isinstance(thing, dict) and {"class_name", "config"} <= thing.keys()


NAMES: dict[str, Any] = {
    "losses.get": get,
    "losses.deserialize": deserialize,
    **{f"losses.{name}": kind for name, kind in CLASSES.items()},
    "losses.CosineSimilarity": CosineSimilarity,
    "losses.cosine_similarity": cosine_similarity,
    "losses.Loss": Loss,
    "losses.Reduction": Reduction,
}
