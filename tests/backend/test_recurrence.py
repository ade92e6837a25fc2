"""`K.rnn` says whether its result depends on the learning phase."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kameleon import backend as K


def plain(x: Any, states: list[Any]) -> tuple[Any, list[Any]]:
    """A step without phases."""
    return x + states[0], [x + states[0]]


def two_faced(x: Any, states: list[Any]) -> tuple[Any, list[Any]]:
    """A step with a phase inside; its output has no mark."""
    output = K.in_train_phase(x + states[0], x) + 0.0
    return output, [output]


CASES = {
    "none": (lambda x: x, plain, False),
    "before": (lambda x: K.in_train_phase(x, 2 * x) + 0.0, plain, True),
    "inside": (lambda x: x, two_faced, True),
}


@pytest.mark.parametrize("unroll", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_learning_phase(case: str, unroll: bool) -> None:
    prepare: Callable[[Any], Any]
    prepare, step, expected = CASES[case]
    x = prepare(K.constant([[[1.0], [2.0]]]))
    last, _, _ = K.rnn(step, x, [K.constant([[0.0]])], unroll=unroll)
    assert last._uses_learning_phase is expected


def test_learning_phase_that_is_set() -> None:
    K.set_learning_phase(1)
    x = K.in_train_phase(K.constant([[[1.0], [2.0]]]), K.constant([[[0.0], [0.0]]]))
    last, _, _ = K.rnn(plain, x, [K.constant([[0.0]])])
    assert last._uses_learning_phase is False


@pytest.mark.usefixtures("engine")
def test_a_loop_that_reads_only_the_sizes_of_something_gives_it_no_gradient() -> None:
    x = K.placeholder((None, 2))
    endless = K.while_loop(lambda y: K.sum(y) < 5.0, lambda y: [y * 2.0], [x])[0]

    def step(total: Any, row: Any) -> Any:
        return total + row * K.sum(K.ones_like(endless))

    folded = K.foldl(step, x, initializer=K.zeros((2,)))
    (gradient,) = K.gradients(K.sum(folded), [x])
    assert K.function([x], [gradient])([[[1.0, 1.0], [1.0, 1.0]]])[0].tolist() == [[4.0] * 2] * 2


@pytest.mark.usefixtures("engine")
def test_branches_that_read_only_the_sizes_of_something_give_it_no_gradient() -> None:
    x, y = K.placeholder((None,)), K.placeholder((None,))
    chosen = K.switch(K.sum(x) > 0.0, lambda: x * K.sum(K.ones_like(y)), lambda: x * 2.0)
    by_x, by_y = K.gradients(K.sum(chosen), [x, y])
    assert by_y is None
    assert K.function([x, y], [by_x])([[1.0, 2.0], [5.0] * 3])[0].tolist() == [3.0, 3.0]
