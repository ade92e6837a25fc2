"""Kameleon against the values that the original backend returned, function by function."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
import pytest
from _support.common import TESTS

from golden.cases import Case, load_cases
from golden.differences import (
    BY_ENGINE,
    DIFFERENCES,
    ENGINE_LIMIT,
    LIMIT,
    OUTCOMES,
    VALUES,
    Difference,
)
from golden.runner import MismatchError, asked_instead, check_cases
from kameleon import backend as K
from kameleon.engines import Engine
from kameleon.errors import KameleonError
from kameleon.testing.together import one_by_one

# Bare assertions of the original say nothing: ours have a class that does.
LOOSE = {("keras", "AssertionError"), ("keras", "AttributeError")}
CASES = {case.id: case for case in load_cases()}
DIFFERENT = {*DIFFERENCES, *(name for more in BY_ENGINE.values() for name in more)}
FUNCTIONS = sorted({case.function for case in CASES.values()})


def differences(engine: Engine) -> dict[str, Difference]:
    return {**DIFFERENCES, **BY_ENGINE.get(engine.name, {})}


def check(engine: Engine, cases: Sequence[Case]) -> None:
    check_cases(K, cases)


@pytest.mark.dealt(3)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_function(engine: Engine, function: str) -> None:
    """All recorded calls of a function that come out as they did in the original."""
    apart = differences(engine)
    cases = [c for c in CASES.values() if c.function == function and c.id not in apart]
    one_by_one(check, engine, cases)


@pytest.mark.parametrize("name", sorted(DIFFERENT))
def test_difference(engine: Engine, name: str) -> None:
    difference = differences(engine).get(name)
    if difference is None:
        check_cases(K, [CASES[name]])
        return
    with pytest.raises((MismatchError, KameleonError)) as caught:
        check_cases(K, [CASES[name]])
    assert difference.shows in str(caught.value)


def test_every_outcome_is_pinned() -> None:
    """Of a call that the reference's engine refused: the class of the error, or the value."""
    loose = {c.id for c in CASES.values() if c.raises and (c.raised_by, c.raises) in LOOSE}
    loose |= {c.id for c in CASES.values() if c.is_open or (c.raises and c.raised_by != "keras")}
    assert set(OUTCOMES) == loose - set(DIFFERENCES)
    assert set(VALUES) == {name for name, outcome in OUTCOMES.items() if outcome == "value"}


@pytest.mark.parametrize("name", VALUES)
def test_the_other_words_for_a_value_mean_the_same(name: str) -> None:
    """What the reference was asked instead, and returned, comes here, too."""
    found = asked_instead(K, CASES[name])
    np.testing.assert_allclose(found, np.asarray(VALUES[name].value, found.dtype), rtol=1e-5)


def test_differences_are_few_and_real() -> None:
    ids = set(CASES)
    assert set(DIFFERENCES) <= ids
    assert len(DIFFERENCES) <= LIMIT * len(CASES)
    for more in BY_ENGINE.values():
        assert set(more) <= ids
        assert len({**DIFFERENCES, **more}) <= ENGINE_LIMIT * len(CASES)


# Their answers depend on the settings of the machine; other tests hold them.
WITHOUT_CASES = {"backend", "image_dim_ordering", "set_image_dim_ordering"}


def test_every_documented_function_has_a_case() -> None:
    documented = json.loads((TESTS / "signatures.json").read_text(encoding="utf-8"))["documented"]
    assert set(FUNCTIONS) == set(documented) - WITHOUT_CASES
