"""K.function: whose memory values lie in, and when it's freed."""

from __future__ import annotations

import gc
import tracemalloc
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from _support.common import LARGE, value

from kameleon import backend as K
from kameleon.engines._codegen import code
from kameleon.runtime import compiler
from kameleon.runtime.workspace import workspace

pytestmark = pytest.mark.usefixtures("engine")  # on each engine that is installed

# Engines whose arrays nobody can write to: variables may share them.
READ_ONLY = {"tensorflow", "jax"}


def stored(variable: Any) -> Any:
    """The variable's own array, seen by NumPy."""
    return np.asarray(variable.cell.value)


# --- nothing is shared with the user's arrays ---------------------------------------------------


def test_mutating_an_input_afterwards_changes_nothing() -> None:
    x, v = K.placeholder((LARGE,)), K.variable(np.zeros(LARGE))
    given = np.ones(LARGE, "float32")
    f = K.function([x], [x, K.reshape(x, (1, LARGE)), x[::-1]], updates=[(v, x)])
    results = f([given])
    given[:] = 7
    assert all(r.ravel()[0] == 1 for r in results)
    assert K.get_value(v)[0] == 1


def test_a_call_leaves_its_inputs_alone() -> None:
    x = K.placeholder((None,))
    chain = x
    for _ in range(5):
        chain = K.tanh(chain * 2.0) - K.abs(chain)
    f = K.function([x], [chain, K.exp(x), x + 1.0, *K.gradients(K.sum(chain), [x])])
    given = np.linspace(-1, 1, LARGE, dtype="float32")
    kept = given.copy()
    for _ in range(3):
        f([given])
        np.testing.assert_array_equal(given, kept)
    given.flags.writeable = False
    f([given])


def test_mutating_outputs_changes_nothing() -> None:
    v, c = K.variable(np.ones(LARGE)), K.constant(np.ones(LARGE))
    f = K.function([], [v, c, v * 1.0, K.identity(v), K.reshape(v, (-1, 1))], updates=[(v, v)])
    for _ in range(3):
        for output in f([]):
            assert output.ravel()[0] == 1
            output[:] = 9
    assert K.get_value(v)[0] == 1
    assert K.eval(c)[0] == 1


def test_outputs_never_share_memory() -> None:
    x, v = K.placeholder((2, 2)), K.variable(np.ones((2, 2)))
    twice = x * 2.0
    outputs = [x, x, twice, twice, K.transpose(twice), twice[0], K.reshape(twice, (4,)), v, v]
    f = K.function([x], outputs, updates=[(v, twice)])
    given = np.ones((2, 2), "float32")
    for _ in range(3):
        values = [given, *f([given]), stored(v)]
        for i, a in enumerate(values):
            for b in values[:i]:
                assert not np.shares_memory(a, b)
        assert all(value.flags.writeable for value in values[:-1])


def test_two_variables_never_share_a_buffer() -> None:
    start = np.zeros(LARGE, "float32")
    a, b, c = K.variable(start), K.variable(start), K.variable(start)
    new = K.placeholder((LARGE,))
    shared = new * 2.0
    f = K.function([new], [], updates=[(a, shared), (b, shared), (c, K.reshape(shared, (LARGE,)))])
    for _ in range(3):
        f([start + 1])
        cells = [stored(v) for v in (a, b, c)]
        assert not any(np.shares_memory(x, start) for x in cells)
        if K.backend() not in READ_ONLY:
            assert not any(np.shares_memory(x, y) for i, x in enumerate(cells) for y in cells[:i])
    swap = K.function([], [], updates=[(a, b), (b, a)])
    swap([])
    assert K.backend() in READ_ONLY or not np.shares_memory(stored(a), stored(b))


def test_initial_set_and_read_values_are_copies() -> None:
    start, other = np.zeros(3, "float32"), np.ones(3, "float32")
    v = K.variable(start)
    start[:] = 5
    assert value(v) == [0, 0, 0]
    K.set_value(v, other)
    other[:] = 5
    read = K.get_value(v)
    (also,) = K.batch_get_value([v])
    read[:] = 6
    also[:] = 6
    assert value(v) == [1, 1, 1]
    constant = K.constant(start)
    start[:] = 8
    assert K.eval(constant).tolist() == [5, 5, 5]


