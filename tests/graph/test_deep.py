"""Very deep and very wide graphs: no walk recurses, and none takes more than its share of time."""

from __future__ import annotations

import gc
import pickle
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from kameleon import backend as K
from kameleon.engines.numpy.engine import engine
from kameleon.errors import UnsupportedError
from kameleon.graph.gradients import gradients
from kameleon.graph.ir.leaves import input_node
from kameleon.graph.ir.node import Node, walk
from kameleon.graph.ir.program import Graph
from kameleon.graph.ir.text import text_of
from kameleon.graph.ir.types import TensorType, as_dtype
from kameleon.graph.ir.verify import verify
from kameleon.graph.passes.simplify import simplify
from kameleon.graph.primitives.elementwise import add, mul, sin, square
from kameleon.graph.primitives.filling import full_like
from kameleon.graph.primitives.movement import broadcast_to, reshape
from kameleon.graph.primitives.reduce import reduce_sum
from kameleon.graph.primitives.sizes import dims_of

DEEP = 100_000
# Frames that Python may add to those of the test itself.
FRAMES = 60


def in_a_small_stack(work: Callable[[], None]) -> None:
    """Run in a thread whose stack a recursion in C, as of deallocation, would exhaust."""
    failures: list[BaseException] = []

    def guarded() -> None:
        try:
            with shallow():
                work()
        except BaseException as error:
            failures.append(error)

    # An eighth of the usual one: since 3.13 Python itself nests 10,000 deallocations, if asked.
    before = threading.stack_size(1024 * 1024)
    try:
        thread = threading.Thread(target=guarded)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    if failures:
        raise failures[0]


@contextmanager
def shallow() -> Iterator[None]:
    """Hardly any recursion is allowed inside."""
    before, frame, depth = sys.getrecursionlimit(), sys._getframe(), 0
    while frame is not None:
        frame, depth = frame.f_back, depth + 1  # type: ignore[assignment]
    sys.setrecursionlimit(depth + FRAMES)
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


def chain(x: Node, length: int, link: Callable[[Node], Node] = sin) -> Node:
    for _ in range(length):
        x = link(x)
    return x


def placeholder(*shape: int | None) -> Node:
    return input_node(TensorType(shape, as_dtype("float64")))


@pytest.mark.parametrize(
    "size",
    [pytest.param(2, id="static"), pytest.param(None, id="unknown", marks=pytest.mark.nightly)],
)
def test_a_chain_of_100000_nodes(size: int | None) -> None:
    """It's built, differentiated, checked, keyed, simplified, compiled, run and freed."""
    depth = DEEP if size is None else DEEP // 5

    def work() -> None:
        x = placeholder(size)
        y = chain(x, depth)
        (g,) = gradients(reduce_sum(y, (0,)), [x])
        assert g is not None
        middle = weakref.ref(y.operands[0])
        graph = Graph([x], [y, g])
        assert len(graph.nodes) > 3 * depth
        verify(graph)
        hash(graph.key)
        run = engine.compile(simplify(graph, engine.native))
        value, slope = run([np.array([0.5, 1.0])])
        expected, product = np.array([0.5, 1.0]), np.ones(2)
        for _ in range(depth):
            product *= np.cos(expected)
            expected = np.sin(expected)
        np.testing.assert_allclose(value, expected, rtol=1e-6)
        np.testing.assert_allclose(slope, product, rtol=1e-6)
        del y, g, graph, run
        gc.collect()
        assert middle() is None

    in_a_small_stack(work)


def test_a_chain_through_the_surface() -> None:
    def work() -> None:
        x, v = K.placeholder((None, 2)), K.variable([1.0, 2.0])
        y = x
        for _ in range(3000):
            y = (y + v) * 0.5
        loss = K.sum(y)
        f = K.function([x], [loss], updates=[(v, v - K.gradients(loss, [v])[0])])
        assert float(f([[[1.0, 2.0]]])[0]) == 3.0

    in_a_small_stack(work)


@pytest.mark.parametrize("size", [3, None], ids=["static", "unknown"])
def test_sizes_along_a_chain(size: int | None) -> None:
    """Each link asks for its size, forwards and, in the gradient, backwards."""

    def link(x: Node) -> Node:
        wide = broadcast_to(reshape(x, [*dims_of(x), 1]), [*dims_of(x), 2])
        return mul(square(reduce_sum(wide, (1,))), full_like(x, 0.25))

    def work() -> None:
        x = placeholder(size)
        y = chain(x, 5000, link)
        (g,) = gradients(reduce_sum(y, (0,)), [x])
        assert g is not None
        run = engine.compile(simplify(Graph([x], [y, g]), engine.native))
        value, slope = run([np.array([1.0, 1.0, 0.0])])
        assert (value.tolist(), slope.tolist()[2]) == ([1.0, 1.0, 0.0], 0.0)

    in_a_small_stack(work)


def test_sizes_asked_for_at_the_end_of_a_chain() -> None:
    """From the end backwards, the longest way first."""

    def work() -> None:
        x = placeholder(None)
        nodes = [x]
        for _ in range(20_000):
            nodes.append(sin(nodes[-1]))
        sizes = [dims_of(n)[0] for n in reversed(nodes)]
        assert all(s.operands == (x,) for s in sizes)  # type: ignore[union-attr]

    in_a_small_stack(work)


