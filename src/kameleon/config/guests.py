"""Guests: packages that stand on the core, which knows nothing of them and works without them.

Those that are there are told when `kameleon.backend` is imported, by their function `begin`; each
may leave functions here that the core asks where it has no answer of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec

GUESTS = ("kameleon.compat",)

# Each gives what `kameleon.backend` has by a name that isn't documented, or raises KeyError.
LOOK_UPS: list[Callable[[str], object]] = []
# Each gives a backend that the Keras in this environment knows, or None.
KNOWN_TO_KERAS: list[Callable[[], str | None]] = []


def invite() -> None:
    """Let the guests that are there begin, as far as they're asked for."""
    for name in GUESTS:
        if find_spec(name) is not None:
            import_module(name).begin()


def look_up(name: str) -> object:
    """What `kameleon.backend` has by an undocumented name.

    Raises:
        KeyError: no guest knows it.
    """
    for each in LOOK_UPS:
        try:
            return each(name)
        except KeyError:
            continue
    raise KeyError(name)
