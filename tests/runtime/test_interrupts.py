"""Whatever is raised in a call, at any moment: state is wholly before or wholly after it."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest
from _support.interrupts import SCENARIOS, Strikes, run

from kameleon.engines import Engine
from kameleon.runtime import engines

# Exceptions for each scenario and engine: some for every change, many in the night. Compiling
# takes a second on some engines; those of scopes take microseconds.
FEW, MANY = 80, 800
SHARE = {"first_call": 0.25, "scopes": 6.25}


@pytest.fixture(autouse=True)
def _settings() -> Iterator[None]:
    """PyTensor's settings are those of before, wherever an interrupt has come."""
    pytensor = sys.modules.get("pytensor")
    before = pytensor and pytensor.config.mode
    yield
    if pytensor is not None:
        assert pytensor.config.mode is before


@pytest.mark.parametrize("name", SCENARIOS)
def test_calls_are_atomic_under_interrupts(engine: Engine, name: str) -> None:
    strikes = Strikes()
    print("seed", strikes.seed)
    run(SCENARIOS[name](), strikes, int(FEW * SHARE.get(name, 1)))


@pytest.fixture
def in_c(monkeypatch: pytest.MonkeyPatch) -> None:
    """Theano compiles to C at once."""
    pytensor = pytest.importorskip("pytensor", reason="the Theano engine needs PyTensor")
    if not pytensor.config.cxx:
        pytest.skip("there is no C++ compiler here")
    monkeypatch.setattr(engines.load("theano"), "compile_after", 0.0)


@pytest.mark.parametrize("name, count", [
    *(pytest.param(name, MANY, marks=pytest.mark.nightly) for name in SCENARIOS), ("body", FEW),
])  # fmt: skip
def test_code_in_c_is_atomic_under_interrupts(in_c: None, name: str, count: int) -> None:
    strikes = Strikes()
    print("seed", strikes.seed)
    with engines.using("theano"):
        run(SCENARIOS[name](), strikes, int(count * SHARE.get(name, 1)))


@pytest.mark.nightly
@pytest.mark.parametrize("name", SCENARIOS)
def test_calls_are_atomic_under_many_interrupts(engine: Engine, name: str) -> None:
    strikes = Strikes()
    print("seed", strikes.seed)
    run(SCENARIOS[name](), strikes, int(MANY * SHARE.get(name, 1)))
