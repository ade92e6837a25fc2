"""Names of TensorFlow 1 give what TensorFlow 1.15 gave: values, gradients, shapes and errors."""

from __future__ import annotations

import functools
from typing import Any

import pytest

from kameleon import backend as K
from kameleon.engines import Engine

from . import recorded
from .differences import DIFFERENCES

# Of the cases, other engines than NumPy run one in so many for each change, each engine others.
SHARE = 12


@functools.cache
def _cases(subject: str) -> list[recorded.Case]:
    return recorded.read(subject)[0]


def _check(cases: list[recorded.Case], known: bool = False) -> None:
    tensors = recorded.placeholders(known)
    built = [recorded.build(case, tensors) for case in cases]
    values = recorded.evaluate(built, tensors)
    found = [
        words
        for one, got in zip(built, values, strict=True)
        for words in recorded.complaints(one, got)
        if one.case.expression not in DIFFERENCES
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("subject", recorded.SUBJECTS)
def test_values_gradients_and_shapes_are_the_recorded_ones(subject: str) -> None:
    """The first size of each array is unknown."""
    with K.using_engine("numpy"):
        _check(_cases(subject))


@pytest.mark.nightly
@pytest.mark.parametrize("subject", recorded.SUBJECTS)
def test_the_same_on_every_engine(subject: str, engine: Engine) -> None:
    _check(_cases(subject), known=engine.name == "jax")


def test_a_share_of_them_on_every_engine(engine: Engine) -> None:
    """Sizes that are known are quick for engines that compile for them."""
    cases = [case for subject in recorded.SUBJECTS for case in _cases(subject)]
    _check(cases[len(engine.name) % SHARE :: SHARE], known=True)


@pytest.mark.parametrize("subject", recorded.SUBJECTS)
def test_errors_are_of_the_recorded_class(subject: str) -> None:
    tensors = recorded.placeholders()
    for expression, name in recorded.read(subject)[1]:
        if expression in DIFFERENCES:
            continue
        with pytest.raises(Exception, match=r".") as raised:
            recorded.evaluated(expression, tensors)
        classes: list[Any] = [c.__name__ for c in raised.type.__mro__]
        assert name in classes, f"{expression}: {raised.value!r}"


def test_every_difference_is_of_a_case() -> None:
    texts = {c.expression for subject in recorded.SUBJECTS for c in _cases(subject)}
    texts |= {text for subject in recorded.SUBJECTS for text, _ in recorded.read(subject)[1]}
    assert set(DIFFERENCES) <= texts
