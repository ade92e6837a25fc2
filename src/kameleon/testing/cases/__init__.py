"""The table of cases: every primitive, with an oracle that is made of Python alone.

A new primitive needs a row in one of the chapters; a test says so where one is missing.
"""

from __future__ import annotations

from . import (
    control,
    elementwise,
    indexing,
    linalg,
    movement,
    random,
    reductions,
    rows,
    scans,
    windows,
)
from .case import Case

# Primitives without a case of their own, and where they are tested instead.
ELSEWHERE: dict[str, str] = {
    "input": "every operand of every case is one",
    "constant": "holds its array: see the cases of identity",
    "variable": "state, not computation: the runtime keeps it",
    "random_source": "the key is fed by the runtime",
    "call": "its function gives the meaning: see tests/runtime/test_call.py",
    "item": "one of several results: every case of scan, cond, while and max_pool has some",
}

CASES: list[Case] = [
    *elementwise.CASES,
    *movement.CASES,
    *reductions.CASES,
    *indexing.CASES,
    *linalg.CASES,
    *windows.CASES,
    *rows.CASES,
    *random.CASES,
    *scans.CASES,
    *control.CASES,
]
