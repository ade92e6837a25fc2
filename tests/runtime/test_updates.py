"""What is committed is what the variable is: its dtype and its shape, on every way to an update."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from kameleon import backend as K
from kameleon.engines import Engine
from kameleon.errors import DTypeError, FeedError, KameleonError, ShapeError
from kameleon.graph.ir.program import Graph
from kameleon.graph.primitives.movement import slice_axis
from kameleon.runtime.workspace import workspace

Array = np.ndarray[Any, Any]


def ones(*shape: int) -> Array:
    return np.ones(shape, "float32")


def rows(count: int) -> Array:
    """Numbers of as many rows as are fed."""
    return np.arange(count, dtype="int32")


def _doubled(x: Any) -> Any:
    """A loop whose state grows with each step."""
    found: Any = K.while_loop(
        lambda i, x: i < 1,
        lambda i, x: [i + 1, K.concatenate([x, x], axis=0)],
        [K.constant(0, dtype="int32"), x],
    )
    return found[1]


X = Callable[[], Any]
# By name: the placeholder, what a (4, 3) variable becomes, and feeds that fit and don't.
VALUES: dict[str, tuple[X, Callable[[Any], Any], Any, Any]] = {
    "all sizes unknown": (lambda: K.placeholder(ndim=2), K.identity, ones(4, 3), ones(4, 2)),
    "a batch": (lambda: K.placeholder((None, 3)), K.identity, ones(4, 3), ones(1, 3)),
    "arithmetic": (lambda: K.placeholder((None, 3)), lambda x: x * 2 + 1, ones(4, 3), ones(5, 3)),
    "gather": (
        lambda: K.placeholder((None,), dtype="int32"),
        lambda i: K.gather(K.constant(ones(9, 3)), i),
        rows(4),
        rows(5),
    ),
    "reshape": (
        lambda: K.placeholder((None,)),
        lambda x: K.reshape(x, (-1, 3)),
        ones(12),
        ones(6),
    ),
    "a growing loop": (lambda: K.placeholder((None, 3)), _doubled, ones(2, 3), ones(4, 3)),
    "switch": (
        lambda: K.placeholder((None, 3)),
        lambda x: K.switch(K.constant(True), x * 1.0, x * 2.0),
        ones(4, 3),
        ones(3, 3),
    ),
    "concatenate": (
        lambda: K.placeholder((None, 3)),
        lambda x: K.concatenate([x, x], axis=0),
        ones(2, 3),
        ones(4, 3),
    ),
    "meeting a known size": (
        lambda: K.placeholder((None, 3)),
        lambda x: x + K.constant(ones(4, 3)),
        ones(4, 3),
        ones(3, 3),
    ),
    "a size of 1": (
        lambda: K.placeholder((None, 3)),
        lambda x: x + K.constant(ones(1, 3)),
        ones(4, 3),
        ones(1, 3),
    ),
    "transpose": (
        lambda: K.placeholder((3, None)),
        K.transpose,
        ones(3, 4),
        ones(3, 1),
    ),
    "a contraction": (
        lambda: K.placeholder((None, 2)),
        lambda x: K.dot(x, K.constant(ones(2, 3))),
        ones(4, 2),
        ones(2, 2),
    ),
}


def _pair(w: Any, value: Any) -> Callable[[Any, Any], Any]:
    return lambda x, given: K.function([x], [], updates=[(w, value)])([given])


def _update(w: Any, value: Any) -> Callable[[Any, Any], Any]:
    return lambda x, given: K.function([x], [], updates=[K.update(w, value)])([given])


def _run(w: Any, value: Any) -> Callable[[Any, Any], Any]:
    return lambda x, given: K.get_session().run(K.update(w, value), {x: given})


def _dependency(w: Any, value: Any) -> Callable[[Any, Any], Any]:
    with K.control_dependencies([(w, value)]):
        after = K.identity(w)
    return lambda x, given: K.function([x], [after])([given])


def _added(w: Any, value: Any) -> Callable[[Any, Any], Any]:
    twice = [K.update_add(w, value), K.update_add(w, value * 0)]
    return lambda x, given: K.function([x], [], updates=twice)([given])


WAYS = (_pair, _update, _run, _dependency, _added)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", VALUES)
def test_a_value_of_another_shape_is_never_committed(engine: Engine, name: str, way: Any) -> None:
    make, of, fits, differs = VALUES[name]
    w, other = K.variable(ones(4, 3), name="weights"), K.variable(7.0)
    x = make()
    with K.control_dependencies([K.update_add(other, 1.0)]):
        value = of(x)
    call = way(w, value)
    before = K.get_value(w), float(K.get_value(other))
    for _ in range(2):
        with pytest.raises(KameleonError):
            call(x, differs)
        assert K.get_value(w).tolist() == before[0].tolist()
        assert float(K.get_value(other)) == before[1]
    if engine.static_shapes and name == "a growing loop":
        return  # it can't do that at all
    call(x, fits)
    assert K.get_value(w).shape == (4, 3)
    assert float(K.get_value(other)) == before[1] + 1


def test_the_error_names_the_variable_and_the_line(engine: Engine) -> None:
    w, x = K.variable(ones(4, 3), name="weights"), K.placeholder((None, 3))
    f = K.function([x], [], updates=[(w, K.exp(x))])
    with pytest.raises(ShapeError, match=r"'weights.*\(4, 3\).*\(2, 3\)(.|\n)*exp.*test_updates"):
        f([ones(2, 3)])


def test_a_compiler_that_is_wrong_about_a_shape(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the graph proves, the first call compares: nothing is committed."""
    compile = type(engine).compile

    def narrowing(engine: Engine, graph: Graph) -> Any:
        """As a rewriter does that takes the first row for all of them."""
        rows = [slice_axis(y, 0, 0, 1) for y in graph.outputs]
        return compile(engine, Graph(graph.inputs, rows))

    v = K.variable(np.ones((2, 2)))
    f = K.function([], [], updates=[(v, v * 2.0)])
    with monkeypatch.context() as patched:
        patched.setattr(type(engine), "compile", narrowing)
        workspace.compiled.clear()
        with pytest.raises(ShapeError, match=r"of shape \(1, 2\); no variable has changed"):
            f([])
    workspace.compiled.clear()
    assert np.array_equal(K.get_value(v), np.ones((2, 2)))


