"""The file keras.json: where it is, what it holds, and how it's made where it's missing.

Other installations of Keras share the file, so its content is checked, and it's never changed.
"""

from __future__ import annotations

import os

from kameleon._utils import files
from kameleon.errors import ArgumentError

# `json` and `tempfile` are imported late: to import either takes longer than this module.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


def find() -> tuple[str, bool]:
    """Return the path of keras.json, there or not, and whether other users can write beside it.

    `KERAS_HOME` names the folder. Without it, that is `.keras` under the home folder (`$HOME`;
    on Windows `%USERPROFILE%`), or under `/tmp` where the home can't be written.

    >>> os.path.basename(find()[0])
    'keras.json'
    """
    folder = os.environ.get("KERAS_HOME")
    if folder:
        return os.path.join(os.path.expanduser(folder), "keras.json"), False
    home = os.path.expanduser("~")
    path = os.path.join(home, ".keras", "keras.json")
    if os.access(home, os.W_OK) or os.path.isfile(path):
        return path, False
    if os.name == "posix":
        return "/tmp/.keras/keras.json", True
    import tempfile

    return os.path.join(tempfile.gettempdir(), ".keras", "keras.json"), False


def read(path: str, shared: bool = False) -> dict[str, object]:
    """Return what the file says; nothing, if there is no file.

    Args:
        path: of the file.
        shared: whether other users can write in its folder. The file may name a module to
            import, so in such a folder only a file of this user's or of root's is accepted.

    Raises:
        ArgumentError: if the file can't be used; the message says why.

    >>> read("no/such/keras.json")
    {}
    """
    import json

    try:
        with files.open_regular(
            path, encoding="utf-8-sig"
        ) as file:  # editors on Windows put a mark in front
            if shared and os.fstat(file.fileno()).st_uid not in (0, os.getuid()):
                raise ArgumentError(f"{path} belongs to another user; set KERAS_HOME to a folder")
            content = json.load(file)
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise ArgumentError(f"{path} can't be read: {error.strerror}") from error
    except ArgumentError:  # raised above; it's a ValueError, too, and not one of those below
        raise
    except (ValueError, RecursionError) as error:
        raise ArgumentError(f"{path} isn't valid JSON: {error}") from error
    if not isinstance(content, dict):
        kind = type(content).__name__
        raise ArgumentError(f"{path} holds a {kind}; expected a JSON object, {{…}}")
    return content


def write_new(path: str, values: Mapping[str, object]) -> bool:
    """Write `values` to the file if there is none; say whether this call did.

    The file appears complete or not at all, also where many processes write it at once, and
    one that exists is never replaced. A folder that can't be written is no error.

    >>> write_new(os.devnull, {})
    False
    """
    import json

    if os.path.lexists(path):
        return False
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        return files.create(path, (json.dumps(values, indent=4) + "\n").encode())
    except OSError:
        return False
