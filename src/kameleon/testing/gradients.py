"""Gradients against differences of values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np

from ..engines._base import Engine
from ..errors import ArgumentError
from ..graph.gradients import gradients
from ..graph.ir.node import REGISTRY, Node, Variable
from ..graph.primitives.elementwise import constant
from ..graph.primitives.reduce import reduce_sum
from ..runtime.function import Function
from ..runtime.state import numpy_value

__all__ = ["check_gradients", "directional_difference"]

Array = np.ndarray[Any, Any]

# The weights of f(-2h), f(-h), f(h), f(2h) in h times a derivative, exact to the fourth order.
STENCIL = ((-2, 1 / 12), (-1, -2 / 3), (1, 2 / 3), (2, -1 / 12))


def directional_difference(
    f: Callable[[Array], float], x: Array, direction: Array, h: float
) -> float:
    """The derivative of `f` at `x` along a direction, by central differences of fourth order.

    Args:
        f: a function of one array that gives a number.
        x: the point, float64 of any shape.
        direction: an array of the shape of `x`.
        h: the step, in units of the direction; `f` is called up to `2 * h` away from `x`.

    >>> f = lambda x: float((x**3).sum())
    >>> round(directional_difference(f, np.array([1.0, 2.0]), np.array([1.0, 0.0]), 1e-3), 9)
    3.0
    """
    return sum(weight * f(x + at * h * direction) for at, weight in STENCIL) / h


def check_gradients(
    loss: Node,
    wrt: Sequence[Node],
    feeds: Mapping[Node, Any] | None = None,
    order: int = 2,
    *,
    step: float = 1e-4,
    rtol: float = 1e-6,
    atol: float = 1e-8,
    seed: int = 0,
    engine: Engine | None = None,
) -> None:
    """Compare gradients with differences of the values that an engine computes.

    The loss is projected to a number by random weights, and each tensor of `wrt` is moved along
    a random direction; a wrong element of a gradient goes unnoticed with probability 0. For the
    second order the gradients, projected likewise, are the loss.

    Args:
        loss: a float64 tensor of any shape, the same for equal feeds (no random draws).
        wrt: float64 tensors to differentiate by: placeholders, variables, or any others.
        feeds: values for placeholders. Those of `wrt` that are variables start from their own
            value where none is given.
        order: the highest derivative to check.
        step: how far to move, in units of a direction whose elements are about 1. The loss must
            be smooth within twice of that.
        rtol, atol: how far the derivatives by gradient and by differences may be apart, relative to
            the larger one and absolutely.
        seed: of the projections and directions.
        engine: what computes values and gradients; the engine in force, if None.

    Raises:
        AssertionError: a gradient is wrong; says the order, the tensor and both numbers.
        ArgumentError: something to differentiate isn't of float64, or has no value to start from.
        GradientError: the loss has no gradient.

    >>> from kameleon import backend as K
    >>> x = K.placeholder((3,), dtype='float64')
    >>> check_gradients(K.exp(x) * x, [x], {x: [0.5, -1.0, 2.0]})

    Source: the random projection is that of D. Maclaurin's autograd (`test_util`).
    """
    start = _start(loss, wrt, feeds or {})
    random = np.random.default_rng(seed)
    shape = loss.shape
    if not loss.type.is_static:
        shape = np.shape(Function(list(start), [loss], engine=engine)([*start.values()])[0])
    shapes = [np.shape(start[x]) for x in wrt]
    levels = derived(projected(loss, shape, random), wrt, shapes, order, random)
    for level, (total, parts) in enumerate(levels, 1):
        _check_level(level, total, wrt, parts, start, step, (rtol, atol), random, engine)


def derived(
    loss: Node,
    wrt: Sequence[Node],
    shapes: Sequence[Sequence[int]],
    order: int,
    random: np.random.Generator,
) -> Iterator[tuple[Node, list[Node | None]]]:
    """For each order a scalar and its gradients: the loss, then these with random weights.
    `shapes` are those of the values for `wrt`.
    """
    for level in range(1, order + 1):
        parts = gradients(loss, wrt)
        yield loss, parts
        live = [(g, shape) for g, shape in zip(parts, shapes, strict=True) if g is not None]
        if not live or level == order:
            return
        loss = reduce(REGISTRY["add"], [projected(g, shape, random) for g, shape in live])


def _start(loss: Node, wrt: Sequence[Node], feeds: Mapping[Node, Any]) -> dict[Node, Any]:
    start: dict[Node, Any] = dict(feeds)
    for x in (loss, *wrt):
        if x.dtype != "float64":
            raise ArgumentError(
                f"check_gradients: {x!r} must be of float64, where differences mean something;"
                " K.set_floatx('float64') before the graph is built"
            )
    for x in wrt:
        if x not in start:
            if not isinstance(x, Variable):
                raise ArgumentError(f"check_gradients: feeds has no value for {x!r}")
            start[x] = numpy_value(x)
        start[x] = np.array(start[x], np.float64)
    return start


def projected(x: Node, shape: Sequence[Any], random: np.random.Generator) -> Node:
    """The sum of `x`, whose value has that shape, times random weights."""
    if not shape:
        return x
    weights = constant(random.normal(size=tuple(shape)))
    return reduce_sum(REGISTRY["mul"](x, weights), range(len(shape)))


def _check_level(
    level: int,
    loss: Node,
    wrt: Sequence[Node],
    parts: Sequence[Node | None],
    start: Mapping[Node, Any],
    step: float,
    tolerance: tuple[float, float],
    random: np.random.Generator,
    engine: Engine | None,
) -> None:
    """Compare the derivative of a scalar along one direction for each of `wrt`."""
    inputs, values = list(start), list(start.values())
    value = Function(inputs, [loss], engine=engine)
    found = [g for g in parts if g is not None]
    computed = iter(Function(inputs, found, engine=engine)(values))
    for x, part in zip(wrt, parts, strict=True):
        at = inputs.index(x)
        gradient = np.zeros(np.shape(values[at])) if part is None else next(computed)
        direction = random.normal(size=np.shape(values[at]))

        def moved(array: Array, at: int = at) -> float:
            return float(value([*values[:at], array, *values[at + 1 :]])[0])

        expected = directional_difference(moved, values[at], direction, step)
        if np.shape(gradient) != np.shape(values[at]):
            raise AssertionError(
                f"order {level}: the gradient of {x!r} has shape {np.shape(gradient)}, its value"
                f" {np.shape(values[at])}"
            )
        got = float(np.sum(gradient * direction))
        rtol, atol = tolerance
        if not abs(got - expected) <= atol + rtol * max(abs(got), abs(expected)):
            raise AssertionError(
                f"order {level}: along a random direction of {x!r} the gradient gives {got!r},"
                f" differences {expected!r}"
            )
