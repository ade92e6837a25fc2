"""Settings of the process: float type, fuzz factor, image layout, and the choice of engine.

Each setting has three layers, of which the first that holds a value wins: what the program set by
a call, what `keras.json` says, the documented default. Importing this package reads and writes
nothing; `load` reads the file, `write_if_missing` makes it.
"""

from .choice import ALIASES as ALIASES
from .choice import AS as AS
from .choice import ENGINES as ENGINES
from .choice import ENVIRONMENT as ENVIRONMENT
from .choice import HOSTED as HOSTED
from .choice import KERAS_ON as KERAS_ON
from .choice import KNOWN_AS as KNOWN_AS
from .choice import OWN as OWN
from .choice import STAND_IN as STAND_IN
from .choice import TENSORFLOW as TENSORFLOW
from .choice import TF_KERAS as TF_KERAS
from .choice import WHICH_KERAS_ON as WHICH_KERAS_ON
from .choice import WHICH_TENSORFLOW as WHICH_TENSORFLOW
from .choice import WHICH_TF_KERAS as WHICH_TF_KERAS
from .choice import WRITTEN_BY_KERAS as WRITTEN_BY_KERAS
from .choice import Library as Library
from .choice import ask as ask
from .choice import asking as asking
from .choice import choose_backend as choose_backend
from .choice import describe_remedy as describe_remedy
from .choice import describe_source as describe_source
from .choice import installed as installed
from .choice import is_hosted as is_hosted
from .choice import keras_on as keras_on
from .choice import known_as as known_as
from .choice import require as require
from .file import load as load
from .file import write_if_missing as write_if_missing
from .functions import epsilon as epsilon
from .functions import floatx as floatx
from .functions import image_data_format as image_data_format
from .functions import image_dim_ordering as image_dim_ordering
from .functions import normalize_data_format as normalize_data_format
from .functions import set_epsilon as set_epsilon
from .functions import set_floatx as set_floatx
from .functions import set_image_data_format as set_image_data_format
from .functions import set_image_dim_ordering as set_image_dim_ordering
from .table import CALL as CALL
from .table import DEFAULT as DEFAULT
from .table import RULES as RULES
from .table import Settings as Settings
from .table import settings as settings
