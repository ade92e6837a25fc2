"""CNTK in its process: numbers at the edges, and what is held there."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from _support.common import needs_cntk

from kameleon import backend as K
from kameleon.engines.cntk.engine import KEEPER
from kameleon.engines.cntk.process import Worker
from kameleon.errors import EvaluationError, ShapeError
from kameleon.graph.ir.node import REGISTRY
from kameleon.graph.ir.program import Graph
from kameleon.graph.primitives import elementwise as ew
from kameleon.runtime import engines
from kameleon.runtime.compiler import compiled_anew

pytestmark = needs_cntk


@pytest.fixture(autouse=True)
def _on_cntk() -> Iterator[None]:
    with engines.using("cntk"):
        yield


def worker() -> Worker:
    """The process in use."""
    return KEEPER._ready()


def both(make: Any, *arrays: Any) -> tuple[Any, Any]:
    """What CNTK and NumPy give."""
    inputs = [K.placeholder(a.shape, dtype=str(a.dtype)) for a in arrays]
    outputs = make(*inputs)
    found = [
        K.function(inputs, [outputs], engine=name)(list(arrays))[0] for name in ("cntk", "numpy")
    ]
    return found[0], found[1]


# Numbers -----------------------------------------------------------------------------------------

NAN, INF = float("nan"), float("inf")
EDGES = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    1.5,
    2.5,
    -2.5,
    INF,
    -INF,
    NAN,
    1e-40,
    -1e-40,
    3e38,
    1e-38,
    88.0,
    1e6,
]
UNARY = {
    "log": K.log,
    "sqrt": K.sqrt,
    "pow": lambda x: x**3.0,
    "round": K.round,
    "relu": K.relu,
    "sign": K.sign,
    "exp": K.exp,
    "sin": K.sin,
    "cos": K.cos,
    "sigmoid": K.sigmoid,
    "softplus": K.softplus,
    "tanh": K.tanh,
    "abs": K.abs,
    "max": lambda x: K.max(x, axis=0),
    "min": lambda x: K.min(x, axis=0),
    "any": lambda x: K.any(x, axis=0),
    "inverse": lambda x: 1.0 / x,
}
BINARY = {
    "div": lambda x, y: x / y,
    "maximum": K.maximum,
    "minimum": K.minimum,
    "mul": lambda x, y: x * y,
    "less": K.less,
    "equal": K.equal,
    "not_equal": K.not_equal,
    "greater_equal": K.greater_equal,
    "choice of one or 0": lambda x, y: K.switch(
        K.greater(x, y), x, K.constant(np.zeros(len(EDGES) ** 2))
    ),
    "choice of 0 or one": lambda x, y: K.switch(
        K.greater(x, y), K.constant(np.zeros(len(EDGES) ** 2)), y
    ),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", UNARY)
def test_functions_follow_ieee_754(name: str, dtype: str) -> None:
    with np.errstate(all="ignore"):
        found, wanted = both(UNARY[name], np.array(EDGES, dtype))
    assert found.dtype == wanted.dtype
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


@pytest.mark.parametrize("name", UNARY)
def test_functions_follow_ieee_754_where_numpy_writes_over_their_operands(name: str) -> None:
    """The logarithm of 0 leaves all of the segment to NumPy; a product is no longer needed."""
    given = np.array(EDGES, "float32"), np.zeros(1, "float32")
    found, wanted = both(lambda x, y: UNARY[name](x * 2.0) + K.exp(K.log(y)), *given)
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


DILATED = {
    "conv": lambda x, k: K.conv2d(x, k, padding="same", dilation_rate=(1, 2)),
    "its input's gradient": lambda g, k: K.conv2d_transpose(
        g, k, (2, 6, 7, 1), padding="same", dilation_rate=(2, 2)
    ),
    "its kernel's gradient": lambda x, k: K.gradients(K.sum(K.conv2d(x, k, strides=2)), k)[0],
    "depthwise": lambda x, k: K.depthwise_conv2d(x, k, padding="same", dilation_rate=(2, 1)),
    "depthwise on a line": lambda x, k: K.separable_conv1d(
        x[:, 0], k[0], K.ones((1, 1, 2)), padding="same", dilation_rate=2
    ),
}


@pytest.mark.parametrize("name", DILATED)
def test_no_infinite_number_spreads_through_the_holes_of_a_dilation(name: str) -> None:
    x = np.ones((2, 6, 7, 1), "float32")
    x[0, 2, 3], x[1, 5, 0], x[0, 0, 0] = INF, NAN, -INF
    found, wanted = both(DILATED[name], x, np.full((3, 3, 1, 1), 0.5, "float32"))
    assert np.isfinite(wanted).any()
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


@pytest.mark.parametrize("name", BINARY)
def test_operations_follow_ieee_754(name: str) -> None:
    x, y = (a.ravel() for a in np.meshgrid(np.array(EDGES, "float32"), np.array(EDGES, "float32")))
    found, wanted = both(BINARY[name], x.copy(), y.copy())
    assert found.dtype == wanted.dtype
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


@pytest.mark.parametrize("name", ["round", "neg", "abs", "floor", "ceil", "sin", "tanh"])
def test_zeros_keep_their_signs(name: str) -> None:
    x = np.array([-0.0, 0.0, -0.3, 0.3, -0.7, 1e-40, -1e-40, 2.3, -2.0], "float32")
    given = K.placeholder(x.shape)
    f = K.function([given], [REGISTRY[name](given)])
    wanted = getattr(np, {"neg": "negative"}.get(name, name))(x)
    (found,) = f([x])
    assert "in the last call by NumPy" not in f.source
    np.testing.assert_allclose(found, wanted, rtol=1e-6)
    assert np.signbit(found).tolist() == np.signbit(wanted).tolist()


def test_what_isnt_chosen_is_a_zero_without_a_sign() -> None:
    x = np.array([-2.0, -0.5, 3.0], "float32")
    zero = K.constant(np.zeros(3))
    for make in (K.relu, lambda x: K.switch(K.greater(x, 0.0), x, zero)):
        found, wanted = both(make, x)
        assert found.tolist() == wanted.tolist() == [0.0, 0.0, 3.0]
        assert np.signbit(found).tolist() == np.signbit(wanted).tolist() == [False] * 3


def test_what_is_chosen_may_be_infinite() -> None:
    x, y = K.placeholder((3,)), K.placeholder((3,))
    f = K.function([x, y], [K.relu(x), K.switch(K.greater(y, 0.0), x, K.zeros_like(x))])
    for found in f([[3e38, -3e38, INF], [1.0, -1.0, 1.0]]):
        np.testing.assert_array_equal(found, np.array([3e38, 0.0, INF], "float32"))
    assert "in the last call by NumPy" not in f.source
    chosen, other = f([[-INF, NAN, -INF], [1.0, 1.0, -1.0]])
    np.testing.assert_array_equal(chosen, [0.0, NAN, 0.0])
    np.testing.assert_array_equal(other, [-INF, NAN, 0.0])
    assert "in the last call by NumPy" in f.source


def test_what_cntk_cant_be_trusted_with_costs_no_later_call_its_cntk() -> None:
    x = K.placeholder((3,))
    f = K.function([x], [K.log(x)])
    assert f([[1.0, 0.0, -1.0]])[0].tolist()[:2] == [0.0, -INF]
    assert "in the last call by NumPy: operands that CNTK errs for (log)" in f.source
    np.testing.assert_allclose(f([[1.0, 2.0, 4.0]])[0], np.log([1, 2, 4]), rtol=1e-6)
    assert "in the last call by NumPy" not in f.source


def masked_likelihood(x: Any, w: Any) -> Any:
    """Logarithms of 0 that a mask takes out, between nodes that CNTK can do."""
    p = K.sigmoid(K.dot(x, w)) * K.cast(K.greater(x, 0.0), "float32")
    chosen = K.switch(K.greater(p, 0.0), K.log(p), K.zeros_like(p))
    return K.mean(K.square(K.tanh(chosen)))


@pytest.mark.parametrize("in_a_loop", [False, True])
def test_a_node_that_cntk_errs_for_again_is_numpys_alone(in_a_loop: bool) -> None:
    x, w = K.placeholder((None, 4)), K.variable(np.eye(4))
    batch = K.expand_dims(x, 0)
    loss = (
        K.sum(K.map_fn(lambda m: masked_likelihood(m, w), batch))
        if in_a_loop
        else masked_likelihood(x, w)
    )
    results = [loss, *K.gradients(loss, [w])]
    f, wanted = K.function([x], results), K.function([x], results, engine="numpy")
    data = np.random.default_rng(0).normal(size=(6, 4)).astype("float32")
    for _ in range(8):
        for mine, theirs in zip(f([data]), wanted([data]), strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=1e-5, atol=1e-6)
    assert "in the last call by NumPy" not in f.source
    computed, _, others = f.source.partition("\n")[0].partition("% of the nodes, NumPy the rest: ")
    assert int(computed.rpartition(" ")[2]) >= 70 and "log" in others.split(", ")
    again = f.source
    f([data])
    assert f.source == again


def test_an_index_out_of_range_reads_no_foreign_memory() -> None:
    table, v = K.variable(np.ones((4, 2))), K.variable(0.0)
    i = K.placeholder((None,), dtype="int32")
    f = K.function([i], [K.gather(K.exp(table), i)], [(v, v + 1.0)])
    assert f([[3]])[0].shape == (1, 2)
    for index in (4, -1, 2**30):
        with pytest.raises(EvaluationError, match="out of range"):
            f([[index]])
    assert K.get_value(v) == 1.0


@pytest.mark.parametrize(
    "chosen",
    [
        lambda x, i: K.gather(x, i),
        lambda x, i: K.one_hot(i, 2**24 + 2)[:, -2:],
    ],
    ids=["gather", "one_hot"],
)
def test_integers_that_floats_round_choose_the_right_element(chosen: Any) -> None:
    x = np.zeros(2**24 + 2, "float32")
    x[-1] = 1.0
    found, wanted = both(chosen, x, np.array([2**24 + 1, 2**24], "int32"))
    assert found.tolist() == wanted.tolist()


def test_sizes_that_differ_are_an_error() -> None:
    x, y = K.placeholder((None,)), K.placeholder((None,))
    f = K.function([x, y], [K.exp(x) + K.tanh(y)])
    assert f([np.ones(3), np.ones(3)])[0].shape == (3,)
    with pytest.raises((ShapeError, EvaluationError), match="differ"):
        f([np.ones(3), np.ones(2)])
    # Where rules of gradients took them as equal, nobody has compared them before.
    graph = Graph([x, y], [ew.add(ew.exp(x), ew.tanh(y))])
    code = compiled_anew(graph, engines.load("cntk"))
    with pytest.raises((ShapeError, EvaluationError), match="differ"):
        code([np.ones(3, "float32"), np.ones(1, "float32")])


def test_tensors_without_elements_are_numpys() -> None:
    x = K.placeholder((None, 2))
    f = K.function([x], [K.exp(x), K.sum(x)])
    assert f([np.ones((3, 2))])[1] == 6.0
    empty, total = f([np.ones((0, 2))])
    assert empty.shape == (0, 2) and total == 0.0


def test_many_arguments_and_results() -> None:
    """Python 3.6 takes 255 at a time."""
    xs = [K.placeholder((2,)) for _ in range(300)]
    found = K.function(xs, [K.exp(x) for x in xs])([np.full(2, i / 300) for i in range(300)])
    np.testing.assert_allclose([y[0] for y in found], np.exp(np.arange(300) / 300), rtol=1e-5)


# What is held -------------------------------------------------------------------------------------


def test_variables_stay_in_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    v = K.variable(np.zeros((5, 5)))
    f = K.function([], [], [(v, v + 1.0)])
    f([])
    asked: list[Any] = []
    ask = Worker.ask
    monkeypatch.setattr(Worker, "ask", lambda w, what, **m: asked.append(m) or ask(w, what, **m))
    f([])
    ((place, token),) = asked[0]["given"]
    assert place is None and token in worker().known
    f([])
    assert token in asked[1]["drop"]
    assert K.get_value(v).tolist() == [[3.0] * 5] * 5


def test_what_variables_hold_lies_where_no_call_writes() -> None:
    v, x = K.variable(np.zeros((50, 50))), K.placeholder((None,))
    K.function([], [], [(v, v + 1.0)])([])
    K.function([x], [x * 2.0])([np.full(10_000, 7.0)])
    assert (K.get_value(v) == 1.0).all()


def test_larger_and_larger_arrays_find_room() -> None:
    x = K.placeholder((None,))
    f = K.function([x], [x * 2.0])
    for size in (10, 5_000_000, 7_000_000, 3):
        found = f([np.arange(size, dtype="float32")])[0]
        assert found.shape == (size,) and found[-1] == 2.0 * (size - 1)


def test_after_a_call_that_fails_the_next_one_has_all_it_needs() -> None:
    table = K.variable(np.arange(8.0).reshape(4, 2))
    i = K.placeholder((None,), dtype="int32")
    f = K.function([i], [K.gather(K.square(table), i)])
    with pytest.raises(EvaluationError, match="out of range"):
        f([[4]])
    assert f([[3]])[0].tolist() == [[36.0, 49.0]]


def test_programs_are_forgotten_with_their_functions() -> None:
    x = K.placeholder((3,))
    f = K.function([x], [x * 1234.5])
    f([np.ones(3)])
    token = max(worker().known)  # of the result; the program's is among the others
    before = set(worker().known)
    del f
    K.clear_session()
    gc.collect()
    K.function([], [K.constant(1.0)])([])
    assert len(before - set(worker().known)) >= 2 and token not in worker().known