def test_an_old_output_survives_the_calls_that_follow() -> None:
    """Buffers are used again only where nobody else holds them."""
    v = K.variable(np.zeros(LARGE))
    f = K.function([], [v * 2.0, v], updates=[K.update_add(v, 1.0)])
    held = [stored(v)]  # as a call in another thread holds it
    kept = [(i, *f([])) for i in range(6)]
    held.append(stored(v))
    f([])
    held.append(stored(v)[:10])
    for _ in range(3):
        f([])
    for i, double, plain in kept:
        assert double.min() == double.max() == 2 * i
        assert plain.min() == plain.max() == i
    assert [(x.min(), x.max()) for x in held] == [(0, 0), (6, 6), (7, 7)]


# --- memory -------------------------------------------------------------------------------------


def test_functions_and_variables_of_a_cleared_session_are_freed() -> None:
    def build() -> list[weakref.ref[Any]]:
        x, v = K.placeholder((None, 3)), K.variable(np.ones((3, 3)))
        loss = K.sum(K.dot(x, v))
        f = K.function([x], [loss], updates=[(v, v - K.gradients(loss, [v])[0])])
        for _ in range(3):
            f([np.ones((2, 3))])
        K.eval(v * 2.0)
        return [weakref.ref(thing) for thing in (f, v, loss, loss.operands[0])]

    references = build()
    K.clear_session()
    gc.collect()
    assert [r() for r in references if r() is not None] == []


def test_evaluations_do_not_pile_up() -> None:
    v = K.variable(1.0)
    for i in range(700):
        K.eval(v * float(i))
    assert len(workspace.functions) <= 256
    assert len(workspace.compiled) <= compiler.CACHE_SIZE


def traced_peak(work: Callable[[], Any]) -> int:
    """The most bytes that were allocated at once during the work."""
    gc.collect()
    tracemalloc.start()
    try:
        result = work()
        peak = tracemalloc.get_traced_memory()[1]
        del result
        return peak
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("joined", [False, True], ids=["line-by-line", "joined"])
def test_intermediate_values_are_freed_at_their_last_use(
    joined: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(code, "JOINED_AT_CALL", 1 if joined else 10**9)
    layers, width = 30, 256
    x = K.placeholder((width, width))
    y = x
    for i in range(layers):
        y = K.relu(K.dot(y, K.constant(np.eye(width) + i)) - float(i))
    f = K.function([x], [y])
    given = np.ones((width, width), "float32")
    f([given])
    assert traced_peak(lambda: f([given])) < 6 * given.nbytes


def test_a_training_step_keeps_each_layer_once() -> None:
    layers, width = 20, 256
    x = K.placeholder((width, width))
    weights = [K.variable(np.eye(width)) for _ in range(layers)]
    y = x
    for w in weights:
        y = K.tanh(K.dot(y, w))
    gradients = K.gradients(K.mean(y), weights)
    updates = [(w, w - g) for w, g in zip(weights, gradients, strict=True)]
    f = K.function([x], [], updates=updates)
    given = np.ones((width, width), "float32")
    f([given])
    f([given])
    assert traced_peak(lambda: f([given])) < (2 * layers + 8) * given.nbytes


def test_sizes_do_not_keep_values_alive() -> None:
    if K.backend() == "theano":
        pytest.skip("PyTensor computes in its own order, where all that is ready comes first")
    x = K.placeholder((None, 256))
    y = x
    for _ in range(30):
        y = K.tanh(y) + K.ones_like(y)
    f = K.function([x], [K.sum(y) * K.cast(K.shape(y)[0], "float32")])
    given = np.ones((256, 256), "float32")
    f([given])
    assert traced_peak(lambda: f([given])) < 6 * given.nbytes
