"""The table of the C API's functions."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from .. import location
from ..failures import failure
from .constants import CONSTANTS

F = TypeVar("F", bound=Callable[..., Any])

EXPORTS: dict[str, Any] = {}
# Where TensorFlow's own wrapper names all functions, classes and numbers of the API.
WRAPPER = Path(location.PACKAGE, "python", "pywrap_tensorflow_internal.py")
# Functions that do nothing: there's no memory to let go of, nobody reads how TensorFlow is used.
_IDLE = re.compile(r"TFE?_Delete|TFE_Monitoring(?:New|GetCell|Delete|\w+(?:IncrementBy|Set|Add)$)")
_NAMES = re.compile(r"^(?:def|class) ([A-Za-z]\w*)|^([A-Za-z]\w*) = ", re.M)


def export(*names: str) -> Callable[[F], F]:
    """Decorates a function of the API, which has these names there."""

    def add(function: F) -> F:
        EXPORTS.update(dict.fromkeys(names, function))
        return function

    return add


def as_text(name: str | bytes) -> str:
    """A name as Python has texts; Python files give the API either."""
    return name.decode() if isinstance(name, bytes) else name


def constantly(value: Any, names: str) -> None:
    """Functions that always answer the same."""
    export(*names.split())(lambda *_, **__: value)


def _missing(name: str) -> Callable[..., None]:
    """What stands for a function that isn't here: importing it is no mistake, a call is, where it
    would do something.
    """

    def missing(*_: Any, **__: Any) -> None:
        if _IDLE.match(name) is None:
            raise failure("UNIMPLEMENTED", f"{name} of TensorFlow's C API isn't there on Kameleon")

    missing.__name__ = name
    return missing


def as_module() -> ModuleType:
    """The table as a module, with all names that TensorFlow's Python files may import."""
    made = ModuleType("tensorflow_core.python.pywrap_tensorflow_internal", __doc__)
    text = Path(location.find(), WRAPPER).read_text("utf-8")
    for pair in _NAMES.findall(text):
        name = pair[0] or pair[1]
        if not name.endswith("_swigregister"):
            vars(made)[name] = _missing(name)
    vars(made).update(CONSTANTS)
    vars(made).update(EXPORTS)
    return made