def test_what_is_proven_is_not_looked_at() -> None:
    w, x, y = K.variable(ones(4, 3)), K.placeholder((4, 3)), K.placeholder((None, 3))
    loose = K.sum(y, axis=0, keepdims=True)
    for value, looked_at in ((w + 1.0, 0), (w + x, 0), (w + loose, 1)):
        f = K.function([x, y], [], updates=[(w, value)])
        assert len(f.compiled.state.sizes.variables) == looked_at


# What a pair gives for a variable: the variable's dtype, its start, the value, and what it becomes.
CAST: dict[str, tuple[str, Callable[[], Any], Any]] = {
    "a float array": ("float32", lambda: np.full(2, 0.5), [0.5, 0.5]),
    "a list": ("float32", lambda: [1, 2], [1, 2]),
    "an integer array": ("float32", lambda: rows(2), [0, 1]),
    "integers": ("int32", lambda: np.array([3, 4], "int64"), [3, 4]),
    "whole floats": ("int32", lambda: [3.0, 4.0], [3, 4]),
    "an integer tensor": ("float32", lambda: K.constant(rows(2)), [0, 1]),
    "a wider tensor": ("float32", lambda: K.constant([0.5, 2], dtype="float64"), [0.5, 2]),
    "bools": ("int32", lambda: K.constant([True, False], dtype="bool"), [1, 0]),
}


@pytest.mark.parametrize("name", CAST)
def test_pairs_give_what_the_variable_can_hold(engine: Engine, name: str) -> None:
    dtype, value, want = CAST[name]
    v = K.variable(np.zeros(2), dtype=dtype)
    K.function([], [], updates=[(v, value())])([])
    found = K.get_value(v)
    assert (found.dtype, found.tolist()) == (dtype, want)
    with K.control_dependencies([(v, value())]):
        after = K.identity(v)
    assert K.eval(after).dtype == dtype


def test_a_number_for_a_scalar_variable(engine: Engine) -> None:
    k = K.variable(1, dtype="int32")
    K.function([], [], updates=[(k, 3)])([])
    assert (K.get_value(k).dtype, int(K.get_value(k))) == ("int32", 3)


REFUSED: dict[str, tuple[str, Callable[[], Any], type[Exception], str]] = {
    "a float tensor": ("int32", lambda: K.constant([0.5, 1]), DTypeError, r"K\.cast.*'int32'"),
    "floats": ("int32", lambda: [0.5, 1.0], FeedError, "would be changed"),
    "signed for unsigned": ("uint8", lambda: K.constant(rows(2)), DTypeError, "K.cast"),
    "out of range": ("int32", lambda: [2**40, 1], FeedError, "would be changed"),
    "numbers for bools": ("bool", lambda: K.constant(rows(2)), DTypeError, "K.cast"),
    "another shape": ("float32", lambda: ones(3), FeedError, r"\(2,\).*\(3,\)"),
    "a number": ("float32", lambda: 3.0, FeedError, r"\(2,\).*\(\)"),
    "a tensor of another shape": ("float32", lambda: K.constant(ones(3)), ShapeError, r"\(3,\)"),
    "nothing": ("float32", lambda: None, FeedError, "no array"),
    "another rank": ("float32", lambda: K.placeholder((None, 2)), ShapeError, "None, 2"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_pairs_that_cannot_be_are_refused_when_built(name: str) -> None:
    dtype, value, error, why = REFUSED[name]
    v = K.variable(np.zeros(2), dtype=dtype, name="held")
    with pytest.raises(error, match=f"(?s)'held.*{why}"):
        K.function([], [], updates=[(v, value())])
    with pytest.raises(error), K.control_dependencies([(v, value())]):
        pytest.fail("the block was entered")
    assert K.get_value(v).tolist() == [0, 0]


def test_control_dependencies_on_a_tensor_made_of_updates(engine: Engine) -> None:
    """Whoever waits for a tensor waits for the updates that computing it performs."""
    hits, count, x = K.variable(0.0), K.variable(0.0), K.placeholder((None,))
    share = K.update_add(hits, K.sum(x)) / K.update_add(count, K.cast(K.size(x), "float32"))
    before = K.identity(hits)
    with K.control_dependencies([share]):
        waited, after = K.identity(before), K.identity(hits)
    f = K.function([x], [waited, after])
    assert [float(v) for v in f([np.array([1, 0, 1], "float32")])] == [0.0, 2.0]
    assert [float(v) for v in f([np.array([1], "float32")])] == [2.0, 3.0]
    assert float(K.get_value(count)) == 4.0
