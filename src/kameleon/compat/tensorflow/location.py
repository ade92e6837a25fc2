"""Where the Python files of TensorFlow 1.15 are."""

from __future__ import annotations

import os

from ...config import folders
from ...errors import MissingLibraryError

VERSION = "1.15.5"
VARIABLE = "KAMELEON_TENSORFLOW1"  # names the folder
INSTALL = "kameleon tensorflow install"  # the line that fills the folder
PACKAGE = "tensorflow_core"
COMPLETE = ".complete"  # a file that is written last


def folder() -> str:
    """The folder that the files are installed into: `KAMELEON_TENSORFLOW1`, or one of Python's own.

    >>> os.path.isabs(folder())
    True
    """
    return folders.folder(VARIABLE, f"tensorflow-{VERSION}")


def holds_files(where: str) -> bool:
    """Whether a folder holds TensorFlow's files, and all that were to be put there.

    >>> holds_files("no/such/folder")
    False
    """
    return os.path.isfile(os.path.join(where, PACKAGE, COMPLETE))


def find() -> str:
    """The folder with the files.

    Raises:
        MissingLibraryError: (an ImportError) they aren't installed; the message holds the line that
            installs them.
    """
    where = folder()
    if holds_files(where):
        return where
    raise MissingLibraryError(
        f"the Python files of TensorFlow {VERSION} aren't installed: there are none in {where}; "
        f"to install them: {INSTALL} (a folder that holds them can be named by {VARIABLE})"
    )


def installed() -> bool:
    """Whether the files are installed.

    >>> installed() in (True, False)
    True
    """
    return holds_files(folder())
