"""keras.json and the settings: reading the file once, writing one where there is none."""

from __future__ import annotations

from ..errors import ArgumentError, ConfigWarning, warn
from . import keras_json
from .table import RULES, settings


def load() -> None:
    """Read keras.json into `settings`, once in a process; what was set by calls stays.

    Unknown keys are left alone. A file that can't be read and a value that can't be used give a
    ConfigWarning with the file, the key and the value; the default is taken.

    >>> load()
    >>> settings.loaded
    True
    """
    if settings.loaded:
        return
    path, shared = keras_json.find()
    content: dict[str, object] = {}
    try:
        content = keras_json.read(path, shared)
    except ArgumentError as error:
        warn(f"{error}; the defaults are used", ConfigWarning)
    values = {}
    for key in [key for key in RULES if key in content]:
        try:
            values[key] = RULES[key].check(f"{path}: {key}", content[key])
        except ArgumentError as error:
            warn(f"{error}; the default is used", ConfigWarning)
    settings.take_file(path, values)


def write_if_missing(backend: str | None = None) -> bool:
    """Write keras.json with the documented defaults if there is none; say whether this call did.

    `backend` is written only where it's 'tensorflow', the documented default: other installations
    of Keras read the same file, and Kameleon mustn't switch them. A folder that can't be written
    is no error.

    Args:
        backend: the engine chosen; None for the one in `settings`.

    >>> write_if_missing() and write_if_missing()  # once written, it's left alone
    False
    """
    defaults = {key: rule.default for key, rule in RULES.items() if rule.default is not None}
    if (backend or settings.backend) == "tensorflow":
        defaults["backend"] = "tensorflow"
    return keras_json.write_new(keras_json.find()[0], defaults)
