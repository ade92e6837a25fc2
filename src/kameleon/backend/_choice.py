"""What happens when the K surface is first imported: settings are read, an engine is chosen."""

from __future__ import annotations

import sys
from collections.abc import Collection
from typing import Any

from .. import config
from ..config import external
from ..runtime import engines
from . import configuration


def title(name: str) -> str:
    """The name of an engine as it's shown to users."""
    known = config.ENGINES.get(name)
    return known.title if known else name


def choose(names: Collection[str]) -> dict[str, Any]:
    """Choose an engine or an external backend, say which on standard error, and write keras.json
    where it's missing.

    Returns:
        The functions that an external backend puts in the place of Kameleon's; empty for an engine.
    """
    name, source = config.choose_backend(engines.available)
    config.write_if_missing(name)  # before a library loads a Keras that would write its own
    theirs: dict[str, Any] = {}
    if name in config.ENGINES or engines.available(name):
        name = engines.canonical(name)
        engines.use(name)
    else:
        module = external.load(name, source)
        # The functions of settings belong to Keras itself: an external backend may lack them, and
        # Kameleon's serve then.
        lacking = {n: external.missing(n, name) for n in names if n not in configuration.__all__}
        own = {n: getattr(module, n, None) for n in names}
        theirs = lacking | {n: f for n, f in own.items() if f is not None}
        theirs["backend"] = lambda: name
    config.settings.backend = name
    print(f"Using {title(name)} backend.", file=sys.stderr)
    return theirs
