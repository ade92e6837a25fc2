"""The name of the backend: what a hosted Keras tells programs, and what it tells itself.

Libraries of the Keras 2 days ask for the name and know three answers. They are told the one whose
behaviour Kameleon has (`config.known_as`). Keras's own modules would then reach for TensorFlow
itself; they are told the module that really serves them.
"""

from __future__ import annotations

import sys
from types import ModuleType

from ... import config

# Packages whose modules are told which module serves them.
INSIDE = frozenset({"keras", "keras_applications", "keras_preprocessing", "kameleon"})


def backend() -> str:
    """Returns the name of the current backend (e.g. "tensorflow").

    # Returns
        String, the name of the backend that programs written for Keras know.
    """
    caller = sys._getframe(1).f_globals.get("__name__") or ""
    return config.HOSTED if caller.partition(".")[0] in INSIDE else config.known_as()


def name_backend(module: ModuleType) -> None:
    """Put this `backend` into the modules of Keras that have the original's, once these are there.

    Args:
        module: the module of Keras that has just run.
    """
    for name in ("keras.backend.load_backend", "keras.backend"):
        holder = sys.modules.get(name)
        if holder is not None and "backend" in vars(holder):
            vars(holder)["backend"] = backend
