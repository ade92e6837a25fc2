"""The K surface: the documented functions, a file for each of their chapters.

    from kameleon import backend as K

Importing it reads `keras.json` (and writes one where there is none), chooses the engine, and
says which one on standard error.
"""

from __future__ import annotations

import importlib as _importlib
import typing as _typing

from .. import hosting as _hosting
from .._suggestions import suggesting as _suggesting
from ..ir.node import Variable as Variable
from . import dispatch as _dispatch
from . import operators, surface
from ._choice import choose as _choose
from ._tensors import Tensor as Tensor
from .surface import *

__all__ = surface.NAMES

operators.install()
_dispatch.install()
_hosting.begin_if_asked()
vars(surface).update(_choose(__all__))
globals().update(_suggesting({name: getattr(surface, name) for name in __all__}, __name__))

if not _typing.TYPE_CHECKING:  # to type checkers, what isn't there is a mistake

    def __getattr__(name: str) -> object:
        """Names that were never documented and that programs use; see `leaked`."""
        if name.startswith("__"):
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        # By name: the room of these names stands on this one.
        return _importlib.import_module("kameleon.leaked").look_up(name)
