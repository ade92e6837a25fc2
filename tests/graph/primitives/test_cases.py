"""The conformance kit on every engine that is installed; and that the kit is complete."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kameleon.engines._base import Engine
from kameleon.graph.gradients import GRADIENTS, SUBJECTS, ZERO, gradients
from kameleon.graph.ir.node import REGISTRY
from kameleon.graph.ir.program import Graph
from kameleon.graph.ir.types import TensorType
from kameleon.testing import (
    Case,
    check_case,
    check_case_gradient,
    check_expansion,
    conformance_checks,
)
from kameleon.testing.cases import CASES, ELSEWHERE
from kameleon.testing.conformance import BY_PRIMITIVE, SIZES, cases_of, is_composite
from kameleon.testing.contract import CONTRACT

# Gradients that differences can't tell: rounding to another dtype is steps. See test_pins.py.
PINNED = {"cast", "while"}
COMPOSITE = {case.primitive for case in CASES if is_composite(case)}


def table(kind: str) -> pytest.MarkDecorator:
    """Parametrize a test over primitives, with all their cases, and the sizes' kinds."""
    rows = [
        pytest.param(chosen, known, id=f"{primitive}-{sizes}")
        for primitive, cases in BY_PRIMITIVE.items()
        for sizes, known in SIZES.items()
        if (chosen := cases_of(kind, cases, known))
    ]
    return pytest.mark.parametrize(("cases", "known"), rows)


@pytest.mark.parametrize("check", CONTRACT.values(), ids=CONTRACT)
def test_contract(engine: Engine, check: Callable[[Engine], None]) -> None:
    check(engine)


@table("values")
def test_value(engine: Engine, cases: list[Case], known: bool) -> None:
    check_case(engine, cases, known)


# Expansions and gradients are graphs like others, of primitives whose values all engines show.
@pytest.mark.dealt
@table("expansion")
def test_expansion(engine: Engine, cases: list[Case], known: bool) -> None:
    check_expansion(engine, cases, known)


@pytest.mark.dealt
@table("gradient")
def test_gradient(engine: Engine, cases: list[Case], known: bool) -> None:
    check_case_gradient(engine, cases, known)


# --- the table is complete ----------------------------------------------------------------------


def test_every_primitive_has_a_case() -> None:
    covered = {case.primitive for case in CASES}
    assert not covered & set(ELSEWHERE), "in the table and said to be elsewhere"
    assert covered | set(ELSEWHERE) == set(REGISTRY)


def test_the_kit_has_them_all() -> None:
    names = {check.name for check in conformance_checks()}
    assert len(names) == len(conformance_checks())
    smooth = {case.primitive for case in CASES if case.wrt}
    groups = {"values": set(BY_PRIMITIVE), "gradient": smooth, "expansion": COMPOSITE}
    for kind, primitives in groups.items():
        assert names >= {f"{kind}-{primitive}-static" for primitive in primitives}
    assert sum(len(cases) for cases in BY_PRIMITIVE.values()) == len(CASES)
    assert names >= {f"contract-{name}" for name in CONTRACT}


def test_unknown_sizes_are_left_out_where_there_are_none() -> None:
    for case in CASES:
        types = [[x.type for x in case.inputs(known)] for known in (True, False)]
        assert case.has_unknown == (types[0] != types[1]), case.id


def test_ids_are_unique() -> None:
    assert len({case.id for case in CASES}) == len(CASES)


def test_a_case_contains_its_primitive() -> None:
    for case in CASES:
        names: set[str] = set()
        for known in (True, False):  # some are there for unknown sizes alone
            inputs = case.inputs(known=known)
            nodes = Graph(inputs, case.results(inputs)).nodes
            names.update(node.primitive.name for node in nodes)
        assert case.primitive in names, case.id


def test_every_primitive_has_one_gradient() -> None:
    assert set(GRADIENTS) == set(REGISTRY)
    assert len(GRADIENTS) == sum(len(subject.RULES) for subject in SUBJECTS)


def test_every_gradient_is_checked() -> None:
    checked = {case.primitive for case in CASES if case.wrt} | PINNED
    have = {name for name, rule in GRADIENTS.items() if rule is not ZERO and type(rule) is not str}
    assert have - set(ELSEWHERE) <= checked


def test_flat_primitives_pass_no_gradient() -> None:
    flat = [case for case in CASES if GRADIENTS[case.primitive] is ZERO]
    pairs = [(case, inputs) for case in flat if (inputs := case.inputs(known=True))]
    floats = [(c, r, xs) for c, xs in pairs for r in c.results(xs) if r.dtype.is_float]
    assert len({case.primitive for case, _, _ in floats}) >= 4
    for case, result, inputs in floats:
        assert gradients(result, inputs) == [None] * len(inputs), case.id


def test_composites_and_only_they_have_expansions() -> None:
    assert {p.name for p in REGISTRY.values() if p.expand is not None} == COMPOSITE


def test_types_are_static_tuples() -> None:
    """A guard of the helpers: `unknown` sizes really are unknown."""
    case = next(case for case in CASES if case.id == "contract-matmul")
    assert [x.type for x in case.inputs(known=False)] == [
        TensorType((None, None), x.dtype) for x in case.inputs(known=True)
    ]
