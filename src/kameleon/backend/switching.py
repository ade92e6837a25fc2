"""Switching the engine while a program runs. Graphs and variables don't belong to any engine."""

from __future__ import annotations

from typing import Any

from .._utils.scopes import Scope
from ..config import settings
from ..runtime import engines

__all__ = ["set_engine", "using_engine"]


def set_engine(name: str) -> None:
    """Run what runs from here on, on another engine.

    Functions that exist already move along, unless they were made for one engine; variables
    keep their values and move to where they are needed.

    Args:
        name: of an engine, such as 'numpy' or 'torch'; `kameleon engines` lists them.

    Raises:
        EngineNotFoundError: there's no such engine here; the message says what to install.

    >>> from kameleon import backend as K
    >>> v = K.variable([1., 2.])
    >>> double = K.function([], [v * 2.])
    >>> K.set_engine('numpy')
    >>> K.backend(), double([])
    ('numpy', [array([2., 4.], dtype=float32)])
    """
    engines.use(name)
    settings.backend = engines.canonical(name)


def using_engine(name: str) -> Scope[Any]:
    """Run what runs inside on another engine; in this thread (or asynchronous task) alone.

    Args:
        name: of an engine, such as 'numpy' or 'torch'.

    Returns:
        A context manager.

    Raises:
        EngineNotFoundError: there's no such engine here; the message says what to install.

    >>> from kameleon import backend as K
    >>> with K.using_engine('numpy'):
    ...     K.backend()
    'numpy'
    """
    return engines.using(name, gives=False)
