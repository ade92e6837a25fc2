"""What surrounds an old program: the names of its days, for it and its libraries alone.

Programs of the Keras 2 days were written for Python 3.7, NumPy 1 and SciPy 1.1. The program, the
modules that pytest loads for it, and installed libraries of its days import stand-ins, which have
what has been removed since; the libraries themselves, and who else uses them, stay as they are.
"""

from __future__ import annotations

import os
from types import CodeType

from ... import config
from . import importing, settings_file
from .importing import SWITCH, are_names_given, old_import, provide, withdraw

__all__ = ["SWITCH", "are_names_given", "begin", "provide", "stands_between", "withdraw"]


def begin() -> None:
    """From now on, old code sees the names of its days. A second call changes nothing."""
    importing.begin()
    if config.known_as() != config.HOSTED:
        settings_file.begin()


_HERE = os.path.join(os.path.dirname(__file__), "")


def stands_between(code: CodeType) -> bool:
    """Whether code stands between old code and Python's own: tracebacks leave it out."""
    return code is old_import.__code__ or code.co_filename.startswith(_HERE)
