"""`tensorflow.keras`: refused, or, where the program asks for it, the same as `keras`."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from ..errors import HostingError
from .given import given

TF_KERAS = "tensorflow.keras"
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
        return getattr(importlib.import_module("keras"), name)

    def __dir__(self) -> list[str]:
        return dir(importlib.import_module("keras"))


@contextmanager
def with_our_keras(module: ModuleType) -> Iterator[None]:
    yield
    vars(module)["keras"] = Later("keras")


def alias_tensorflow() -> None:
    """From now on, `tensorflow.keras` and what is in it are the Keras on Kameleon.

    This works without TensorFlow, too: then there's nothing else in `tensorflow`. Tensors are
    Kameleon's, so other functions of TensorFlow can't take them.

    Raises:
        HostingError: TensorFlow's Keras has been imported in this process before.
    """
    if given.aliased:
        return
    if TF_KERAS in sys.modules:
        raise HostingError(f"{TF_KERAS} is already imported; {BEFORE}")
    given.aliased = True
    loaded = sys.modules.get("tensorflow")
    if loaded is not None:
        vars(loaded)["keras"] = Later("keras")
