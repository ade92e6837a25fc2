"""`import kameleon.as_keras`: from then on, `import keras` in this process is Keras 2, on Kameleon.

Where the original Keras 2.3.1 is installed (`kameleon keras2 install`), the program gets that,
hosted on `kameleon.backend`. Where it isn't, `keras.backend` and `keras.layers` are Kameleon's
own, and any other part of Keras raises an error that says what to install.

This import must come before any other that loads a Keras, such as that of TensorFlow. The command
`kameleon run script.py` does all this for a program that isn't to be changed.
"""

from __future__ import annotations

from ._utils.tracebacks import hide
from .compat.imports import alias
from .compat.imports.given import folder, hosts_original
from .compat.imports.original import export
from .compat.imports.tensorflow import alias_tensorflow

__all__ = ["alias_tensorflow", "export", "folder", "hosts_original"]

try:
    alias.begin()
except Exception as error:
    hide(error)
    raise
