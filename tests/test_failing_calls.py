"""What goes wrong while a program runs: on every engine the same error, which names the line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from kameleon import backend as K
from kameleon.engines import Engine
from kameleon.errors import EvaluationError

X = np.arange(12.0, dtype="float32").reshape(4, 3)


def slope_by_labels(x: Any, i: Any) -> Any:
    """The loss itself isn't asked for: only its slope reads the labels."""
    return K.gradients(K.sum(K.sparse_categorical_crossentropy(i, K.softmax(x))), [x])[0]


def in_a_loop(x: Any, i: Any) -> Any:
    steps = K.expand_dims(K.expand_dims(K.cast(i, "float32"), -1), 0)

    def step(at: Any, states: Any) -> Any:
        row = K.gather(x, K.cast(at[:, 0], "int32")) + states[0]
        return row, [row]

    return K.rnn(step, steps, [K.constant(np.zeros((1, 3)))])[0]


# What is built over a table (None, 3) and indices (None,); right indices, wrong ones, the error.
PROGRAMS: dict[str, tuple[Callable[[Any, Any], Any], list[int], list[int], str]] = {
    "too large": (lambda x, i: K.gather(x, i), [0, 3], [0, 4], "index"),
    "negative": (lambda x, i: K.gather(x, i), [0, 3], [-1, 2], "index"),
    "slope": (
        lambda x, i: K.gradients(K.sum(K.square(K.gather(x, i))), [x])[0],
        [0, 3],
        [0, 9],
        "index",
    ),
    "labels": (slope_by_labels, [0, 2, 1, 0], [0, 3, 1, 0], "index|label"),
    "negative labels": (slope_by_labels, [0, 2, 1, 0], [0, -1, 1, 0], "index|label"),
    "loop": (in_a_loop, [0, 3, 1], [0, 4, 1], "index"),
    "branch": (
        lambda x, i: K.switch(K.sum(x) > 0.0, lambda: K.gather(x, i), lambda: K.gather(x, i - i)),
        [0, 3],
        [0, 4],
        "index",
    ),
    "sizes": (lambda x, i: K.cast(i, "float32") + x[:, 0], [0, 0, 0, 0], [0], "sizes"),
    "product": (
        lambda x, i: K.dot(K.expand_dims(K.cast(i, "float32"), 0), x),
        [0, 0, 0, 0],
        [1, 1],
        "",
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_failing_call_names_the_line_and_changes_nothing(engine: Engine, name: str) -> None:
    build, right, wrong, what = PROGRAMS[name]
    x, i = K.placeholder((None, 3)), K.placeholder((None,), dtype="int32")
    counter = K.variable(0.0)
    run = K.function([x, i], [build(x, i)], [K.update_add(counter, 1.0)])
    run([X, np.array(right, "int32")])
    with pytest.raises(EvaluationError, match=what or None) as caught:
        run([X, np.array(wrong, "int32")])
    assert "test_failing_calls.py" in str(caught.value)
    assert float(K.get_value(counter)) == 1.0
    run([X, np.array(right, "int32")])
    assert float(K.get_value(counter)) == 2.0
