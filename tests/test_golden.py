"""Kameleon against the values that the original backend returned, one test per case."""

from __future__ import annotations

import json

import pytest
from golden.cases import Case, load_cases
from golden.differences import BY_ENGINE, DIFFERENCES, ENGINE_LIMIT, LIMIT
from golden.runner import MismatchError, check_case
from support import TESTS

from kameleon import backend as K
from kameleon.engines import Engine
from kameleon.errors import KameleonError

CASES = load_cases()
EACH = pytest.mark.parametrize("case", CASES, ids=[case.id for case in CASES])


@EACH
def test_case(engine: Engine, case: Case) -> None:
    difference = {**DIFFERENCES, **BY_ENGINE.get(engine.name, {})}.get(case.id)
    if difference is None:
        check_case(K, case)
        return
    with pytest.raises((MismatchError, KameleonError)) as caught:
        check_case(K, case)
    assert difference.shows in str(caught.value)


def test_differences_are_few_and_real() -> None:
    ids = {case.id for case in CASES}
    assert set(DIFFERENCES) <= ids
    assert len(DIFFERENCES) <= LIMIT * len(CASES)
    for more in BY_ENGINE.values():
        assert set(more) <= ids
        assert len({**DIFFERENCES, **more}) <= ENGINE_LIMIT * len(CASES)


# Their answers depend on the settings of the machine; other tests hold them.
WITHOUT_CASES = {"backend", "image_dim_ordering", "set_image_dim_ordering"}


def test_every_documented_function_has_a_case() -> None:
    documented = json.loads((TESTS / "signatures.json").read_text(encoding="utf-8"))["documented"]
    assert {case.function for case in CASES} == set(documented) - WITHOUT_CASES
