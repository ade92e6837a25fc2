"""`import keras` in a process that a hosted program has started: Keras 2 on Kameleon, as there.

This folder is on the path of such processes alone. The import of `kameleon.as_keras` takes it off
the path, and what is then found takes the place of this module.
"""

import importlib
import sys

del sys.modules["keras"]
importlib.import_module("kameleon.as_keras")
importlib.import_module("keras")
