"""What old programs meet: libraries of their days, above Kameleon's graph.

The core doesn't know this package: it imports, runs and passes its tests without it. What the core
asks its guests (`config.guests`) is answered here, by modules that are loaded when it asks.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ..config import guests
from . import keras2


def _look_up(name: str) -> object:
    undocumented: Any = import_module(f"{__name__}.undocumented")  # it needs the whole backend
    return undocumented.look_up(name)


def begin() -> None:
    """See `config.guests.invite`."""
    keras2.begin_if_asked()


guests.LOOK_UPS.append(_look_up)
guests.KNOWN_TO_KERAS.append(keras2.as_known)
