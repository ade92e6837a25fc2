"""Hosting the original Keras 2.3.1: it runs unmodified, with `KERAS_BACKEND=kameleon.backend`.

Keras imports Kameleon by that name. Or it runs on its own TensorFlow backend, above TensorFlow
1.15's own Python files, which run above Kameleon (`config.keras_on`). What Keras needs beyond a
backend is done from outside, by an import hook: for modules of Keras alone, before or after they
run.
"""

from __future__ import annotations

import sys

from ... import config
from . import location, shims
from .loading import KerasFinder, is_of_original
from .steps import INSTEAD, after

__all__ = ["begin", "is_loading", "is_running"]


def is_loading() -> bool:
    """Whether the original Keras imports Kameleon, or has imported it.

    >>> is_loading()
    False
    """
    loader = sys.modules.get("keras.backend.load_backend")
    return getattr(loader, "_BACKEND", None) == config.HOSTED


def is_running() -> bool:
    """Whether `begin` was called in this process."""
    return any(isinstance(finder, KerasFinder) for finder in sys.meta_path)


def begin() -> None:
    """Prepare the modules that Keras has loaded by now, and those that it's going to load.

    Called when Keras imports `kameleon.backend`, or earlier, before Keras is imported. A second
    call changes nothing. Another Keras in the process stays as it is.
    """
    if is_running():
        return
    loaded = dict(sys.modules) if is_of_original() else {}
    for name in dict.fromkeys(shim.module for shim in shims.SHIMS):
        if name in loaded:
            shims.after(loaded[name])
    base = config.keras_on()
    steps = after(base)
    for name, finish in steps.items():
        if name in loaded:
            finish(loaded[name])
    sys.meta_path.insert(0, KerasFinder(steps, INSTEAD[base]))


def as_known() -> str | None:
    """Kameleon, as the Keras in this environment knows it, if that is the original."""
    if not location.is_importable():
        return None
    begin()
    return config.HOSTED


def begin_if_asked() -> None:
    """Begin where Keras imports Kameleon, or is told to."""
    if is_loading() or config.is_hosted():
        begin()
