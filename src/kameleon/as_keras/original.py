"""The original Keras, told to run on Kameleon: by the environment, while it loads and after."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

from .. import config, hosting
from ..errors import EngineNotFoundError
from .given import given


def environment() -> dict[str, str]:
    """What Keras is told: to run on us. The engine it would be told goes to us."""
    asked = os.environ.get(config.ENVIRONMENT, "").strip()
    told = {config.ENVIRONMENT: config.HOSTED}
    if asked not in ("", config.HOSTED) and not os.environ.get(config.OWN, "").strip():
        told[config.OWN] = asked
    return told


@contextmanager
def hosted(module: ModuleType) -> Iterator[None]:
    """While Keras loads: the environment tells it to run on us."""
    hosting.begin()
    told = environment()
    before = {name: os.environ.get(name) for name in told}
    os.environ.update(told)
    try:
        yield
    except ValueError as error:
        if isinstance(error.__context__, EngineNotFoundError):
            raise error.__context__ from None  # it says more than Keras makes of it
        raise
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            os.environ.update({} if value is None else {name: value})


def export() -> None:
    """Tell the processes that this one starts, too, by the environment.

    `kameleon run` does so, for programs that use several processes. Nothing is told where the
    original isn't installed.
    """
    if not given.original:
        return
    os.environ.update(environment())
    if given.folder:
        paths = [given.folder, os.environ.get("PYTHONPATH", "")]
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
