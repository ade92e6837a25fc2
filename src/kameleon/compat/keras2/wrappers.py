"""Keras's wrappers for scikit-learn, with the tags that scikit-learn 1.6 and later ask for."""

from __future__ import annotations

from types import ModuleType
from typing import Any

# For each wrapper, the class of `sklearn.base` that says what kind of estimator it is.
KINDS = {"KerasClassifier": "ClassifierMixin", "KerasRegressor": "RegressorMixin"}


def describe_estimators(wrappers: ModuleType) -> None:
    """Give the wrappers the tags by which scikit-learn tells estimators apart.

    Args:
        wrappers: `keras.wrappers.scikit_learn`.
    """
    for name, mixin in KINDS.items():
        getattr(wrappers, name).__sklearn_tags__ = _tags_of(mixin)


def _tags_of(mixin: str) -> Any:
    def __sklearn_tags__(self: Any) -> Any:  # noqa: N807 (scikit-learn's name)
        from sklearn import base  # late: only scikit-learn calls this

        alike = type(mixin, (getattr(base, mixin), base.BaseEstimator), {})
        return alike().__sklearn_tags__()

    return __sklearn_tags__
