"""TensorFlow's error classes, raised as its C library would have them raised."""

from __future__ import annotations

import importlib
import sys
from typing import Any

from kameleon.errors import EvaluationError

from .capi.constants import CONSTANTS
from .location import PACKAGE


class PlainError(EvaluationError):
    """What stands for TensorFlow's error classes where its Python files aren't loaded."""

    def __init__(self, node: Any, op: Any, message: str) -> None:
        super().__init__(message)
        self.message = message


def _module() -> Any:
    """TensorFlow's module of error classes; None, where its Python files aren't loaded."""
    if PACKAGE not in sys.modules:
        return None
    return importlib.import_module(f"{PACKAGE}.python.framework.errors_impl")


def failure(code: str, message: str, node: Any = None, op: Any = None) -> Exception:
    """The error of a code, to be raised.

    Args:
        code: its name in the C headers, such as 'NOT_FOUND'.
        message: what is wrong.
        node: the node's definition, if it's the fault of one.
        op: the Python operation, if there is one.
    """
    number, module = CONSTANTS[f"TF_{code}"], _module()
    kind = PlainError if module is None else module.exception_type_from_error_code(number)
    made: Exception = kind(node, op, message)
    return made


def invalid(message: str) -> Exception:
    """The error that what is given doesn't fit, to be raised."""
    return failure("INVALID_ARGUMENT", message)


# What Python and NumPy raise where values don't fit an operation.
UNFIT = (ValueError, IndexError, TypeError, KeyError, ArithmeticError)


OF_FUNCTION = "{{function_node"

# What the system refuses: the codes; else "UNKNOWN".
_REFUSED = {
    FileNotFoundError: "NOT_FOUND",
    FileExistsError: "ALREADY_EXISTS",
    PermissionError: "PERMISSION_DENIED",
    IsADirectoryError: "FAILED_PRECONDITION",
    NotADirectoryError: "FAILED_PRECONDITION",
}


def refused(error: OSError, path: str) -> Exception:
    """The error that the system refuses what is asked of a file, to be raised."""
    return failure(
        _REFUSED.get(type(error), "UNKNOWN"), f"{error.filename or path}; {error.strerror}"
    )


def is_failure(error: BaseException) -> bool:
    """Whether an exception is one of TensorFlow's error classes."""
    return isinstance(error, getattr(_module(), "OpError", PlainError))


def told_of(error: Exception, function: str) -> Exception:
    """The error; one of TensorFlow's says which function it came out of."""
    message = getattr(error, "message", "")
    if not is_failure(error) or message.startswith(OF_FUNCTION):
        return error
    return type(error)(None, None, f"{OF_FUNCTION} {function}}}}} {message}")
