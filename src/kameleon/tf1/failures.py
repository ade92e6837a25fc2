"""Errors of TensorFlow 1, by the names and numbers that programs catch them by."""

from __future__ import annotations

from typing import Any

from ..errors import EvaluationError, FeedError, KameleonError


class OpError(Exception):
    """What goes wrong while a graph runs.

    Args:
        node_def, op: what failed; may be None.
        message: what happened.
        error_code: its number; that of the class, if None.
    """

    code = 2

    def __init__(
        self, node_def: Any = None, op: Any = None, message: str = "", error_code: int | None = None
    ):
        super().__init__(message)
        self.node_def, self.op, self.message = node_def, op, message
        self.error_code = self.code if error_code is None else error_code

    def __str__(self) -> str:
        return self.message


CODES = {
    1: "CancelledError", 2: "UnknownError", 3: "InvalidArgumentError", 4: "DeadlineExceededError",
    5: "NotFoundError", 6: "AlreadyExistsError", 7: "PermissionDeniedError",
    8: "ResourceExhaustedError", 9: "FailedPreconditionError", 10: "AbortedError",
    11: "OutOfRangeError", 12: "UnimplementedError", 13: "InternalError",
    14: "UnavailableError", 15: "DataLossError", 16: "UnauthenticatedError",
}  # fmt: skip


def _kind(name: str, code: int) -> type[OpError]:
    def __init__(
        self: Any,
        node_def: Any = None,
        op: Any = None,
        message: str = "",
        error_code: int | None = None,
    ) -> None:
        OpError.__init__(self, node_def, op, message, error_code)

    words = name.removesuffix("Error")
    return type(name, (OpError,), {"code": code, "__init__": __init__, "__doc__": f"{words}."})


ERRORS: dict[str, type[OpError]] = {name: _kind(name, code) for code, name in CODES.items()}
OutOfRangeError, NotFoundError = ERRORS["OutOfRangeError"], ERRORS["NotFoundError"]
FailedPreconditionError = ERRORS["FailedPreconditionError"]


# Failures of a run: what Kameleon raises, and the class that programs of TensorFlow catch.
OF_RUNS: dict[tuple[type, str], type[Exception]] = {
    (own, name): type(name, (kind, own), {"__doc__": kind.__doc__})
    for own in (EvaluationError, FeedError)
    for name, kind in ERRORS.items()
}


def of_run(error: KameleonError) -> Exception:
    """A failure of a run as an error of TensorFlow's, which stays one of Kameleon's.

    A message may begin with the name of the class; without one, an argument was invalid.
    """
    own = FeedError if isinstance(error, FeedError) else EvaluationError
    name, colon, rest = str(error).partition(": ")
    known = bool(colon) and name in ERRORS
    kind = OF_RUNS[own, name if known else "InvalidArgumentError"]
    return kind(None, None, rest if known else str(error))


def _constant(name: str) -> str:
    """OUT_OF_RANGE, of OutOfRangeError."""
    letters = (f"_{c}" if c.isupper() else c.upper() for c in name.removesuffix("Error"))
    return "".join(letters).lstrip("_")


NAMES: dict[str, Any] = {}
PLAIN: dict[str, Any] = {
    "errors.OpError": OpError,
    "OpError": OpError,
    **{f"errors.{name}": kind for name, kind in ERRORS.items()},
    **{f"errors.{_constant(name)}": code for code, name in CODES.items()},
    "errors.OK": 0,
}
