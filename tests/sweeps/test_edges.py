"""Single primitives at the edges of what they take, against NumPy."""

from __future__ import annotations

import time
from collections.abc import Iterable

import numpy as np
import pytest

from kameleon.graph.ir.node import REGISTRY

from .edge_cases import OPS, Case, case_of, draw
from .edges import WORKER
from .processes import drawn, sweep

# How many random cases fit into some seconds; each is compiled.
FEW = {"numpy": 1500, "torch": 1000, "onnxruntime": 800, "tensorflow": 60, "theano": 600, "jax": 30}
MANY = {"numpy": 50_000, "torch": 30_000, "onnxruntime": 30_000, "theano": 20_000, "jax": 3000}


# Cases that went wrong once.
CASES = {
    "products of int16": Case(
        "contract", "int16", ((2, 1, 1), (1,)), "all",
        {"over": [[2], [0]], "batch": [[], []]}, 1579629383,
    ),
    "a first factor that is infinite": Case(
        "linear_scan", "float64", ((2, 1), (2, 1)), "all", {"axis": 1}, 1207405111
    ),
    "no factors": Case("linear_scan", "float32", ((3, 0), (3, 0)), "all", {"axis": 1}, 1),
    "a line with NaN": Case("softmax", "float32", ((2, 2, 1),), "none", {"axis": 1}, 499326055),
}  # fmt: skip


def findings(engine: str, cases: Iterable[Case]) -> str:
    """What a sweep finds, as text."""
    return "\n".join(f"{case.text()}\n    {found}" for case, found in sweep(engine, cases, WORKER))


def test_what_went_wrong_once_and_random_cases(engine_name: str) -> None:
    seed, count = time.time_ns() % 2**32, FEW.get(engine_name, 100)
    found = findings(engine_name, [*CASES.values(), *drawn(draw, seed, count, OPS)])
    assert not found, f"seed {seed}, {count} cases:\n{found}"


@pytest.mark.nightly
@pytest.mark.slow
def test_many_random_cases(engine_name: str) -> None:
    seed, count = time.time_ns() % 2**32, MANY.get(engine_name, 5000)
    print(f"python -m sweeps.edges --engine {engine_name} --seed {seed} --count {count}")
    found = findings(engine_name, drawn(draw, seed, count, OPS))
    assert not found, f"seed {seed}:\n{found}"


def test_all_are_primitives() -> None:
    assert set(OPS) <= set(REGISTRY)


def test_a_case_is_read_as_it_was_written() -> None:
    for case in drawn(draw, 3, 200, OPS):
        assert case_of(case.text()) == case


def test_draws_reach_the_edges() -> None:
    cases = list(drawn(draw, 4, 3000, OPS))
    assert {case.op for case in cases} == set(OPS)
    sizes = {d for case in cases for shape in case.shapes for d in shape}
    assert sizes >= {0, 1, 2, 3}
    assert () in {shape for case in cases for shape in case.shapes}
    assert np.mean([0 in shape for case in cases for shape in case.shapes]) > 0.1
