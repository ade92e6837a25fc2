"""What simplifying may change: last bits, nothing else. Zeros keep their signs, NaN stays NaN."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from kameleon.engines.numpy.engine import engine
from kameleon.errors import ShapeError
from kameleon.graph.ir.leaves import input_node
from kameleon.graph.ir.node import REGISTRY, Node
from kameleon.graph.ir.program import Graph
from kameleon.graph.ir.types import TensorType, as_dtype
from kameleon.graph.passes.simplify import simplify
from kameleon.graph.primitives import elementwise as ew
from kameleon.graph.primitives.filling import full_like
from kameleon.graph.primitives.linalg import contract
from kameleon.graph.primitives.movement import broadcast_to
from kameleon.graph.primitives.sizes import size_of
from kameleon.runtime.compiler import _fold

NUMBERS = [-np.inf, -3.0, -1.0, -0.5, -0.0, 0.0, 0.25, 1.0, 2.0, np.inf, np.nan]
CONSTANTS = {
    "float64": [0.0, -0.0, 1.0, -1.0, 2.0, 0.5, np.inf, np.nan],
    "float32": [0.0, -0.0, 1.0, 2.0],
    "int32": [0, 1, -1, 2],
    "uint8": [0, 1, 2],
}
BINARY = ("add", "sub", "mul", "div", "pow", "maximum", "minimum", "floor_div", "mod")


def values(dtype: str) -> np.ndarray[Any, Any]:
    if dtype.startswith("float"):
        return np.array(NUMBERS, dtype)
    return np.array([0, 1, 2, 3, 100], dtype)


def bits(array: Any) -> list[str]:
    """Each number with its sign, so that zeros are told apart and NaN is NaN."""
    return [repr(x) if x == x else "nan" for x in np.asarray(array).ravel().tolist()]


def unchanged(x: Node, y: Node) -> None:
    """The graph gives the same bits whether it's simplified or not."""
    graph, given = Graph([x], [y]), [values(str(x.dtype))]
    simple = simplify(graph, engine.native, _fold)
    with np.errstate(all="ignore"):
        want, got = (engine.compile(g)(given)[0] for g in (graph, simple))
    assert bits(got) == bits(want)


@pytest.mark.parametrize(
    ("name", "dtype"),
    # Whole numbers are divided as floats.
    [(n, d) for n in BINARY for d in CONSTANTS if n != "div" or d.startswith("float")],
)
def test_an_operation_with_a_number(name: str, dtype: str) -> None:
    for number in CONSTANTS[dtype]:
        x = input_node(TensorType((len(values(dtype)),), as_dtype(dtype)))
        filled = broadcast_to(ew.constant(number, dtype), [x.shape[0]])
        unchanged(x, REGISTRY[name](filled, x))
        if not (name == "pow" and number == -1):  # whole numbers have no such powers
            unchanged(x, REGISTRY[name](x, filled))


SIGNS: dict[str, Callable[[Node], Node]] = {
    "-(-x)": lambda x: ew.neg(ew.neg(x)),
    "x + -x": lambda x: ew.add(x, ew.neg(x)),
    "-x + x": lambda x: ew.add(ew.neg(x), x),
    "-x - x": lambda x: ew.sub(ew.neg(x), x),
    "x - -x": lambda x: ew.sub(x, ew.neg(x)),
    "x or x": lambda x: ew.select(ew.gt(x, full_like(x, 0)), x, x),
}


@pytest.mark.parametrize("build", SIGNS.values(), ids=SIGNS)
def test_signs(build: Callable[[Node], Node]) -> None:
    x = input_node(TensorType((len(NUMBERS),), as_dtype("float64")))
    unchanged(x, build(x))


