"""What TensorFlow 1.15 loads at once, and programs seldom ask for: it is loaded when they do."""

from __future__ import annotations

import importlib
import importlib.util
import os
from collections.abc import Iterable
from types import ModuleType
from typing import Any

from . import location

ESTIMATOR = "tensorflow_estimator.python.estimator.api._{}.estimator"


class Late(ModuleType):
    """A module that is loaded when one of its names is asked for.

    >>> late = Late("colorsys")
    >>> late.rgb_to_hsv(0, 0, 0)
    (0.0, 0.0, 0)
    """

    def __getattr__(self, name: str) -> Any:
        return getattr(importlib.import_module(self.__name__), name)

    def __dir__(self) -> Iterable[str]:
        return dir(importlib.import_module(self.__name__))


def estimator(version: str) -> ModuleType:
    """`tf.estimator` of "v1" or "v2", whose folder is known."""
    made = Late(ESTIMATOR.format(version))
    made.__file__ = os.path.join(location.find(), *made.__name__.split("."), "__init__.py")
    return made


def library(name: str) -> ModuleType:
    """A library that may be installed.

    Raises:
        ModuleNotFoundError: it isn't.
    """
    if importlib.util.find_spec(name) is None:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)
    return Late(name)
