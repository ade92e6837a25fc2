"""Checks for those who write engines, primitives or losses of their own.

`check_gradients` compares a gradient with differences. `check_engine` and `conformance` are the
kit that every engine must pass.
"""

from __future__ import annotations

from .cases.case import Case
from .conformance import (
    Check,
    Report,
    check_case,
    check_case_gradient,
    check_engine,
    check_expansion,
    conformance,
    conformance_cases,
    conformance_checks,
)
from .gradients import check_gradients, directional_difference
from .together import CasesError

__all__ = [
    "Case",
    "CasesError",
    "Check",
    "Report",
    "check_case",
    "check_case_gradient",
    "check_engine",
    "check_expansion",
    "check_gradients",
    "conformance",
    "conformance_cases",
    "conformance_checks",
    "directional_difference",
]
