"""Loops over no steps, and over one: values and gradients, on every engine."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from _support.common import engines_under_test

from kameleon import backend as K
from kameleon.errors import EvaluationError, ShapeError

W = np.eye(3, dtype="float32")
H = np.full((2, 3), 0.5, "float32")


@pytest.fixture(params=engines_under_test())
def engine(request: pytest.FixtureRequest) -> Any:
    with K.using_engine(request.param):
        yield request.param


def recurrence(length: int | None, masked: bool, own_output: bool) -> tuple[list[Any], list[Any]]:
    """Inputs; and last output, outputs, state, with the gradients of their sum."""
    x, w, h = K.placeholder((2, length, 3)), K.placeholder((3, 3)), K.placeholder((2, 3))
    mask = K.placeholder((2, length))

    def step(frame: Any, states: list[Any]) -> tuple[Any, list[Any]]:
        new = K.tanh(K.dot(frame, w) + states[0])
        return (new * 2.0 if own_output else new), [new]

    last, outputs, (state,) = K.rnn(step, x, [h], mask=mask if masked else None)
    gradients = K.gradients(K.sum(last) + K.sum(outputs) + 2.0 * K.sum(state), [x, w, h])
    return [x, w, h, *([mask] if masked else [])], [last, outputs, state, *gradients]


@pytest.mark.parametrize("length", [0, None], ids=["known", "unknown"])
@pytest.mark.parametrize("masked", [False, True], ids=["all", "masked"])
@pytest.mark.parametrize("own_output", [False, True], ids=["state", "output"])
def test_recurrence_over_no_steps(
    engine: str, length: int | None, masked: bool, own_output: bool
) -> None:
    inputs, outputs = recurrence(length, masked, own_output)
    given = [np.ones((2, 0, 3), "float32"), W, H, np.ones((2, 0), "float32")]
    last, frames, state, by_x, by_w, by_h = K.function(inputs, outputs)(given[: len(inputs)])
    is_state = not masked and not own_output
    np.testing.assert_array_equal(last, H if is_state else 0 * H)
    np.testing.assert_array_equal(state, H)
    assert frames.shape == by_x.shape == (2, 0, 3)
    np.testing.assert_array_equal(by_w, 0 * W)
    np.testing.assert_array_equal(by_h, 0 * H + (3 if is_state else 2))


def test_unrolling_no_steps() -> None:
    x = K.zeros((2, 0, 3))
    last, frames, _ = K.rnn(lambda f, s: (f + s[0], [f + s[0]]), x, [K.constant(H)], unroll=True)
    assert K.int_shape(frames) == (2, 0, 3)
    np.testing.assert_array_equal(K.eval(last), 0 * H)


def nested(x: Any) -> Any:
    return K.map_fn(lambda row: K.foldl(lambda a, b: a + b, row), x)


@pytest.mark.parametrize("length", [0, None], ids=["known", "unknown"])
@pytest.mark.parametrize("shape", [(0, 3), (0, 0), (0,)], ids=str)
def test_folds_over_nothing_need_an_initializer(
    engine: str, length: int | None, shape: tuple[int, ...]
) -> None:
    x, nothing = K.placeholder((length, *shape[1:])), np.zeros(shape, "float32")
    for fold, what in ((K.foldl, "foldl"), (K.foldr, "foldr")):
        y = fold(K.maximum, x, initializer=K.ones(shape[1:]))
        np.testing.assert_array_equal(K.function([x], [y])([nothing])[0], np.ones(shape[1:]))
        with pytest.raises((ShapeError, EvaluationError), match=f"{what}: there are no elements"):
            y = fold(K.maximum, x)
            K.function([x], K.gradients(K.sum(y * y), [x]))([nothing])


@pytest.mark.parametrize("name", [name for name in engines_under_test() if name != "jax"])
def test_curvature_through_loops_in_a_loop_of_no_steps(name: str) -> None:
    """What a step would stack is computed from conditions that it doesn't give."""

    def repeated(count: float, body: Any, x: Any) -> Any:
        return K.while_loop(lambda i, _: i < count, lambda i, y: [i + 1, body(y)], [0.0, x])[1]

    x = K.placeholder((None,))
    y = repeated(0.0, lambda a: K.tanh(repeated(1.0, K.sin, a) + x), x) * x
    slope = K.gradients(y, [x])[0]
    f = K.function([x], [slope, K.gradients(slope, [x])[0]], engine=name)
    np.testing.assert_array_equal(f([[1.0, -2.0, 3.0]]), [[2.0, -4.0, 6.0], [2.0, 2.0, 2.0]])


def test_maps_over_nothing(engine: str) -> None:
    x = K.placeholder((None, None, 3))
    rows, slope = K.function([x], [nested(x), *K.gradients(K.sum(nested(x)), [x])])([W[:0, None]])
    assert (rows.shape, slope.shape) == ((0, 3), (0, 1, 3))
    f = K.function([x], [nested(x)])
    assert f([np.ones((2, 1, 3), "float32")])[0].shape == (2, 3)
    assert f([np.zeros((0, 0, 3), "float32")])[0].shape == (0, 3)
    with pytest.raises(EvaluationError, match="foldl: there are no elements"):
        f([np.zeros((2, 0, 3), "float32")])


FOLDS = {
    "larger": K.maximum,
    "product": lambda a, b: a * b,
    "sum of squares": lambda a, b: a + b * b,
}


@pytest.mark.parametrize("fold", [K.foldl, K.foldr])
@pytest.mark.parametrize("name", FOLDS)
def test_folds_over_one_element_have_gradients(engine: str, name: str, fold: Any) -> None:
    x = K.placeholder((None, None, None))
    y = fold(FOLDS[name], x)
    f = K.function([x], [y, *K.gradients(K.sum(y), [x])])
    for shape in ((1, 5, 1), (1, 1, 1), (3, 2, 1)):
        value = np.arange(1, 1 + np.prod(shape), dtype="float32").reshape(shape)
        folded, slope = f([value])
        assert folded.shape == shape[1:]
        assert slope.shape == shape
        if shape[0] == 1:
            np.testing.assert_array_equal(folded, value[0])
            np.testing.assert_array_equal(slope, 1)
