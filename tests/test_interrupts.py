"""Whatever is raised in a call, at any moment: state is wholly before or wholly after it."""

from __future__ import annotations

import pytest
from interrupts import SCENARIOS, Strikes, run

from kameleon.engines import Engine

# Exceptions for each scenario and engine: some for every change, many in the night. Compiling
# takes a second on some engines; those of scopes take microseconds.
FEW, MANY = 80, 800
SHARE = {"first_call": 0.25, "scopes": 6.25}


@pytest.mark.parametrize("name", SCENARIOS)
def test_calls_are_atomic_under_interrupts(engine: Engine, name: str) -> None:
    strikes = Strikes()
    print("seed", strikes.seed)
    run(SCENARIOS[name](), strikes, int(FEW * SHARE.get(name, 1)))


@pytest.mark.nightly
@pytest.mark.parametrize("name", SCENARIOS)
def test_calls_are_atomic_under_many_interrupts(engine: Engine, name: str) -> None:
    strikes = Strikes()
    print("seed", strikes.seed)
    run(SCENARIOS[name](), strikes, int(MANY * SHARE.get(name, 1)))
