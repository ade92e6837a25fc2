"""The folders into which commands install what programs need."""

from __future__ import annotations

import os
import sys


def folder(variable: str, name: str, among: str | None = None) -> str:
    """The folder that an environment variable names; or one of that name among others, which are
    Python's own, if none are named.

    >>> os.path.basename(folder("KAMELEON_UNSET", "keras-2.3.1"))
    'keras-2.3.1'
    """
    path = os.environ.get(variable, "").strip()
    if path:
        return os.path.abspath(os.path.expanduser(path))
    return os.path.join(among or os.path.join(sys.prefix, "share", "kameleon"), name)
