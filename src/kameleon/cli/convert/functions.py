"""Saved functions, as they are: `export` holds a file against what they give."""

from __future__ import annotations

import kameleon

from .sources import Asked, Original


def read(asked: Asked, folder: str) -> Original:
    """The function that a file holds."""
    return Original(kameleon.load(asked.path), asked.check)
