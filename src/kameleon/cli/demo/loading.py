"""Loading the K surface and an engine, for a command."""

from __future__ import annotations

import sys

from kameleon.cli.parsing import CommandError
from kameleon.cli.probe import first_line
from kameleon.config import settings
from kameleon.errors import KameleonError


def load_backend(engine: str) -> None:
    """Import the K surface on an engine, or only load the engine where that import is done.

    Raises:
        CommandError: the engine can't be loaded.
    """
    if "kameleon.backend" not in sys.modules:
        settings.backend = engine
    try:
        from kameleon import backend  # noqa: F401
        from kameleon.runtime.engines import load

        load(engine)
    except KameleonError as error:
        raise CommandError(str(error)) from None
    except Exception as error:  # a broken library may raise anything
        raise CommandError(f"the engine {engine} can't be loaded: {first_line(error)}") from None
