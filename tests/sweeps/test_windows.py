"""Convolutions, their gradients and pools against brute force, in processes that may crash."""

from __future__ import annotations

import time
from collections.abc import Iterable
from itertools import chain

import pytest

from .cases import RANKS, Case, case_of, draw, expected, operands
from .corpus import CASES
from .processes import drawn, sweep
from .windows import WORKER

# How many random cases fit into a few seconds; every new shape costs time where code is compiled.
FEW = {"numpy": 60, "torch": 60, "onnxruntime": 40, "tensorflow": 12, "theano": 20, "jax": 4}
MANY = {"numpy": 5000, "torch": 5000, "onnxruntime": 3000, "tensorflow": 3000}


def findings(engine: str, cases: Iterable[Case]) -> str:
    """What a sweep finds, as text."""
    return "\n".join(f"{case.text()}\n    {found}" for case, found in sweep(engine, cases, WORKER))


def swept(engine: str, count: int) -> None:
    """Random cases, other ones each time; the seed is printed."""
    seed = time.time_ns() % 2**32
    print(f"python -m sweeps.windows --engine {engine} --seed {seed} --count {count}")
    found = findings(engine, drawn(draw, seed, count, RANKS))
    assert not found, f"seed {seed}:\n{found}"


def test_what_went_wrong_once_and_random_cases(engine_name: str) -> None:
    seed, count = time.time_ns() % 2**32, FEW.get(engine_name, 10)
    found = findings(engine_name, chain(CASES.values(), drawn(draw, seed, count, RANKS)))
    assert not found, f"seed {seed}, {count} cases:\n{found}"


@pytest.mark.nightly
@pytest.mark.slow
def test_many_random_cases(engine_name: str) -> None:
    swept(engine_name, MANY.get(engine_name, 500))


def test_a_case_is_read_as_it_was_written() -> None:
    import numpy as np

    case = draw(np.random.default_rng(3))
    assert case_of(case.text()) == case


def test_the_oracle_adds_up() -> None:
    """<y, g> = <x, dx> = <k, dk>, as y is linear in x and in k, and dx and dk are adjoints."""
    for case in drawn(draw, 5, 60, RANKS):
        given = operands(case)
        wanted = {name: exact for name, (exact, _) in expected(case, given).items()}
        total = (wanted["y"] * given["g"]).sum()
        for name in ("x", "k", "p"):
            if name in wanted and case.mode == "avg":
                part = (wanted[name] * given[name]).sum()
                assert part == pytest.approx(total, rel=1e-6, abs=1e-4), case


def test_a_process_that_ends_is_a_finding() -> None:
    first, second = drawn(draw, 1, 2, RANKS)
    ((case, found),) = sweep("numpy", [first, second], "sweeps.dying")
    assert case == second
    assert found == "ended the process (-6)"
