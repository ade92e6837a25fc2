"""A branch that isn't taken and a loop without steps say nothing about sizes.

What they would do with a tensor may fit one size alone; outside of them it has the size that it
has, and is compared with others by it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

from kameleon import backend as K
from kameleon.errors import EvaluationError, ShapeError

pytestmark = pytest.mark.usefixtures("engine")  # on each engine that is installed

# `X` has an unknown number of rows; with `FOUR` only 4 of them fit.
X, FOUR = np.ones((1, 3), "float32"), np.ones((4, 3), "float32")


class Fed(NamedTuple):
    """Placeholders: `x` of unknown rows, and the number of steps, or a branch's condition."""

    x: Any
    count: Any


def beside(x: Any, factor: Any = 1.0) -> Any:
    """What only 4 rows can be in. A `factor` of a step keeps it in the loop."""
    return K.sum(K.concatenate([x * factor, K.constant(FOUR)], 1))


def branch(fed: Fed) -> Any:
    return K.switch(fed.count > 0.0, lambda: beside(fed.x), lambda: K.sum(fed.x))


def other_branch(fed: Fed) -> Any:
    return K.switch(
        fed.count > 0.0,
        lambda: beside(fed.x),
        lambda: K.sum(K.cast(K.shape(fed.x), "float32")) - 1.0,
    )


def branch_of_a_branch(fed: Fed) -> Any:
    return K.switch(fed.count < 1.0, lambda: branch(fed), lambda: beside(fed.x))


def loop(body: Callable[[Any], Any], start: Any, fed: Fed) -> Any:
    return K.while_loop(
        lambda i, s: i < fed.count, lambda i, s: [i + 1.0, body(s)], [K.constant(0.0), start]
    )[1]


def captured(fed: Fed) -> Any:
    return K.sum(loop(lambda s: s + beside(fed.x, s), K.constant(3.0), fed))


def state(fed: Fed) -> Any:
    return K.sum(loop(lambda s: s * beside(s), fed.x, fed))


def steps_of_a_scan(fed: Fed) -> Any:
    return K.foldl(lambda s, row: s + row[0] * beside(fed.x, s), fed.x[1:], K.constant(3.0))


UNRUN: dict[str, Callable[[Fed], Any]] = {
    "branch": branch,
    "other branch": other_branch,
    "branch of a branch": branch_of_a_branch,
    "captured by a loop": captured,
    "state of a loop": state,
    "captured by a scan": steps_of_a_scan,
}


@pytest.mark.parametrize("name", UNRUN)
def test_sizes_are_those_that_are_fed(engine_name: str, name: str) -> None:
    if engine_name == "jax":
        pytest.skip("XLA compiles all bodies for the sizes that are fed, and must be able to")
    fed = Fed(K.placeholder((None, 3)), K.placeholder(()))
    y = UNRUN[name](fed)
    [slope] = K.gradients(y * y, [fed.x]) if name.startswith("branch") else [fed.x]
    stacked = K.sum(K.stack([fed.x, fed.x], 1), 1)  # made of sizes
    results = K.function(list(fed), [y, K.shape(fed.x), stacked, slope])([X, 0.0])
    expected = [3.0, [1, 3], X * 2, X * 6 if slope is not fed.x else X]
    for got, want in zip(results, expected, strict=True):
        np.testing.assert_allclose(got, want)


@pytest.mark.parametrize("name", UNRUN)
def test_sizes_that_differ_are_an_error(name: str) -> None:
    fed = Fed(K.placeholder((None, 3)), K.placeholder(()))
    f = K.function(list(fed), [UNRUN[name](fed), fed.x + K.constant(FOUR)])
    with pytest.raises((EvaluationError, ShapeError), match="taken as equal differ at run time"):
        f([np.ones((2, 3), "float32"), 0.0])


def replaced(x: Any, y: Any) -> Any:
    """A state that a step gives the sizes of another tensor."""

    def step(row: Any, states: list[Any]) -> tuple[Any, list[Any]]:
        new = K.tanh(row + states[0])
        return new, [new]

    return y * K.rnn(step, K.stack([y, y], 1), [x])[0]


def crossentropy(x: Any, y: Any) -> Any:
    return K.categorical_crossentropy(K.softmax(x), K.softmax(y))


@pytest.mark.parametrize(
    ("build", "shape"),
    [(replaced, shape) for shape in ((4, 1), (1, 1), (2, 3), (4, 7))]
    + [(crossentropy, shape) for shape in ((2, 3), (4, 7))],
)
def test_what_computes_with_a_size_still_checks_it(
    build: Callable[..., Any], shape: tuple[int, int]
) -> None:
    x, y = K.placeholder((None, None)), K.placeholder((4, 3))
    z = build(x, y)
    for outputs in ([z], K.gradients(K.sum(z * z), [x])):
        f = K.function([x, y], outputs)
        f([FOUR, FOUR])
        with pytest.raises((EvaluationError, ShapeError), match="taken as equal differ"):
            f([np.ones(shape, "float32"), FOUR])
