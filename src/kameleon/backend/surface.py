"""The documented functions together; an external backend's own take their places."""

from __future__ import annotations

from . import (
    activations,
    configuration,
    control,
    convolution,
    creation,
    ctc,
    debugging,
    elementwise,
    functions,
    linear,
    losses,
    normalization,
    pictures,
    pooling,
    properties,
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
from .activations import *
from .configuration import *
from .control import *
from .convolution import *
from .creation import *
from .ctc import *
from .debugging import *
from .elementwise import *
from .functions import *
from .linear import *
from .losses import *
from .normalization import *
from .pictures import *
from .pooling import *
from .properties import *
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

NAMES = [
    *configuration.__all__,
    *session.__all__,
    *sparse.__all__,
    *creation.__all__,
    *properties.__all__,
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
    *pictures.__all__,
    *debugging.__all__,
]
