"""What records of primitives say about kinks, masked infinities, and faults."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

from kameleon.engines._base import Engine
from kameleon.errors import (
    DTypeError,
    EvaluationError,
    FeedError,
    GradientError,
    GraphError,
    KameleonError,
    ShapeError,
)
from kameleon.graph.gradients import gradients
from kameleon.graph.ir.leaves import input_node, leaf
from kameleon.graph.ir.node import REGISTRY, Node
from kameleon.graph.ir.types import TensorType, as_dtype
from kameleon.graph.primitives import elementwise as ew
from kameleon.graph.primitives.control import cond, run_scan, while_
from kameleon.graph.primitives.filling import full_like, scaled
from kameleon.graph.primitives.indexing import gather, put_along, scatter_add, take_along
from kameleon.graph.primitives.linalg import contract, matmul
from kameleon.graph.primitives.movement import (
    broadcast_to,
    concatenate,
    pad,
    reshape,
    slice_axis,
    transpose,
)
from kameleon.graph.primitives.pool import max_pool
from kameleon.graph.primitives.reduce import reduce_max, reduce_prod, reduce_sum
from kameleon.graph.primitives.sparse import sparse_to_dense
from kameleon.graph.primitives.windows import Window
from kameleon.runtime.function import Function
from kameleon.testing.cases.case import Array, body, type_of

P: dict[str, Any] = {**REGISTRY}


def total(x: Node) -> Node:
    return reduce_sum(x, range(len(x.shape)))


def fill(x: Node, value: float) -> Node:
    return full_like(x, value)


def inputs_of(*values: Any) -> tuple[list[Node], list[Array]]:
    arrays = [np.asarray(v) for v in values]
    return [input_node(type_of(a)) for a in arrays], arrays


def gradient_of(engine: Engine, build: Callable[..., Node], *values: Any) -> list[Any]:
    """The gradients of the sum of what is built, by all operands; None where there is none."""
    inputs, arrays = inputs_of(*values)
    found = gradients(build(*inputs), inputs)
    computed = iter(Function(inputs, [g for g in found if g is not None], engine=engine)(arrays))
    return [None if g is None else next(computed) for g in found]


# --- gradients at kinks, ties and masked infinities ---------------------------------------------


@pytest.mark.parametrize("name", ["log", "log1p", "sqrt", "pow"])
def test_gradients_are_linear_in_a_cotangent_of_zero(name: str, engine: Engine) -> None:
    """The cotangent t of f(x) is 0 here; the gradient t * f'(x) still grows with it."""
    x, t = np.array([0.25, 4.0]), np.zeros(2)

    def slope(t: Node, x: Node) -> Node:
        y = P[name](x, fill(x, 3.0)) if name == "pow" else P[name](x)
        (g,) = gradients(ew.mul(t, y), [x])
        assert g is not None
        return g

    want = {"log": 1 / x, "log1p": 1 / (1 + x), "sqrt": 0.5 / np.sqrt(x), "pow": 3 * x**2}
    found, _ = gradient_of(engine, slope, t, x)
    np.testing.assert_allclose(found, want[name], rtol=1e-6)


class Pin(NamedTuple):
    """A gradient that the record pins: the function, where, and what it is."""

    build: Callable[..., Node]
    at: tuple[Any, ...]
    expected: tuple[Any, ...]


