"""Where an operation was made: the frames of the program, as TensorFlow's files ask for them."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple, overload

PACKAGE = str(Path(__file__).parents[3])
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


class StackSummary(Sequence[StackFrame]):
    """Frames, outermost first. Each operation has some, and few are ever looked at.

    Args:
        codes: what each of them runs, innermost first.
        lines: the line where it is.
    """

    __slots__ = ("_codes", "_lines")

    def __init__(self, codes: Sequence[CodeType], lines: Sequence[int]) -> None:
        self._codes, self._lines = tuple(codes), tuple(lines)

    @overload
    def __getitem__(self, place: int) -> StackFrame: ...

    @overload
    def __getitem__(self, place: slice) -> list[StackFrame]: ...

    def __getitem__(self, place: int | slice) -> StackFrame | list[StackFrame]:
        if isinstance(place, slice):
            return [self[each] for each in range(len(self))[place]]
        code, line = self._codes[~place], self._lines[~place]
        return StackFrame(code.co_filename, line, code.co_name, {}, code.co_firstlineno)

    def __len__(self) -> int:
        return len(self._codes)


def program_line() -> tuple[CodeType, int]:
    """Where the program is: the innermost frame that is neither this package's nor of TensorFlow's
    files, as code and line.
    """
    frame = sys._getframe(1)
    while frame.f_back is not None and _is_inner(frame.f_code.co_filename):
        frame = frame.f_back
    return frame.f_code, frame.f_lineno


@cache
def _is_inner(filename: str) -> bool:
    return filename.startswith(PACKAGE) or "tensorflow_core" in Path(filename).parts


def extract_stack(limit: int = -1, mapper: Any = None, filters: Any = None) -> StackSummary:
    """The frames that are running, but for the caller's.

    Args:
        limit: how many, the innermost ones; -1: as many as are kept.
        mapper: isn't used.
        filters: isn't used.

    >>> extract_stack(1)[0].name == sys._getframe(1).f_code.co_name
    True
    """
    codes, lines = [], []
    frame: FrameType | None = sys._getframe(2)
    left = DEPTH if limit < 0 else min(limit, DEPTH)
    while frame is not None and left:
        codes.append(frame.f_code)
        lines.append(frame.f_lineno)
        frame = frame.f_back
        left -= 1
    return StackSummary(codes, lines)
