"""Gradients of TensorFlow 1: with cotangents given, and tensors that count as constants."""

from __future__ import annotations

from typing import Any

from ..backend import surface as K
from ..backend._tensors import as_tensor
from ..errors import ArgumentError, GradientError
from ..gradients import pullback
from ..ir.context import built_for
from ..ir.node import Node
from ..prims.filling import full_like
from ..prims.movement import reshape
from ..prims.sizes import dims_of
from .overrides import replaced_gradients


class UnconnectedGradients:
    """What stands for the gradient of a tensor without influence."""

    NONE, ZERO = "none", "zero"


class AggregationMethod:
    """How partial gradients are added up: here always the same way."""

    ADD_N = DEFAULT = 0
    EXPERIMENTAL_TREE, EXPERIMENTAL_ACCUMULATE_N = 1, 2


def _list(x: Any) -> list[Any]:
    return list(x) if isinstance(x, (list, tuple)) else [x]


def gradients(
    ys: Any, xs: Any, grad_ys: Any = None, name: str = "gradients",
    colocate_gradients_with_ops: bool = False, gate_gradients: bool = False,
    aggregation_method: Any = None, stop_gradients: Any = None,
    unconnected_gradients: Any = UnconnectedGradients.NONE,
) -> list[Any]:  # fmt: skip
    """The gradients of the sum of `ys` with respect to each of `xs`.

    Args:
        grad_ys: for each of `ys` what its elements are weighted with; ones for None.
        stop_gradients: tensors that count as constants.
        unconnected_gradients: 'none' or 'zero': what stands where there's no influence.
    """
    outputs = [as_tensor(y, "tf.gradients") for y in _list(ys)]
    wrt = [as_tensor(x, "tf.gradients") for x in _list(xs)]
    weights = [None] * len(outputs) if grad_ys is None else _list(grad_ys)
    if len(weights) != len(outputs):
        raise ArgumentError(f"Passed {len(weights)} grad_ys for {len(outputs)} ys")
    stop = [x for x in _list(stop_gradients or []) if isinstance(x, Node)]
    for y in outputs:
        if not y.dtype.is_float:
            raise GradientError(f"tf.gradients: {y!r} isn't of a float dtype; tf.cast it")
    seeds = [
        built_for(y, full_like, y, 1) if w is None else as_tensor(w, "tf.gradients", y.dtype)
        for y, w in zip(outputs, weights, strict=True)
    ]
    seeds = [_shaped(seed, y) for y, seed in zip(outputs, seeds, strict=True)]
    found = pullback(outputs, seeds, wrt, stop, replaced_gradients(outputs))
    if unconnected_gradients == UnconnectedGradients.ZERO:
        return [K.zeros_like(x) if g is None else g for g, x in zip(found, wrt, strict=True)]
    return found


def _shaped(seed: Node, y: Node) -> Node:
    """The weights in the shape of `y`; axes of size 1 more or fewer are no mistake."""
    if len(y.shape) == len(seed.shape):
        return seed
    if [n for n in y.shape if n != 1] != [n for n in seed.shape if n != 1]:
        raise ArgumentError(f"tf.gradients: {seed!r} in grad_ys hasn't the shape of {y!r}")
    return reshape(seed, dims_of(y))


def hessians(
    ys: Any, xs: Any, name: str = "hessians", colocate_gradients_with_ops: bool = False,
    gate_gradients: bool = False, aggregation_method: Any = None,
) -> list[Any]:  # fmt: skip
    """For each of `xs` the second derivatives of the sum of `ys`: its shape twice."""
    found = []
    for x in _list(xs):
        (slope,) = gradients(ys, x)
        flat = K.reshape(slope, (-1,))
        count = K.int_shape(flat)[0]
        if count is None:
            raise ArgumentError("tf.hessians: the sizes must be known")
        rows = [gradients(flat[i], x, unconnected_gradients="zero")[0] for i in range(count)]
        found.append(K.reshape(K.stack(rows), (*x.shape, *x.shape)))
    return found


PLAIN: dict[str, Any] = {
    "gradients": gradients,
    "hessians": hessians,
    "UnconnectedGradients": UnconnectedGradients,
    "AggregationMethod": AggregationMethod,
    "custom_gradient": K.custom_gradient,
}
NAMES: dict[str, Any] = {}
