"""What `import tensorflow` gives old code: TensorFlow 1.15's own Python files above K's graph.

Old code gets these modules whether another TensorFlow is installed or not. Everybody else
(Kameleon's engine of that name, TensorFlow itself, modern libraries) gets the installed one, or
none. Where the user asks for the installed TensorFlow, old code gets that, too; then
`tensorflow.keras` is refused, or, where the program asks for it, the same as `keras`.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from ... import config
from ...errors import ArgumentError, HostingError
from .. import legacy
from ..keras2 import location
from ..tensorflow import location as files
from .given import given
from .original import which_tensorflow

TF_KERAS = "tensorflow.keras"
OF_KERAS = ("keras", "keras_applications", "keras_preprocessing")

INSTEAD = (
    "tensorflow.keras is TensorFlow's own Keras: it doesn't run on Kameleon, and can't share a"
    " process with the Keras that does. In this program, write `from keras` instead of"
    " `from tensorflow.keras`, and `keras` instead of `tf.keras`; or have these names stand for"
    " the Keras on Kameleon: `kameleon run --tf-keras script.py`, or"
    " `kameleon.as_keras.alias_tensorflow()`"
)
NO_TENSORFLOW = (
    "TensorFlow isn't installed; its name stands for tensorflow.keras alone, the Keras on Kameleon"
)
BEFORE = (
    "import kameleon.as_keras before everything that imports a Keras (TensorFlow does, and so"
    " does Kameleon's engine of that name), or start the program by: kameleon run script.py"
)


class Later(ModuleType):
    """`tensorflow.keras` as an attribute: the Keras on Kameleon, loaded when it's asked for."""

    def __getattr__(self, name: str) -> Any:
        return getattr(module_of_keras(TF_KERAS, "keras"), name)

    def __dir__(self) -> list[str]:
        return dir(module_of_keras(TF_KERAS, "keras"))


@contextmanager
def with_our_keras(module: ModuleType) -> Iterator[None]:
    yield
    vars(module)["keras"] = Later("keras")


# --- TensorFlow 1.15's files --------------------------------------------------------------------


def serve_old_code() -> None:
    """From now on, old code imports TensorFlow 1.15's own files, unless the user says otherwise.

    Raises:
        ArgumentError: (a ValueError) `KAMELEON_TENSORFLOW` holds another word.
        MissingLibraryError: (an ImportError) Keras is to run on these files, and they aren't
            installed.
    """
    original, installed = config.WHICH_TENSORFLOW
    choice = os.environ.get(config.TENSORFLOW, "").strip()
    if choice not in ("", *config.WHICH_TENSORFLOW):
        expected = " or ".join(config.WHICH_TENSORFLOW)
        raise ArgumentError(f"{config.TENSORFLOW}={choice}: use {expected}")
    if choice == installed:
        return
    with_keras = config.keras_on() == "tensorflow"
    if with_keras:
        files.find()  # so that what is missing is said at once
    given.serves_tensorflow = which_tensorflow() == original
    legacy.provide("tensorflow", original_module, also=OF_KERAS if with_keras else ())


def original_module(name: str) -> ModuleType:
    """The module of TensorFlow 1.15's own Python files by a full name in TensorFlow.

    Raises:
        ModuleNotFoundError: there is none.
        MissingLibraryError: (an ImportError) the files aren't installed.
    """
    from ..tensorflow import importing  # late: programs without TensorFlow need none of it

    return importing.module(name, second=which_keras() == "2")


def which_keras() -> str:
    """Whose names and behaviour the files have, TensorFlow 1's or 2's, as `KAMELEON_TF_KERAS` says.

    Raises:
        ArgumentError: (a ValueError) it holds another word.
    """
    choice = os.environ.get(config.TF_KERAS, "").strip() or config.WHICH_TF_KERAS[0]
    if choice not in config.WHICH_TF_KERAS:
        expected = ", ".join(config.WHICH_TF_KERAS)
        raise ArgumentError(f"{config.TF_KERAS}={choice}: use one of {expected}")
    return choice


# --- the names in an installed TensorFlow -------------------------------------------------------


def module_of_keras(name: str, meant: str) -> ModuleType:
    """The module `meant` of the Keras on Kameleon, for which a program says `name`."""
    try:
        return importlib.import_module(meant)
    except ModuleNotFoundError as error:
        if error.name != meant:
            raise
        raise ModuleNotFoundError(
            f"{name}: the Keras on Kameleon, {location.VERSION}, has no {meant}", name=name
        ) from None


def alias_tensorflow() -> None:
    """From now on, `tensorflow.keras` and what is in it are the Keras on Kameleon, where old code
    doesn't get TensorFlow 1.15's own files, which have a Keras of their own.

    This works without TensorFlow, too: then there's nothing else in `tensorflow`. Tensors are
    Kameleon's, so other functions of an installed TensorFlow can't take them.

    Raises:
        HostingError: TensorFlow's Keras has been imported in this process before.
    """
    if given.aliased or given.serves_tensorflow:
        return
    legacy.withdraw("tensorflow")
    if TF_KERAS in sys.modules:
        raise HostingError(f"{TF_KERAS} is already imported; {BEFORE}")
    given.aliased = True
    loaded = sys.modules.get("tensorflow")
    if loaded is not None:
        vars(loaded)["keras"] = Later("keras")