CASTS = [  # what is left of two casts, the first of which loses nothing; None: both are
    ("float16", "float32", "float16", []),
    ("float16", "float32", "int32", ["int32"]),
    ("float32", "float64", "float16", ["float16"]),
    ("bfloat16", "float32", "bfloat16", []),
    ("bool", "int32", "float32", ["float32"]),
    ("uint8", "int16", "float32", ["float32"]),
    ("float32", "float16", "float32", ["float16", "float32"]),
    ("float16", "bfloat16", "float16", ["bfloat16", "float16"]),
    ("int32", "float32", "int32", ["float32", "int32"]),
    ("int32", "uint32", "int64", ["uint32", "int64"]),
]


@pytest.mark.parametrize(("given", "by", "to", "left"), CASTS)
def test_casts_that_lose_nothing_are_left_out(
    given: str, by: str, to: str, left: list[str]
) -> None:
    if "bfloat16" in (given, by):
        pytest.importorskip("ml_dtypes", reason="makes NumPy's arrays of bfloat16")
    x = input_node(TensorType((3,), as_dtype(given)))
    simple = simplify(Graph([x], [ew.cast(ew.cast(x, by), to)]), engine.native, _fold)
    assert [str(n.dtype) for n in simple.nodes if n.primitive.name == "cast"] == left


def test_what_is_known_to_be_1_is_stretched() -> None:
    """Also where only a broadcast between says that a size is 1."""
    x, like = (input_node(TensorType((None, None), as_dtype("float64"))) for _ in range(2))
    row = broadcast_to(x, [1, size_of(x, 1)])
    y = broadcast_to(row, [size_of(like, 0), size_of(x, 1)])
    given = [np.ones((1, 3)), np.ones((2, 1))]
    for graph in (Graph([x, like], [y]), simplify(Graph([x, like], [y]), engine.native, _fold)):
        assert engine.compile(graph)(given)[0].tolist() == [[1.0] * 3] * 2
        with pytest.raises(ShapeError):
            engine.compile(graph)([np.ones((2, 3)), given[1]])


@pytest.mark.parametrize("batch", [0, 1], ids=["matrices", "batches"])
def test_a_sum_over_nothing_is_known(batch: int) -> None:
    """Also where other sizes aren't; libraries have left memory as it was, or ended the process."""
    lead, axes = (None,) * batch, tuple(range(batch))
    a, b = (
        input_node(TensorType((*lead, *shape), as_dtype("float64")))
        for shape in ((None, 0), (0, 3))
    )
    product = contract(a, b, ((1 + batch,), (batch,)), (axes, axes))
    simple = simplify(Graph([a, b], [product]), engine.native, _fold)
    assert "contract" not in {node.primitive.name for node in simple.nodes}
    given = [np.zeros((*(2,) * batch, 4, 0)), np.zeros((*(2,) * batch, 0, 3))]
    np.testing.assert_array_equal(engine.compile(simple)(given)[0], np.zeros((*(2,) * batch, 4, 3)))


@pytest.mark.parametrize("name", ["add", "mul", "bit_and", "bit_or", "bit_xor"])
def test_bools_are_combined_by_logic(name: str) -> None:
    """Libraries have other operations for them, or none: no engine sees arithmetic of bools."""
    given = np.array([0, 0, 1, 1], bool), np.array([0, 1, 0, 1], bool)
    a, b = (input_node(TensorType((4,), as_dtype("bool"))) for _ in given)
    graph = Graph([a, b], [REGISTRY[name](a, b)])
    simple = simplify(graph, engine.native, _fold)
    assert name not in {node.primitive.name for node in simple.nodes}
    want, got = (engine.compile(g)(given)[0] for g in (graph, simple))
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("number", [0.0, 2.0])
def test_where_a_number_is_not_zero(number: float) -> None:
    """A row without elements, or none: of vectors alone engines are asked for rows."""
    x = input_node(TensorType((), as_dtype("float64")))
    simple = simplify(Graph([x], [REGISTRY["nonzero"](x)]), engine.native, _fold)
    assert all(n.operands[0].shape for n in simple.nodes if n.primitive.name == "nonzero")
    found = engine.compile(simple)([np.float64(number)])[0]
    assert (found.shape, found.dtype) == ((int(number != 0), 0), np.int64)
