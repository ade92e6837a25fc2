"""The table of cases: every primitive, with an oracle that is made of Python alone.

A new primitive needs a row here; a test says so where one is missing.
"""

from __future__ import annotations

from . import array_cases, control_cases, elementwise_cases, network_cases
from .case import Case

# Primitives without a case of their own, and where they are tested instead.
ELSEWHERE: dict[str, str] = {
    "input": "every operand of every case is one",
    "constant": "holds its array: see the cases of identity, and the tests of K.constant",
    "variable": "state, not computation: see test_function.py",
    "random_source": "the key is fed by the runtime: see test_function.py",
    "item": "one of several results: every case of scan, cond, while and max_pool has some",
}

CASES: list[Case] = [
    *elementwise_cases.CASES,
    *array_cases.CASES,
    *network_cases.CASES,
    *control_cases.CASES,
]
