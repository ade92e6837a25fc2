"""What `import tensorflow` gives old code: TensorFlow 1's names over K, and `keras` in them.

Old code gets these modules whether TensorFlow is installed or not. Everybody else (Kameleon's
engine of that name, TensorFlow itself, modern libraries) gets the installed one, or none. Where the
user asks for the installed TensorFlow, old code gets that, too; then `tensorflow.keras` is refused,
or, where the program asks for it, the same as `keras`.
"""

from __future__ import annotations

import importlib
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from .. import config, old_code
from ..errors import ArgumentError, HostingError
from ..hosting import location
from .given import given

TF_KERAS = "tensorflow.keras"
CORE = "tensorflow_core"  # the package that TensorFlow 1.15 to 2.1 lies in; editors import from it
ORIGINAL = "kameleon.compat.tensorflow"  # the package of what TensorFlow's own files need
OF_KERAS = ("keras", "keras_applications", "keras_preprocessing")
SECOND = "2.3.0"  # the version that programs of TensorFlow 2 are told

# What stands before `keras` where programs take TensorFlow's Keras from.
_BEFORE_KERAS = re.compile(
    r"tensorflow(?:\.python|\.contrib|\.compat\.v[12]|\._api\.v1)?\.(?=keras(?:\.|$))"
)
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


# --- the names over K ---------------------------------------------------------------------------


def serve_old_code() -> None:
    """From now on, old code imports TensorFlow 1's names over K, unless the user says otherwise.

    Raises:
        ArgumentError: (a ValueError) `KAMELEON_TENSORFLOW` holds another word.
        MissingLibraryError: (an ImportError) Keras is to run on TensorFlow's own files, and these
            aren't installed.
    """
    ours, original, _ = config.WHICH_TENSORFLOW
    told = os.environ.get(config.TENSORFLOW, "").strip() or ours
    if told not in config.WHICH_TENSORFLOW:
        expected = " or ".join(config.WHICH_TENSORFLOW)
        raise ArgumentError(f"{config.TENSORFLOW}={told}: use {expected}")
    if told == original:
        with_keras = config.keras_on() == "tensorflow"
        if with_keras:
            files: Any = importlib.import_module(f"{ORIGINAL}.location")
            files.find()  # so that what is missing is said at once
        old_code.provide("tensorflow", original_module, also=OF_KERAS if with_keras else ())
        return
    given.serves_tensorflow = told == ours
    if given.serves_tensorflow:
        old_code.provide("tensorflow", module)
        old_code.provide(CORE, lambda name: module(name.replace(CORE, "tensorflow", 1)))


def original_module(name: str) -> ModuleType:
    """The module of TensorFlow 1.15's own Python files by a full name in TensorFlow.

    Raises:
        ModuleNotFoundError: there is none.
        MissingLibraryError: (an ImportError) the files aren't installed.
    """
    importing: Any = importlib.import_module(f"{ORIGINAL}.importing")
    found: ModuleType = importing.module(name, second=which_keras() == "2")
    return found


def module(name: str) -> ModuleType:
    """The module that old code gets by a full name in TensorFlow.

    Raises:
        ModuleNotFoundError: there is none; the message says what to use.
    """
    found = _BEFORE_KERAS.match(name)
    if found is not None:
        return module_of_keras(name, name[found.end() :])
    names: Any = importlib.import_module("kameleon.tf1.modules")  # late: it loads the K surface
    names.methods.show_shapes()  # also where the program imports no Keras
    if names.module_of_keras is None and given.original and which_keras() != "keras":
        names.module_of_keras = _of_keras
        if which_keras() == "2":
            root = names.module("tensorflow")
            vars(root)["__version__"] = vars(root)["VERSION"] = SECOND
    path = name.removeprefix("tensorflow.")
    if names.module_of_keras is not None and names.OF_KERAS.get(path, ("", False))[1]:
        found_keras: ModuleType = names.module_of_keras(names.OF_KERAS[path][0])
        return found_keras
    holds_keras = _BEFORE_KERAS.match(f"{name}.keras") is not None
    try:
        made: ModuleType = names.module(name)
    except ModuleNotFoundError:
        if not holds_keras:
            raise
        made = names.Namespace(name.removeprefix("tensorflow."), {})
    if holds_keras:
        vars(made).setdefault("keras", Later("keras"))
    return made


def _of_keras(path: str) -> ModuleType:
    """The module of `tf.keras` that lies at a path."""
    return module_of_keras(f"{TF_KERAS}.{path}".rstrip("."), f"keras.{path}".rstrip("."))


def which_keras() -> str:
    """Which `tf.keras` the program gets, as `KAMELEON_TF_KERAS` says.

    Raises:
        ArgumentError: (a ValueError) it holds another word.
    """
    told = os.environ.get(config.TF_KERAS, "").strip() or config.WHICH_TF_KERAS[0]
    if told not in config.WHICH_TF_KERAS:
        expected = ", ".join(config.WHICH_TF_KERAS)
        raise ArgumentError(f"{config.TF_KERAS}={told}: use one of {expected}")
    return told


def module_of_keras(name: str, meant: str) -> ModuleType:
    """The module `meant` of the Keras on Kameleon, for which a program says `name`."""
    top, _, path = meant.partition(".")
    if top == "keras" and given.original and which_keras() != "keras":
        # Late: it loads the hosted Keras.
        made = importlib.import_module("kameleon.hosted.tf_keras.modules")
        found: ModuleType = made.module(name, path)
        return found
    try:
        return importlib.import_module(meant)
    except ModuleNotFoundError as error:
        if error.name != meant:
            raise
        raise ModuleNotFoundError(
            f"{name}: the Keras on Kameleon, {location.VERSION}, has no {meant}", name=name
        ) from None


# --- the names in an installed TensorFlow -------------------------------------------------------


def alias_tensorflow() -> None:
    """From now on, `tensorflow.keras` and what is in it are the Keras on Kameleon, also where old
    code gets the installed TensorFlow.

    This works without TensorFlow, too: then there's nothing else in `tensorflow`. Tensors are
    Kameleon's, so other functions of an installed TensorFlow can't take them.

    Raises:
        HostingError: TensorFlow's Keras has been imported in this process before.
    """
    if given.aliased or given.serves_tensorflow:
        return
    if TF_KERAS in sys.modules:
        raise HostingError(f"{TF_KERAS} is already imported; {BEFORE}")
    given.aliased = True
    loaded = sys.modules.get("tensorflow")
    if loaded is not None:
        vars(loaded)["keras"] = Later("keras")
