"""Where the original Keras 2.3.1 is, and whether the environment's own `keras` is the original.

The original may live in an environment beside Keras 3, which has the same name: then it has a
folder of its own, which is put first on the path of a program that wants the original.
"""

from __future__ import annotations

import os

from ...config import folders
from ...errors import MissingLibraryError

VERSION = "2.3.1"
VARIABLE = "KAMELEON_KERAS2"  # names the folder
INSTALL = "kameleon keras2 install"  # the line that fills the folder

# The file, which loads the backend, by which Keras 2.3 is told from later and earlier versions.
_MARK = os.path.join("backend", "load_backend.py")


def folder() -> str:
    """The folder that the original is installed into: `KAMELEON_KERAS2`, or one of Python's own.

    >>> os.path.isabs(folder())
    True
    """
    return folders.folder(VARIABLE, f"keras-{VERSION}")


def holds_original(package: str) -> bool:
    """Whether the folder of a package `keras` holds the original, in a version that can be hosted.

    >>> holds_original("no/such/keras")
    False
    """
    return os.path.isfile(os.path.join(package, _MARK))


def is_original(path: str) -> bool:
    """Whether `import keras` finds the original in `path`, an entry of `sys.path`.

    >>> is_original("no/such/folder")
    False
    """
    return holds_original(os.path.join(path, "keras"))


def is_importable() -> bool:
    """Whether `import keras` finds the original as things are; nothing is imported.

    >>> is_importable() in (True, False)
    True
    """
    from importlib.util import find_spec  # late: its import takes longer than this module's

    try:
        spec = find_spec("keras")
    except (ImportError, ValueError):  # a `keras` that is half loaded
        return False
    places = (spec.submodule_search_locations if spec else None) or ()
    return any(holds_original(place) for place in places)


def find() -> str | None:
    """What to put first on `sys.path`, so that `import keras` finds the original.

    Returns:
        A folder; None where the environment's own `keras` is the original.

    Raises:
        MissingLibraryError: (an ImportError) the original isn't installed; the message holds the
            line that installs it.
    """
    where = folder()
    if is_original(where):
        return where
    if is_importable():
        return None
    raise MissingLibraryError(
        f"the original Keras {VERSION} isn't installed: there's none in {where}, and this "
        f"environment's own keras isn't of version 2.3; to install it: {INSTALL} "
        f"(a folder that holds it already can be named by {VARIABLE})"
    )


def installed() -> bool:
    """Whether the original is installed.

    >>> installed() in (True, False)
    True
    """
    return is_original(folder()) or is_importable()
