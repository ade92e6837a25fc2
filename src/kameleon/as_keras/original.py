"""The original Keras, told by environment variables to run on Kameleon."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

from .. import config, hosting
from ..errors import EngineNotFoundError
from .given import given


def environment() -> dict[str, str]:
    """The variables that tell Keras to run on Kameleon, and Kameleon which engine to run on, if
    `KERAS_BACKEND` names one.
    """
    asked = os.environ.get(config.ENVIRONMENT, "").strip()
    told = {config.ENVIRONMENT: config.HOSTED}
    if asked not in ("", config.HOSTED) and not os.environ.get(config.OWN, "").strip():
        told[config.OWN] = asked
    return told


@contextmanager
def hosted(module: ModuleType) -> Iterator[None]:
    """A block in which the environment tells Keras, which loads inside, to run on Kameleon."""
    hosting.begin()
    told = environment()
    before = {name: os.environ.get(name) for name in told}
    os.environ.update(told)
    try:
        yield
    except ValueError as error:
        if isinstance(error.__context__, EngineNotFoundError):
            raise error.__context__ from None  # this says more than the error that Keras made of it
        raise
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            os.environ.update({} if value is None else {name: value})


def export() -> None:
    """Let processes that this one starts run Keras on Kameleon, too, by their environment.

    `kameleon run` calls this for programs that use several processes. Where the original isn't
    installed, the environment stays as it is.
    """
    if not given.original:
        return
    os.environ.update(environment())
    if given.folder:
        paths = [given.folder, os.environ.get("PYTHONPATH", "")]
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