F = "float64"
TILES = Window((1, 2), (1, 2), ((0, 0), (0, 0)), (1, 1))
GRADIENTS: dict[str, Pin] = {
    "abs is flat at 0": Pin(ew.abs, ([-2.0, 0.0, 3.0],), ([-1, 0, 1],)),
    "relu is flat at 0": Pin(P["relu"], ([-2.0, 0.0, 3.0],), ([0, 0, 1],)),
    "elu is steep at 0": Pin(P["elu"], ([0.0, 3.0],), ([1, 1],)),
    "maximum: ties to the first": Pin(
        ew.maximum, ([1.0, 2.0, 2.0], [1.0, 3.0, 0.0]), ([1, 0, 1], [0, 1, 0])
    ),
    "minimum: ties to the first": Pin(
        ew.minimum, ([1.0, 2.0, 2.0], [1.0, 3.0, 0.0]), ([1, 1, 0], [0, 0, 1])
    ),
    "clip passes at its bounds": Pin(
        lambda x: ew.clip_by(x, fill(x, -1), fill(x, 1)),
        ([-2.0, -1.0, 0.0, 1.0, 2.0],),
        ([0, 1, 1, 1, 0],),
    ),
    "max: ties share": Pin(
        lambda x: reduce_max(x, (1,)),
        ([[2.0, 5.0, 5.0, 1.0], [3.0, 3.0, 3.0, 3.0]],),
        ([[0, 0.5, 0.5, 0], [0.25] * 4],),
    ),
    "max pool: the first cell": Pin(
        lambda x: max_pool(reshape(x, (1, 2, 2, 1)), window=TILES).results[0],
        ([5.0, 5.0, 1.0, 2.0],),
        ([1, 0, 0, 1],),
    ),
    "prod with a zero": Pin(lambda x: reduce_prod(x, (0,)), ([2.0, 0.0, 3.0],), ([0, 6, 0],)),
    "prod with two zeros": Pin(lambda x: reduce_prod(x, (0,)), ([0.0, 0.0, 3.0],), ([0, 0, 0],)),
    "cumprod with a zero": Pin(lambda x: P["cumprod"](x, axis=0), ([2.0, 0.0, 3.0],), ([1, 8, 0],)),
    "pow by the base at 0": Pin(
        lambda x: ew.pow(x, ew.constant([1.0, 2.0, 3.0])), ([0.0, 0.0, 0.0],), ([1, 0, 0],)
    ),
    "pow by the exponent, base not positive": Pin(
        lambda a: ew.pow(ew.constant([-1.0, 0.0, 1.0]), a), ([2.0, 2.0, 5.0],), ([0, 0, 0],)
    ),
    "log at 0, masked": Pin(
        lambda x: ew.select(ew.gt(x, fill(x, 0)), ew.log(x), fill(x, 0)), ([0.0, 2.0],), ([0, 0.5],)
    ),
    "log1p at -1, masked": Pin(
        lambda x: ew.select(ew.gt(x, fill(x, -1)), ew.log1p(x), fill(x, 0)),
        ([-1.0, 1.0],),
        ([0, 0.5],),
    ),
    "sqrt at 0, masked": Pin(
        lambda x: ew.select(ew.gt(x, fill(x, 0)), ew.sqrt(x), fill(x, 0)),
        ([0.0, 4.0],),
        ([0, 0.25],),
    ),
    "pow at 0, masked": Pin(
        lambda x: ew.select(ew.gt(x, fill(x, 0)), ew.pow(x, fill(x, 0.5)), fill(x, 0)),
        ([0.0, 4.0],),
        ([0, 0.25],),
    ),
    "sigmoid, saturated": Pin(P["sigmoid"], ([-1000.0, 0.0, 1000.0],), ([0, 0.25, 0],)),
    "softplus, saturated": Pin(P["softplus"], ([-1000.0, 0.0, 1000.0],), ([0, 0.5, 1],)),
    "softmax of far scores": Pin(
        lambda x: slice_axis(P["log_softmax"](x, axis=0), 0, 0, 1), ([1000.0, -1000.0],), ([0, 0],)
    ),
    "a cast between floats": Pin(
        lambda x: ew.mul(ew.cast(ew.cast(x, "float32"), F), ew.constant([3.0, 4.0])),
        ([0.1, 0.2],),
        ([3, 4],),
    ),
    "a cast to integers": Pin(
        lambda x: ew.add(x, ew.cast(ew.cast(x, "int32"), F)), ([1.5, 2.5],), ([1, 1],)
    ),
    "stop_gradient": Pin(lambda x: ew.mul(x, P["stop_gradient"](x)), ([2.0, 3.0],), ([2, 3],)),
    "with_gradient follows its rule": Pin(
        lambda x: P["with_gradient"](ew.sin(x), x, rule=lambda g: [scaled(g, 3)]),
        ([2.0, 3.0],),
        ([3, 3],),
    ),
    "floor and its kin are flat": Pin(
        lambda x: ew.add(x, ew.add(ew.floor(x), ew.add(ew.ceil(x), ew.round(x)))), ([1.5],), ([1],)
    ),
    "mod": Pin(ew.mod, ([5.5, -5.5], [2.0, 2.0]), ([1, 1], [-2, 3])),
    "elements picked twice": Pin(
        lambda x: gather(x, ew.constant([1, 1, 0]), 0), ([5.0, 7.0, 9.0],), ([1, 2, 0],)
    ),
    "no influence": Pin(lambda x, y: ew.sin(x), ([0.0], [0.0]), ([1], None)),
    "an influence that is flat": Pin(
        lambda x, y: ew.select(ew.gt(y, x), x, ew.add(x, ew.floor(y))), ([0.0], [0.5]), ([1], None)
    ),
    "integers have none": Pin(lambda x, i: ew.mul(x, ew.cast(i, F)), ([2.0], [3]), ([3], None)),
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradient_pin(engine: Engine, name: str) -> None:
    build, at, expected = GRADIENTS[name]
    found = gradient_of(engine, build, *at)
    for got, want in zip(found, expected, strict=True):
        if want is None:
            assert got is None
        else:
            np.testing.assert_allclose(got, want, rtol=1e-15, atol=0)


def test_gradient_by_an_inner_tensor_and_by_the_loss_itself(engine: Engine) -> None:
    (x,), values = inputs_of([2.0, 3.0])
    y = ew.square(x)
    loss = ew.sin(y)
    by_y, by_loss, by_x = Function([x], gradients(loss, [y, loss, x]), engine=engine)(values)  # type: ignore[arg-type]
    np.testing.assert_allclose(by_y, np.cos(values[0] ** 2))
    np.testing.assert_array_equal(by_loss, [1, 1])
    np.testing.assert_allclose(by_x, np.cos(values[0] ** 2) * 2 * values[0])


def test_gradient_by_nodes_that_depend_on_each_other(engine: Engine) -> None:
    (x,), values = inputs_of([2.0])
    y = ew.square(x)
    z = ew.mul(y, x)
    found = Function([x], gradients(ew.add(z, y), [x, y, z]), engine=engine)(values)  # type: ignore[arg-type]
    assert [float(g[0]) for g in found] == [3 * 4 + 2 * 2, 2 + 1, 1]


def loop_of(x: Node) -> Node:
    types = [x.type]
    go = body(types, lambda x: [ew.lt(total(x), ew.constant(9.0))])
    return while_(x, condition=go, body=body(types, lambda x: [scaled(x, 2)]), consts=0).results[0]


def test_the_gradient_of_a_loop_is_that_of_its_steps(engine: Engine) -> None:
    for start, steps in ((1.0, 4), (5.0, 1), (20.0, 0)):
        pin = Pin(loop_of, ([start],), ([2.0**steps],))
        np.testing.assert_array_equal(gradient_of(engine, pin.build, *pin.at)[0], pin.expected[0])


def test_a_loop_that_the_loss_does_not_follow_is_no_obstacle(engine: Engine) -> None:
    stopped = Pin(lambda x: ew.mul(x, P["stop_gradient"](loop_of(x))), ([5.0],), ([10],))
    np.testing.assert_array_equal(
        gradient_of(engine, stopped.build, *stopped.at)[0], stopped.expected[0]
    )


def test_a_loss_of_integers_is_refused() -> None:
    (x,), _ = inputs_of([1])
    with pytest.raises(GradientError, match=r"float tensor.*K\.cast"):
        gradients(x, [x])


# --- faults that are seen when a node is built --------------------------------------------------


def of(*shapes: Any, dtype: str = F) -> list[Node]:
    return [input_node(TensorType(tuple(s), as_dtype(dtype))) for s in shapes]


A23, B32, V3, V4 = of((2, 3), (3, 2), (3,), (4,))
INTS, FLAG = of((3,), dtype="int32")[0], of((), dtype="bool")[0]
CHOICE = [body([V3.type], lambda x: [x]), body([V3.type], lambda x: [slice_axis(x, 0, 0, 1), x])]
FAULTS: dict[str, tuple[Callable[[], Any], type[KameleonError], str]] = {
    "shapes differ": (lambda: ew.add(V3, V4), ShapeError, r"add: shapes \(3,\) and \(4,\) differ"),
    "ranks differ": (lambda: ew.add(V3, A23), ShapeError, r"add: shapes"),
    "dtypes differ": (
        lambda: ew.add(V3, INTS),
        DTypeError,
        r"add: dtypes float64 and int32 differ; K\.cast",
    ),
    "floats only": (lambda: ew.exp(INTS), DTypeError, r"exp is defined for floats, not for int32"),
    "numbers only": (lambda: ew.neg(FLAG), DTypeError, r"neg is defined for numbers, not for bool"),
    "bools only": (lambda: ew.logical_not(V3), DTypeError, r"logical_not is defined for bools"),
    "integers only": (lambda: ew.bit_not(V3), DTypeError, r"bit_not is defined for integers"),
    "bits only": (
        lambda: ew.bit_and(V3, V3),
        DTypeError,
        r"bit_and is defined for integers or bools",
    ),
    "select's condition": (lambda: ew.select(V3, V3, V3), DTypeError, r"condition must be bool"),
    "select's branches": (
        lambda: ew.select(FLAG, V3, INTS),
        DTypeError,
        r"float64 and int32 differ",
    ),
    "bits of another size": (
        lambda: P["bitcast"](V3, dtype=as_dtype("int32")),
        DTypeError,
        r"differ in size",
    ),
    "an unknown dtype": (
        lambda: ew.cast(V3, "complex64"),
        DTypeError,
        r"'complex64' is not one of bool",
    ),
    "elements don't fit": (lambda: reshape(A23, (4, 2)), ShapeError, r"\(2, 3\) has 6 elements"),
    "the rest doesn't divide": (
        lambda: reshape(A23, (4, -1)),
        ShapeError,
        r"\(2, 3\) has 6 elements",
    ),
    "nothing to infer": (lambda: reshape(A23, (0, -1)), ShapeError, r"has 6 elements"),
    "no stretching": (
        lambda: broadcast_to(V3, (2, 4)),
        ShapeError,
        r"\(3,\) doesn't stretch to \(2, 4\)",
    ),
    "no shrinking": (lambda: broadcast_to(A23, (3,)), ShapeError, r"doesn't stretch"),
    "no permutation": (lambda: transpose(A23, (0, 0)), ShapeError, r"isn't a permutation"),
    "a negative margin": (lambda: pad(V3, [(-1, 0)]), ShapeError, r"must not be negative"),
    "parts differ": (lambda: concatenate([A23, B32], 0), ShapeError, r"concatenate along axis 0"),
    "parts of other rank": (lambda: concatenate([A23, V3], 0), ShapeError, r"number of axes"),
    "parts of other dtype": (lambda: concatenate([V3, INTS], 0), DTypeError, r"K\.cast"),
    "contracted sizes": (lambda: matmul(A23, A23), ShapeError, r"axis 1 of the first.*3 and 2"),
    "contracted dtypes": (
        lambda: contract(V3, INTS, ((0,), (0,))),
        DTypeError,
        r"contract: dtypes float64 and int32 differ",
    ),
    "argument of nothing": (lambda: P["argmax"](of((2, 0))[0], axis=1), ShapeError, r"size 0"),
    "any of numbers": (lambda: P["reduce_any"](V3, axes=(0,)), DTypeError, r"bools"),
    "running sums of bools": (
        lambda: P["cumsum"](of((3,), dtype="bool")[0], axis=0),
        DTypeError,
        r"numbers",
    ),
    "indices of floats": (
        lambda: gather(V3, V3, 0),
        DTypeError,
        r"indices must be integers.*K\.cast",
    ),
    "scattered sizes": (lambda: scatter_add(V4, INTS, 9, 0), ShapeError, r"scatter_add: shapes"),
    "index of other rank": (lambda: take_along(A23, INTS, 0), ShapeError, r"differ in rank"),
    "index of other size": (
        lambda: take_along(A23, of((4, 1), dtype="int32")[0], 1),
        ShapeError,
        r"take_along: shapes",
    ),
    "condition no scalar": (
        lambda: cond(V3, V3, then=CHOICE[0], otherwise=CHOICE[0]),
        ShapeError,
        r"must be a bool scalar",
    ),
    "check of numbers": (lambda: P["check"](V3, V3, message=""), DTypeError, r"must be bool"),
    "a state that changes its size": (
        lambda: run_scan(body([V3.type, V4.type], lambda h, x: [x]), [], [V3], [of((2, 4))[0]]),
        ShapeError,
        r"scan: the state before and after",
    ),
    "a state that changes its dtype": (
        lambda: run_scan(
            body([V3.type, INTS.type], lambda h, x: [x]), [], [V3], [of((2, 3), dtype="int32")[0]]
        ),
        DTypeError,
        r"float64 and int32 differ",
    ),
    "sequences of other length": (
        lambda: run_scan(
            body([V3.type, V3.type], lambda x, y: [x]), [], [], [of((2, 3))[0], of((4, 3))[0]]
        ),
        ShapeError,
        r"scan: sequences.*2.*4",
    ),
    "a size that is no integer": (
        lambda: reshape(V3, [of(())[0]]),
        ShapeError,
        r"a size must be an integer",
    ),
    "declared twice": (lambda: leaf("add", ""), GraphError, r"'add' is declared twice"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_fault_is_seen_when_built(name: str) -> None:
    build, kind, words = FAULTS[name]
    with pytest.raises(kind, match=words):
        build()


# --- faults that are seen at run time ------------------------------------------------------------

RUN_TIME: dict[str, tuple[Callable[..., Node], tuple[Any, ...], str]] = {
    "sizes differ": (ew.add, ([1.0, 2.0], [1.0, 2.0, 3.0]), r"differ at run time.*2.*3"),
    "a run-time 1 isn't stretched": (ew.mul, ([1.0], [1.0, 2.0, 3.0]), r"differ at run time"),
    "three operands": (
        lambda c, a, b: ew.select(ew.gt(c, fill(c, 0)), a, b),
        ([1.0], [1.0], [1.0, 2.0]),
        r"differ at run time",
    ),
    "inner sizes": (matmul, (np.ones((2, 3)), np.ones((2, 3))), r"computing contract"),
    "batches": (
        lambda a, b: contract(a, b, ((2,), (1,)), ((0,), (0,))),
        (np.ones((2, 3, 4)), np.ones((1, 4, 5))),
        r"differ at run time",
    ),
    "channels": (
        lambda x, k: P["conv"](x, k, window=Window((2,), (1,), ((0, 0),), (1,))),
        (np.ones((1, 3, 4), "f4"), np.ones((2, 2, 2), "f4")),
        r"differ at run time|computing contract",
    ),
    "parts": (
        lambda a, b: concatenate([a, b], 0),
        (np.ones((2, 3)), np.ones((2, 4))),
        r"computing concatenate",
    ),
    "elements": (lambda a: reshape(a, (2, 3)), ([1.0] * 5,), r"computing reshape"),
    "an index beyond": (
        lambda a, i: gather(a, i, 0),
        ([1.0, 2.0], [0, 2]),
        r"index 2 is out of range.*size 2",
    ),
    "a negative index": (
        lambda a, i: gather(a, i, 0),
        ([1.0, 2.0], [-1]),
        r"index -1 is out of range",
    ),
    "an index along": (
        lambda a, i: take_along(a, i, 0),
        ([1.0, 2.0], [5]),
        r"index 5 is out of range",
    ),
    "an index of one line, in the next": (
        lambda g, i: put_along(g, i, 3, 1),
        (np.ones((2, 1)), [[4], [0]]),
        r"index 4 is out of range",
    ),
    "a column, in the next row": (
        lambda values, i: sparse_to_dense(reshape(i, (1, 2)), values, [2, 3]),
        ([1.0], [[0, 4]]),
        r"index 4 is out of range",
    ),
    "lines along": (
        lambda a, i: take_along(a, i, 1),
        (np.ones((3, 2)), np.zeros((1, 2), int)),
        r"differ at run time",
    ),
    **{
        f"in step: {name}": (
            lambda *xs, n=name, how=how: P[n](*xs, **how),
            given,
            r"differ at run time",
        )
        for name, how, given in (
            ("put_along", {"size": 4, "axis": 1}, (np.ones((3, 2)), np.zeros((1, 2), int))),
            ("scatter_add", {"size": 2, "axis": 0}, ([1.0, 1.0], [0])),
            ("cumprod_slope", {"axis": 1}, (np.ones((1, 2)), np.ones((3, 2)))),
            ("linear_scan", {"axis": 1}, (np.ones((1, 2)), np.ones((3, 2)))),
            ("minus_one_hot", {"axis": 1}, (np.ones((3, 2)), [0])),
            ("sparse_softmax_crossentropy", {"axis": 1}, (*[np.ones((3, 2))] * 2, [0])),
            ("softmax_crossentropy", {"axis": 1}, (*[np.ones((3, 2))] * 2, np.ones((1, 2)))),
        )
    },
    "a scattered index": (
        lambda g, i: scatter_add(g, i, 2, 0),
        ([1.0], [2]),
        r"index 2 is out of range",
    ),
    "a label": (
        lambda p, i: P["minus_one_hot"](p, i, axis=1),
        (np.ones((1, 2)), [2]),
        r"index 2 is out of range",
    ),
    "a check": (
        lambda x: P["check"](x, ew.gt(x, fill(x, 0)), message="must be positive"),
        ([1.0, -1.0],),
        r"must be positive",
    ),
    "sequences of other length": (
        lambda x, y: run_scan(
            body([TensorType((), x.dtype)] * 2, lambda a, b: [ew.add(a, b)]), [], [], [x, y]
        )[1][0],
        ([1.0, 2.0], [1.0]),
        r"differ at run time",
    ),
    "a state that grows": (
        lambda h, x: run_scan(
            body([h.type, h.type], lambda h, x: [concatenate([h, x], 0)]), [], [h], [x]
        )[0][0],
        ([1.0], np.ones((2, 1))),
        r"differ at run time",
    ),
    "in a branch": (
        lambda x, i: cond(
            ew.gt(total(x), ew.constant(0.0)),
            x,
            i,
            then=body([x.type, i.type], lambda x, i: [gather(x, i, 0)]),
            otherwise=body([x.type, i.type], lambda x, i: [x]),
        ).results[0],
        ([1.0, 2.0], [7]),
        r"index 7 is out of range(.|\n)*computing gather",
    ),
}


@pytest.mark.parametrize("name", RUN_TIME)
def test_fault_is_seen_at_run_time(engine: Engine, name: str) -> None:
    build, at, words = RUN_TIME[name]
    arrays = [np.asarray(v) for v in at]
    inputs = [input_node(TensorType((None,) * a.ndim, as_dtype(a.dtype))) for a in arrays]
    run = Function(inputs, [build(*inputs)], engine=engine)
    for _ in range(3):  # an engine may run a program differently when it comes again
        with pytest.raises(EvaluationError, match=words) as caught:
            run(arrays)
        assert "test_pins.py" in str(caught.value), "the line that made the node"
        assert "while computing" in str(caught.value)


def test_equal_sizes_that_were_checked_once_are_not_checked_again(engine: Engine) -> None:
    """A run of checks for each operation of a chain would cost more than the chain."""
    a, b = of((None,), (None,))
    y = ew.add(a, b)
    for _ in range(5):
        y = ew.mul(ew.add(y, a), b)
    run = Function([a, b], [y], engine=engine)
    assert run([np.ones(2), np.ones(2)])[0].tolist() == [7.0, 7.0]
    if engine.name == "numpy":
        assert run.source().count("mismatch") == 1


def test_an_unfed_input_is_named_with_its_line() -> None:
    a, b = of((None,), (2,))
    with pytest.raises(FeedError, match=r"'Placeholder.*float64\[2\].*test_pins\.py"):
        Function([a], [ew.add(a, b)])


def test_bits_read_as_another_dtype_are_a_copy(engine: Engine) -> None:
    (x,) = of((3,), dtype="float32")
    run = Function([x], [P["bitcast"](x, dtype=as_dtype("int32"))], engine=engine)
    given = np.ones(3, "float32")
    (bits,) = run([given])
    assert not np.shares_memory(bits, given)
    assert bits.view("float32").tolist() == given.tolist()
