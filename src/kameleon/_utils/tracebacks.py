"""Tracebacks that show users' own code: this package's frames are taken out of them.

Public functions are boundaries. An error that its user can do something about leaves them without
the frames that it came through inside; one line says so, and `KAMELEON_TRACEBACK=full` in the
environment shows them. A call that doesn't fail pays nothing for it, since `try` costs nothing.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dis import opmap
from types import CodeType, FrameType, FunctionType, TracebackType
from typing import Any, TypeVar

from ..errors import KameleonError
from .suggestions import suggest

SWITCH = "KAMELEON_TRACEBACK"
FULL = "full"

F = TypeVar("F", bound=Callable[..., Any])
IsBetween = Callable[[CodeType], bool]
Misfit = Callable[[Callable[..., Any], Sequence[Any], Mapping[str, Any]], Exception | None]

_HERE = os.path.join(os.path.dirname(os.path.dirname(__file__)), "")  # the package
_SIGN = "<kameleon>"
_OWN = (_HERE, "<kameleon")  # code that engines emit has such names of files
_STANDARD = os.path.join(os.path.dirname(os.__file__), "")
_INSTALLED = re.compile(r"[/\\](site|dist)-packages[/\\]|^<frozen ")
# Parts of the standard library that this package's functions pass through.
_PASSED = {module.__file__ for module in (contextlib, functools, importlib)}
_RAISE = opmap["RAISE_VARARGS"]
# That a function takes more or fewer arguments: of this package's own functions it's a fault, which
# tests find; of a user's the message says all.
_OTHERWISE_MANY = re.compile(r"\(\) (takes|missing) .* arguments?\b")


def boundary(function: F, misfit: Misfit = lambda *call: None) -> F:
    """The function, whose errors show no frames of this package.

    Where an argument's name is unknown, the error tells what was meant, perhaps.

    Args:
        function: the function.
        misfit: an error about one of a call's arguments, in place of one that Python or a library
            raised of them; none, if there's nothing to be said.
    """

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            try:
                return function(*args, **kwargs)
            except Exception as error:
                if _is_users(error, list(_steps(error.__traceback__))):
                    raise
                better = misfit(function, args, kwargs)
                if better is None:
                    raise
                raise better from (error if _is_full() else None)
        except Exception as error:
            suggest(error, function)
            hide(error)
            raise  # in this form it adds no frame to the traceback

    return call  # type: ignore[return-value]


_WRAPPER = f"{boundary.__qualname__}.<locals>.call"


def hide(error: BaseException) -> None:
    """Take this package's frames out of the traceback of an error that its user can correct.

    It's called at a boundary, before a bare `raise`. Faults of this package's, or of a library that
    it uses, keep all their frames.
    """
    steps = list(_steps(error.__traceback__))
    if _is_full() or not _is_users(error, steps):
        return
    seen = any(is_own(s.tb_frame.f_code) and not _is_wrapper(s.tb_frame.f_code) for s in steps)
    leave_out(error, is_own, seen)


def _is_full() -> bool:
    return os.environ.get(SWITCH, "").strip().lower() == FULL


def leave_out(error: BaseException, is_between: IsBetween, says_so: bool = False) -> None:
    """Take some functions' frames out of the tracebacks of an error, and of those before it.

    Args:
        error: the error.
        is_between: tells by its code which function that is.
        says_so: whether a line in the traceback of `error` tells of it.
    """
    error.__traceback__ = _without(error.__traceback__, is_between, says_so)
    left, seen = [error], {id(error)}
    while left:
        found = left.pop()
        for earlier in filter(None, (found.__cause__, found.__context__)):
            if id(earlier) not in seen:
                seen.add(id(earlier))
                earlier.__traceback__ = _without(earlier.__traceback__, is_between)
                left.append(earlier)


def is_own(code: CodeType) -> bool:
    """Whether code is this package's, or was made by it."""
    return code.co_filename.startswith(_OWN)


def _is_wrapper(code: CodeType) -> bool:
    return code.co_qualname == _WRAPPER


def _is_users(error: BaseException, steps: Sequence[TracebackType]) -> bool:
    """Whether an error is about what the user did: one of ours, a file that can't be opened, one of
    the user's own function or of how many arguments it takes, or a built-in one that is raised here
    on purpose.
    """
    if not steps or isinstance(error, (KameleonError, OSError)):
        return True
    if isinstance(error, TypeError) and _OTHERWISE_MANY.search(str(error)):
        return True
    code = steps[-1].tb_frame.f_code
    if not is_own(code):
        return not (code.co_filename.startswith(_STANDARD) or _INSTALLED.search(code.co_filename))
    if code.co_filename == _SIGN:  # an inner boundary has seen it
        return True
    misfits = len(steps) == 1 and _is_wrapper(code)  # the function doesn't take these arguments
    return misfits or code.co_code[steps[-1].tb_lasti] == _RAISE


def _steps(trace: TracebackType | None) -> Iterator[TracebackType]:
    while trace is not None:
        yield trace
        trace = trace.tb_next


def _without(
    trace: TracebackType | None, is_between: IsBetween, says_so: bool = False
) -> TracebackType | None:
    steps: list[tuple[TracebackType, bool]] = []
    goes = False
    for step in _steps(trace):
        code = step.tb_frame.f_code
        goes = is_between(code) or (goes and code.co_filename in _PASSED)
        steps.append((step, goes))
    kept = None
    for step, goes in reversed(steps):
        if not goes:
            step.tb_next, kept = kept, step
        elif says_so:
            kept, says_so = TracebackType(kept, _sign(), -1, 1), False
    return kept


def _stand_in() -> FrameType:
    __tracebackhide__ = True  # IPython and pytest know this name, and show such frames as they wish
    return sys._getframe()


@functools.cache
def _sign() -> FrameType:
    """A frame that a traceback shows as one line, which says what isn't shown."""
    said = f"<frames not shown; {SWITCH}={FULL} shows them>"
    code = _stand_in.__code__.replace(
        co_filename=_SIGN, co_name=said, co_qualname=said, co_firstlineno=1
    )
    frame: FrameType = FunctionType(code, {"sys": sys})()
    return frame
