"""The conformance kit on every engine that is installed; and that the kit is complete."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from kameleon.engines._base import Engine
from kameleon.ir.primitive import REGISTRY, ZERO
from kameleon.ir.program import Graph
from kameleon.ir.types import TensorType
from kameleon.testing import (
    Case,
    check_case,
    check_case_gradient,
    check_expansion,
    conformance_checks,
)
from kameleon.testing.cases import CASES, ELSEWHERE
from kameleon.testing.conformance import is_composite
from kameleon.testing.contract import CONTRACT
from kameleon.transform.grad import gradients

# Gradients that differences can't tell: rounding to another dtype is steps. See test_pins.py.
PINNED = {"cast"}
SIZES = pytest.mark.parametrize("known", [True, False], ids=["static", "unknown"])
COMPOSITE = [case for case in CASES if is_composite(case)]
SMOOTH = [case for case in CASES if case.wrt]


def table(cases: Sequence[Case]) -> pytest.MarkDecorator:
    """Parametrize a test over cases."""
    return pytest.mark.parametrize("case", cases, ids=[case.id for case in cases])


@pytest.mark.parametrize("check", CONTRACT.values(), ids=CONTRACT)
def test_contract(engine: Engine, check: Callable[[Engine], None]) -> None:
    check(engine)


@SIZES
@table(CASES)
def test_value(engine: Engine, case: Case, known: bool) -> None:
    check_case(engine, case, known)


@table(COMPOSITE)
def test_expansion(engine: Engine, case: Case) -> None:
    check_expansion(engine, case)


@SIZES
@table(SMOOTH)
def test_gradient(engine: Engine, case: Case, known: bool) -> None:
    check_case_gradient(engine, case, known)


# --- the table is complete ----------------------------------------------------------------------


def test_every_primitive_has_a_case() -> None:
    covered = {case.primitive for case in CASES}
    assert not covered & set(ELSEWHERE), "in the table and said to be elsewhere"
    assert covered | set(ELSEWHERE) == set(REGISTRY)


def test_the_kit_has_them_all() -> None:
    names = [check.name for check in conformance_checks()]
    assert len(set(names)) == len(names)
    assert len(names) == len(CONTRACT) + 2 * len(CASES) + len(COMPOSITE) + 2 * len(SMOOTH)


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
        case.primitive for case in COMPOSITE
    }


def test_types_are_static_tuples() -> None:
    """A guard of the helpers: `unknown` sizes really are unknown."""
    case = next(case for case in CASES if case.id == "contract-matmul")
    assert [x.type for x in case.inputs(known=False)] == [
        TensorType((None, None), x.dtype) for x in case.inputs(known=True)
    ]