def test_a_wide_sum() -> None:
    def work() -> None:
        x = placeholder(4)
        terms = [mul(x, full_like(x, i)) for i in range(10_000)]
        total = terms[0]
        for term in terms[1:]:
            total = add(total, term)
        (g,) = gradients(total, [x])
        assert g is not None
        run = engine.compile(simplify(Graph([x], [total, g]), engine.native))
        value, slope = run([np.ones(4)])
        assert set(value.tolist()) == set(slope.tolist()) == {49_995_000.0}

    in_a_small_stack(work)


def test_many_inputs_and_outputs() -> None:
    def work() -> None:
        inputs = [K.placeholder((None,)) for _ in range(500)]
        total = K.concatenate(inputs, axis=0)
        f = K.function(inputs, [total, *inputs, *K.gradients(K.sum(K.square(total)), inputs)])
        values = f([[float(i)] for i in range(500)])
        assert values[0].tolist() == [float(i) for i in range(500)]
        assert [float(v[0]) for v in values[501:]] == [2.0 * i for i in range(500)]

    in_a_small_stack(work)


def test_a_deep_body() -> None:
    """The step of a loop may be long, too."""

    def step(inputs: Any, states: Any) -> Any:
        y = inputs + states[0]
        for _ in range(1500):
            y = K.sin(y)
        return y, [y]

    x = K.placeholder((1, 3, 2))
    last, outputs, _ = K.rnn(step, x, [K.zeros((1, 2))])
    (g,) = K.gradients(K.sum(last), [x])
    value, gradient = K.function([x], [outputs, g])([np.ones((1, 3, 2))])
    assert value.shape == gradient.shape == (1, 3, 2)
    assert np.isfinite(gradient).all()


def test_a_chain_of_updates() -> None:
    """Each is made under control dependencies on the one before."""
    v = K.variable(0.0)
    update = K.update_add(v, 1.0)
    for _ in range(600):
        with K.control_dependencies([update]):
            update = K.update_add(v, 1.0)
    K.function([], [], updates=[update])([])
    assert K.get_value(v) == 601.0


def test_nested_conditions() -> None:
    x = K.placeholder(())
    y = x
    for i in range(40):
        y = K.switch(K.less(x, float(i)), lambda y=y: y * 1.0, lambda y=y: y + 1.0)
    (g,) = K.gradients(y, [x])
    assert K.function([x], [y, g])([10.5]) == [21.5, 1.0]


X = np.array([[0.5, 0.25]], np.float32)


def nested(form: str, depth: int) -> tuple[Node, Node]:
    """The value is half of the input, whatever the depth."""
    x = K.placeholder((1, 2))
    zero = K.constant(0, "int32")
    forms: dict[str, Callable[[Callable[[Any], Any], Any], Any]] = {
        "switch": lambda f, v: K.switch(K.sum(v) > 0, lambda: f(v), lambda: v),
        "rnn": lambda f, v: K.rnn(
            lambda i, s: (lambda h: (h, [h]))(f(i + s[0])), K.expand_dims(v, 1), [v * 0]
        )[0],
        "map_fn": lambda f, v: K.map_fn(f, v),
        "foldl": lambda f, v: K.foldl(lambda a, e: a + f(e), K.expand_dims(v, 0), v * 0),
        "while_loop": lambda f, v: K.while_loop(
            lambda i, w: i < 1, lambda i, w: [i + 1, f(w)], [zero, v], maximum_iterations=1
        )[1],
    }
    names = ["rnn", "while_loop", "switch", "foldl"] if form == "all" else [form]

    def at(level: int, v: Node) -> Any:
        if level == depth:
            return v * 0.5
        if form == "map_fn":  # each goes down into one axis more
            return K.map_fn(lambda e: at(level + 1, K.expand_dims(e, 0))[0], v)
        return forms[names[level % len(names)]](lambda w: at(level + 1, w), v)

    return x, at(0, x)


FORMS = {"switch": 50, "rnn": 26, "map_fn": 26, "foldl": 26, "while_loop": 6, "all": 8}


@pytest.mark.parametrize("form", FORMS)
def test_bodies_in_bodies(engine_name: str, form: str) -> None:
    """Deeper than some compilers go: with the gradient, through a file, as text."""
    x, y = nested(form, FORMS[form])
    (g,) = K.gradients(K.sum(y), [x])
    f = K.function([x], [y, g], engine=engine_name)
    value, slope = f([X])
    assert np.array_equal(value, X / 2)
    assert np.array_equal(slope, np.full((1, 2), 0.5))
    again = pickle.loads(pickle.dumps(f))
    assert np.array_equal(again([X])[0], X / 2)
    assert text_of(f.compiled.graph()).count("%") > FORMS[form]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("depth", [51, 1000])
def test_bodies_in_too_many_bodies(form: str, depth: int) -> None:
    """The error is the user's, and comes before Python has no frames left."""
    with pytest.raises(UnsupportedError, match="more than 50 loops and conditions") as caught:
        nested(form, depth)
    assert caught.value.__cause__ is None
    x, y = nested(form, 2)  # nothing is left of the failure
    assert np.array_equal(K.function([x], [y])([X])[0], X / 2)


def test_a_deep_graph_prints() -> None:
    assert text_of(Graph([x := placeholder(2)], [chain(x, 5000)])).count("sin") == 5000


def test_walking_is_in_order() -> None:
    x = placeholder(2)
    order = walk([chain(x, 1000)])
    assert order == sorted(order, key=lambda n: n.serial)
    assert len(order) == 1001
