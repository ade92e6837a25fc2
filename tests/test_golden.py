"""Kameleon against the values that the original backend returned, one test per case."""

from __future__ import annotations

import json

import pytest
from golden.cases import Case, load_cases
from golden.differences import DIFFERENCES, LIMIT
from golden.runner import MismatchError, check_case
from support import TESTS

from kameleon import backend as K
from kameleon.errors import KameleonError

CASES = load_cases()
ALIKE = [case for case in CASES if case.id not in DIFFERENCES]
DIFFERENT = [case for case in CASES if case.id in DIFFERENCES]


@pytest.mark.parametrize("case", ALIKE, ids=[case.id for case in ALIKE])
def test_case(case: Case) -> None:
    check_case(K, case)


@pytest.mark.parametrize("case", DIFFERENT, ids=[case.id for case in DIFFERENT])
def test_case_that_differs_on_purpose(case: Case) -> None:
    with pytest.raises((MismatchError, KameleonError)) as caught:
        check_case(K, case)
    assert DIFFERENCES[case.id].shows in str(caught.value)


def test_differences_are_few_and_real() -> None:
    assert set(DIFFERENCES) == {case.id for case in DIFFERENT}
    assert len(DIFFERENCES) <= LIMIT * len(CASES)


# Their answers depend on the settings of the machine; other tests hold them.
WITHOUT_CASES = {"backend", "image_dim_ordering", "set_image_dim_ordering"}


def test_every_documented_function_has_a_case() -> None:
    documented = json.loads((TESTS / "signatures.json").read_text(encoding="utf-8"))["documented"]
    assert {case.function for case in CASES} == set(documented) - WITHOUT_CASES
