"""`import kameleon.as_keras`: from then on, `import keras` in this process is Keras 2, on Kameleon.

Where the original Keras 2.3.1 is installed (`kameleon keras2 install`), the program gets that,
hosted on `kameleon.backend`. Where it isn't, `keras.backend` and `keras.layers` are Kameleon's
own, and any other part of Keras raises an error that says what to install.

This import must come before any other that loads a Keras, such as that of TensorFlow. The command
`kameleon run script.py` does all this for a program that isn't to be changed.
"""

from __future__ import annotations

import importlib
import os
import sys
from types import ModuleType
from typing import Any

from .. import config, old_code
from .._tracebacks import hide
from ..errors import HostingError, MissingLibraryError
from ..hosting import location
from .finder import AliasFinder
from .given import folder, given, hosts_original
from .original import CHILDREN, choose_base, export, name_backend, share_path
from .own import BACKEND
from .tensorflow import BEFORE, alias_tensorflow, serve_old_code

__all__ = ["alias_tensorflow", "export", "folder", "hosts_original"]


def _refuse_another() -> None:
    """Raise where another Keras is imported already: it can't be replaced any more."""
    theirs, backend = sys.modules.get("keras"), sys.modules.get(BACKEND)
    if theirs is None:
        return
    on = backend.backend() if backend and hasattr(backend, "backend") else "another backend"
    if on != config.HOSTED:
        version = getattr(theirs, "__version__", "of an unknown version")
        raise HostingError(
            f"Keras {version}, on {on}, is already imported in this process; {BEFORE}"
        )


def _of_theano(name: str) -> ModuleType:
    names: Any = importlib.import_module("kameleon.theano1.modules")  # late: it loads the K surface
    found: ModuleType = names.provided(name)
    return found


def _begin() -> None:
    _refuse_another()
    is_child = CHILDREN in sys.path
    sys.path[:] = [path for path in sys.path if path != CHILDREN]
    name_backend()
    try:
        given.folder = location.find()
        given.original = True
    except MissingLibraryError:
        if os.environ.get(location.VARIABLE, "").strip():
            raise  # the user has named a folder that doesn't hold it
    choose_base(given.original)
    if given.folder and given.folder not in sys.path:
        # Behind the program's own folder, before what is installed.
        sys.path.insert(0 if sys.flags.safe_path else 1, given.folder)
    if is_child and given.original:
        share_path()
    sys.meta_path.insert(0, AliasFinder())
    config.load()
    serve_old_code()
    if config.known_as() == "theano":
        old_code.provide("theano", _of_theano)
    old_code.begin()
    config.write_if_missing()  # before Keras or TensorFlow writes one that names a backend


try:
    _begin()
except Exception as error:
    hide(error)
    raise
