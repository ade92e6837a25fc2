"""Loops whose steps wait for nothing are one computation: the same values, and gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from _support.common import engines_under_test

from kameleon import backend as K
from kameleon.engines import Engine
from kameleon.graph.ir.node import walk
from kameleon.graph.ir.program import Graph
from kameleon.graph.passes import hoisting
from kameleon.graph.passes.simplify import simplify
from kameleon.graph.primitives import reduce
from kameleon.graph.primitives.indexing import argsort
from kameleon.graph.primitives.movement import pad
from kameleon.graph.primitives.special import log_softmax
from kameleon.runtime.engines import embedded

ROWS, COLUMNS = 3, 4
STEPS = 5
RNG = np.random.default_rng(5)
SLICES = RNG.normal(size=(STEPS, ROWS, COLUMNS)).astype("float32")
WEIGHTS = RNG.normal(size=(COLUMNS, 2)).astype("float32")

# What is done with a slice x (ROWS, COLUMNS) and weights w that all steps share; by the
# operations of which it's the test.
BODIES: dict[str, Callable[[Any, Any], Any]] = {
    "elementwise": lambda x, w: K.tanh(x) * 2.0 + x,
    "elementwise broadcast_to reduce_sum": lambda x, w: x - K.sum(x, axis=0) + K.sum(x),
    "broadcast_to": lambda x, w: K.tile(K.expand_dims(x[:, 0], 1), (1, 3)) + w[0, 0],
    "contract": K.dot,
    "contract of a step": lambda x, w: K.dot(x, K.transpose(x)),
    "contract in batches": lambda x, w: K.batch_dot(K.expand_dims(x, 2), K.expand_dims(x, 1)),
    "contract, turned": lambda x, w: K.dot(K.transpose(w), K.transpose(x)),
    "transpose reshape": lambda x, w: K.reshape(K.transpose(x), (2, -1)),
    "slice pad": lambda x, w: pad(x[1:, ::2], [(1, 0), (2, 1)], 3.0),
    "gather": lambda x, w: K.gather(x, K.constant([2, 0, 2], dtype="int32")),
    "concatenate": lambda x, w: K.concatenate([x, K.square(x)], 1),
    "concatenate with what is shared": lambda x, w: K.concatenate([K.transpose(x), w], 1),
    "reduce_prod product_of_others": lambda x, w: K.prod(x, axis=1),
    "reduce_max reduce_min": lambda x, w: K.max(x, axis=0) - K.min(x, axis=0),
    "reduce_any reduce_all": lambda x, w: K.cast(
        K.any(x > 0.9, axis=1) | K.all(x > -1.0, axis=1), "float32"
    ),
    "reverse": lambda x, w: K.reverse(x, 1) * x,
    "argmax argmin": lambda x, w: K.argmax(x, 1) - K.argmin(x, 1),
    "argsort": lambda x, w: argsort(x, axis=1),
    "cumsum": lambda x, w: K.cumsum(x, 1),
    "cumprod cumprod_slope": lambda x, w: K.cumprod(x, 0),
    "softmax": lambda x, w: K.softmax(x) * x,
    "log_softmax": lambda x, w: log_softmax(x, axis=1),
    "linear_scan": lambda x, w: reduce.linear_scan(x, x * x, axis=0),
    "what is shared alone": lambda x, w: w * 2.0,
    "the slice itself": lambda x, w: x,
}


def scans(outputs: list[Any]) -> int:
    """How many loops are left of those that compute `outputs`."""
    inputs = [n for n in walk(outputs) if n.primitive.name in ("input", "variable")]
    simple = simplify(Graph(inputs, outputs), embedded().native)
    return sum(n.primitive.name == "scan" for n in simple.nodes)


def test_all_rules_are_tried() -> None:
    tried = {word.strip(",") for name in BODIES for word in name.split()}
    assert hoisting.LIFT.keys() <= tried


@pytest.mark.parametrize("shape", [(STEPS, ROWS, COLUMNS), (None, ROWS, COLUMNS)])
@pytest.mark.parametrize("name", BODIES)
def test_a_loop_is_one_computation(name: str, shape: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    x, w = K.placeholder(shape), K.placeholder((COLUMNS, 2))
    mapped = K.map_fn(lambda row: BODIES[name](row, w), x)
    outputs = [mapped]
    if mapped.dtype == "float32":
        slopes = K.gradients(K.sum(K.sin(mapped)), [x, w])
        second = K.gradients(sum(K.sum(K.square(g)) for g in slopes if g is not None), [x])
        outputs += [g for g in (*slopes, *second) if g is not None]
    assert not scans([mapped])
    given = [(SLICES, WEIGHTS), (SLICES[:0], WEIGHTS)][: 1 if shape[0] else 2]
    found = [K.function([x, w], outputs, engine="numpy")(list(arrays)) for arrays in given]
    K.clear_session()
    monkeypatch.setattr(hoisting, "LARGEST_MAPPED", 0)
    monkeypatch.setattr(hoisting, "LARGEST_SLICE", 0)
    alone = ("contract", "contract, turned", "what is shared alone", "the slice itself")
    assert scans([mapped]) or name in alone  # these leave other loops, too
    for got, arrays in zip(found, given, strict=True):
        for a, b in zip(
            got, K.function([x, w], outputs, engine="numpy")(list(arrays)), strict=True
        ):
            np.testing.assert_allclose(a, b, rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize("engine", engines_under_test())
def test_loops_give_the_same_on_all_engines(engine: str) -> None:
    """All bodies that are known to differ in nothing else, in one program."""
    x, w = K.placeholder((None, ROWS, COLUMNS)), K.placeholder((COLUMNS, 2))
    outputs = [K.map_fn(lambda row, body=body: body(row, w), x) for body in BODIES.values()]
    given = [SLICES, WEIGHTS]
    want = K.function([x, w], outputs, engine="numpy")(given)
    for a, b in zip(K.function([x, w], outputs, engine=engine)(given), want, strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-4, atol=2e-5)


def test_sizes_of_a_slice_are_the_same_in_all_steps() -> None:
    x = K.placeholder((None, None, 2))
    mapped = K.map_fn(lambda row: row - K.mean(row, axis=0) + K.cast(K.shape(row)[0], "float32"), x)
    assert not scans([mapped])
    array = SLICES[..., :2]
    want = array - array.mean(1, keepdims=True) + ROWS
    np.testing.assert_allclose(K.function([x], [mapped])([array])[0], want, rtol=1e-5, atol=1e-6)


def test_sequences_that_may_differ_in_length_stay_a_loop(engine: Engine) -> None:
    """So that it's an error where they do, though they never meet."""
    x, y = K.placeholder((None, 2)), K.placeholder((None, 3))
    first, second = K.map_fn(lambda rows: (K.exp(rows[0]), K.exp(rows[1])), (x, y), dtype=None)
    assert scans([first, second]) == 1
    run = K.function([x, y], [first, second])
    run([np.ones((4, 2)), np.ones((4, 3))])
    with pytest.raises(Exception, match=r"(?s)sizes|length|shape"):
        run([np.ones((4, 2)), np.ones((5, 3))])


@pytest.mark.parametrize(("size", "stays"), [(2**10, False), (2**14, True)])
def test_large_slices_stay_in_a_loop(size: int, stays: bool) -> None:
    """What lies between would be in memory for all steps."""
    x = K.placeholder((None, 1, size))
    assert bool(scans([K.map_fn(K.softmax, x)])) == stays
