"""What `import kameleon.as_keras` does: from then on, old imports are answered by Kameleon."""

from __future__ import annotations

import importlib
import os
import sys
from types import ModuleType
from typing import Any

from ... import config
from ...errors import HostingError, MissingLibraryError
from .. import legacy
from ..keras2 import location
from .finder import AliasFinder
from .given import given
from .original import CHILDREN, choose_base, name_backend, share_path
from .own import BACKEND
from .tensorflow import BEFORE, serve_old_code


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
    names: Any = importlib.import_module(
        "kameleon.compat.theano.modules"
    )  # late: it loads the K surface
    found: ModuleType = names.provided(name)
    return found


def begin() -> None:
    """Alias Keras, and TensorFlow and Theano where they're asked for.

    Raises:
        HostingError: another Keras is imported already.
        MissingLibraryError: the original Keras isn't where the environment says.
    """
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
        legacy.provide("theano", _of_theano)
    legacy.begin()
    config.write_if_missing()  # before Keras or TensorFlow writes one that names a backend
