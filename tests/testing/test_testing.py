"""The checker of gradients finds what is wrong, and says so."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kameleon import backend as K
from kameleon.errors import ArgumentError, EvaluationError
from kameleon.graph.ir.node import Node
from kameleon.graph.primitives.control import with_gradient
from kameleon.testing import check_gradients, directional_difference

AT = np.array([0.5, -1.0, 2.0])


def point(**kwargs: Any) -> Node:
    return K.placeholder((3,), dtype="float64", **kwargs)


def with_rule(x: Node, rule: Any) -> Node:
    """x squared, with a gradient of somebody's own."""
    return with_gradient(x * x, x, rule=lambda g: [rule(g, x)])


@pytest.mark.parametrize("order", [1, 2, 3])
def test_right_gradients_pass(order: int) -> None:
    x = point()
    check_gradients(with_rule(x, lambda g, x: g * x * 2.0), [x], {x: AT}, order)
    check_gradients(K.exp(x) * K.sum(K.sin(x)), [x], {x: AT}, order)


@pytest.mark.parametrize(
    "rule",
    [
        lambda g, x: g * x,
        lambda g, x: -g * x * 2.0,
        lambda g, x: g * x * 2.0 + 1e-3,
        lambda g, x: g * x * K.constant([2.0, 2.0, 2.001], dtype="float64"),
        lambda g, x: g * x[::-1] * 2.0,
        lambda g, x: K.stop_gradient(x) * 0.0,
    ],
)
def test_wrong_gradients_are_found(rule: Any) -> None:
    x = point(name="weights")
    with pytest.raises(AssertionError, match=r"order 1: .*'weights:0'.* differences -?\d"):
        check_gradients(with_rule(x, rule), [x], {x: AT}, 1)


def test_a_wrong_second_derivative_is_found() -> None:
    x = point()
    loss = with_rule(x, lambda g, x: g * K.stop_gradient(x) * 2.0)
    check_gradients(loss, [x], {x: AT}, 1)
    with pytest.raises(AssertionError, match="order 2"):
        check_gradients(loss, [x], {x: AT}, 2)


def test_a_missing_influence_is_found() -> None:
    x, y = point(), point()
    check_gradients(K.sin(x), [x, y], {x: AT, y: AT})
    with pytest.raises(AssertionError, match=r"gradient gives 0\.0"):
        check_gradients(K.sin(x) + K.stop_gradient(y), [x, y], {x: AT, y: AT})


def test_a_gradient_of_another_shape_is_found() -> None:
    x = K.placeholder((None,), dtype="float64")
    with pytest.raises(EvaluationError, match=r"taken as equal differ at run time: \(6, .*3"):
        check_gradients(with_rule(x, lambda g, x: K.concatenate([g, g])), [x], {x: AT})


def test_variables_start_from_their_value_and_keep_it() -> None:
    v = K.variable(AT, dtype="float64")
    check_gradients(K.sum(v**3), [v])
    assert K.get_value(v).tolist() == AT.tolist()
    wrong = with_rule(v, lambda g, x: g)
    check_gradients(K.square(v), [v], {v: [1.0, 1.0, 1.0]})
    with pytest.raises(AssertionError):
        check_gradients(wrong, [v])


def test_inner_tensors_and_unknown_sizes() -> None:
    x = K.placeholder((None, 2), dtype="float64")
    inner = K.dot(x, K.constant(np.ones((2, 3)), dtype="float64"))
    loss = K.softmax(inner) * K.sin(inner)
    check_gradients(loss, [inner], {inner: np.ones((4, 3)) + AT})
    check_gradients(loss, [x], {x: np.ones((4, 2)) * 0.3})


def test_what_is_refused() -> None:
    x, single = point(), K.placeholder((3,), dtype="float32")
    with pytest.raises(ArgumentError, match=r"float64.*K\.set_floatx"):
        check_gradients(K.sin(single), [single], {single: AT})
    with pytest.raises(ArgumentError, match="feeds has no value"):
        check_gradients(K.sin(x), [x])


def test_differences_are_of_fourth_order() -> None:
    def quartic(x: Any) -> float:
        return float((x**4 - x).sum())

    ones = np.ones(2)
    assert directional_difference(quartic, ones, ones, 0.1) == pytest.approx(6.0, abs=1e-12)
