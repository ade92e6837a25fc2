"""The K surface: the documented functions, a file for each of their chapters.

    from kameleon import backend as K

Importing it reads `keras.json` (and writes one where there is none), chooses the engine, and
says which one on standard error.
"""

from __future__ import annotations

from .. import hosting as _hosting
from . import (
    activations,
    configuration,
    control,
    convolution,
    creation,
    ctc,
    elementwise,
    functions,
    linear,
    losses,
    normalization,
    operators,
    pooling,
    random,
    recurrence,
    reductions,
    resizing,
    session,
    shaping,
    sparse,
    switching,
    updates,
    values,
)
from ._choice import choose
from .activations import *
from .configuration import *
from .control import *
from .convolution import *
from .creation import *
from .ctc import *
from .elementwise import *
from .functions import *
from .linear import *
from .losses import *
from .normalization import *
from .pooling import *
from .random import *
from .recurrence import *
from .reductions import *
from .resizing import *
from .session import *
from .shaping import *
from .sparse import *
from .switching import *
from .updates import *
from .values import *

__all__ = [
    *configuration.__all__,
    *session.__all__,
    *sparse.__all__,
    *creation.__all__,
    *updates.__all__,
    *linear.__all__,
    *reductions.__all__,
    *elementwise.__all__,
    *normalization.__all__,
    *shaping.__all__,
    *resizing.__all__,
    *values.__all__,
    *functions.__all__,
    *recurrence.__all__,
    *control.__all__,
    *activations.__all__,
    *losses.__all__,
    *convolution.__all__,
    *pooling.__all__,
    *random.__all__,
    *ctc.__all__,
    *switching.__all__,
]

operators.install()
_hosting.begin_if_asked()
globals().update(choose(__all__))


def __getattr__(name: str) -> object:
    """Names that were never documented and that programs use; see `leaked`."""
    if name.startswith("__") or name == "leaked":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .leaked import look_up

    return look_up(name)
