"""The documented functions together; an external backend's own take their places."""

from __future__ import annotations

from importlib import import_module as _module

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

# In the order of the documentation.
CHAPTERS = """
    configuration session sparse creation updates linear reductions elementwise normalization
    shaping resizing values functions recurrence control activations losses convolution pooling
    random ctc switching pictures debugging
""".split()
NAMES: list[str] = [
    name for chapter in CHAPTERS for name in _module(f".{chapter}", __package__).__all__
]
