"""Tracebacks as they'd be without the functions that stand between old code and Python's own."""

from __future__ import annotations

import os
from types import CodeType, TracebackType

from .importing import old_import

_HERE = os.path.join(os.path.dirname(__file__), "")


def leave_out(error: BaseException) -> None:
    """Take this package's functions out of the tracebacks of an error, and of those before it."""
    left, seen = [error], set[int]()
    while left:
        found = left.pop()
        if id(found) not in seen:
            seen.add(id(found))
            found.__traceback__ = _without(found.__traceback__)
            left += filter(None, (found.__cause__, found.__context__))


def _without(trace: TracebackType | None) -> TracebackType | None:
    steps = []
    while trace is not None:
        steps.append(trace)
        trace = trace.tb_next
    kept = None
    for step in reversed(steps):
        if not _is_between(step.tb_frame.f_code):
            step.tb_next, kept = kept, step
    return kept


def _is_between(code: CodeType) -> bool:
    return code is old_import.__code__ or code.co_filename.startswith(_HERE)
