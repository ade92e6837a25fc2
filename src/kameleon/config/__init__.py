"""Settings of the process: float type, fuzz factor, image layout, and the choice of engine.

Each setting has three layers, of which the first that holds a value wins: what the program set by
a call, what `keras.json` says, the documented default. Importing this package reads and writes
nothing; `load` reads the file, `write_if_missing` makes it.
"""

from .choice import (
    AS,
    ENGINES,
    ENVIRONMENT,
    HOSTED,
    KNOWN_AS,
    OWN,
    STAND_IN,
    TENSORFLOW,
    TF_KERAS,
    WHICH_TENSORFLOW,
    WHICH_TF_KERAS,
    WRITTEN_BY_KERAS,
    Library,
    choose_backend,
    describe_remedy,
    describe_source,
    installed,
    is_hosted,
    known_as,
)
from .file import load, write_if_missing
from .functions import (
    epsilon,
    floatx,
    image_data_format,
    image_dim_ordering,
    normalize_data_format,
    set_epsilon,
    set_floatx,
    set_image_data_format,
    set_image_dim_ordering,
)
from .table import CALL, DEFAULT, RULES, Settings, settings

__all__ = [
    "AS",
    "CALL",
    "DEFAULT",
    "ENGINES",
    "ENVIRONMENT",
    "HOSTED",
    "KNOWN_AS",
    "OWN",
    "RULES",
    "STAND_IN",
    "TENSORFLOW",
    "TF_KERAS",
    "WHICH_TENSORFLOW",
    "WHICH_TF_KERAS",
    "WRITTEN_BY_KERAS",
    "Library",
    "Settings",
    "choose_backend",
    "describe_remedy",
    "describe_source",
    "epsilon",
    "floatx",
    "image_data_format",
    "image_dim_ordering",
    "installed",
    "is_hosted",
    "known_as",
    "load",
    "normalize_data_format",
    "set_epsilon",
    "set_floatx",
    "set_image_data_format",
    "set_image_dim_ordering",
    "settings",
    "write_if_missing",
]
