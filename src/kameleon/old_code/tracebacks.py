"""Tracebacks as they'd be without the functions that stand between old code and Python's own."""

from __future__ import annotations

from types import CodeType, TracebackType

from .importing import old_import
from .settings_file import told_open

_BETWEEN: frozenset[CodeType] = frozenset({old_import.__code__, told_open.__code__})


def leave_out(error: BaseException) -> None:
    """Take these functions out of the tracebacks of an error, and of those that led to it."""
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
        if step.tb_frame.f_code not in _BETWEEN:
            step.tb_next, kept = kept, step
    return kept
