"""The table of cases against engines: values, types and gradients of every primitive."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from kameleon.engines._base import Engine
from kameleon.ir.node import Node
from kameleon.ir.primitive import REGISTRY, ZERO
from kameleon.ir.program import Graph
from kameleon.ir.types import TensorType
from kameleon.ir.verify import verify
from kameleon.prims.elementwise import add, constant
from kameleon.prims.reduce import reduce_sum
from kameleon.runtime.compiler import run
from kameleon.runtime.stages import build
from kameleon.testing import check_gradients
from kameleon.transform.grad import gradients
from kameleon.transform.simplify import simplify

from .case import Array, Case
from .cases import CASES, ELSEWHERE

Native = Callable[[Node], bool]

# Gradients that differences can't tell: rounding to another dtype is steps. See test_pins.py.
PINNED = {"cast"}
SIZES = pytest.mark.parametrize("known", [True, False], ids=["static", "unknown"])


def table(cases: Sequence[Case]) -> pytest.MarkDecorator:
    """Parametrize a test over cases."""
    return pytest.mark.parametrize("case", cases, ids=[case.id for case in cases])


def compute(
    engine: Engine,
    case: Case,
    inputs: Sequence[Node],
    outputs: Sequence[Node],
    native: Native,
) -> list[Array]:
    """The outputs' values, twice: engines may run a program differently when it comes again."""
    graph = simplify(Graph(inputs, outputs), native)
    verify(graph)
    executable = build(graph, engine)
    given = [x.copy() for x in case.operands]
    arguments = [engine.from_numpy(x) for x in given]
    first, second = (list(map(engine.to_numpy, run(executable, arguments))) for _ in range(2))
    for x, y in zip(first, second, strict=True):
        np.testing.assert_array_equal(x, y, err_msg="the second call differs from the first")
    for x, y in zip(arguments, case.operands, strict=True):
        np.testing.assert_array_equal(engine.to_numpy(x), y, err_msg="an operand was overwritten")
    return first


def assert_close(got: Array, expected: Array, units: float) -> None:
    """Integers and bools are equal; floats up to units in the last place (of 1, at least)."""
    assert got.shape == expected.shape
    if expected.dtype.kind != "f":
        np.testing.assert_array_equal(got, expected)
        return
    info = np.finfo(expected.dtype)
    tolerance = units * float(info.eps)
    np.testing.assert_allclose(
        got.astype("float64"), expected.astype("float64"), rtol=tolerance, atol=min(tolerance, 1e-6)
    )


def check_values(engine: Engine, case: Case, known: bool, native: Native) -> list[Node]:
    """Values against the oracle, and inferred types against the values' own."""
    inputs = case.inputs(known)
    outputs = case.results(inputs)
    verify(Graph(inputs, outputs))
    values = compute(engine, case, inputs, outputs, native)
    for output, value, expected in zip(outputs, values, case.expected(), strict=True):
        assert (value.dtype.name, output.dtype) == (expected.dtype.name, expected.dtype.name)
        assert output.type.accepts(value.shape), f"{output.type} isn't the type of {value.shape}"
        assert_close(value, expected, case.units)
        if known and not case.data_dependent:
            assert output.type.is_static
    return outputs


@SIZES
@table(CASES)
def test_value(engine: Engine, case: Case, known: bool) -> None:
    check_values(engine, case, known, engine.native)


def expanded(case: Case) -> bool:
    return REGISTRY[case.primitive].tier == "composite"


@table([case for case in CASES if expanded(case)])
def test_expansion(engine: Engine, case: Case) -> None:

    def native(node: Node) -> bool:
        return node.primitive.name != case.primitive and engine.native(node)

    check_values(engine, case, known=True, native=native)
    inputs = case.inputs(known=True)
    graph = simplify(Graph(inputs, case.results(inputs)), native)
    assert case.primitive not in {node.primitive.name for node in graph.nodes}


@SIZES
@table([case for case in CASES if case.wrt])
def test_gradient(engine: Engine, case: Case, known: bool) -> None:
    inputs = case.inputs(known)
    wrt = [inputs[i] for i in case.wrt]
    total: Node | None = None
    for number, result in enumerate(r for r in case.results(inputs) if r.dtype == "float64"):
        part = REGISTRY["mul"](
            reduce_sum(REGISTRY["sin"](result), range(len(result.shape))), weight(number)
        )
        total = part if total is None else add(total, part)
    assert total is not None
    for x, g in zip(wrt, gradients(total, wrt), strict=True):
        assert g is not None
        assert g.type.dtype == x.dtype
        assert len(g.shape) == len(x.shape)
    feeds = dict(zip(inputs, case.operands, strict=True))
    check_gradients(total, wrt, feeds, case.order, engine=engine)


def weight(number: int) -> Node:
    """A different weight for each result."""
    return constant(1.0 - 0.3 * number, "float64")


# --- the table is complete ----------------------------------------------------------------------


def test_every_primitive_has_a_case() -> None:
    covered = {case.primitive for case in CASES}
    assert not covered & set(ELSEWHERE), "in the table and said to be elsewhere"
    assert covered | set(ELSEWHERE) == set(REGISTRY)


def test_ids_are_unique() -> None:
    assert len({case.id for case in CASES}) == len(CASES)


def test_a_case_contains_its_primitive() -> None:
    for case in CASES:
        inputs = case.inputs(known=True)
        names = {node.primitive.name for node in Graph(inputs, case.results(inputs)).nodes}
        assert case.primitive in names, case.id


def test_every_gradient_is_checked() -> None:
    checked = {case.primitive for case in CASES if case.wrt} | PINNED
    have = {
        p.name
        for p in REGISTRY.values()
        if p.gradient is not ZERO and not isinstance(p.gradient, str)
    }
    assert have - set(ELSEWHERE) <= checked


@table([case for case in CASES if REGISTRY[case.primitive].gradient is ZERO])
def test_flat_primitives_pass_no_gradient(case: Case) -> None:
    inputs = case.inputs(known=True)
    for result in case.results(inputs):
        if result.dtype.is_float and inputs:
            assert gradients(result, inputs) == [None] * len(inputs)


def test_composites_and_only_they_have_expansions() -> None:
    assert {p.name for p in REGISTRY.values() if p.expand is not None} == {
        case.primitive for case in CASES if expanded(case)
    }


def test_types_are_static_tuples() -> None:
    """A guard of the helpers: `unknown` sizes really are unknown."""
    case = next(case for case in CASES if case.id == "contract-matmul")
    assert [x.type for x in case.inputs(known=False)] == [
        TensorType((None, None), x.dtype) for x in case.inputs(known=True)
    ]
