"""Where an operation was made: the frames of the program, as TensorFlow's files ask for them."""

from __future__ import annotations

import linecache
import sys
from types import FrameType
from typing import Any, NamedTuple

DEPTH = 30  # frames that are kept; the innermost


class StackFrame(NamedTuple):
    """A frame: its file and line, its function, and where that begins."""

    filename: str
    lineno: int
    name: str
    globals: dict[str, Any]
    func_start_lineno: int

    @property
    def line(self) -> str:
        """The text of the line."""
        return linecache.getline(self.filename, self.lineno).strip()


StackSummary = list


def extract_stack(limit: Any = None, mapper: Any = None, filters: Any = None) -> list[StackFrame]:
    """The frames that are running, outermost first."""
    found: list[StackFrame] = []
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and len(found) < DEPTH:
        code = frame.f_code
        found.append(
            StackFrame(code.co_filename, frame.f_lineno, code.co_name, {}, code.co_firstlineno)
        )
        frame = frame.f_back
    return found[::-1]
