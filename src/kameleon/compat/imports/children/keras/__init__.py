"""`import keras` in a process that a hosted program has started: Keras 2 on Kameleon, as there.

This folder is on the path of such processes. Once `kameleon.as_keras` is imported, nothing is found
in it any more, and what is found then takes the place of this module.
"""

import importlib
import sys

del sys.modules["keras"]
importlib.import_module("kameleon.as_keras")
importlib.import_module("keras")
