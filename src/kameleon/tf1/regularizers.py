"""Regularizers of TensorFlow 1: functions that give the penalty of a weight."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Integral, Real
from typing import Any

from ..backend import surface as K
from ..errors import ArgumentError
from .graph import GraphKeys, add_to_collection, get_collection, name_scope

Regularizer = Callable[[Any], Any]


def _checked(scale: Any, what: str) -> float:
    if isinstance(scale, Integral):
        raise ArgumentError(f"{what}: scale must be a float, not the integer {scale!r}")
    if isinstance(scale, Real) and float(scale) < 0:
        raise ArgumentError(f"{what}: scale must not be negative, got {scale!r}")
    return float(scale)


def l1_regularizer(scale: float, scope: str | None = None) -> Regularizer:
    factor = _checked(scale, "l1_regularizer")

    def l1(weights: Any, name: str | None = None) -> Any:
        return factor * K.sum(K.abs(weights)) if factor else None

    return l1


def l2_regularizer(scale: float, scope: str | None = None) -> Regularizer:
    factor = _checked(scale, "l2_regularizer")

    def l2(weights: Any) -> Any:
        return factor * (K.sum(K.square(weights)) / 2) if factor else None

    return l2


def l1_l2_regularizer(
    scale_l1: float = 1.0, scale_l2: float = 1.0, scope: str | None = None
) -> Regularizer:
    found: Regularizer = sum_regularizer([l1_regularizer(scale_l1), l2_regularizer(scale_l2)])
    return found


def sum_regularizer(regularizer_list: Sequence[Regularizer], scope: str | None = None) -> Any:
    """A regularizer that adds those of a list."""
    parts = [regularizer for regularizer in regularizer_list if regularizer is not None]
    if not parts:
        return None

    def total(weights: Any) -> Any:
        found = [penalty for part in parts if (penalty := part(weights)) is not None]
        return sum(found[1:], found[0]) if found else None

    return total


def apply_regularization(regularizer: Regularizer, weights_list: Any = None) -> Any:
    """The sum of the penalties of weights, those in a collection by default."""
    weights = get_collection(GraphKeys.WEIGHTS) if weights_list is None else weights_list
    with name_scope("get_regularization_penalty"):
        penalties = [regularizer(w) for w in weights]
        known = [penalty for penalty in penalties if penalty is not None]
        total = sum(known[1:], known[0]) if known else K.constant(0.0)
    add_to_collection(GraphKeys.REGULARIZATION_LOSSES, total)
    return total


NAMES: dict[str, Any] = {}
PLAIN: dict[str, Any] = {
    f"contrib.layers.{function.__name__}": function
    for function in (
        l1_regularizer, l2_regularizer, l1_l2_regularizer, sum_regularizer, apply_regularization
    )
}  # fmt: skip
