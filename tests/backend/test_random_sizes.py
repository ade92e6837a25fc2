"""Random programs over sizes that are known in part: each engine against the embedded one.

What is fed fits; then one unknown size is 1 instead, which is stretched or an error, and the same
on all engines; then it's a size that fits nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from kameleon import backend as K
from kameleon.errors import EvaluationError, ShapeError

ROWS, COLUMNS = 4, 2


def recurrent(steps: Any, state: Any) -> Any:
    def step(x: Any, states: list[Any]) -> tuple[Any, list[Any]]:
        y = K.tanh(x + states[0])
        return y, [y]

    return K.rnn(step, K.stack([steps, steps * 0.5], 1), [state])[0]


def repeated(x: Any, y: Any) -> Any:
    def body(i: Any, x: Any) -> list[Any]:
        return [i + 1.0, K.tanh(x * y)]

    return K.while_loop(lambda i, x: i < 2.0, body, [K.constant(0.0), x], maximum_iterations=3)[1]


# Of two matrices of one shape, a matrix of that shape.
STEPS: list[Callable[[Any, Any], Any]] = [
    lambda x, y: x + y,
    lambda x, y: K.maximum(x, y) * 0.5,
    lambda x, y: K.switch(K.greater(x, y), x, y),
    lambda x, y: K.tanh(x) - K.mean(y, 1, keepdims=True),
    lambda x, y: K.bias_add(x, K.sum(y, 0)),
    lambda x, y: K.dot(x, K.dot(K.transpose(y), K.sigmoid(x))) * 0.1,
    lambda x, y: K.softmax(x) * K.categorical_crossentropy(K.softmax(x), K.softmax(y))[:, None],
    lambda x, y: K.sum(K.stack([x, y, x * y], 1), 1),
    lambda x, y: K.map_fn(lambda row: row * K.sum(y, 0), x),
    lambda x, y: x * K.foldl(lambda a, b: a * 0.5 + b, y),
    lambda x, y: K.switch(K.sum(x) > 0.0, lambda: x * y, lambda: x - y),
    recurrent,
    repeated,
]


def program(rng: np.random.Generator) -> tuple[list[Any], list[Any]]:
    """Three placeholders, and results or gradients."""
    shapes = [[None if rng.random() < 0.7 else d for d in (ROWS, COLUMNS)] for _ in range(3)]
    inputs = [K.placeholder(tuple(s)) for s in shapes]
    made = list(inputs)
    for _ in range(int(rng.integers(2, 6))):
        x, y = (made[int(i)] for i in rng.integers(len(made), size=2))
        made.append(STEPS[int(rng.integers(len(STEPS)))](x, y))
    found = K.gradients(K.sum(K.square(made[-1])), inputs)
    return inputs, [made[-1]] if rng.random() < 0.5 else [g for g in found if g is not None]


def outcome(function: Callable[..., Any], given: list[Any]) -> Any:
    try:
        return function(given)
    except (EvaluationError, ShapeError):
        return None


def feeds(rng: np.random.Generator, inputs: list[Any]) -> list[list[Any]]:
    """What fits; and if there is an unknown size, two others: 1, and one that fits nothing."""
    shapes = [[(ROWS, COLUMNS)] * 3]
    unknown = [(i, axis) for i, x in enumerate(inputs) for axis in (0, 1) if x.shape[axis] is None]
    if unknown:
        place, axis = unknown[int(rng.integers(len(unknown)))]
        for wrong in (1, 7):
            shape = [ROWS, COLUMNS]
            shape[axis] = wrong
            shapes.append([(ROWS, COLUMNS)] * 3)
            shapes[-1][place] = tuple(shape)  # type: ignore[call-overload]
    return [[rng.normal(size=s).astype("float32") for s in each] for each in shapes]


def compare(engine_name: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    inputs, wanted = program(rng)
    given = feeds(rng, inputs)
    reference, function = (K.function(inputs, wanted, engine=e) for e in ("numpy", engine_name))
    for values in given:
        want, got = outcome(reference, values), outcome(function, values)
        assert (want is None) == (got is None)
        for x, y in zip(got or (), want or (), strict=True):
            np.testing.assert_allclose(x, y, rtol=2e-3, atol=1e-4)
    assert outcome(reference, given[0]) is not None


@pytest.mark.parametrize("seed", range(4))
def test_random_programs(engine_name: str, seed: int) -> None:
    compare(engine_name, seed)


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(4, 64))
def test_more_random_programs(engine_name: str, seed: int) -> None:
    compare(engine_name, seed)
