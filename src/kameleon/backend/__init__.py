"""The K surface: the documented functions, a file for each of their chapters.

    from kameleon import backend as K

Importing it reads `keras.json` (and writes one where there is none), chooses the engine, and
says which one on standard error.
"""

from __future__ import annotations

import typing as _typing
from types import FunctionType as _FunctionType

from .._utils.suggestions import suggestion as _suggestion
from .._utils.tracebacks import boundary as _boundary
from .._utils.tracebacks import hide as _hide
from ..config import guests as _guests
from ..errors import MissingNameError as _MissingNameError
from ..graph.ir.node import Variable as Variable
from . import _numpy, operators, pictures, surface
from . import dispatch as _dispatch
from ._choice import choose as _choose
from ._kinds import misfit as _misfit
from ._tensors import Tensor as Tensor
from .surface import *

__all__ = surface.NAMES

operators.install()
_numpy.install()
pictures.install()
_dispatch.install()
_guests.invite()
try:
    vars(surface).update(_choose(__all__))
except Exception as _error:
    _hide(_error)
    raise
for _name in __all__:
    _member = getattr(surface, _name)
    if isinstance(_member, _FunctionType):
        _member = _boundary(_member, _misfit)
        _member.__module__ = __name__  # pickles look for it there
    globals()[_name] = _member

if not _typing.TYPE_CHECKING:  # to type checkers, what isn't there is a mistake

    @_boundary
    def __getattr__(name: str) -> object:
        """Names that were never documented and that programs use, where guests know them."""
        if name.startswith("__"):
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        try:
            return _guests.look_up(name)
        except KeyError:
            meant = _suggestion(name, __all__)
        raise _MissingNameError(f"module {__name__!r} has no attribute {name!r}{meant}")
